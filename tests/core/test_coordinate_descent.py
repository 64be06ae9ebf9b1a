"""Dual coordinate descent: compiled against reference, problems that ride together against each alone."""

import numpy as np
import pytest
from oracle import draw_csr, draw_rows, strided, to_dense

from mercer import _core, reference
from mercer.core import BoxTables
from mercer.reference.types import CsrRows

LOSSES = ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]


def _problems(rng, Z, n_problems, loss, dtype, layout="dense"):
    """Return the arguments of descend after ``order``, with a few rows of weight 0 and one of zeros."""
    n, d = Z.shape
    one_sided = "hinge" in loss
    targets = rng.standard_normal((n, n_problems))
    cost = np.where(rng.random(n) < 0.1, 0.0, rng.random(n) + 0.1)
    squared = loss.startswith("squared")
    bounds = np.empty((n, 3), dtype=dtype)
    bounds[:, 0] = np.where(cost > 0, np.inf, 0) if squared else cost
    bounds[:, 1] = np.divide(0.5, cost, out=np.zeros(n), where=cost > 0) if squared else 0
    bounds[:, 2] = (Z.astype(np.float64) ** 2).sum(axis=1) + 0.25
    width = n_problems if layout == "dense" or n_problems == 1 else -(-n_problems // 8) * 8
    return {
        "targets": (np.sign(targets) if one_sided else targets).astype(dtype),
        "bounds": bounds,
        "duals": np.zeros((n, n_problems), dtype=dtype),
        "shrunk": np.zeros((n, n_problems), dtype=np.uint8),
        "weights": np.zeros((n_problems, d) if layout == "dense" else (d, width), dtype=dtype),
        "intercepts": np.zeros(n_problems, dtype=dtype),
        "progress": np.array([[np.inf], [0.0], [0.0]]) * np.ones(n_problems),
        "one_sided": one_sided,
        "epsilon": 0.0 if one_sided else 0.1,
        "constant": 0.5,
    }


def _copies(arguments):
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


def _epochs(function, rows, arguments, n_rows, n_epochs=3):
    """Descend for a few epochs, with the threshold of each the largest violation of the one before."""
    for epoch in range(n_epochs):
        arguments["progress"][1:] = 0
        order = np.random.RandomState(epoch).permutation(n_rows)
        function(*rows, order, **arguments)
        arguments["progress"][0] = arguments["progress"][2]
    return arguments


def _reference(*arguments, **tables):
    """Call the NumPy primitive with the arguments of the compiled one."""
    *rows, order = arguments
    if len(rows) == 1:
        reference.descend(rows[0], order, BoxTables(**tables))
    else:
        reference.descend_csr(CsrRows(*rows), order, BoxTables(**tables))


def _assert_same_descent(got, expected, dtype, n_steps):
    # Each step rounds at most a few times, and the next ones pass the error on without amplifying it.
    tolerance = 8 * np.finfo(dtype).eps * n_steps
    for name in ("duals", "weights", "intercepts", "progress"):
        scale = 1 + np.abs(expected[name]).max()
        np.testing.assert_allclose(got[name], expected[name], rtol=0, atol=tolerance * scale, err_msg=name)
    np.testing.assert_array_equal(got["shrunk"], expected["shrunk"])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "d", "n_problems"), [(1, 1, 1), (40, 7, 3), (60, 33, 1), (50, 130, 9)])
def test_compiled_equals_reference(level, dtype, loss, n, d, n_problems):
    rng = np.random.default_rng(n)
    Z = draw_rows(rng, n, d, dtype) / np.sqrt(d).astype(dtype)
    arguments = _problems(rng, Z, n_problems, loss, dtype)
    expected = _epochs(_reference, (Z,), _copies(arguments), n)
    arguments["weights"] = strided(arguments["weights"])
    got = _epochs(_core.descend, (strided(Z),), arguments, n)
    _assert_same_descent(got, expected, dtype, 3 * n)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_problems", [1, 2, 8, 11])
