"""No reader loads its source: the peak of anonymous memory is a few blocks, far below the rows."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")

N_ROWS, WIDTH = 300_000, 20
SOURCE_MIB = N_ROWS * WIDTH * 8 / 2**20  # 46 MiB as float64; the svmlight file holds a fifth of the rows, 9 MiB

# A first pass over few rows loads the libraries and fills their pools; only then is the baseline taken.
CODE = """
import sys, threading, time
import numpy as np
from mercer.data import SvmlightReader, as_blocks

def anonymous_mib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024

def watch():
    while not done.is_set():
        peaks.append(anonymous_mib())
        time.sleep(0.001)

few, source = {few}, {source}
for block in as_blocks(few, block_rows=512): pass
peaks, done = [anonymous_mib()], threading.Event()
thread = threading.Thread(target=watch, daemon=True); thread.start()
n = sum(block.shape[0] for block in as_blocks(source, block_rows=512))
done.set(); thread.join()
assert n == {n_rows}, n
print(max(peaks) - peaks[0])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows as files: in one subprocess, so that the tests' own memory stays small."""
    where = tmp_path_factory.mktemp("rows")
    code = f"""
import numpy as np, pyarrow as pa
from pathlib import Path
from pyarrow import csv, feather, parquet
for name, n in (("few", 4096), ("all", {N_ROWS})):
    X = np.random.RandomState(0).randint(256, size=(n, {WIDTH})) / 4.0
    np.save(f"{where}/{{name}}.npy", X)
    np.save(f"{where}/{{name}}_int.npy", X.astype(np.int16))
    np.save(f"{where}/{{name}}_fortran.npy", np.asfortranarray(X))
    table = pa.table({{f"x{{j}}": X[:, j] for j in range({WIDTH})}})
    parquet.write_table(table, f"{where}/{{name}}.parquet", row_group_size=8192)
    csv.write_csv(table, f"{where}/{{name}}.csv")
    feather.write_feather(table, f"{where}/{{name}}.arrow", compression="uncompressed")
    lines = "".join("1 " + " ".join(f"{{j + 1}}:{{v}}" for j, v in enumerate(row)) + "\\n" for row in X[: n // 5])
    Path("{where}", f"{{name}}.svm").write_text(lines)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    return where


# The limit is 0.4 of the rows as float64: 18 MiB, 3.7 MiB for the svmlight file.
SOURCES = {
    "npy": ("'{0}.npy'", N_ROWS),
    "memmap of integers": ("'{0}_int.npy'", N_ROWS),
    "memmap in Fortran order": ("'{0}_fortran.npy'", N_ROWS),
    "parquet": ("'{0}.parquet'", N_ROWS),
    "csv": ("'{0}.csv'", N_ROWS),
    "svmlight": ("'{0}.svm'", N_ROWS // 5),
    "arrow table, mapped": ("__import__('pyarrow.feather').feather.read_table('{0}.arrow', memory_map=True)", N_ROWS),
    "polars": ("__import__('polars').read_ipc('{0}.arrow')", N_ROWS),
    "pandas": ("__import__('pandas').DataFrame(np.load('{0}.npy', mmap_mode='r'), copy=False)", N_ROWS),
    "CSR": ("__import__('scipy.sparse').sparse.csr_array(np.load('{0}.npy'))", N_ROWS),
    "iterator factory": ("lambda: iter(np.load('{0}.npy', mmap_mode='r').reshape(-1, 32, 20))", N_ROWS),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_no_reader_loads_all(folder, kind):
    expression, n_rows = SOURCES[kind]
    few, source = (expression.format(folder / name) for name in ("few", "all"))
    code = CODE.format(few=few, source=source, n_rows=n_rows)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < n_rows / N_ROWS * SOURCE_MIB * 0.4, f"{run.stdout.strip()} MiB"
