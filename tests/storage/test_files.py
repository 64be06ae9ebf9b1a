"""Bad files and bad disks: one typed error, nothing half-written, nothing run."""

import errno
import hashlib
import io
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save as save_tensors
from scipy import sparse

import mercer
from mercer import Gaussian, KernelRidge, Linear, ModelFileError
from mercer.storage import atomic_file, container, describe, dumps, files, loads

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


def test_a_full_disk_leaves_nothing_and_keeps_what_was_there(tmp_path, model):
    """Under a limit on the size of files writing fails half-way, as on a full disk."""
    path = tmp_path / "model.mercer"
    path.write_bytes(b"before")
    code = f"""
import resource, signal, mercer
model = mercer.TensorSketch(random_state=0).fit([[0.0] * 5000])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    mercer.save(model, {str(path)!r})
except OSError as error:
    print(error.errno)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == errno.EFBIG
    assert path.read_bytes() == b"before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.mercer"]


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_error_or_an_interrupt_leaves_nothing(tmp_path, failure, monkeypatch, model):
    def fsync(descriptor):
        raise failure

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(type(failure)):
        mercer.save(model, tmp_path / "model.mercer")
    assert not list(tmp_path.iterdir())


def test_paths_that_cannot_be_written_are_errors_of_the_system(tmp_path, model):
    with pytest.raises(FileNotFoundError):
        mercer.save(model, tmp_path / "no" / "model.mercer")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        mercer.save(model, tmp_path)
    with pytest.raises(FileNotFoundError):
        mercer.load(tmp_path / "model.mercer")
    with pytest.raises(IsADirectoryError):
        mercer.load(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path, model):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        mercer.save(model, tmp_path / "model.mercer")


def test_an_existing_file_is_kept_where_asked(tmp_path, model):
    path = tmp_path / "model.mercer"
    mercer.save(model, path, overwrite=False)
    first = path.read_bytes()
    with pytest.raises(FileExistsError, match="exists already"):
        mercer.save(Linear(), path, overwrite=False)
    assert path.read_bytes() == first
    mercer.save(Linear(), path)
    assert mercer.load(path) == Linear()

    def overtaken():
        with atomic_file(tmp_path / "other", overwrite=False) as file:
            file.write(b"mine")
            (tmp_path / "other").write_bytes(b"theirs")  # another process was first

    with pytest.raises(FileExistsError):
        overtaken()
    assert (tmp_path / "other").read_bytes() == b"theirs"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["model.mercer", "other"]


def test_permissions_are_those_of_any_new_file_and_links_are_followed(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    mercer.save(Linear(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert mercer.load(tmp_path / "target") == Linear()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "target")}
    assert len(modes) == 1


def test_readers_meet_whole_files_only(tmp_path, model):
    """One thread writes two models in turn while another loads: it always meets one of them, whole."""
    path = tmp_path / "model.mercer"
    mercer.save(model, path)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            mercer.save(Linear(), path)
            mercer.save(model, path)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(50):
            mercer.load(path)
    finally:
        stop.set()
        writer.join()


def test_open_files_will_do(model):
    file = io.BytesIO()
    mercer.save(model, file)
    file.seek(0)
    np.testing.assert_array_equal(mercer.load(file).predict(X), model.predict(X))
    with pytest.raises(ModelFileError, match="the model file: it is empty"):
        mercer.load(file)


def test_any_safetensors_reader_lists_the_arrays(tmp_path, model):
    mercer.save(model, tmp_path / "model.mercer")
    with safe_open(tmp_path / "model.mercer", framework="numpy") as file:
        shapes = [file.get_tensor(name).shape for name in file.keys()]  # noqa: SIM118
        about = json.loads(file.metadata()["mercer"][64:])
    assert model.coef_.shape in shapes
    assert about["class_name"] == "KernelRidge"


# Stands still while the file is beside its target.
_SAVING = """
import os, sys, time
from mercer.storage import atomic_file
with atomic_file(sys.argv[1]) as file:
    file.write(b"x" * 100)
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def saving(tmp_path):
    """Start processes that are in the midst of writing a file."""
    started = []

    def start(path):
        started.append(subprocess.Popen([sys.executable, "-c", _SAVING, str(path)], stdout=subprocess.PIPE))
        assert started[-1].stdout.readline() == b"writing\n"
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("deadly", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path, saving, deadly):
    path = tmp_path / "model.mercer"
    killed = saving(path)
    killed.send_signal(deadly)
    killed.wait()
    assert len(list(tmp_path.iterdir())) == 1
    mercer.save(Linear(), path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.mercer"]


def test_what_others_write_stays(tmp_path, saving):
    """A writer that lives, other targets, and names that are not ours."""
    path = tmp_path / "model.mercer"
    saving(path)
    others = {".model.mercer.x.0123abcd.part", ".model.0123abcd.part", ".model.mercer.notes.part", "model.mercer.part"}
    for name in others:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".model.mercer.0123abcd.part").mkdir()
    before = {entry.name for entry in tmp_path.iterdir()}
    mercer.save(Linear(), path)
    assert {entry.name for entry in tmp_path.iterdir()} == before | {"model.mercer"}


def test_links_to_elsewhere_are_not_followed(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"mine")
    (tmp_path / ".model.0123abcd.part").symlink_to(elsewhere)
    mercer.save(Linear(), tmp_path / "model")
    assert elsewhere.read_bytes() == b"mine"
    assert (tmp_path / ".model.0123abcd.part").is_symlink()


def test_writers_at_the_same_time_do_not_sweep_each_other(tmp_path):
    """Each save looks for leftovers while others create, write and move their files."""
    path, faults = tmp_path / "model.mercer", []

    def write():
        try:
            for _ in range(40):
                mercer.save(Linear(), path)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.mercer"]


def test_a_file_swept_before_it_was_locked_is_created_again(tmp_path, monkeypatch):
    """The moment between the two: another writer finds a file without a lock, and removes it."""
    lock, swept = files._lock, []

    def late(descriptor, **options):
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].unlink()
        return lock(descriptor, **options)

    monkeypatch.setattr(files, "_lock", late)
    mercer.save(Linear(), tmp_path / "model.mercer")
    assert swept
    assert mercer.load(tmp_path / "model.mercer") == Linear()


@pytest.mark.skipif(files.fcntl is None, reason="this system has no flock")
def test_a_file_that_a_sweeper_has_locked_is_created_again(tmp_path, monkeypatch):
    """A sweeper that locks a new file before its writer does removes it a moment later."""
    real_open, swept = os.open, []

    def open_with_a_sweeper(path, flags, *rest, **options):
        descriptor = real_open(path, flags, *rest, **options)
        if flags & os.O_EXCL and not swept:
            sweeper = real_open(path, os.O_RDWR)
            files.fcntl.flock(sweeper, files.fcntl.LOCK_EX)
            swept.append(threading.Timer(0.2, lambda: (os.unlink(path), os.close(sweeper))))
            swept[0].start()
        return descriptor

    monkeypatch.setattr(os, "open", open_with_a_sweeper)
    with files.atomic_file(tmp_path / "model") as file:
        file.write(b"whole")
        swept[0].join()
    assert (tmp_path / "model").read_bytes() == b"whole"
