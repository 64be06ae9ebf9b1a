"""Load and use forged model files: each must be refused with a typed error, or give finite results.

Of ten files nine are forged (``scripts/forgery.py``): valid containers with a right checksum, made from models of every
public estimator (``scripts/fitted_models.py``). One has damaged bytes, which the checksum must notice. The files are
loaded and used in child processes with a limited address space, hundreds of files per process. A fault is: a process
ended by a signal, more than 20 s of CPU time for a file, an allocation that only the limit of the system stopped, an
error that is neither ``ModelFileError`` on loading nor ``ValueError`` or ``MemoryError`` in use, and a result that is
not finite. A seed and a number identify each file: ``--only`` runs one file again.

    python scripts/fuzz_model_files.py --files 20000 --seed 0
    python scripts/fuzz_model_files.py --files 20000 --seed 0 --pure     # on the NumPy reference, without the core
"""

import argparse
import io
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

_SECONDS = 20  # of the processor, for one file
_WALL_SECONDS = 300  # a process that waits for ever uses no processor time
_BUDGET = 2**28  # bytes that mercer may allocate
_ADDRESS_SPACE = 2**30  # bytes beyond what the process has when it begins
_BATCH = 1000
_DAMAGED = 10  # one file of so many
_VARIANCES = 6  # one use of so many


