"""Bad disks and several writers: whole files or none."""

import errno
import io
import os
import signal
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import mercer
from mercer import Gaussian, KernelRidge, Linear, ModelFileError
from mercer.storage import atomic_file, files

X = np.random.RandomState(0).rand(60, 3)


@pytest.fixture(scope="module")
def model():
    return KernelRidge(Gaussian(gamma=1.0), n_components=8, random_state=0).fit(X, X[:, 0])


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
