"""The neural tangent kernel of deep ReLU networks."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array, override
from mercer.kernels.arc_cosine import MOST_LAYERS
from mercer.kernels.homogeneous import HomogeneousKernel, relu_angle, relu_cosine
from mercer.validation import check_integer


@dataclass(frozen=True, repr=False)
class NeuralTangent(HomogeneousKernel):
    r"""The neural tangent kernel of a fully connected ReLU network of infinite width, with k(x, x) = |x|^2.

    With t the cosine of the angle between x and y, :math:`\kappa_0(t) = 1 - \arccos(t) / \pi` and
    :math:`\kappa_1(t) = (\sqrt{1 - t^2} + t (\pi - \arccos t)) / \pi`, from :math:`s_0 = \theta_0 = t`:

    .. math:: s_l = \kappa_1(s_{l-1}), \quad \theta_l = \theta_{l-1} \kappa_0(s_{l-1}) + s_l, \quad
              k(x, y) = \|x\| \|y\|\, \theta_L / (L + 1)

    Parameters
    ----------
    depth : int
        Hidden layers L.

    Notes
    -----
    Rows are compared without a constant column: append one for the biases of the first layer. The function of the
    cosine has a non-negative Maclaurin series with a long tail: at L = 3 the degrees above 20 carry 0.09 of k(x, x). A
    sketch of the series leaves them out (``truncation_error_`` of ``HomogeneousFeatures``), which acts as a ridge on
    the diagonal. ``Nystroem`` has no such tail, and is more exact for the same number of features.

    References
    ----------
    A. Jacot, F. Gabriel and C. Hongler, "Neural tangent kernel: convergence and generalization in neural networks",
    NeurIPS 2018.
    A. Zandieh et al., "Scaling neural tangent kernels via sketching and random features", NeurIPS 2021.

    Examples
    --------
    >>> from mercer.kernels import NeuralTangent
    >>> NeuralTangent(1)([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]]).round(4)
    array([[0.1592, 2.    ]])
    """

    depth: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", check_integer("NeuralTangent", "depth", self.depth, most=MOST_LAYERS))

    @property
    @override
    def power(self) -> int:
        return 1

    @override
    def of_angle(self, theta: Array) -> Array:
        total = np.cos(theta)
        for _ in range(self.depth):
            total = total * (1 - theta / np.pi)
            theta = relu_angle(theta)
            total = total + np.cos(theta)
        return np.asarray(total / (self.depth + 1))

    @override
    def of_cosine(self, z: Array) -> Array:
        total = z
        for _ in range(self.depth):
            total = total * (0.5 + np.arcsin(z) / np.pi)
            z = relu_cosine(z)
            total = total + z
        return np.asarray(total / (self.depth + 1))
