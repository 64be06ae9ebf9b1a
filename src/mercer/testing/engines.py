"""The laws of engines: order, bits, errors, and work that travels."""

from typing import Any

import numpy as np

from mercer._typing import Array
from mercer.data import Block, Blocks, as_blocks
from mercer.engines import Engine, Local, rows_of
from mercer.fitting import Passes
from mercer.stats import ClusterSums, ColumnRanges, Gradient, Moments, RowSample, Totals

# Blocks of 8 rows: 3 parts of 16 blocks, and a last part with a short block.
_BLOCK_ROWS, _N_ROWS = 8, 3 * 128 + 77


def check_engine(engine: Engine) -> None:
    """Check an engine: results in order, statistics with the bits of ``Local``, errors that name the row.

    Parameters
    ----------
    engine : Engine

    Examples
    --------
    >>> from mercer.engines import Local
    >>> from mercer.testing import check_engine
    >>> check_engine(Local())
    """
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((_N_ROWS, 3)), rng.standard_normal((_N_ROWS, 2))
    blocks = as_blocks(X, y, sample_weight=rng.rand(_N_ROWS), block_rows=_BLOCK_ROWS, owner="check_engine")
    first_rows = list(engine.map(lambda block: block.first_row, blocks))
    assert first_rows == list(range(0, _N_ROWS, _BLOCK_ROWS)), "map must yield results in the order of the blocks"
    np.testing.assert_array_equal(rows_of(engine, lambda block: 2 * block.X, blocks), 2 * X)
    for plan in (None, (100, 1, 200, _N_ROWS - 301)):
        cut = as_blocks(X, y, block_rows=_BLOCK_ROWS, plan=plan)
        for empty, work in _statistics(y):
            _check_bits(engine, cut, empty, work)
    _check_chain(engine, blocks)
    _check_errors(engine, X)
    _check_progress(engine, blocks)
    _check_interruption(engine, blocks)


def _statistics(y: Array) -> list[tuple[Any, Any]]:
    """Return empty statistics, and work that closes over local values."""
    offset = np.ones(3)
    moments, gradient, sample = Moments.of(3, 2), Gradient.of(3, 2), RowSample(20, seed=1)
    clusters, ranges, totals = ClusterSums.of(2, 3), ColumnRanges.of(3), Totals.of(3)
    return [
        (moments, lambda block: moments.zero().update(block.X + offset, block.y)),
        (gradient, lambda block: gradient.zero().update(block.X, block.y, 0.1)),
        (sample, lambda block: sample.zero().update(block.X, block.first_row)),
        (clusters, lambda block: clusters.zero().update(block.X, (block.X[:, 0] > 0).astype(int), None)),
        (ranges, lambda block: ranges.zero().update(block.X)),
        (totals, lambda block: Totals(np.sum(block.X**3, axis=0))),
    ]


def _check_bits(engine: Engine, blocks: Blocks, empty: Any, work: Any) -> None:
    found, expected = (one.reduce(work, blocks, empty.zero()) for one in (engine, Local()))
    if isinstance(expected, RowSample):
        np.testing.assert_array_equal(found.rows, expected.rows, err_msg="RowSample")
        return
    for name, value in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), value, err_msg=f"{type(empty).__name__}.{name}")


def _check_chain(engine: Engine, blocks: Blocks) -> None:
    """Check that a state goes through the blocks in order, and that each state is that after some whole blocks."""
    scale = 0.5

    def work(state: tuple[int, float], block: Block) -> tuple[int, float]:
        assert state[0] == block.first_row, "chain must take the blocks in their order"
        return block.first_row + block.n_rows, scale * state[1] + float(np.asarray(block.X).sum())

    rows: list[int] = []
    states = list(engine.chain(work, blocks, (0, 1.0), rows.append))
    expected = list(Local().chain(work, blocks, (0, 1.0)))
    assert states[-1] == expected[-1], "chain must end with the state after all blocks, with the bits of Local"
    assert set(states) <= set(expected), "chain must yield states after whole blocks"
    assert sum(rows) == _N_ROWS, f"done must be told of all {_N_ROWS} rows of a chain, got {sum(rows)}"


def _check_errors(engine: Engine, X: Array) -> None:
    """Errors name rows by their number in the whole source, and leave an engine that works."""
    bad = X.copy()
    bad[301, 1] = np.nan
    blocks = as_blocks(bad, block_rows=_BLOCK_ROWS, owner="check_engine")
    for work, given in ((_sum_of_rows, blocks), (_fails_at_row_301, _good(X))):
        message = _message(engine, work, given)
        assert message, "an error in a block must come out of reduce"
        assert "301" in message, f"an error must name row 301, got {message}"
    total = engine.reduce(_sum_of_rows, _good(X), Totals.of(3))
    np.testing.assert_allclose(total.values, X.sum(axis=0))


def _message(engine: Engine, work: Any, blocks: Blocks) -> str:
    try:
        Passes("check_engine", engine).reduce("sums", work, blocks, Totals.of(3))
    except ValueError as error:
        return str(error)
    return ""


def _good(X: Array) -> Blocks:
    return as_blocks(X, block_rows=_BLOCK_ROWS, owner="check_engine")


def _sum_of_rows(block: Block) -> Totals:
    return Totals(np.asarray(block.X).sum(axis=0))


def _fails_at_row_301(block: Block) -> Totals:
    if block.first_row <= 301 < block.first_row + block.n_rows:
        raise ValueError("row 301 is refused")
    return _sum_of_rows(block)


def _check_progress(engine: Engine, blocks: Blocks) -> None:
    rows: list[int] = []
    engine.reduce(lambda block: Totals(np.ones(3)), blocks, Totals.of(3), rows.append)
    assert sum(rows) == _N_ROWS, f"done must be told of all {_N_ROWS} rows, got {sum(rows)}"


def _check_interruption(engine: Engine, blocks: Blocks) -> None:
    """Check that Ctrl-C comes out of a pass, and leaves an engine that works."""

    def interrupt(n_rows: int) -> None:
        raise KeyboardInterrupt

    def by_map() -> None:
        for _ in engine.map(_sum_of_rows, blocks, interrupt):
            pass

    for run in (by_map, lambda: engine.reduce(_sum_of_rows, blocks, Totals.of(3), interrupt)):
        try:
            run()
        except KeyboardInterrupt:
            continue
        raise AssertionError("an interruption must come out of a pass")
    assert engine.reduce(_sum_of_rows, blocks, Totals.of(3)).values.shape == (3,)
