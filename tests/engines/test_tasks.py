"""Parts of the rows: cut where the tree is cut, refused where a source has no parts, and worked on elsewhere."""

import pickle

import numpy as np
import pytest

from mercer import config_context
from mercer.config import get_config
from mercer.data import as_blocks
from mercer.engines import Local
from mercer.engines.tasks import Errand, n_bytes, parts_of, results_of_part, state_after_part, total_of_part
from mercer.engines.tree import fold_parts, merged
from mercer.stats import Moments


def test_an_errand_takes_its_work_and_settings_along():
    with config_context(block_rows=2, engine=Local()):
        errand = Errand(lambda work, part, config, more: (work(part), config.block_rows, config.engine, more), len)
    assert pickle.loads(pickle.dumps(errand))([1, 2, 3], "more") == (3, 2, None, "more")


def _sources(X, folder):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    np.save(folder / "rows.npy", X)
    table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])})
    (folder / "many").mkdir()
    parquet.write_table(table.slice(0, 333), folder / "many" / "a.parquet", row_group_size=100)
    parquet.write_table(table.slice(333), folder / "many" / "b.parquet", row_group_size=57)
    return {"array": X, "npy": folder / "rows.npy", "parquet": folder / "many"}


@pytest.mark.parametrize("kind", ["array", "npy", "parquet"])
def test_parts_travel_and_have_the_bits_of_the_whole(rng, tmp_path, kind):
    X = rng.standard_normal((900, 3))
    blocks = as_blocks(_sources(X, tmp_path)[kind], block_rows=7)
    empty = Moments.of(3, 0)

    def work(block):
        return empty.zero().update(block.X, np.empty((block.n_rows, 0)))

    parts = [pickle.loads(pickle.dumps(part)) for part in parts_of("Test", blocks)]
    assert [part.n_rows for part in parts] == [112] * 8 + [4]
    assert [part.first_row for part in parts] == list(range(0, 900, 112))
    np.testing.assert_array_equal(np.vstack([row for part in parts for row in part]), X)
    totals = [total_of_part(work, part, get_config()) for part in parts]
    expected = Local().reduce(work, blocks, empty.zero())
    np.testing.assert_array_equal(fold_parts(totals, merged).gram, expected.gram)
    firsts = [row for part in parts for row in results_of_part(lambda block: block.first_row, part, get_config())]
    assert firsts == list(range(0, 900, 7))


def test_a_file_travels_by_its_name(rng, tmp_path):
    sources = _sources(rng.standard_normal((900, 300)), tmp_path)
    for kind in ("npy", "parquet"):
        part = parts_of("Test", as_blocks(sources[kind], block_rows=16))[0]
        assert len(pickle.dumps(part)) < 256 * 300 * 8 / 8


def test_many_blocks_make_long_parts(rng):
    blocks = as_blocks(np.zeros((64 * 16 * 2 + 1, 1)), block_rows=2)
    assert [part.n_rows for part in parts_of("Test", blocks)] == [512] * 4 + [1]


def test_y_and_weights_are_cut_with_the_rows(rng):
    X, y, weight = rng.rand(100, 2), rng.rand(100), rng.rand(100)
    parts = parts_of("Test", as_blocks(X, y, sample_weight=weight, block_rows=3))
    rows = [block for part in parts for block in part.labelled()]
    np.testing.assert_array_equal(np.concatenate([block.y for block in rows]), y)
    np.testing.assert_array_equal(np.concatenate([block.sample_weight for block in rows]), weight)


def test_what_has_no_parts_is_refused_with_advice(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    for source in (lambda: iter([np.eye(2)]), str(tmp_path / "rows.csv")):
        with pytest.raises(ValueError, match=r"Test: this engine reads parts of the rows.*Give parquet"):
            parts_of("Test", as_blocks(source))


def test_a_large_array_of_this_process_is_not_sent():
    X = np.lib.stride_tricks.as_strided(np.zeros(1), shape=(2**21, 5), strides=(0, 0))
    with pytest.raises(ValueError, match="X is an array of 80 MiB in this process, and at most 64 MiB"):
        parts_of("Test", as_blocks(X))


def test_tasks_run_on_one_thread_with_the_settings_of_the_sender(rng):
    with config_context(threads=2, memory="1GiB", block_rows=9):
        config = get_config()
    found = results_of_part(lambda block: get_config(), parts_of("Test", as_blocks(np.eye(4), block_rows=4))[0], config)
    assert (found[0].threads, found[0].memory, found[0].block_rows) == (1, 2**30, 9)


def test_a_state_goes_from_part_to_part(rng):
    X = rng.random_sample((100, 3))
    blocks, config = as_blocks(X, block_rows=2), get_config()

    def work(state, block):
        return 0.5 * state + block.X.sum()

    state = 1.0
    parts = parts_of("Test", blocks)
    assert len(parts) > 1
    for part in parts:
        state = state_after_part(work, part, config, None, state)
    *_, expected = Local().chain(work, blocks, 1.0)
    assert state == expected


def test_the_bytes_of_a_statistic_are_those_of_its_arrays():
    assert n_bytes(Moments.of(10, 2)) >= 8 * 10 * 12
    assert n_bytes(np.zeros(4)) == 32
