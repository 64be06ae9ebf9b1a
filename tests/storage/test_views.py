"""Views of one array in model files: written once, loaded with their layout, and never beyond their memory."""

import json
import struct

import numpy as np
import pytest

from mercer import KernelLogisticRegression, KernelRidgeClassifier, KernelSVC
from mercer.storage import ModelFileError, dumps, loads
from mercer.storage.views import View, memory_of, root_of, view_of, viewed

BASE = np.arange(60.0).reshape(5, 12)
VIEWS = {
    "all": BASE,
    "transposed": BASE.T,
    "rows": BASE[1:4],
    "columns": BASE[:, 2:7],
    "steps": BASE[::2, ::3],
    "backwards": BASE[::-1, ::-2],
    "one entry": BASE[2:3, 4:5],
    "vector": BASE.ravel()[7:],
    "of Fortran order": np.asfortranarray(BASE)[1:, 1:],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_made_again_from_the_memory_of_its_root(name):
    values = VIEWS[name]
    root = root_of(values)
    found = viewed(memory_of(root), view_of(values, root))
    np.testing.assert_array_equal(found, values)
    assert found.strides == values.strides


def test_memory_of_another_kind_is_no_root():
    assert root_of(np.arange(8.0).view(np.int64)) is None
    assert root_of(np.empty((0, 2))) is None
    assert root_of(np.arange(3.0).astype(">f8")) is None


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (View(0, (7,), (1,)), "beyond its memory"),
        (View(-1, (2,), (1,)), "beyond its memory"),
        (View(1, (3,), (-1,)), "beyond its memory"),
        (View(0, (10**12,), (0,)), "repeats entries"),
        (View(0, (2, 3), (1, 1)), "repeats entries"),
        (View(0, (2, 2), (1,)), "no shape"),
        (View(0, (0,), (1,)), "no shape"),
    ],
)
def test_forged_views_are_refused(view, message):
    with pytest.raises(ModelFileError, match=message):
        viewed(np.arange(6.0), view)


def _stored_entries(data):
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    return [int(np.prod(entry["shape"])) for name, entry in header.items() if name != "__metadata__"]


@pytest.mark.parametrize("learner", [KernelRidgeClassifier, KernelLogisticRegression, KernelSVC])
def test_a_model_file_holds_the_coefficients_once(rng, learner):
    X = rng.standard_normal((300, 4))
    more = {"alpha": 0.1} if learner is KernelRidgeClassifier else {}
    model = learner(n_components=50, random_state=0, **more).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    data = dumps(model)
    assert sum(150 <= n < 200 for n in _stored_entries(data)) == 1  # 50 features, 3 classes
    loaded = loads(data)
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    np.testing.assert_array_equal(loaded.solution_.value, model.solution_.value)
    assert loaded.coef_.strides == model.coef_.strides
    assert np.shares_memory(loaded.coef_, loaded.solution_.value)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert dumps(loaded) == data
