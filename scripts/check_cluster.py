"""Check what the documentation promises of a Dask cluster, on a ``LocalCluster`` of processes.

    python scripts/check_cluster.py                        # all figures at a small size
    python scripts/check_cluster.py kills --kills 60
    python scripts/check_cluster.py walk --rows 5000000

Each line names the figure, what was seen, and whether it holds. The exit code is 1 if one does not.

bits      every learner, on 1, 2 and 3 workers: the bits of this process on the same plan
kills     workers are killed by SIGKILL during fits, the next when all are back: every fit is bit-equal
rescale   the cluster is scaled to 1, 3 and 2 workers during fits: every fit is bit-equal
bytes     bytes sent by workers during a pass of ridge regression, against parts x statistic
overhead  processor seconds of the workers, against those of the same fit on this process
memory    ridge regression with a memory limit of 600 MB per worker: no worker is paused or lost
poison    a block that ends every worker which takes it: an error with its rows
walk      a folder of parquet files on 4 workers: fit, lose a worker, write predictions lazily
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster

from mercer import (
    FOGDClassifier,
    Gaussian,
    KernelCCA,
    KernelKMeans,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    NOGDClassifier,
    config_context,
)
from mercer.data import Block, as_blocks
from mercer.engines import Dask, Local
from mercer.stats import Totals

FEW = {"n_components": 64, "random_state": 0}
LEARNERS: dict[str, tuple[Any, str, str]] = {
    "ridge, leave-one-out": (KernelRidge(Gaussian(), **FEW), "number", "coef_"),
    "ridge, gcv": (KernelRidge(Gaussian(), alpha="gcv", **FEW), "number", "coef_"),
    "ridge classifier": (KernelRidgeClassifier(Gaussian(), **FEW), "class", "coef_"),
    "logistic": (KernelLogisticRegression(Gaussian(), tol=1e-3, **FEW), "class", "coef_"),
    "squared hinge": (KernelSVC(Gaussian(), tol=1e-2, **FEW), "class", "coef_"),
    "hinge": (KernelSVC(Gaussian(), loss="hinge", tol=1e-2, **FEW), "class", "coef_"),
    "insensitive": (KernelSVR(Gaussian(), tol=1e-2, **FEW), "number", "coef_"),
    "principal components": (
        KernelPCA(Gaussian(), n_components=2, map_components=64, random_state=0),
        "",
        "components_",
    ),
    "canonical correlations": (
        KernelCCA(Gaussian(), n_components=1, map_components=32, random_state=0),
        "view",
        "x_weights_",
    ),
    "k-means": (KernelKMeans(Gaussian(), n_clusters=4, max_iter=5, **FEW), "", "cluster_centers_"),
    "FOGD": (FOGDClassifier(Gaussian(), **FEW), "class", "coef_"),
    "NOGD": (NOGDClassifier(Gaussian(), **FEW), "class", "coef_"),
}
CHUNKS = 8
SLOW = 300
CHANCE = np.random.RandomState()


class Elsewhere(Local):
    """The threads of this process, asked to work as if memory were not shared."""

    shares_memory = False


def rows(n_rows: int) -> dict[str, np.ndarray]:
    """Return rows and targets of all kinds."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n_rows, 8)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(n_rows)
    return {"X": X, "number": y, "class": np.where(y > 0, "up", "down"), "view": X[:, 3:]}


@contextmanager
def cluster(n_workers: int, *, failures: int = 1000, **options: Any) -> Iterator[tuple[LocalCluster, Client]]:
    """Start worker processes, each with one thread.

    ``LocalCluster`` looks at a lost worker again after 15 seconds by default. If the worker is not back then, or is
    lost a second time, the cluster drops it and starts no other one.
    """
    options = {
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "dashboard_address": None,
        "death_timeout": SLOW,
        **options,
    }
    settings = {
        "distributed.scheduler.allowed-failures": failures,
        "distributed.worker.profile.enabled": False,
        "distributed.deploy.lost-worker-timeout": "1 day",
    }
    with dask.config.set(settings), LocalCluster(n_workers=n_workers, **options) as workers, Client(workers) as client:
        yield workers, client


