"""How training time, prediction time, memory and score grow with the rows: an exact kernel machine against mercer."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from time import perf_counter

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.kernel_ridge import KernelRidge as ExactRidge
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from mercer import limits
from mercer.bench.comparison import Rows
from mercer.bench.metrics import show
from mercer.config import get_config
from mercer.kernels import Gaussian, Kernel
from mercer.learners import KernelRidge, KernelSVC, TunedClassifier, TunedRegressor

FIRST_ROWS = 1000
MERCER, TUNED, TREES = "mercer", "tuned mercer", "boosted trees"
# Time grows by this power of the rows until two sizes have been measured.
_CAREFUL = 2.0
# Sizes that the measured growth is fitted to: small ones are overhead.
_FITTED_SIZES = 3
# A size above this part of all rows is left out: it would say the same as all rows.
_NEARLY_ALL = 0.9
# The part of the machine's memory that a Gram matrix may take.
_GRAM_SHARE = 0.25


@dataclass(frozen=True)
class Step:
    """One model, fitted to the first ``n_rows`` training rows."""

    model: str
    n_rows: int
    score: float
    fit_seconds: float
    predict_seconds: float
    megabytes: float | None = None


@dataclass(frozen=True)
class Growth:
    """What was measured on growing rows of one set, and what it says."""

    rows: Rows
    steps: list[Step]
    sentences: list[str]

    def facts(self) -> dict[str, object]:
        """Return everything for JSON."""
        steps = [asdict(step) for step in self.steps]
        return {"data": self.rows.name, "sentences": self.sentences, "steps": steps}


@dataclass(frozen=True)
class Contestant:
    """A model that is made again for each size, and the bytes of its Gram matrix or features."""

    name: str
    make: Callable[[], BaseEstimator]
    n_bytes: Callable[[int], float] | None = None

    def fits(self, n_rows: int) -> bool:
        """Return whether the Gram matrix or the features fit a quarter of the memory."""
        return self.n_bytes is None or self.n_bytes(n_rows) <= _GRAM_SHARE * limits.capacity().n_bytes


def contestants(rows: Rows, kernel: Kernel, width: int, *, C: float, seed: int, tables: bool) -> list[Contestant]:
    """Return the exact kernel machine and mercer's; for tables, also the tuned estimator and boosted trees."""
    classes = rows.task == "classification"
    kernel = kernel.resolve(rows.X_train[: 4 * FIRST_ROWS])
    machine = partial(KernelSVC, kernel, C=C) if classes else partial(KernelRidge, kernel)
    feature_bytes = width * rows.X_train.dtype.itemsize
    found = [
        Contestant(exact_name(rows.task), partial(_exact, rows.task, kernel, C), lambda n: 8.0 * n * n),
        Contestant(MERCER, partial(machine, n_components=width, random_state=seed), lambda n: float(n * feature_bytes)),
    ]
    if tables and isinstance(rows.X_train, np.ndarray):
        tuned = TunedClassifier if classes else TunedRegressor
        found += [
            Contestant(TUNED, partial(tuned, random_state=seed)),
            Contestant(TREES, partial(_trees, classes, seed)),
        ]
    return found


def exact_name(task: str) -> str:
    """Return the name of the exact kernel machine of a task."""
    return "exact SVM" if task == "classification" else "exact kernel ridge"


def _exact(task: str, kernel: Kernel, C: float) -> BaseEstimator:
    """Return scikit-learn's machine; its own Gaussian is faster than a kernel that is a Python function."""
    named = {"kernel": "rbf", "gamma": kernel.gamma} if isinstance(kernel, Gaussian) else {"kernel": kernel}
    return SVC(C=C, **named) if task == "classification" else ExactRidge(**named)


def _trees(classes: bool, seed: int) -> BaseEstimator:
    """Return LightGBM, or scikit-learn's boosted trees where LightGBM is not installed; the defaults of both."""
    if find_spec("lightgbm") is not None:
        import lightgbm  # noqa: PLC0415 - optional

        kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
        # threads beyond those of mercer would wait for each other on a machine that has other work
        return kind(random_state=seed, n_jobs=get_config().threads, verbosity=-1)
    from sklearn import ensemble  # noqa: PLC0415 - only here

    kind = ensemble.HistGradientBoostingClassifier if classes else ensemble.HistGradientBoostingRegressor
    return kind(random_state=seed)


