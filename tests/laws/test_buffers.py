"""A source that fills the same arrays for every block gives what a source of fresh arrays gives, to every learner."""

import numpy as np
import pandas as pd
import pytest
from public import LEARNERS, agree, make, off_margin, results, rows, target
from scipy import sparse

from mercer import Gaussian, KernelRidge, Nystroem, as_blocks
from mercer.data import Block, Reader, reservoir

N_ROWS, PIECE = 96, 12
X = rows(N_ROWS)
X = X[np.argsort(X[:, 0])]  # a block read in place of another then matters


class Dense:
    """A buffer of dense rows."""

    def __init__(self):
        self.buffer = np.empty((PIECE, X.shape[1]))

    def filled(self, part):
        self.buffer[:] = part
        return self.buffer


class Framed(Dense):
    """A data frame over a buffer."""

    def __init__(self):
        super().__init__()
        self.frame = pd.DataFrame(self.buffer, copy=False)

    def filled(self, part):
        super().filled(part)
        return self.frame


class Floating(Dense):
    """A buffer that is not contiguous along its rows."""

    def __init__(self):
        self.buffer = np.empty((PIECE, X.shape[1]), order="F")


class Csr:
    """A CSR matrix whose three arrays are filled again: all entries are stored, zeros too."""

    def __init__(self):
        d = X.shape[1]
        self.matrix = sparse.csr_array(
            (np.empty(PIECE * d), np.tile(np.arange(d), PIECE), d * np.arange(PIECE + 1)), shape=(PIECE, d)
        )

    def filled(self, part):
        self.matrix.data[:] = part.ravel()
        return self.matrix


def stream(kind, y, weight=None):
    """Return blocks whose X, y and weights lie in the same memory each time."""

    def pieces():
        buffer, ys = kind(), np.empty_like(y[:PIECE])
        weights = None if weight is None else np.empty(PIECE)
        for a in range(0, N_ROWS, PIECE):
            ys[:] = y[a : a + PIECE]
            if weights is None:
                yield buffer.filled(X[a : a + PIECE]), ys
            else:
                weights[:] = weight[a : a + PIECE]
                yield buffer.filled(X[a : a + PIECE]), ys, weights

    return as_blocks(pieces)


@pytest.mark.parametrize("kind", [Dense, Framed, Floating, Csr])
@pytest.mark.parametrize("block_rows", [1, PIECE, 3 * PIECE, 1000])
def test_blocks_keep_their_rows(kind, block_rows):
    y, weight = np.arange(N_ROWS), np.linspace(1, 2, N_ROWS)
    blocks = list(stream(kind, y, weight).recut(block_rows, "as_blocks").labelled())
    dense = [block.X.toarray() if sparse.issparse(block.X) else block.X for block in blocks]
    np.testing.assert_array_equal(np.vstack(dense), X)
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
    np.testing.assert_array_equal(np.concatenate([block.sample_weight for block in blocks]), weight)


@pytest.mark.parametrize("kind", [Dense, Framed, Csr])
@pytest.mark.parametrize("name", LEARNERS)
def test_learners(name, kind):
    y = target(make(name), X)
    as_given = sparse.csr_array(X) if kind is Csr else X
    expected = results(make(name).fit(as_given, y), X)
    expected, found = off_margin(make(name), expected, results(make(name).fit(stream(kind, y)), X))
    for what, values in found.items():
        agree(values, expected[what], f"{what} of {name}", rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in LEARNERS if "GD" in name])
def test_rows_learned_a_call_at_a_time(name):
    y = target(make(name), X)
    one, other, buffer = make(name), make(name), np.empty((PIECE, X.shape[1]))
    classes = {"classes": np.unique(y)} if "Classifier" in name else {}
    for a in range(0, N_ROWS, PIECE):
        buffer[:] = X[a : a + PIECE]
        one.partial_fit(buffer, y[a : a + PIECE], **classes)
        other.partial_fit(X[a : a + PIECE].copy(), y[a : a + PIECE], **classes)
    for what, values in results(one, X).items():
        np.testing.assert_array_equal(values, results(other, X)[what])


def test_weights_in_one_buffer():
    y, weight = X[:, 0] ** 2, np.linspace(0, 3, N_ROWS)
    model = KernelRidge(Gaussian(gamma=1.0), n_components=24, random_state=0)
    expected = model.fit(X, y, weight).predict(X)
    np.testing.assert_allclose(model.fit(stream(Dense, y, weight)).predict(X), expected, rtol=1e-9)


def test_a_reader_of_one_s_own():
    class Refilled(Reader):
        width, dtype = X.shape[1], X.dtype

        def pieces(self, block_rows):
            buffer = Dense()
            for a in range(0, N_ROWS, PIECE):
                yield Block(buffer.filled(X[a : a + PIECE]))

    np.testing.assert_array_equal(np.vstack(list(as_blocks(Refilled(), block_rows=50))), X)


def test_samples_of_an_iterator():
    def pieces():
        buffer = Dense()
        for a in range(0, N_ROWS, PIECE):
            yield buffer.filled(X[a : a + PIECE])

    sample, numbers = reservoir(pieces(), 40, np.random.RandomState(0))
    np.testing.assert_array_equal(sample, X[numbers])
    nystroem = Nystroem(Gaussian(gamma=1.0), n_components=10, landmarks="uniform", random_state=0).fit(pieces())
    assert all((landmark == X).all(axis=1).any() for landmark in nystroem.landmarks_)
    assert len(np.unique(nystroem.landmarks_, axis=0)) == 10
