"""``to_onnx`` checks what it is given, and writes whole files."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer import KernelRidge, KernelSVC
from mercer.export import ExportError, to_onnx
from mercer.export.graph import OPSET
from mercer.kernels import Spectrum

onnx = pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def model():
    X = np.random.RandomState(0).rand(50, 2)
    return KernelRidge(random_state=0).fit(X, X[:, 0])


def test_the_file_is_the_model_that_is_returned(tmp_path, model):
    path = tmp_path / "model.onnx"
    made = to_onnx(model, path)
    assert onnx.load(path) == made
    assert (made.producer_name, made.opset_import[0].version) == ("mercer", OPSET)
    assert made.doc_string == repr(model)
    with pytest.raises(FileExistsError):
        to_onnx(model, path, overwrite=False)


def test_any_number_of_rows_is_taken(run, model):
    for n_rows in (1, 2, 77):
        assert run(model, np.zeros((n_rows, 2)))["prediction"].shape == (n_rows,)


def test_wrong_use_is_refused_in_words(model):
    with pytest.raises(ValueError, match=r"dtype must be 'float32' or 'float64', got 'float16'"):
        to_onnx(model, dtype="float16")
    with pytest.raises(TypeError, match=r"must be a fitted estimator"):
        to_onnx("model.mercer")
    with pytest.raises(NotFittedError):
        to_onnx(KernelRidge())
    texts = KernelSVC(Spectrum(2), random_state=0).fit(["ab", "ba", "abab"] * 3, [0, 1, 0] * 3)
    with pytest.raises(ExportError, match=r"takes strings, and ONNX has no operators that hash"):
        to_onnx(texts)
