"""Models in the formats of other packages: the same predictions after loading. Skipped where a package is missing."""

import io

import joblib
import numpy as np
import pytest
from scipy import sparse

from mercer import Gaussian, KernelRidge, Linear, LocalKernelRidge, Nystroem, TunedRegressor

MODELS = [
    KernelRidge(Gaussian(gamma=1.0) + Linear(), n_components=20, random_state=0),
    KernelRidge(features=Nystroem(n_components=9), random_state=0),
    TunedRegressor(random_state=0),
]


@pytest.fixture
def rows(rng):
    X = rng.rand(80, 3)
    return X, X[:, 0] ** 2


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_joblib(model, rows):
    file = io.BytesIO()
    joblib.dump(model.fit(*rows), file)
    file.seek(0)
    np.testing.assert_array_equal(joblib.load(file).predict(rows[0]), model.predict(rows[0]))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_skops_asks_for_trust_in_types_of_mercer_and_the_types_of_arrays(model, rows):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    data = skops.dumps(model.fit(*rows))
    types = skops.get_untrusted_types(data=data)
    assert all(name.startswith("mercer.") or name == "numpy.dtype" for name in types)
    np.testing.assert_array_equal(skops.loads(data, trusted=types).predict(rows[0]), model.predict(rows[0]))


def test_skops_asks_for_the_type_of_sparse_rows_too(rows):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    X, y = rows
    model = LocalKernelRidge(Gaussian(gamma=1.0), alpha=0.1, random_state=0).fit(sparse.csr_array(X * (X > 0.5)), y)
    types = skops.get_untrusted_types(data=skops.dumps(model))
    assert [name for name in types if not name.startswith(("mercer.", "numpy."))] == ["scipy.sparse._csr.csr_array"]


@pytest.mark.filterwarnings("ignore")  # those of mlflow and its packages
def test_mlflow(tmp_path, monkeypatch, rows):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    sklearn = pytest.importorskip("mlflow.sklearn", reason="mlflow is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    model = MODELS[0].fit(*rows)
    with mlflow.start_run():
        logged = sklearn.log_model(model, name="model", serialization_format="cloudpickle")
    np.testing.assert_array_equal(sklearn.load_model(logged.model_uri).predict(rows[0]), model.predict(rows[0]))
