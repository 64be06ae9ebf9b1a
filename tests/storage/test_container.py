"""Model files that are cut, changed or forged: one typed error, and nothing run."""

import hashlib
import io
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save as save_tensors
from scipy import sparse

import mercer
from mercer import Gaussian, KernelRidge, ModelFileError
from mercer.storage import container, describe, dumps, loads

X = np.random.RandomState(0).rand(60, 3)


@pytest.fixture(scope="module")
def model():
    return KernelRidge(Gaussian(gamma=1.0), n_components=8, random_state=0).fit(X, X[:, 0])


@pytest.fixture(scope="module")
def data(model):
    return dumps(model)


def forged(data, change):
    """Return a file whose contents were changed and whose checksum is right."""
    about, tensors = container.read(io.BytesIO(data))
    change(about, tensors)
    return bytes(container.to_bytes(about, tensors))


def test_every_truncation_is_refused(data):
    for length in [*range(200), *range(200, len(data), 97), len(data) - 1]:
        with pytest.raises(ModelFileError):
            loads(data[:length])
    with pytest.raises(ModelFileError, match="checksum"):
        loads(data + b"\0")


def test_every_kind_of_changed_byte_is_refused(data):
    for where in range(0, len(data), 7):
        changed = bytearray(data)
        changed[where] ^= 1 << where % 8
        with pytest.raises(ModelFileError):
            loads(bytes(changed))


@pytest.mark.parametrize(
    ("foreign", "message"),
    [
        (b"", "it is empty"),
        (b"hello", "not a mercer model file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "not a mercer model file"),
        (pickle.dumps({"a": 1}), "not a mercer model file"),
        (b"PK\x03\x04" + bytes(50), "not a mercer model file"),
        (save_tensors({"w": np.zeros(3)}), "not one of mercer's models"),
        (save_tensors({"w": np.zeros(3)}, metadata={"mercer": "0" * 64}), "description cannot be read"),
        (save_tensors({"w": np.zeros(3)}, metadata={"mercer": "0" * 64 + '{"format": NaN}'}), "cannot be read"),
        ((10**6).to_bytes(8, "little") + b"{" + b"[" * 10**6, "header cannot be read"),
        ((2**40).to_bytes(8, "little") + b"{}", "not a mercer model file"),
    ],
    ids=["empty", "text", "png", "pickle", "zip", "safetensors", "no JSON", "NaN", "deep", "long"],
)
def test_foreign_files_are_refused_with_their_name(foreign, message, tmp_path):
    path = tmp_path / "model.mercer"
    path.write_bytes(foreign)
    for work in (mercer.load, describe):
        with pytest.raises(ModelFileError, match=message) as caught:
            work(path)
        assert str(caught.value).startswith(str(path))


def test_a_file_of_a_later_format_says_upgrade(data):
    def later(about, tensors):
        about.update(format=3, versions={"mercer": "9.1"}, model={"kind": "quantum"})

    with pytest.raises(ModelFileError, match=r"format 3, written by mercer 9\.1.*reads format 2\. Upgrade"):
        loads(forged(data, later))


@pytest.mark.parametrize("versions", [{"mercer": "0.0"}, {}, None, 5])
def test_a_file_of_the_first_format_says_what_to_do(data, versions):
    def earlier(about, tensors):
        about.update(format=1, versions=versions)

    with pytest.raises(
        ModelFileError, match=r"format 1, written by mercer .*reads format 2 only\. Fit the model again"
    ):
        loads(forged(data, earlier))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.update({"class": "os.system"}), "class 'os.system', which is not in the registry"),
        (lambda model: model.update({"class": "Blocks"}), "not in the registry"),
        (lambda model: model.update({"class": "Strata"}), "not in the registry"),
        (lambda model: model.update({"class": ["KernelRidge"]}), "not in the registry"),
        (lambda model: model["params"].update(intruder=1), "unexpected keyword"),
        (lambda model: model["state"].update(predict=1), "attribute 'predict'"),
        (lambda model: model["state"].update(_fit=1), "attribute '_fit'"),
        (lambda model: model["state"].update(__class__=1), "attribute '__class__'"),
        (lambda model: model["state"].update(alpha=1), "attribute 'alpha'"),
        (lambda model: model["state"].update({"a b_": 1}), "attribute 'a b_'"),
        (lambda model: model["state"].update(x_={"kind": "pickle"}), "kind of value"),
        (lambda model: model["state"].update(x_={"kind": "array", "tensor": "t99"}), "array that is not there"),
        (lambda model: model["state"].update(x_=[1]), "kind of value"),
        (lambda model: model["state"].update(x_={"kind": "array", "tensor": "t0", "axes": [0, 0]}), "permutation"),
        (lambda model: model["state"].pop("coef_"), "coef_ is missing"),
        (lambda model: model["state"].pop("alpha_"), "alpha_ is missing"),
        (lambda model: model["state"].clear(), "arrays that the model does not use"),
        (lambda model: model["params"].update(n_components=0), "n_components must be an integer >= 1, got 0"),
        (lambda model: model["params"].update(alpha="aic"), "alpha must be a number > 0"),
        (lambda model: model["params"]["kernel"]["fields"].update(gamma=-1.0), "gamma must be"),
        (lambda model: model["params"]["kernel"].update({"class": "FunctionKernel"}), "not in the registry"),
        (lambda model: model["params"].update(kernel=_kernel("Polynomial", degree=10**9)), "degree above"),
        (lambda model: model["params"].update(kernel=_nested(100)), "nested deeper"),
    ],
)
def test_a_forged_file_is_refused(data, change, message):
    with pytest.raises(ModelFileError, match=message):
        loads(forged(data, lambda about, tensors: change(about["model"])))


