"""The arc-cosine kernels (Cho and Saul, 2009): infinitely wide layers of step, ReLU and squared-ReLU units."""

from dataclasses import dataclass, field

import numpy as np

from mercer._typing import Array, override
from mercer.kernels.homogeneous import HomogeneousKernel, relu_angle, relu_cosine
from mercer.validation import check_integer

_LARGEST_ORDER = 2
# Layers of the deepest network: the kernel of more layers is 1 for all pairs, but for rounding.
MOST_LAYERS = 1000


@dataclass(frozen=True, repr=False)
class ArcCosine(HomogeneousKernel):
    r"""The arc-cosine kernel :math:`\frac{1}{\pi} \|x\|^n \|y\|^n J_n(\theta)` of order n = 0, 1 or 2.

    It is the mean of :math:`2\, \Theta(w \cdot x) \Theta(w \cdot y) (w \cdot x)^n (w \cdot y)^n` over Gaussian w, theta
    the angle between x and y.

    With ``depth=L`` and order 1 it is the kernel of L layers of ReLU units, the Gaussian process of a deep network of
    infinite width (NNGP): :math:`\|x\| \|y\| \kappa_1(\cdots \kappa_1(\cos\theta))` with
    :math:`\kappa_1(t) = (\sqrt{1 - t^2} + t (\pi - \arccos t)) / \pi`.

    Parameters
    ----------
    order : int
        0, 1 or 2.
    depth : int, default=1
        Layers. More than one needs order 1.

    Notes
    -----
    The map of one layer is ``KitchenSinks``. Deeper kernels have a sketch of the Maclaurin series of their function of
    the cosine, ``HomogeneousFeatures``.

    References
    ----------
    Y. Cho and L. Saul, "Kernel methods for deep learning", NIPS 2009.
    J. Lee et al., "Deep neural networks as Gaussian processes", ICLR 2018.

    Examples
    --------
    >>> from mercer import ArcCosine
    >>> ArcCosine(0)([[1.0, 0.0]], [[0.0, 1.0]])
    array([[0.5]])
    >>> ArcCosine(1, depth=2)([[1.0, 0.0]], [[0.0, 1.0]]).round(4)
    array([[0.4937]])
    """

    order: int
    depth: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        order = check_integer("ArcCosine", "order", self.order, least=0)
        if order > _LARGEST_ORDER:
            raise ValueError(f"ArcCosine: order must be 0, 1 or 2, got {order}.")
        object.__setattr__(self, "order", order)
        depth = check_integer("ArcCosine", "depth", self.depth, most=MOST_LAYERS)
        if depth > 1 and order != 1:
            raise ValueError(f"ArcCosine: depth={depth} needs order 1, layers of ReLU units, got order {order}.")
        object.__setattr__(self, "depth", depth)

    @property
    @override
    def power(self) -> int:
        return self.order

    @override
    def of_angle(self, theta: Array) -> Array:
        for _ in range(self.depth - 1):
            theta = relu_angle(theta)
        left = np.pi - theta
        if self.order == 0:
            return left / np.pi
        sine, cosine = np.sin(theta), np.cos(theta)
        if self.order == 1:
            return np.asarray((sine + left * cosine) / np.pi)
        return np.asarray((3 * sine * cosine + left * (1 + 2 * cosine**2)) / np.pi)

    @override
    def of_cosine(self, z: Array) -> Array:
        left = np.pi / 2 + np.arcsin(z)
        if self.order == 0:
            return left / np.pi
        if self.order == 2:
            return np.asarray((3 * np.sqrt(1 - z**2) * z + left * (1 + 2 * z**2)) / np.pi)
        for _ in range(self.depth):
            z = relu_cosine(z)
        return z
