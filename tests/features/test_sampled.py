"""Maps fitted on Dask collections: a uniform sample of the rows, the same for any partitions, and no whole X here."""

import numpy as np
import pytest

pytest.importorskip("dask")

import dask
import dask.array as da

from mercer import FourierFeatures, Gaussian, Nystroem
from mercer.features.sampled import sampled_rows

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own warnings


def _rows():
    return np.random.RandomState(0).standard_normal((10_000, 3)).astype(np.float32)


@pytest.mark.parametrize("chunks", [(10_000,), (4000, 6000), (1, 9999)])
def test_the_sample_does_not_depend_on_the_partitions(chunks):
    X = _rows()
    with dask.config.set(scheduler="synchronous"):
        found = sampled_rows("Nystroem", da.from_array(X, chunks=(chunks, 3)), 5000, 7)
        expected = sampled_rows("Nystroem", da.from_array(X, chunks=(5000, 3)), 5000, 7)
        np.testing.assert_array_equal(found, expected)
        assert found.shape == (5000, 3)
        assert sampled_rows("Nystroem", da.from_array(X[:50], chunks=(20, 3)), 10, 7).shape == (50, 3)


def test_maps_are_fitted_on_the_sample():
    X = _rows()
    with dask.config.set(scheduler="synchronous"):
        rows = da.from_array(X, chunks=(3000, 3))
        landmarks = Nystroem(Gaussian(gamma=0.5), n_components=30, random_state=0).fit(rows)
        assert landmarks.transform(X[:5]).shape == (5, 30)
        Z = FourierFeatures(Gaussian(gamma="median"), n_components=8, random_state=0).fit_transform(rows)
        assert Z.shape == (10_000, 8)
        assert Z.compute().dtype == np.float32