def _kernel(name, **fields):
    return {"kind": "kernel", "class": name, "fields": fields}


def _nested(depth):
    node = _kernel("Linear")
    for _ in range(depth):
        node = _kernel("Normalized", kernel=node)
    return node


def test_a_forged_sparse_matrix_cannot_lead_outside_its_arrays():
    model = mercer.Nystroem(Gaussian(gamma=1.0), n_components=5, landmarks="uniform", random_state=0).fit(
        sparse.csr_array(X)
    )
    good = dumps(model)

    def astray(about, tensors):
        name = about["model"]["state"]["landmarks_"]["indices"]["tensor"]
        tensors[name] = tensors[name] + 10**6

    with pytest.raises(ModelFileError, match=r"CSR matrix|sparse|indices"):
        loads(forged(good, astray))


def test_an_array_of_truth_values_holds_nothing_else(data):
    model = KernelRidge(alphas=np.array([True])).set_params(alpha="gcv")
    raw = bytearray(dumps(model))
    raw[-1] = 2
    start = raw.index(b'"mercer":"') + 10
    raw[start : start + 64] = b"0" * 64
    raw[start : start + 64] = hashlib.sha256(raw).hexdigest().encode()
    with pytest.raises(ModelFileError, match="truth values"):
        loads(bytes(raw))


def test_loading_imports_nothing_that_a_file_names(tmp_path, data):
    def named(about, tensors):
        about["model"]["class"] = "antigravity.Antigravity"

    (tmp_path / "model.mercer").write_bytes(forged(data, named))
    code = f"""
import sys, mercer
try:
    mercer.load({str(tmp_path / "model.mercer")!r})
except mercer.ModelFileError:
    sys.exit("antigravity" in sys.modules)
sys.exit(2)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_any_safetensors_reader_lists_the_arrays(tmp_path, model):
    mercer.save(model, tmp_path / "model.mercer")
    with safe_open(tmp_path / "model.mercer", framework="numpy") as file:
        shapes = [file.get_tensor(name).shape for name in file.keys()]  # noqa: SIM118
        about = json.loads(file.metadata()["mercer"][64:])
    assert model.coef_.shape in shapes
    assert about["class_name"] == "KernelRidge"