def fit(name: str, data: dict[str, np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """Fit a learner to Dask arrays, and return what it found and the plan of the parts."""
    model, target, attribute = LEARNERS[name]
    step = -(-len(data["X"]) // CHUNKS)
    given = [da.from_array(data[part], chunks=(step, *data[part].shape[1:])) for part in ("X", target) if part]
    model.fit(*given)
    found = np.array(getattr(model, attribute))
    return found, [min(step, len(data["X"]) - start) for start in range(0, len(data["X"]), step)]


def here(name: str, data: dict[str, np.ndarray], plan: list[int]) -> np.ndarray:
    """Return the same fit on the threads of this process."""
    model, target, attribute = LEARNERS[name]
    with config_context(engine=Elsewhere()):
        model.fit(as_blocks(data["X"], data[target] if target else None, plan=plan))
    return np.array(getattr(model, attribute))


def check_bits(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    data = rows(options.rows)
    expected: dict[str, np.ndarray] = {}
    for n_workers in (1, 2, 3):
        with cluster(n_workers):
            for name in LEARNERS:
                found, plan = fit(name, data)
                expected.setdefault(name, here(name, data, plan))
                yield f"{name}, {n_workers} workers", bool(np.array_equal(found, expected[name]))


FITS = ("ridge, gcv", "logistic", "k-means")


def check_kills(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    data = rows(options.rows)
    with cluster(2) as (workers, client), config_context(engine=Dask(client, patience=SLOW)):
        for name in FITS:
            fit(name, data)  # workers import mercer
            begun = time.time()
            expected, _ = fit(name, data)
            undisturbed = time.time() - begun
            right = fits = 0
            wanted = -(-options.kills // len(FITS))
            with _meanwhile(lambda most=undisturbed: _kill_one(workers, client, most)) as kills:
                while len(kills) < wanted:
                    fits += 1
                    right += np.array_equal(fit(name, data)[0], expected)
            yield f"{name}: {len(kills)} kills, {right} of {fits} fits bit-equal", right == fits


def _kill_one(workers: LocalCluster, client: Client, most: float) -> bool:
    """Kill a worker if both are back; a worker that is starting is left alone, because its nanny would be lost.

    A worker is known to the scheduler before its nanny knows that it has started, and is back once it works: on a busy
    machine it takes longer to import mercer than to fit. The kill comes after a random time of at most an undisturbed
    fit. With kills that come sooner, no fit would ever end.
    """
    with suppress(OSError, TimeoutError, ValueError):
        started = [nanny.process is not None and nanny.process.status.name for nanny in workers.workers.values()]
        known = len(client.scheduler_info(n_workers=-1)["workers"])
        if started == ["running"] * 2 and known == 2 and all(client.run(_works).values()):
            pids = list(client.run(os.getpid).values())
            time.sleep(most * CHANCE.random_sample())
            os.kill(pids[CHANCE.randint(len(pids))], signal.SIGKILL)  # one may have gone since the look above
            return True
    return False


def _works() -> bool:
    return "mercer.engines.tasks" in sys.modules


def check_rescale(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    data = rows(options.rows)
    with cluster(2) as (workers, _):
        for name in FITS:
            expected, _ = fit(name, data)
            sizes = iter([1, 3, 2] * 1000)
            right = fits = 0
            with _meanwhile(lambda sizes=sizes: workers.scale(next(sizes)) or True, pause=2.0) as scaled:
                while len(scaled) < options.scalings:
                    fits += 1
                    right += np.array_equal(fit(name, data)[0], expected)
            yield f"{name}: {len(scaled)} rescalings, {right} of {fits} fits bit-equal", right == fits


@contextmanager
def _meanwhile(act: Callable[[], bool], pause: float = 0.2) -> Iterator[list[float]]:
    """Act in a thread again and again; yield the times at which it did something."""
    done, ended = list[float](), threading.Event()

    def loop() -> None:
        while not ended.wait(pause):
            if act():
                done.append(time.time())

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield done
    finally:
        ended.set()
        thread.join()


def check_bytes(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    n_features = 256
    data = rows(options.rows)
    with cluster(2) as (_, client):
        X, y = (
            da.from_array(data[part], chunks=(len(data["X"]) // CHUNKS, *data[part].shape[1:]))
            for part in ("X", "number")
        )
        X, y = client.persist([X, y])
        model = KernelRidge(Gaussian(gamma=0.1), n_components=n_features, alpha=1.0, random_state=0)
        before = _sent(client)
        model.fit(X, y)
        sent = _sent(client) - before
        n_passes, statistic = 1, 8 * n_features * (n_features + 3)
        sample = data["X"].nbytes * min(1.0, 2 * 32 * n_features / len(data["X"]))  # of the survey
        most = 1.1 * (n_passes * CHUNKS * statistic + sample) + 0.05 * data["X"].nbytes
        yield f"ridge, D = {n_features}: {sent / 1e6:.2f} MB sent, at most {most / 1e6:.2f} MB", sent <= most


def _sent(client: Client) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def check_overhead(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    data = rows(options.rows)
    few = {"n_components": options.features, "random_state": 0}
    fits = {
        "ridge": (KernelRidge(Gaussian(gamma=0.1), alpha=1.0, **few), "number", 1.15),
        "logistic": (KernelLogisticRegression(Gaussian(gamma=0.1), **few), "class", 1.3),
    }
    step = -(-len(data["X"]) // CHUNKS)
    with cluster(2) as (_, client):
        for name, (model, target, most) in fits.items():
            X, y = client.persist(
                [da.from_array(data[part], chunks=(step, *data[part].shape[1:])) for part in ("X", target)]
            )
            model.fit(X, y)  # workers import mercer
            plan, turns = model.solution_.details["plan"], list[tuple[float, float]]()
            idle = _idle(client)
            for _ in range(options.turns):  # in turns, so that other work on the machine falls on both
                begun, clock = _processor(client), time.time()
                model.fit(X, y)
                there = _processor(client) - begun - idle * (time.time() - clock)
                begun = time.process_time()
                with config_context(engine=Elsewhere(), threads=2):
                    model.fit(as_blocks(data["X"], data[target], plan=plan))
                turns.append((there, time.process_time() - begun))
            there, alone = np.median(turns, axis=0)
            ratio = float(np.median([one / other for one, other in turns]))
            yield (
                f"{name}, {len(data['X'])} rows, {options.turns} turns: medians of {there:.1f} processor s on workers "
                f"and {alone:.1f} here, ratio {ratio:.2f}, without {idle:.3f} processor s per second of idle workers",
                ratio <= most,
            )


def _idle(client: Client, seconds: float = 10.0) -> float:
    """Return the processor seconds per second of an idle cluster; on a busy machine fits take long."""
    begun = _processor(client)
    time.sleep(seconds)
    return (_processor(client) - begun) / seconds


def _processor(client: Client) -> float:
    return time.process_time() + sum(client.run(time.process_time).values())


def check_memory(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    data = rows(options.rows)
    step = -(-len(data["X"]) // CHUNKS)
    with cluster(2, memory_limit="600MB") as (_, client):
        pids = set(client.run(os.getpid).values())
        X, y = (da.from_array(data[part], chunks=(step, *data[part].shape[1:])) for part in ("X", "number"))
        paused: list[str] = []

        def look() -> bool:
            paused.extend(str(worker) for worker, status in client.run(_status).items() if status != "running")
            return False

        with _meanwhile(look, pause=0.5):
            KernelRidge(Gaussian(gamma=0.1), n_components=2048, alpha=1.0, random_state=0).fit(X, y)
        same = set(client.run(os.getpid).values()) == pids
        yield f"ridge, D = 2048, 600 MB: {len(paused)} times paused, the same workers: {same}", same and not paused


def _status(dask_worker: Any) -> str:
    return str(dask_worker.status.name)


def check_poison(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    data = rows(options.rows)
    X = data["X"].copy()
    X[len(X) // 2] = 77.0
    blocks = as_blocks(da.from_array(X, chunks=(-(-len(X) // CHUNKS), X.shape[1])), owner="KernelRidge")

    def poison(block: Block) -> Totals:
        if np.any(block.X == 77.0):
            os.kill(os.getpid(), signal.SIGKILL)
        return Totals(np.ones(1))

    with cluster(2, failures=3) as (_, client):
        Dask(client).reduce(lambda block: Totals(np.ones(1)), blocks, Totals.of(1))  # workers import mercer
        begun, said = time.time(), ""
        try:
            Dask(client, patience=SLOW).reduce(poison, blocks, Totals.of(1))
        except RuntimeError as error:
            said = str(error)
        took = time.time() - begun
        named = f"partition {CHUNKS // 2} of X" in said and "ended every worker" in said
        yield f"a block that ends its worker, four times: an error after {took:.0f} s, rows named: {named}", named


def check_walk(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    folder = Path(tempfile.mkdtemp())
    try:
        n_files, names = 10, [f"x{number}" for number in range(8)]
        for number in range(n_files):
            data = rows(-(-options.rows // n_files))
            frame = pd.DataFrame(data["X"], columns=names).assign(label=data["class"])
            (folder / "rows").mkdir(exist_ok=True)
            frame.to_parquet(folder / "rows" / f"{number:03}.parquet")
        with cluster(4) as (_, client):
            frames = dd.read_parquet(folder / "rows")
            model = KernelLogisticRegression(Gaussian(), n_components=128, tol=1e-2, random_state=0)
            begun = time.time()
            thread = threading.Timer(5.0, lambda: os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL))
            thread.start()
            model.fit(frames[names], frames["label"])
            took = time.time() - begun
            thread.join()
            frames.assign(predicted=model.predict(frames[names])).to_parquet(folder / "scored")
            scored = pd.read_parquet(folder / "scored", columns=["label", "predicted"])
            right = float((scored["label"] == scored["predicted"]).mean())
        n_rows = n_files * -(-options.rows // n_files)
        whole = len(scored) == n_rows
        yield (
            f"{n_rows} rows, 4 workers, one killed: fit {took:.0f} s, {right:.3f} right, all written: {whole}",
            whole and right > 0.8,
        )
    finally:
        shutil.rmtree(folder)


FIGURES = {
    "bits": check_bits,
    "kills": check_kills,
    "rescale": check_rescale,
    "bytes": check_bytes,
    "overhead": check_overhead,
    "memory": check_memory,
    "poison": check_poison,
    "walk": check_walk,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", help=f"some of {', '.join(FIGURES)}; all by default")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--scalings", type=int, default=4)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--features", type=int, default=512, help="of the overhead")
    options = parser.parse_args()
    failed = 0
    for name in options.figures or FIGURES:
        for line, holds in FIGURES[name](options):
            failed += not holds
            print(f"{name:>8}  {'holds' if holds else 'FAILS'}  {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
