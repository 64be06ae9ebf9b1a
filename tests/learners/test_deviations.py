"""``predict(X, return_std=True)``: streams, sparse rows, float32, model files and refusals."""

import pickle
import warnings
from io import BytesIO

import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, KernelRidge, as_blocks, config_context, load, save
from mercer.testing import check_learner

rng = np.random.RandomState(0)
X = rng.standard_normal((500, 3))
Y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(500)
MODEL = KernelRidge(Gaussian(gamma=0.5), n_components=50, posterior=True, random_state=0)


def test_arrays_streams_sparse_rows_and_float32_agree():
    mean, std = MODEL.fit(X, Y).predict(X[:40], return_std=True)
    assert mean.shape == std.shape == (40,)
    np.testing.assert_array_equal(mean, MODEL.predict(X[:40]))
    streamed = KernelRidge(**MODEL.get_params(deep=False)).fit(
        as_blocks(lambda: iter([(X[:300], Y[:300]), (X[300:], Y[300:])]))
    )
    for given in (X[:40], as_blocks(X[:40], block_rows=7), sparse.csr_array(X[:40])):
        np.testing.assert_allclose(streamed.predict(given, return_std=True)[1], std, rtol=1e-9)
    single = KernelRidge(**MODEL.get_params(deep=False)).fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(single.predict(X[:40].astype(np.float32), return_std=True)[1], std, rtol=1e-3)


def test_model_files_and_pickles_hold_the_posterior():
    model = KernelRidge(**MODEL.get_params(deep=False)).fit(X, Y)
    file = BytesIO()
    save(model, file)
    file.seek(0)
    for other in (load(file), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])


def test_one_warning_for_both_results():
    model = KernelRidge(**MODEL.get_params(deep=False)).fit(X, Y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(np.full((2, 3), 99.0), return_std=True)
    assert len(caught) == 1


def test_refusals_name_the_way_out():
    with pytest.raises(ValueError, match=r"return_std=True needs a posterior, and posterior is False\. Fit again with"):
        KernelRidge(n_components=20).fit(X, Y).predict(X, return_std=True)
    with (
        config_context(memory=6 * 8 * 50**2 - 1),
        pytest.raises(ValueError, match="posterior=True needs a matrix of 50"),
    ):
        KernelRidge(**MODEL.get_params(deep=False)).fit(X, Y)


def test_the_laws_of_learners():
    check_learner(KernelRidge(n_components=32, posterior=True), sklearn_checks=False)
