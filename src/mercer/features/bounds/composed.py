r"""The number of features of composed maps, for ``components_for``.

Let delta be the probability of failure, and k_i and khat_i the kernel and the estimate of member i. All members are
drawn independently and unbiased.

- ``Rescale``: |c khat - c k| <= eps is |khat - k| <= eps / c; a relative error does not change.
- ``ScaleColumns``, ``SelectColumns``: the inner map's inequality on the transformed rows.
- ``Normalize``: features are divided by sqrt(k(x, x)), which is known exactly. So the variance is divided by
  k(x, x) k(y, y), a relative error does not change, and an inner absolute error eps min k(x, x) gives the error eps.
- ``Concatenate``: Var(sum khat_i) = sum Var(khat_i), each with the share of features that the member gets (Chebyshev).
  Also the union bound, if m members are not exact: each has the error eps / m and fails with probability delta / m.
- ``TensorProduct``: Var(khat) = E Var(khat | members) + Var(prod khat_i), the law of total variance.
  The second term is prod (k_i^2 + v_i) - prod k_i^2. The first term is the variance of a Tensor Sketch of p given
  vectors, at most (3^p - 1) / D prod |z_i(x)|^2 |z_i(y)|^2. By the Cauchy-Schwarz inequality, the mean of the product
  is at most prod sqrt((k_i(x, x)^2 + v_i(x, x)) (k_i(y, y)^2 + v_i(y, y))).
  The factor (3^p - 1): ``tensor_sketch_variance`` is at most (prod c_i - prod t_i^2) / D, or (A + B - 2T) / D if its
  second term is negative, with c_i <= N_i + 2 t_i^2. Both grow with t_i^2 <= N_i, up to 3^p - 1 and 2^(p+1) - 2.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import inf, prod
from typing import cast

import numpy as np

from mercer._typing import Array
from mercer.features.base import FeatureMap
from mercer.features.bounds.rules import (
    Components,
    MeanSquare,
    Task,
    by_chebyshev,
    candidates,
    least,
    mean_square,
    register_bounds,
    register_mean_square,
)
from mercer.features.composed.base import Wrapper
from mercer.features.composed.columns import ScaleColumns, SelectColumns
from mercer.features.composed.concatenate import Concatenate, shares
from mercer.features.composed.normalize import Normalize
from mercer.features.composed.rescale import Rescale
from mercer.features.composed.tensor_product import TensorProduct
from mercer.kernels import Kernel, Normalized, Product, Scaled, Sum, TransformedKernel
from mercer.kernels.functions import inverse_lengths


def _kernel_of(chosen: FeatureMap) -> Kernel:
    """Return the kernel of an unfitted map that ``feature_map`` has made."""
    if isinstance(chosen, Concatenate | TensorProduct):
        return (Sum if isinstance(chosen, Concatenate) else Product)(tuple(_kernel_of(m) for m in chosen.members()))
    if isinstance(chosen, Rescale):
        return Scaled(chosen.scale, _kernel_of(_inner_map(chosen)))
    if isinstance(chosen, Normalize):
        return Normalized(_kernel_of(_inner_map(chosen)))
    if isinstance(chosen, ScaleColumns | SelectColumns):
        return chosen.wrapped(_kernel_of(_inner_map(chosen)))
    kernel: Kernel = chosen.kernel
    return kernel


def _inner_map(chosen: Wrapper) -> FeatureMap:
    (inner,) = chosen.members()
    return inner


def _inner(task: Task) -> Task:
    """Return the task of the inner map: the inner kernel, and the transformed rows."""
    kernel = cast(Scaled | Normalized | TransformedKernel, task.kernel)
    if isinstance(kernel, TransformedKernel):
        return replace(task, kernel=kernel.kernel, X=kernel.apply(task.X), sample=kernel.apply(task.sample))
    return replace(task, kernel=kernel.kernel)


def _members(chosen: Concatenate | TensorProduct, task: Task) -> list[tuple[FeatureMap, Task]]:
    return [(member, replace(task, kernel=_kernel_of(member))) for member in chosen.members()]


def _transformed_rule(chosen: Wrapper, task: Task) -> Iterator[Components]:
    return candidates(_inner_map(chosen), _inner(task))


def _transformed_mean_square(chosen: Wrapper, task: Task) -> MeanSquare | None:
    return mean_square(_inner_map(chosen), _inner(task))


def _rescale_rule(chosen: Rescale, task: Task) -> Iterator[Components]:
    error = task.error if task.kind == "relative" else task.error / chosen.scale
    return candidates(_inner_map(chosen), replace(_inner(task), error=error))


def _rescale_mean_square(chosen: Rescale, task: Task) -> MeanSquare | None:
    inner = mean_square(_inner_map(chosen), _inner(task))
    return inner and replace(inner, at=lambda n: chosen.scale**2 * inner.at(n))


def _normalize_rule(chosen: Normalize, task: Task) -> Iterator[Components]:
    yield from by_chebyshev(chosen, task)
    if task.kind == "absolute":
        inner = _inner(task)
        lengths = inverse_lengths(inner.kernel, task.X.astype(np.float64))
        if lengths.any():  # rows with k(x, x) = 0 have no features, and no error
            smaller = replace(inner, error=task.error / float(lengths.max()) ** 2)
            yield from candidates(_inner_map(chosen), smaller)


def _normalize_mean_square(chosen: Normalize, task: Task) -> MeanSquare | None:
    inner = mean_square(_inner_map(chosen), _inner(task))
    squares = inverse_lengths(_inner(task).kernel, task.sample) ** 2
    return inner and replace(inner, at=lambda n: squares[:, None] * inner.at(n) * squares)


def _sum_mean_square(chosen: Concatenate, task: Task) -> MeanSquare | None:
    known = [mean_square(member, of) for member, of in _members(chosen, task)]
    parts = [part for part in known if part is not None]
    if len(parts) < len(known):
        return None
    most = _most(chosen, task)

    def at(n: int) -> Array:
        widths = shares(most, n)
        if min(widths) == 0:  # a member without a feature has no bound
            return np.full((len(task.sample),) * 2, inf)
        return np.asarray(np.sum([part.at(width) for part, width in zip(parts, widths, strict=True)], axis=0))

    return MeanSquare(at, "sum of the members' variances", _nature(parts))


def _sum_rule(chosen: Concatenate, task: Task) -> Iterator[Components]:
    yield from by_chebyshev(chosen, task)
    if task.kind != "relative":
        yield from _union(chosen, task)


def _union(chosen: Concatenate, task: Task) -> Iterator[Components]:
    """Divide the error and the probability of failure equally among the members that are not exact."""
    most, members = _most(chosen, task), _members(chosen, task)
    n_random = sum(np.isinf(m) for m in most)
    needed, names, natures = [], [], []
    for can_use, (member, of) in zip(most, members, strict=True):
        if np.isfinite(can_use):  # the member is exact with ``can_use`` features
            needed.append(can_use)
            continue
        part = replace(of, error=task.error / n_random, delta=task.delta / n_random)
        # Averages of several sketches are left out: a member of a sum is one sketch.
        found = (candidate for candidate in candidates(member, part) if candidate.n_sketches == 1)
        best = min(found, key=lambda c: c.n_components, default=None)
        if best is None:
            return
        needed.append(best.n_components)
        names.append(best.inequality)
        natures.append(best.nature)
    number = inf if inf in needed else least(lambda n: bool(np.all(np.array(shares(most, n)) >= needed)), len(most))
    nature = "bound" if set(natures) <= {"bound"} else next(n for n in natures if n != "bound")
    yield Components(number, f"union bound over the members ({'; '.join(names) or 'all exact'})", nature)


def _most(chosen: Concatenate, task: Task) -> list[float]:
    return [member.most_features(task.X.shape[1]) for member in chosen.members()]


def _product_mean_square(chosen: TensorProduct, task: Task) -> MeanSquare | None:
    members = _members(chosen, task)
    known = [mean_square(member, of) for member, of in members]
    parts = [part for part in known if part is not None]
    if len(parts) < len(known):
        return None
    values = [of.kernel(task.sample) for _, of in members]

    def at(n: int) -> Array:
        variances = [part.at(n) for part in parts]
        second = [k**2 + v for k, v in zip(values, variances, strict=True)]
        lengths = [np.sqrt(np.outer(np.diag(square), np.diag(square))) for square in second]
        sketch = (3 ** len(parts) - 1) / n * prod(lengths)
        return np.asarray(sketch + prod(second) - prod(k**2 for k in values))

    return MeanSquare(at, "variance of a sketched product, (3^p - 1) N / D and the members'", _nature(parts))


def _nature(parts: list[MeanSquare]) -> str:
    return next((part.nature for part in parts if part.nature != "bound"), "bound")


for _kind in (ScaleColumns, SelectColumns):
    register_bounds(_kind, _transformed_rule)
    register_mean_square(_kind, _transformed_mean_square)
register_bounds(Rescale, _rescale_rule)
register_mean_square(Rescale, _rescale_mean_square)
register_bounds(Normalize, _normalize_rule)
register_mean_square(Normalize, _normalize_mean_square)
register_bounds(Concatenate, _sum_rule)
register_mean_square(Concatenate, _sum_mean_square)
register_bounds(TensorProduct, by_chebyshev)
register_mean_square(TensorProduct, _product_mean_square)
