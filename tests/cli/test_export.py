"""``mercer export``: a model file becomes an ONNX file, or the error says why not."""

import json

import numpy as np
import pytest

import mercer

from .conftest import MODEL, OUTPUT


@pytest.fixture
def ridge(here):
    X = np.random.RandomState(0).rand(60, 3)
    model = mercer.KernelRidge(random_state=0).fit(X, X[:, 0])
    mercer.save(model, here / "ridge.mercer")
    return model, X


def test_export_writes_what_onnx_runtime_runs(run, here, ridge):
    runtime = pytest.importorskip("onnxruntime")
    model, X = ridge
    said = json.loads(run("export", "ridge.mercer", "-o", "ridge.onnx", "--precision", "float64", "--json").stdout)
    assert (said["inputs"], said["outputs"]) == (["X"], ["prediction"])
    found = runtime.InferenceSession(str(here / "ridge.onnx")).run(None, {"X": X})[0]
    np.testing.assert_allclose(found, model.predict(X), atol=1e-7)
    assert "Inputs: X. Outputs: prediction." in run("export", "ridge.mercer", "-o", "ridge.onnx", "--force").stdout


def test_export_says_what_the_numbers_of_a_date_are(run, here):
    runtime, pandas = pytest.importorskip("onnxruntime"), pytest.importorskip("pandas")
    days = 19000.25 + np.arange(200.0)
    frame = pandas.DataFrame({"when": np.datetime64(0, "s") + (86400 * days).astype("timedelta64[s]"), "a": days % 3})
    model = mercer.TunedRegressor(random_state=0).fit(frame, np.sin(days / 9))
    mercer.save(model, here / "dated.mercer")
    assert "Inputs: when (days since 1970), a." in run("export", "dated.mercer", "-o", "dated.onnx").stdout
    session = runtime.InferenceSession(str(here / "dated.onnx"))
    found = session.run(None, {"when": days[:, None], "a": (days % 3).astype(np.float32)[:, None]})[0]
    np.testing.assert_allclose(found, model.predict(frame), atol=1e-4)  # float32 on values up to 1


def test_wrong_use_ends_in_one_line_and_an_exit_code(run, here, ridge):
    pytest.importorskip("onnx")
    for args, code, said in [
        (("no.mercer", "-o", "x.onnx"), MODEL, "there is no such model file"),
        (("ridge.mercer", "-o", "x.mercer"), OUTPUT, "must end in .onnx"),
        (("binning.mercer", "-o", "x.onnx"), MODEL, "Use FourierFeatures"),
    ]:
        mercer.save(mercer.RandomBinning(random_state=0).fit(np.eye(3)), here / "binning.mercer")
        done = run("export", *args)
        assert (done.exit_code, len(done.stderr.splitlines())) == (code, 1)
        assert said in done.stderr
    assert not (here / "x.onnx").exists()