def test_compiled_equals_reference_on_csr_rows(level, dtype, loss, n_problems, index_dtype):
    rng = np.random.default_rng(n_problems)
    rows = draw_csr(rng, 40, 23, dtype, index_dtype)
    arguments = _problems(rng, to_dense(rows, 23), n_problems, loss, dtype, "csr")
    expected = _epochs(_reference, rows, _copies(arguments), 40)
    got = _epochs(_core.descend_csr, rows, arguments, 40)
    _assert_same_descent(got, expected, dtype, 3 * 40)
    assert not got["weights"][:, n_problems:].any()


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_problem_is_the_same_bits_in_any_company(level, dtype, loss, layout):
    rng = np.random.default_rng(0)
    rows = draw_csr(rng, 30, 50, dtype)
    Z = to_dense(rows, 50)
    call, rows = (_core.descend, (Z,)) if layout == "dense" else (_core.descend_csr, rows)
    together = _problems(rng, Z, 3, loss, dtype, layout)
    alone = []
    for k in range(3):
        part = _copies(together)
        for name in ("targets", "duals", "shrunk", "progress"):
            part[name] = np.ascontiguousarray(part[name][:, [k]])
        part["intercepts"] = part["intercepts"][:1]
        part["weights"] = np.zeros((1, 50) if layout == "dense" else (50, 1), dtype=dtype)
        alone.append(_epochs(call, rows, part, 30))
    _epochs(call, rows, together, 30)
    for name in ("duals", "shrunk", "progress"):
        np.testing.assert_array_equal(together[name], np.hstack([part[name] for part in alone]))
    stacked = np.stack([part["weights"].ravel() for part in alone])
    np.testing.assert_array_equal(together["weights"] if layout == "dense" else together["weights"][:, :3].T, stacked)


def test_a_negative_threshold_leaves_a_problem_alone():
    rng = np.random.default_rng(0)
    Z = draw_rows(rng, 20, 5, np.float64)
    arguments = _problems(rng, Z, 2, "hinge", np.float64)
    arguments["progress"][0, 1] = -1
    _core.descend(Z, np.arange(20), **arguments)
    assert arguments["weights"][0].any()
    assert not arguments["weights"][1].any()
    assert not arguments["progress"][1:, 1].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": np.array([20])}, r"order must lie in \[0, number of rows\) = \[0, 20\)"),
        ({"bounds": np.ones((20, 2))}, r"bounds.shape\[1\] must be the number of columns = 3, got 2"),
        ({"duals": np.ones((19, 2))}, r"duals.shape\[0\] must be the number of rows = 20, got 19"),
        ({"weights": np.ones((2, 4))}, r"weights.shape\[1\] must be Z.shape\[1\] = 5, got 4"),
        ({"intercepts": np.ones(3)}, r"len\(intercepts\) must be targets.shape\[1\] = 2, got 3"),
        ({"progress": np.ones((2, 2))}, r"progress.shape\[0\] must be the number of rows = 3, got 2"),
    ],
)
def test_sizes_are_checked_at_the_border(change, message):
    rng = np.random.default_rng(0)
    Z = draw_rows(rng, 20, 5, np.float64)
    arguments = {"order": np.arange(20)} | _problems(rng, Z, 2, "hinge", np.float64) | change
    with pytest.raises(ValueError, match=message):
        _core.descend(Z, **arguments)


def test_a_column_outside_is_refused():
    rng = np.random.default_rng(0)
    data, indices, indptr = draw_csr(rng, 20, 5, np.float64)
    arguments = _problems(rng, np.ones((20, 5)), 2, "hinge", np.float64, "csr")
    with pytest.raises(ValueError, match=r"indices must lie in \[0, 5\), but a column lies outside"):
        _core.descend_csr(data, indices + 1, indptr, np.arange(20), **arguments)
    arguments["weights"] = np.zeros((5, 2))
    with pytest.raises(ValueError, match="rounded up to a multiple of 8"):
        _core.descend_csr(data, indices, indptr, np.arange(20), **arguments)