def grow(
    rows: Rows, models: Sequence[Contestant], *, limit: float, clock: Callable[[], float] = perf_counter
) -> Iterator[Step]:
    """Yield each model at 1000, 2000, 4000, ... training rows, while its time is expected to stay below the limit.

    Time is that of training and of predicting the test rows, by ``clock``. A model that a size would take too long is
    left out from that size on. The first rows serve every model, so that all learn from the same ones. Sizes whose y
    has one value only are left out.
    """
    done: dict[str, list[Step]] = {model.name: [] for model in models}
    learnable = [n for n in sizes(len(rows.y_train)) if len(np.unique(rows.y_train[:n])) > 1]
    for model in models:  # the first fit of a process loads libraries, which is no part of the growth
        model.make().fit(rows.X_train[: learnable[0]], rows.y_train[: learnable[0]])
    for n_rows in learnable:
        for model in models:
            if projected(done[model.name], n_rows, total_seconds) <= limit and model.fits(n_rows):
                step = _measured(model, rows, n_rows, clock)
                done[model.name].append(step)
                yield step


def sizes(n_rows: int, first: int = FIRST_ROWS) -> list[int]:
    """Return the sizes to try: the first, doubled until nearly all rows are reached, and all rows.

    >>> sizes(5000)
    [1000, 2000, 4000, 5000]
    >>> sizes(301)
    [75, 150, 301]
    """
    first = min(first, max(10, n_rows // 4))
    doubled = [first * 2**i for i in range(64) if first * 2**i <= _NEARLY_ALL * n_rows]
    return [*doubled, n_rows]


def _measured(model: Contestant, rows: Rows, n_rows: int, clock: Callable[[], float]) -> Step:
    made = model.make()
    # scikit-learn's trees take as many threads as mercer: more would wait for each other on a machine with other work
    with warnings.catch_warnings(), threadpool_limits(get_config().threads, user_api="openmp"):
        warnings.simplefilter("ignore")  # of rows far from few training rows: their scores count as they are
        start = clock()
        made.fit(rows.X_train[:n_rows], rows.y_train[:n_rows])
        middle = clock()
        score = float(made.score(rows.X_test, rows.y_test))
        end = clock()
    megabytes = None if model.n_bytes is None else 1e-6 * model.n_bytes(n_rows)
    return Step(model.name, n_rows, score, middle - start, end - middle, megabytes)


def total_seconds(step: Step) -> float:
    """Return the time of training and prediction."""
    return step.fit_seconds + step.predict_seconds


def fit_seconds(step: Step) -> float:
    """Return the time of training."""
    return step.fit_seconds


def growth_power(steps: Sequence[Step], seconds: Callable[[Step], float] = fit_seconds) -> float:
    """Return p of the measured growth n^p of a time, from the largest three sizes; 2 until two sizes are known."""
    last = steps[-_FITTED_SIZES:]
    if len(last) < 2:
        return _CAREFUL
    n, times = np.log([step.n_rows for step in last]), np.log([max(seconds(step), 1e-6) for step in last])
    return float(np.clip(np.polyfit(n, times, 1)[0], 0.0, 4.0))


def projected(steps: Sequence[Step], n_rows: int, seconds: Callable[[Step], float] = fit_seconds) -> float:
    """Return the time that the measured growth gives for a larger size; 0 if nothing was measured."""
    if not steps:
        return 0.0
    return float(seconds(steps[-1]) * (n_rows / steps[-1].n_rows) ** growth_power(steps, seconds))


def of(steps: Iterable[Step], model: str) -> list[Step]:
    """Return the steps of one model, in order."""
    return [step for step in steps if step.model == model]


def crossing(exact: Sequence[Step], ours: Sequence[Step]) -> float | None:
    """Return from how many rows on mercer trains faster than the exact machine; None if it never does.

    Between two sizes both times are powers of the rows; beyond the exact machine's sizes its growth is drawn on.
    0 means that mercer is faster at every size that was measured.
    """
    lead = [np.log(_time_at(exact, step.n_rows) / max(step.fit_seconds, 1e-6)) for step in ours]
    slower = [i for i, value in enumerate(lead) if value < 0]
    if not slower:
        return 0.0
    last = slower[-1]
    if last + 1 == len(ours):
        return None
    low, high = np.log(ours[last].n_rows), np.log(ours[last + 1].n_rows)
    return float(np.exp(low + (high - low) * lead[last] / (lead[last] - lead[last + 1])))


def _time_at(steps: Sequence[Step], n_rows: int) -> float:
    measured = {step.n_rows: step.fit_seconds for step in steps}
    return max(measured.get(n_rows) or projected(steps, n_rows), 1e-6)


def sentences(rows: Rows, steps: Sequence[Step], best: float | None = None) -> list[str]:
    """Return what the growth says, in three sentences: the exact machine, mercer, and the scores.

    For tables, a fourth sentence compares the tuned estimator and boosted trees.

    ``best`` is the best score that any model can have, where it is known.
    """
    name = exact_name(rows.task)
    exact, ours = of(steps, name), of(steps, MERCER)
    most = ours[-1]
    said = [
        _of_exact(name, exact, most.n_rows),
        _of_mercer(name, exact, ours),
        _of_scores(rows.task, exact, ours, best),
    ]
    others = [found[-1] for model in (TUNED, TREES) if (found := of(steps, model))]
    return [*said, _of_others(rows.task, others)] if others else said


def _of_others(task: str, last: Sequence[Step]) -> str:
    """Say how the tuned estimator and boosted trees did on the most rows that each was given."""
    parts = [
        f"{step.model} {_score(task, step.score)} at {step.n_rows:,} rows, trained in {show(step.fit_seconds, 's')}"
        for step in last
    ]
    return f"Without settings: {'; '.join(parts)}."


def _of_exact(name: str, exact: Sequence[Step], n_rows: int) -> str:
    last = exact[-1]
    said = f"The {name} trains on {last.n_rows:,} rows in {show(last.fit_seconds, 's')}"
    if last.n_rows >= n_rows:
        return f"{said}."
    then = show(projected(exact, n_rows), "s")
    if len(exact) < 2:  # no growth was measured
        return f"{said}; if its time grows with the square of the rows, {n_rows:,} take about {then}."
    power = growth_power(exact)
    return f"{said}; its time grows with the power {power:.1f} of the rows: {n_rows:,} would take about {then}."


def _of_mercer(name: str, exact: Sequence[Step], ours: Sequence[Step]) -> str:
    last, meet = ours[-1], crossing(exact, ours)
    said = f"mercer trains on {last.n_rows:,} rows in {show(last.fit_seconds, 's')}"
    if meet is None:
        return f"{said}; at these sizes the {name} is faster."
    where = "at every size" if meet == 0 else f"from {_rounded(meet):,} rows on"
    times = _time_at(exact, last.n_rows) / max(last.fit_seconds, 1e-6)
    return f"{said}, {times:.{0 if times >= 10 else 1}f} times faster, and is the faster one {where}."


def _of_scores(task: str, exact: Sequence[Step], ours: Sequence[Step], best: float | None) -> str:
    shared = exact[-1].n_rows
    at_shared = next((step for step in ours if step.n_rows == shared), ours[-1])
    said = f"{_score(task, at_shared.score)} of mercer against {_score(task, exact[-1].score)} at {shared:,} rows"
    more = f"; {_score(task, ours[-1].score)} with {ours[-1].n_rows:,}" if ours[-1].n_rows > shared else ""
    known = "" if best is None else f" (the best possible is {_score(task, best)})"
    return f"{'Accuracy' if task == 'classification' else 'R²'} on test rows: {said}{more}{known}."


def _score(task: str, score: float) -> str:
    return f"{100 * score:.1f} %" if task == "classification" else f"{score:.3f}"


def _rounded(n_rows: float) -> int:
    """Return a number of rows with two digits: more would claim a precision that times do not have.

    >>> _rounded(2345.6)
    2300
    """
    unit = 10 ** max(0, int(np.floor(np.log10(max(n_rows, 1)))) - 1)
    return int(round(n_rows / unit) * unit)
