"""Arrays of other libraries: what is shared, what is followed, and what is refused in words."""

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from mercer import FourierFeatures, KernelKMeans, KernelRidge, KernelRidgeClassifier, LinearFeatures
from mercer.array_api import FollowsArrays


@pytest.fixture
def dispatch(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # scikit-learn asks for it
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=["torch", "array_api_strict"])
def xp(request):
    return pytest.importorskip(request.param)


@pytest.fixture
def data(rng):
    X = rng.rand(60, 3)
    return X, X[:, 0] ** 2


def test_results_are_of_the_library_of_x(dispatch, xp, data):
    X, y = data
    model = KernelRidge(random_state=0).fit(X, y)
    found = model.predict(xp.asarray(X))
    assert type(found) is type(xp.asarray(X))
    np.testing.assert_array_equal(np.from_dlpack(found), model.predict(X))
    narrow = FourierFeatures(random_state=0).fit(X).transform(xp.asarray(X.astype(np.float32)))
    assert narrow.dtype == xp.float32


def test_a_fit_on_tensors_is_that_on_arrays(dispatch, xp, data):
    X, y = data
    weights = np.linspace(1, 2, len(y))
    expected = KernelRidge(random_state=0).fit(X, y, weights)
    found = KernelRidge(random_state=0).fit(xp.asarray(X), xp.asarray(y), sample_weight=xp.asarray(weights))
    assert type(found.coef_) is np.ndarray
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.score(xp.asarray(X), xp.asarray(y)) == expected.score(X, y)


def test_without_dispatch_results_are_arrays_of_numpy(data):
    torch = pytest.importorskip("torch")
    X, y = data
    model = KernelRidge(random_state=0).fit(torch.asarray(X), torch.asarray(y))
    found = model.predict(torch.asarray(X))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, model.predict(X))


def test_several_results_and_text(dispatch, xp, data):
    X, y = data
    model = KernelRidge(random_state=0, posterior=True).fit(X, y)
    mean, deviation = model.predict(xp.asarray(X), return_std=True)
    assert type(mean) is type(deviation) is type(xp.asarray(X))
    labels = np.where(y > y.mean(), "over", "under")
    text = KernelRidgeClassifier(random_state=0).fit(xp.asarray(X), labels).predict(xp.asarray(X))
    assert type(text) is np.ndarray  # no other library holds text
    clusters = KernelKMeans(n_clusters=2, random_state=0).fit_predict(xp.asarray(X))
    assert clusters.dtype in (xp.int32, xp.int64)


def test_a_pipeline_stays_in_the_library(dispatch, xp, data):
    X, y = data
    model = make_pipeline(MaxAbsScaler(), KernelRidge(random_state=0)).fit(xp.asarray(X), xp.asarray(y))
    expected = make_pipeline(MaxAbsScaler(), KernelRidge(random_state=0)).fit(X, y).predict(X)
    found = model.predict(xp.asarray(X))
    assert type(found) is type(xp.asarray(X))
    np.testing.assert_allclose(np.from_dlpack(found), expected, rtol=1e-9)


def test_memory_is_shared_both_ways(dispatch, data):
    torch = pytest.importorskip("torch")
    seen = {}

    class Watched(LinearFeatures):
        def transform(self, X):
            seen["X"], seen["Z"] = X, super().transform(X)
            return seen["Z"]

    tensor = torch.asarray(data[0].copy())
    features = Watched().fit(data[0]).transform(tensor)
    assert seen["X"].ctypes.data == tensor.data_ptr()
    assert seen["Z"].ctypes.data == features.data_ptr()


def test_results_outlive_their_arrays(dispatch, xp, rng):
    """The memory of a large result goes to later results, but not while a tensor is on it."""
    X = rng.rand(5000, 4)
    feature_map = FourierFeatures(n_components=100, random_state=0).fit(X)
    expected = feature_map.transform(X).copy()
    found = feature_map.transform(xp.asarray(X))
    for shift in range(3):
        feature_map.transform(X + shift + 1.0)
    np.testing.assert_array_equal(np.from_dlpack(found), expected)


def test_what_numpy_cannot_read_is_refused_in_words(dispatch, data):
    torch = pytest.importorskip("torch")
    X, y = data
    model = KernelRidge(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"KernelRidge: NumPy cannot read the Tensor .* without a gradient"):
        model.predict(torch.asarray(X).requires_grad_())
    with pytest.raises(ValueError, match=r"KernelRidge: NumPy cannot read the Tensor"):
        model.predict(torch.asarray(X).to(torch.bfloat16))
    with pytest.raises(ValueError, match=r"KernelRidge: NumPy cannot read the Tensor"):
        model.predict(torch.empty(3, 3, device="meta"))


def test_an_array_on_a_gpu_is_refused_in_words(dispatch, data):
    class OnDevice:
        device = "cuda:0"

        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self):
            raise AssertionError("never read")

    X, y = data
    model = KernelRidge(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"KernelRidge: the OnDevice is on cuda:0, .* X.cpu\(\)"):
        model.predict(OnDevice())


def test_another_device_of_the_host_is_followed(dispatch, data):
    strict = pytest.importorskip("array_api_strict")
    X = strict.asarray(data[0], device=strict.Device("device1"))
    model = FourierFeatures(random_state=0).fit(data[0])
    found = model.transform(X)
    assert found.device == X.device


def test_methods_keep_their_names_and_are_wrapped_once():
    class Mine(FollowsArrays):
        def predict(self, X):
            """Return X."""
            return X

    class Derived(Mine):
        pass

    assert Mine.predict.__doc__ == "Return X."
    assert Derived.predict is Mine.predict
