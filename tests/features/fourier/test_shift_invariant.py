"""The choice of a map for a shift-invariant kernel: by the columns, and on CSR rows by the cost of their non-zeros."""

import numpy as np
import pytest
from scipy import sparse

from mercer import FourierFeatures, Gaussian, Laplacian, Matern, config_context
from mercer.features import ShiftInvariantFeatures
from mercer.testing import assert_mean_close


def _rows(n_columns, entries, n_rows=40):
    rng = np.random.default_rng(0)
    return sparse.random_array((n_rows, n_columns), density=entries / n_columns, format="csr", rng=rng)


def _chosen(X, kernel=None, n_components=100):
    return type(ShiftInvariantFeatures(kernel or Gaussian(gamma=0.5), n_components=n_components).fit(X).map_).__name__


@pytest.mark.parametrize(
    ("X", "n_components", "name"),
    [
        (_rows(20_000, 20), 100, "FourierFeatures"),
        (_rows(20_000, 5000), 100, "OrthogonalFeatures"),  # so many non-zeros that a transform is quicker
        (_rows(1000, 20), 4096, "OrthogonalFeatures"),  # so many features
        (_rows(50, 5), 100, "OrthogonalFeatures"),  # an exact rotation, whose frequencies serve non-zeros too
        (_rows(500, 5).toarray(), 100, "OrthogonalFeatures"),
        (_rows(3, 2), 100, "QuasiRandomFeatures"),
    ],
)
def test_the_quicker_map_is_chosen(X, n_components, name):
    assert _chosen(X, n_components=n_components) == name


def test_frequencies_that_are_not_worth_their_memory_are_not_drawn():
    """20000 x 50 frequencies and a copy take 16 MB: more than a quarter of 40 MB, and less of 100 MB."""
    X = _rows(20_000, 20)
    with config_context(memory="100MB"):
        assert _chosen(X) == "FourierFeatures"
    with config_context(memory="40MB"):
        assert _chosen(X) == "OrthogonalFeatures"
        assert _chosen(X, Matern(1.5)) == "OrthogonalFeatures"
        assert _chosen(X, Laplacian()) == "FourierFeatures"  # which has no fast transforms


def test_the_choice_depends_on_the_rows_alone():
    X = _rows(20_000, 20)
    names = set()
    for threads in (1, 2):
        with config_context(threads=threads):
            names.add(_chosen(X))
    assert names == {_chosen(X[::2])} == {"FourierFeatures"}


def test_it_is_unbiased_on_sparse_rows_and_serves_dense_ones():
    X = _rows(3000, 5, 6)
    kernel = Gaussian(gamma=0.5)
    draws = []
    for seed in range(200):
        drawn = ShiftInvariantFeatures(kernel, n_components=32, random_state=seed).fit(X)
        assert isinstance(drawn.map_, FourierFeatures)
        draws.append(drawn.transform(X) @ drawn.transform(X).T)
    assert_mean_close(np.array(draws), kernel(X), false_alarm=1e-6, detect=0.2, atol=1e-9)
    np.testing.assert_allclose(drawn.transform(X.toarray()), drawn.transform(X), atol=1e-10)
