r"""Two Gaussian support vectors become one between them.

For :math:`z = h x_i + (1 - h) x_j` and :math:`\kappa = k(x_i, x_j)` the best coefficient of z is
:math:`c_z = c_i \kappa^{(1-h)^2} + c_j \kappa^{h^2}`, and the squared norm that is lost
:math:`|c_i|^2 + |c_j|^2 + 2 c_i \cdot c_j \kappa - |c_z|^2`.
"""

import numpy as np

from mercer._typing import Array
from mercer.reference.budget import arithmetic
from mercer.reference.budget.slots import leave, lengths
from mercer.reference.types import BudgetState

GOLDEN = (5**0.5 - 1) / 2
# Steps of the golden-section search on [0, 1/2]: the place is known to 3e-7, and the squared norm to its square.
N_STEPS = 30
# Newton's method ends where a step is below CLOSE; farther than LARGEST_MOVE from the table's place it is not trusted.
N_NEWTON_STEPS, LARGEST_MOVE, CLOSE = 8, 0.02, 1e-9


def merge(gamma: float, state: BudgetState, table: Array) -> None:
    """Merge the slot of the least coefficient with the one that loses least."""
    n = int(state.counts[0])
    squares = lengths(state, n)
    i = int(np.argmin(squares))
    exponents, products = slot_exponents(gamma, state, state.rows[i]), arithmetic.product(state.coef[:n], state.coef[i])
    places = np.where(products > 0, first_places(table, arithmetic.exponential(-exponents), squares[i], squares), 0.0)
    losses = lost(exponents, squares[i], squares, products, places)
    losses[i] = np.inf
    j = int(np.argmin(losses))
    exponent, square, product = float(exponents[j]), float(squares[j]), float(products[j])
    h = float(places[j])
    if product > 0:
        h = best_place(exponent, float(squares[i]), square, product, h)
    _replace(state, i, j, h, exponent)
    leave(state, i)


def first_places(table: Array, values: Array, square: float, squares: Array) -> Array:
    """Return the places h of the table, by bilinear interpolation in the kernel value and the share of the lesser."""
    size, sizes = np.sqrt(square), np.sqrt(squares)
    shares = np.where(size + sizes > 0, size / np.where(size + sizes > 0, size + sizes, 1.0), 0.0)
    n_values, n_shares = table.shape
    x = np.clip(values, 0.0, 1.0) * (n_values - 1)
    y = np.clip(2 * shares, 0.0, 1.0) * (n_shares - 1)
    a, b = np.minimum(x.astype(np.int64), n_values - 2), np.minimum(y.astype(np.int64), n_shares - 2)
    u, v = x - a, y - b
    low = (1 - v) * table[a, b] + v * table[a, b + 1]
    high = (1 - v) * table[a + 1, b] + v * table[a + 1, b + 1]
    return np.asarray((1 - u) * low + u * high)


def lost(exponents: Array, square: float, squares: Array, products: Array, places: Array) -> Array:
    """Return the squared norms that are lost by merging at the given places."""
    exp, rests = arithmetic.exponential, 1 - places
    left, right = exp(-exponents * rests * rests), exp(-exponents * places * places)
    merged = square * left * left + 2 * products * left * right + squares * right * right
    return np.asarray(square + squares + 2 * products * exp(-exponents) - merged)


def best_place(exponent: float, square: float, other: float, product: float, first: float) -> float:
    r"""Return the h in [0, 1/2] of the largest |c_z|, by Newton's method from a first place h of the table.

    With :math:`q = e^{-e (1 - 2 h)}` the derivative of |c_z|^2 has the sign of
    :math:`(1 - h) |c_i|^2 q^2 + (1 - 2 h) c_i \cdot c_j q - h |c_j|^2`. Where the steps do not end near the first
    place, golden sections are searched.
    """
    h = first
    for _ in range(N_NEWTON_STEPS):
        q = float(arithmetic.exponential(-exponent * (1 - 2 * h)))
        one, two = square * q * q, product * q
        value = (1 - h) * one + (1 - 2 * h) * two - h * other
        slope = (4 * exponent * (1 - h) - 1) * one + (2 * exponent * (1 - 2 * h) - 2) * two - other
        if not slope < 0:
            break
        move = value / slope
        h -= move
        if not 0 <= h <= 0.5 or abs(h - first) > LARGEST_MOVE:
            break
        if abs(move) < CLOSE:
            return h
    return searched_place(exponent, square, other, product)


def searched_place(exponent: float, square: float, other: float, product: float) -> float:
    """Return the h in [0, 1/2] of the largest |c_z|, by golden-section search; the lesser coefficient comes first."""

    def value(h: float) -> float:
        rest, exp = 1 - h, arithmetic.exponential
        left, right = float(exp(-exponent * rest * rest)), float(exp(-exponent * h * h))
        return square * left * left + 2 * product * left * right + other * right * right

    low, high = 0.0, 0.5
    one, two = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_one, at_two = value(one), value(two)
    for _ in range(N_STEPS):
        if at_one >= at_two:
            high, two, at_two = two, one, at_one
            one = high - GOLDEN * (high - low)
            at_one = value(one)
        else:
            low, one, at_one = one, two, at_two
            two = low + GOLDEN * (high - low)
            at_two = value(two)
    return (low + high) / 2


def slot_exponents(gamma: float, state: BudgetState, x: Array) -> Array:
    """Return gamma |x - row|^2 for the rows of all slots."""
    return arithmetic.exponents(x, state.rows[: int(state.counts[0])], gamma)


def _replace(state: BudgetState, i: int, j: int, h: float, exponent: float) -> None:
    """Put h x_i + (1 - h) x_j into slot j."""
    rest, exp = 1 - h, arithmetic.exponential
    state.coef[j] = exp(-exponent * rest * rest) * state.coef[i] + exp(-exponent * h * h) * state.coef[j]
    state.rows[j] = h * state.rows[i] + rest * state.rows[j]
    state.born[j] = max(state.born[i], state.born[j])
