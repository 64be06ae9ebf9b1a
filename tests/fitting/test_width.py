"""How many features a learner takes by itself."""

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import Gaussian, KernelRidge, KernelSVC, config_context
from mercer.data import as_blocks
from mercer.fitting.width import _MOST_WIDTH, USUAL_WIDTH, Solver, choose_width
from mercer.storage import dumps, loads

SQUARES = Solver(n_squares=8)


def _widest_that_pays(error_of):
    width = 1024
    while width < 8192 and error_of(width) - error_of(2 * width) >= 0.02 * error_of(width):
        width *= 2
    return width


@pytest.mark.parametrize("floor", [0.0, 0.01, 0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("slope", [10.0, 64.0, 100.0, 200.0])
def test_a_doubling_must_lower_the_error_by_two_per_cent(floor, slope):
    def error_of(width):  # the variance of features falls as one over their number
        return floor + slope / width

    choice = choose_width(error_of, 1024, 8192)
    truth = _widest_that_pays(error_of)
    assert choice.n_features in (truth, 2 * truth)  # the extrapolation may hope for one doubling more
    assert choice.errors == tuple(error_of(width) for width in choice.widths)
    assert choose_width(error_of, 1024, 2048).n_features == min(2048, choice.n_features)


@pytest.mark.parametrize("error", [0.0, 1.0, float("inf")])
def test_an_error_that_does_not_fall_leaves_1024(error):
    assert choose_width(lambda width: error, 1024, 8192).n_features == 1024
    assert choose_width(lambda width: error + width, 1024, 8192).n_features == 1024


def test_a_curve_that_is_flat_at_first_is_not_measured_further():
    asked = []
    choice = choose_width(lambda width: asked.append(width) or 1.0, 1024, 8192)
    assert asked == [256, 512]
    assert choice.details()["width_reason"] == "the error hardly falls with more features"
    assert not choose_width(lambda width: asked.append(width) or 1.0, 1024, 1024).widths
    assert asked == [256, 512]


def test_limits_of_rows_memory_time_and_columns():
    assert SQUARES.widest(4095, 10, 8) == 1024
    assert SQUARES.widest(4096, 10, 8) == 2048
    assert Solver().widest(20_000, 10, 4) == _MOST_WIDTH
    assert Solver().widest(10**8, 10, 8) == 1024  # 100 passes over them take hours
    assert SQUARES.widest(10**7, 10, 8) == 1024
    assert SQUARES.widest(10**5, 10**5, 8) == 1024  # a map would be fitted on too many bytes
    assert SQUARES.widest(None, 10, 8) >= SQUARES.widest(20_000, 10, 8)  # a stream: all limits but those of rows
    with config_context(memory="1GB"):
        assert Solver().widest(10**5, 10, 8) == 1024
        assert SQUARES.widest(10**5, 10, 8) == 1024
        assert SQUARES.usual_width == 1024
    with config_context(memory="30MB"):
        assert SQUARES.usual_width == SQUARES.widest(10**5, 10, 8) == 256
        assert Solver().usual_width == USUAL_WIDTH
    with config_context(memory="10kB"):
        assert SQUARES.usual_width == Solver().usual_width == 64


SUPERVISED = ["KernelRidge", "KernelRidgeClassifier", "KernelSVC", "KernelSVR", "KernelLogisticRegression"]
OTHERS = ["KernelKMeans", "KernelOneClassSVM", "FOGDClassifier", "FOGDRegressor", "NOGDClassifier", "NOGDRegressor"]


@pytest.mark.parametrize("name", SUPERVISED + OTHERS)
def test_by_default_it_is_the_model_of_1024_features(name, rng):
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] > 0).astype(float)
    model = getattr(mercer, name)(random_state=0)
    assert model.n_components == "auto"
    expected = clone(model).set_params(n_components=1024).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).predict(X), expected.predict(X))
    assert name.startswith("NOGD") or model.feature_map_.n_features_out_ == 1024
    if name in SUPERVISED:
        assert model.solution_.details["width"] == 1024
        assert "more rows" in model.solution_.details["width_reason"]