def main() -> int:
    """Fuzz, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pure", action="store_true", help="without the compiled core")
    parser.add_argument("--blind", action="store_true", help="without the check of declarations: faults must be found")
    parser.add_argument("--only", type=int, help="the number of one file to run again")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)  # the folder of originals, first and last file
    options = parser.parse_args()
    if options.pure:
        sys.modules["mercer._core"] = None  # type: ignore[assignment] - as if it had not been built
    warnings.simplefilter("ignore")
    if options.child:
        folder, first, stop = options.child
        if options.blind:
            from mercer.storage import registry  # noqa: PLC0415 - after --pure has hidden the core

            registry.check = lambda value, declared: None  # type: ignore[assignment]
        return Child(Path(folder), options.seed).run(range(int(first), int(stop)))
    with tempfile.TemporaryDirectory() as folder:
        return Parent(Path(folder), options).run()


class Parent:
    """Starts the child processes, reads their output, and finds the files that end them."""

    def __init__(self, folder: Path, options: argparse.Namespace):
        self._folder, self._options = folder, options
        self._outcomes: Counter[str] = Counter()
        self._faults: list[tuple[int, str]] = []

    def run(self) -> int:
        """Run all files."""
        start = time.perf_counter()
        n_models = write_originals(self._folder)
        only, n_files = self._options.only, self._options.files
        next_file, stop = (0, n_files) if only is None else (only, only + 1)
        said = time.perf_counter()
        while next_file < stop:
            next_file = self._batch(next_file, min(next_file + _BATCH, stop))
            if time.perf_counter() - said > 30:
                said = time.perf_counter()
                sys.stderr.write(f"{next_file} of {stop} files, {len(self._faults)} faults\n")
        for outcome, count in sorted(self._outcomes.items()):
            sys.stdout.write(f"{count:8d}  {outcome}\n")
        for number, fault in self._faults[:50]:
            sys.stdout.write(f"file {number}: {fault}\n")
        seconds, n_done = time.perf_counter() - start, sum(self._outcomes.values())
        kind = "NumPy reference" if self._options.pure else "core as installed"
        sys.stdout.write(
            f"{n_done} files of {n_models} models, seed {self._options.seed}, {kind}: {len(self._faults)} faults, "
            f"{seconds:.0f} s\n"
        )
        return 1 if self._faults else 0

    def _batch(self, first: int, stop: int) -> int:
        """Run a batch in a child; return the number of the file to go on with."""
        begun, fault = self._follow(first, stop, count=True)
        if fault is None:
            return stop
        if not fault.startswith("hang") and self._follow(begun, begun + 1)[1] is None:
            fault += f" (not alone: after files from {self._earliest(first, begun)} on)"
        self._faults.append((begun, fault))
        self._outcomes["FAULT"] += 1
        return begun + 1

    def _earliest(self, first: int, last: int) -> int:
        """Return the first file of a run that ends by a signal at ``last``: an earlier file may have done damage."""
        while last - first > 1:
            middle = (first + last) // 2
            if self._follow(middle, last + 1)[1] is None:
                last = middle
            else:
                first = middle
        return first

    def _follow(self, first: int, stop: int, *, count: bool = False) -> tuple[int, str | None]:
        """Run files in a child process; return the last file begun, and how that file ended the process, if it did."""
        options = ["--seed", str(self._options.seed)]
        options += [f"--{name}" for name in ("pure", "blind") if getattr(self._options, name)]
        command = [sys.executable, __file__, *options, "--child", str(self._folder), str(first), str(stop)]
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MERCER_NUM_THREADS"), "1")
        log = self._folder / "errors.txt"
        begun, deadline = first, time.monotonic() + _WALL_SECONDS
        with log.open("wb") as errors:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=os.environ | threads)
            assert child.stdout is not None  # noqa: S101
            os.set_blocking(child.stdout.fileno(), False)
            buffer = b""
            while True:
                ended = child.poll() is not None
                buffer += child.stdout.read() or b""
                *lines, buffer = buffer.split(b"\n")
                for line in lines:
                    number, outcome = line.decode().split(" ", 1)
                    begun, deadline = int(number), time.monotonic() + _WALL_SECONDS
                    if outcome != "begins" and count:
                        self._take(begun, outcome)
                if ended:
                    break
                if time.monotonic() > deadline:
                    child.kill()
                    child.wait()
                    return begun, f"hang: no answer in {_WALL_SECONDS} s"
                time.sleep(0.05)
        if child.returncode == -signal.SIGPROF:
            return begun, f"hang: more than {_SECONDS} s of the processor"
        if child.returncode < 0:
            return begun, f"ended by {signal.Signals(-child.returncode).name}"
        if child.returncode:
            return begun, f"ended with code {child.returncode}: {log.read_text()[-500:]}"
        return begun, None

    def _take(self, number: int, outcome: str) -> None:
        if outcome.startswith("fault"):
            sys.stderr.write(f"file {number}: {outcome}\n")
            self._faults.append((number, outcome))
            outcome = "FAULT"
        self._outcomes[outcome] += 1


def write_originals(folder: Path) -> int:
    """Write the files to forge, with rows to use the models on; return how many."""
    from fitted_models import examples  # noqa: PLC0415 - after --pure has hidden the core

    from mercer.storage import dumps  # noqa: PLC0415

    originals = [(dumps(example.model), example.X) for example in examples()]
    (folder / "originals.pickle").write_bytes(pickle.dumps(originals))
    return len(originals)


class Child:
    """Forges, loads and uses files, and prints a line before and after each file."""

    def __init__(self, folder: Path, seed: int):
        self._originals = pickle.loads((folder / "originals.pickle").read_bytes())  # noqa: S301 - the parent's own
        self._known = {data for data, _ in self._originals}
        self._seed = seed

    def run(self, numbers: range) -> int:
        """Run the files of the given numbers."""
        said = os.fdopen(os.dup(sys.stdout.fileno()), "w")
        sys.stdout = io.StringIO()  # a model may show its progress
        data, X = self._originals[-2]
        self._outcome(data, X, is_forged=True)  # whatever is imported late
        limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + _ADDRESS_SPACE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for number in numbers:
            said.write(f"{number} begins\n")
            said.flush()
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            outcome = self._file(number)
            signal.setitimer(signal.ITIMER_PROF, 0)
            said.write(f"{number} {outcome}\n")
        said.flush()
        return 0

    def _file(self, number: int) -> str:
        from forgery import Forger, damaged  # noqa: PLC0415

        rng = random.Random(f"{self._seed} {number}")  # noqa: S311
        (data, X), (other, _) = rng.choice(self._originals), rng.choice(self._originals)
        if number % _DAMAGED == 0:
            changed = damaged(data, other, rng)
            return self._outcome(changed, X, is_forged=False) if changed not in self._known else "unchanged"
        forged = next(filter(None, (Forger(data, other, rng).forged() for _ in range(100))))
        return self._outcome(forged, X, is_forged=True)

    def _outcome(self, data: bytes, X: Any, *, is_forged: bool) -> str:
        import mercer  # noqa: PLC0415
        from mercer.storage import ModelFileError, describe, loads  # noqa: PLC0415

        kind = "forged" if is_forged else "damaged"
        with mercer.config_context(memory=_BUDGET):
            try:
                describe(io.BytesIO(data))
            except ModelFileError:
                pass
            except Exception as error:
                return _fault("describe", error)
            try:
                model = loads(data)
            except ModelFileError:
                return f"{kind}, refused"
            except Exception as error:
                return _fault("load", error)
            if not is_forged:
                return "fault: a damaged file loads"
            return Use(model, X, random.Random(len(data))).outcome()  # noqa: S311


class Use:
    """All methods of a model, tried on a few rows."""

    def __init__(self, model: Any, X: Any, rng: random.Random):
        self._model, self._X, self._rng = model, X, rng
        self._refused = False

    def outcome(self) -> str:
        """Return how the use of a forged model ends."""
        for work in (self._call, self._methods, self._learn, self._operate, self._table, self._again):
            fault = work()
            if fault is not None:
                return fault
        return "forged, loads, refuses a use" if self._refused else "forged, loads, works"

    def _try(self, what: str, work: Any) -> str | None:
        """Return the fault of a call; None if there is no fault."""
        try:
            result = work()
        except MemoryError as error:
            self._refused = True
            return _fault(what, error) if str(error).startswith("Unable to allocate") else None
        except ValueError:
            self._refused = True
            return None
        except Exception as error:
            return _fault(what, error)
        return None if _is_finite(result) else f"fault: {what} of {type(self._model).__name__} is not finite"

    def _rows(self) -> list[Any]:
        """Return a few rows, dense and CSR; objects, and rows of scikit-learn's steps, as they were in ``fit``."""
        from scipy import sparse  # noqa: PLC0415

        few = self._X[:6]
        if type(self._model).__module__.startswith("sklearn") or not _is_matrix(few):
            return [few]
        dense = few.toarray() if sparse.issparse(few) else few
        return [dense, sparse.csr_array(dense)]

    def _call(self) -> str | None:
        if not callable(self._model):
            return None
        return self._first(self._try("the kernel", lambda rows=rows: self._model(rows)) for rows in self._rows())

    def _methods(self) -> str | None:
        from mercer.data import TablePreparation  # noqa: PLC0415

        # The encoder of tables takes blocks with their columns: models of tables call it.
        if self._X is None or isinstance(self._X, str) or isinstance(self._model, TablePreparation):
            return None
        names = ["transform", "predict", "decision_function", "predict_proba", "score_samples"]
        names = [name for name in names if hasattr(self._model, name)]
        faults = (
            self._try(name, lambda name=name, rows=rows: getattr(self._model, name)(rows))
            for rows in self._rows()
            for name in names
        )
        fault = self._first(faults)
        # Variances without a closed form take 200 fits, which use only the parameters of a file.
        if fault is None and hasattr(type(self._model), "variance") and self._rng.randrange(_VARIANCES) == 0:
            few = self._rows()[0][:2]
            fault = self._try("variance", lambda: self._model.variance(few))
        return fault

    def _learn(self) -> str | None:
        if not hasattr(type(self._model), "partial_fit") or type(self._model).__module__.startswith("sklearn"):
            return None
        import numpy as np  # noqa: PLC0415

        n_rows = len(self._X) if isinstance(self._X, list) else self._X.shape[0]
        classes = getattr(self._model, "classes_", None)
        y = np.arange(n_rows) / n_rows if classes is None else classes[np.arange(n_rows) % len(classes)]
        fault = self._try("partial_fit", lambda: self._model.partial_fit(self._X, y) and None)
        return fault or self._methods()

    def _operate(self) -> str | None:
        """Use a Gram operator on the rows that it was fitted on."""
        import numpy as np  # noqa: PLC0415

        from mercer.gram.base import GramOperator  # noqa: PLC0415

        if not isinstance(self._model, GramOperator):
            return None

        model = self._model
        calls = {
            "product": lambda: model @ np.ones(model.shape[0]),
            "rows": lambda: model.rows([0, model.shape[0] - 1]),
            "diagonal": model.diagonal,
            "solve": lambda: model.solve(np.ones(model.shape[0]), alpha=1.0),
            "memory_bytes": lambda: model.memory_bytes,
        }
        return self._first(self._try(what, work) for what, work in calls.items())

    def _table(self) -> str | None:
        if not isinstance(self._X, str):
            return None
        from mercer.data import open_source  # noqa: PLC0415

        for name in ("predict", "transform"):
            if hasattr(type(self._model), name):
                fault = self._try(name, lambda name=name: list(getattr(self._model, name)(open_source(self._X))))
                if fault is not None:
                    return fault
        return None

    def _again(self) -> str | None:
        from mercer.storage import dumps  # noqa: PLC0415

        return self._try("save", lambda: dumps(self._model) and None) or self._try("repr", lambda: repr(self._model))

    @staticmethod
    def _first(faults: Any) -> str | None:
        return next((fault for fault in faults if fault is not None), None)


def _is_matrix(rows: Any) -> bool:
    """Return whether rows are a matrix of numbers: rows of structured kernels are lists of objects."""
    dtype = getattr(rows, "dtype", None)
    return dtype is not None and dtype.kind in "biuf" and getattr(rows, "ndim", 0) == 2


def _is_finite(result: Any) -> bool:
    import numpy as np  # noqa: PLC0415

    if isinstance(result, list | tuple):
        return all(_is_finite(item) for item in result)
    values = result.data if hasattr(result, "indptr") else np.asarray(result)
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())


def _fault(what: str, error: BaseException) -> str:
    import traceback  # noqa: PLC0415

    frames = [f for f in traceback.extract_tb(error.__traceback__) if "mercer" in f.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    message = " ".join(str(error).split())[:200]
    return f"fault: {what}: {type(error).__name__} at {where}: {message}"


if __name__ == "__main__":
    sys.exit(main())
