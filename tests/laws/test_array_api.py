"""Every map and every learner returns arrays of the library of X, with the numbers that NumPy gets."""

import numpy as np
import pytest
import sklearn
from public import LEARNERS, MAPS, TUNED, make, rows, target

import mercer

X = rows(80)
NAMES = ("transform", "predict", "decision_function", "predict_proba", "score_samples")


@pytest.fixture(params=["torch", "array_api_strict"])
def xp(request, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    library = pytest.importorskip(request.param)
    with sklearn.config_context(array_api_dispatch=True):
        yield library


@pytest.mark.filterwarnings("ignore")  # of unlike draws on few rows
@pytest.mark.parametrize("name", [*MAPS, *LEARNERS, *TUNED])
def test_results_follow_x(name, xp):
    estimator = make(name)
    if mercer.learners.training_rows.domain_of(estimator) != "rows":
        pytest.skip("takes objects")
    y = target(estimator, X)
    estimator.fit(X, y)
    tensor = xp.asarray(X)
    for method in NAMES:
        if not hasattr(estimator, method):
            continue
        expected, found = getattr(estimator, method)(X), getattr(estimator, method)(tensor)
        if expected.dtype.kind in "UO":  # text stays in NumPy
            assert type(found) is np.ndarray
            continue
        assert type(found) is type(tensor), method
        np.testing.assert_array_equal(np.from_dlpack(found), expected, err_msg=method)
