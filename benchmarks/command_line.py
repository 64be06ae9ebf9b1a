"""``mercer train`` on Covertype as csv, 581 012 x 54, D = 1024, against pandas and scikit-learn on the same split.

Each in a process of its own, from start to exit, with its peak memory. Needs MERCER_DATA; the csv is written to a
temporary folder.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Row

N_COMPONENTS = 1024
TEST_FRACTION = 0.2
# The rows that mercer holds out are those whose draw, in order, lies below the fraction.
PEER = """
import sys
import numpy as np, pandas as pd
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

frame = pd.read_csv(sys.argv[1])
y, X = frame.pop("y"), frame
test = np.random.RandomState(0).random_sample(len(y)) < {fraction}
sampler = RBFSampler(gamma={gamma!r}, n_components={n_components}, random_state=0)
model = make_pipeline(StandardScaler(), sampler, RidgeClassifier()).fit(X[~test], y[~test])
print(model.score(X[test], y[test]))
"""


def _timed(command: list[str]) -> tuple[str, float, float]:
    """Return what a process prints, its seconds, and its peak memory in MiB."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return printed, time.perf_counter() - start, usage.ru_maxrss / 1024


def _written(folder: Path) -> Path:
    with np.load(Path(os.environ["MERCER_DATA"], "covtype.npz")) as data:
        table = np.column_stack([data["X"], data["y"]])
    path = folder / "covtype.csv"
    names = ",".join([*(f"x{j}" for j in range(54)), "y"])
    with path.open("w") as file:
        file.write(names + "\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in table.tolist())
    return path


def rows() -> Iterator[Row]:
    if "MERCER_DATA" not in os.environ:
        raise SystemExit("command_line needs Covertype: set MERCER_DATA to the folder that holds covtype.npz.")
    with tempfile.TemporaryDirectory() as folder:
        data, model = _written(Path(folder)), Path(folder, "model.mercer")
        ours = [sys.executable, "-m", "mercer", "train", str(data), "-t", "y", "-o", str(model), "--force", "--json"]
        ours += ["-D", str(N_COMPONENTS), "--test-fraction", str(TEST_FRACTION)]
        trained = [_timed(ours) for _ in range(2)]
        said = json.loads(trained[0][0])
        gamma = float(said["kernel"].removeprefix("Gaussian(gamma=").removesuffix(")"))
        peer = PEER.format(fraction=TEST_FRACTION, gamma=gamma, n_components=N_COMPONENTS)
        printed, peer_seconds, peer_peak = _timed([sys.executable, "-c", peer, str(data)])
        # The same model on the same rows: the draws of the map differ, by well below a percent of accuracy.
        assert abs(said["score"] - float(printed)) < 0.01, (said["score"], printed)
        seconds, peak = min(part[1] for part in trained), max(part[2] for part in trained)
        assert peak < 1024, f"{peak:.0f} MiB"
        print(f"peak memory {peak:.0f} MiB, of the peer {peer_peak:.0f} MiB; accuracy {said['score']:.4f}, {printed}")
        yield Row("mercer train 581012x54 csv D=1024", "pandas, RBFSampler, RidgeClassifier", seconds, peer_seconds, 3)
        yield from _digits()


def _digits() -> Iterator[Row]:
    """``mercer compare`` on digits may take 20 seconds."""
    _, seconds, _ = _timed([sys.executable, "-m", "mercer", "compare", "--no-report", "--json"])
    yield Row("mercer compare on digits", "20 seconds", seconds, 20, 1)