@pytest.mark.parametrize("name", ["KernelPCA", "KernelCCA"])
def test_by_default_maps_of_two_steps_have_1024_features(name, rng):
    X = rng.standard_normal((60, 3))
    model = getattr(mercer, name)(random_state=0)
    assert model.map_components == "auto"
    model.fit(X, X**2)
    expected = clone(model).set_params(map_components=model.feature_map_.n_features_out_).fit(X, X**2)
    np.testing.assert_array_equal(model.transform(X), expected.transform(X))


@pytest.mark.parametrize("given", ["wide", "", 0, None, 1.5])
@pytest.mark.parametrize("name", [*SUPERVISED, *OTHERS])
def test_another_width_is_refused(name, given, rng):
    X = rng.standard_normal((20, 2))
    with pytest.raises(ValueError, match=rf"{name}: n_components must be .*an integer >= 1, got {given!r}"):
        getattr(mercer, name)(n_components=given).fit(X, np.arange(20) % 2)


@pytest.fixture(scope="module")
def rough():
    """Rows of a function that a thousand features do not follow."""
    rng = np.random.RandomState(0)
    X = rng.uniform(-1, 1, (4200, 6))
    return X, np.sin(4 * X[:, 0] + 3 * X[:, 1]) * np.cos(4 * X[:, 2] - 2 * X[:, 3]) + X[:, 4] * X[:, 5]


def test_more_features_are_taken_where_they_pay(rough):
    X, y = rough
    model = KernelRidge(Gaussian(gamma=1.0), alpha=0.01, random_state=0)
    chosen = clone(model).fit(X, y)
    details = chosen.solution_.details
    assert details["width"] == chosen.feature_map_.n_features_out_ == 2048
    assert details["widths"].tolist() == [256, 512, 1024]
    assert (np.diff(details["width_errors"]) < 0).all()
    told = clone(model).set_params(n_components=2048).fit(X, y)
    np.testing.assert_array_equal(chosen.predict(X), told.predict(X))

    def stream():  # its length is not known before it is read
        for start in range(0, len(X), 700):
            yield X[start : start + 700], y[start : start + 700]

    streamed = clone(model).fit(as_blocks(stream))
    np.testing.assert_array_equal(streamed.predict(X), told.predict(X))
    again = loads(dumps(chosen))
    assert again.solution_.details["widths"].tolist() == [256, 512, 1024]


def test_more_features_are_not_taken_for_a_smooth_function(rough):
    X, _ = rough
    labels = np.where(X[:, 0] + X[:, 1] > 0, "over", "under")
    model = KernelSVC(Gaussian(gamma=0.05), tol=0.1, random_state=0).fit(X, labels)
    assert model.solution_.details["width"] == 1024
    told = clone(model).set_params(n_components=1024).fit(X, labels)
    np.testing.assert_array_equal(model.decision_function(X), told.decision_function(X))


def test_a_warm_start_keeps_its_map_without_another_curve(rough):
    X, y = rough
    model = KernelSVC(Gaussian(gamma=0.05), tol=0.1, warm_start=True, random_state=0).fit(X, y > 0)
    first = model.feature_map_
    model.set_params(C=2.0).fit(X, y > 0)
    assert model.feature_map_ is first
    assert "widths" not in model.solution_.details


def test_features_of_a_few_rows_fit_a_memory_limit(rng):
    X = rng.standard_normal((700, 3))
    with config_context(memory="1MB"):
        model = mercer.KernelKMeans(n_clusters=3, random_state=0).fit(X)
    assert model.feature_map_.n_features_out_ == 64


def test_under_a_memory_limit_fewer_features_are_taken(rng):
    X = rng.standard_normal((50, 3))
    with config_context(memory="30MB"):
        model = KernelRidge(random_state=0).fit(X, X[:, 0])
    assert model.feature_map_.n_features_out_ == 256
