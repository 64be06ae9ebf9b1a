"""The average gradient outer product of a function of Fourier features, from moments of the features alone."""

import numpy as np

from mercer._typing import Array


def gradient_outer_product(frequencies: Array, coef: Array, gram: Array) -> Array:
    r"""Return the mean over the rows of :math:`\sum_k \nabla f_k(x) \nabla f_k(x)^T`, without a pass over the rows.

    With f the sum of :math:`a_j \cos\langle w_j, x\rangle + b_j \sin\langle w_j, x\rangle`, the gradient is W u(x) with
    u_j = -a_j sin + b_j cos, so that the mean of u u' is made of entries of the mean of z z':

    .. math:: E = \sum_k a a^T \circ G_{ss} + b b^T \circ G_{cc} - a b^T \circ G_{sc} - (a b^T \circ G_{sc})^T,
              \qquad W E W^T.

    Parameters
    ----------
    frequencies : ndarray of shape (d, m)
        W, one frequency per column.
    coef : ndarray of shape (2 m, k)
        The coefficients a of the m cosines, then b of the m sines, for each of k functions.
    gram : ndarray of shape (2 m, 2 m)
        The mean of z z', z the cosines and then the sines, not centred.

    Returns
    -------
    ndarray of shape (d, d), symmetric and positive semi-definite

    Notes
    -----
    Time O(m^2 (d + k)), whatever the number of rows.

    References
    ----------
    A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin, "Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models", Science 383, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 2 * np.pi, 1000, endpoint=False)  # f(x) = sin(3 x) has the mean squared slope 9 / 2
    >>> z = np.stack([np.cos(3 * x), np.sin(3 * x)])
    >>> gradient_outer_product(np.array([[3.0]]), np.array([[0.0], [1.0]]), z @ z.T / 1000).round(12)
    array([[4.5]])
    """
    m = frequencies.shape[1]
    a, b = coef[:m], coef[m:]
    mixed = (a @ b.T) * gram[m:, :m]
    E = (a @ a.T) * gram[m:, m:] + (b @ b.T) * gram[:m, :m] - mixed - mixed.T
    product = frequencies @ E @ frequencies.T
    return np.asarray((product + product.T) / 2)
