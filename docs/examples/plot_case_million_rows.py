"""
Case study: a million rows, streamed
====================================

A million rows in parquet files, a model on 256 features, and memory that does not grow with the rows. The same code
reads a folder of any size. Download this page as a notebook at its end.
"""

# %%
# The files
# ---------
# Ten files of 100,000 rows stand for your data. The target is a smooth function of three columns, plus noise of
# standard deviation 0.5: no model can have a smaller error than that.
import resource
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mercer import Gaussian, KernelRidge, as_blocks, plots

NOISE = 0.5
rng = np.random.default_rng(0)


def write_rows(path, n_rows):
    """Write rows of four columns and a target."""
    X = rng.standard_normal((n_rows, 4)).astype(np.float32)
    truth = np.sin(2 * X[:, 0]) + X[:, 1] * np.cos(X[:, 2])
    columns = {f"x{j}": X[:, j] for j in range(4)}
    y = truth + NOISE * rng.standard_normal(n_rows)
    pq.write_table(pa.table({**columns, "y": y}), path)
    return y


folder = Path(tempfile.mkdtemp()) / "rows"
folder.mkdir()
for part in range(10):
    write_rows(folder / f"part-{part}.parquet", 100_000)
size = sum(path.stat().st_size for path in folder.iterdir())
print(f"{size / 2**20:.0f} MiB of parquet; the Gram matrix would have 10¹² entries")

# %%
# A fit from the folder
# ---------------------
# The learner reads blocks of rows, and keeps a few 256 x 256 matrices. The penalty is chosen in the same pass.
new_rows = folder.with_name("new.parquet")
y_new = write_rows(new_rows, 20_000)


def error_of(model):
    """Return the root mean square error on new rows."""
    predicted = model.predict(as_blocks(new_rows, y="y"))
    return float(np.sqrt(np.mean((predicted - y_new) ** 2)))


before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
model = KernelRidge(
    Gaussian(gamma=0.25), n_components=256, alpha="gcv", random_state=0
).fit(as_blocks(folder, y="y"))
seconds = time.process_time() - start
more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(f"{seconds:.1f} processor seconds, {more:.0f} MiB more memory at the peak")
print(f"error on new rows {error_of(model):.4f}; the best possible is {NOISE}")

# %%
# How many rows are enough?
# -------------------------
# ``partial_fit`` adds one file after another, so that the error can be watched while rows come in. The curve is flat
# long before the last file: more features would help here, and more rows would not.
growing = KernelRidge(
    Gaussian(gamma=0.25), n_components=256, alpha=model.alpha_, random_state=0
)
seen, errors = [], []
for number, path in enumerate(sorted(folder.iterdir())):
    growing.partial_fit(as_blocks(path, y="y"))
    seen.append(100_000 * (number + 1))
    errors.append(error_of(growing))
figure, axes = plt.subplots()
axes.plot(seen, errors, "o-", color=plots.NEW_ROWS, label="as the files come in")
axes.axhline(error_of(model), color=plots.MODEL, label="fitted on all rows")
axes.axhline(NOISE, color=plots.REFERENCE, linestyle="--", label="best possible")
axes.set(xlabel="rows seen", ylabel="error on new rows")
axes.legend()
plt.show()
