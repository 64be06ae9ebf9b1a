"""Budgets: peak memory beside the result, the time of an import, and optional packages that stay optional."""

import subprocess
import sys

import pytest

PEAK = """
import numpy as np
import mercer

def peak_mib():  # ru_maxrss would begin with the peak of the process that started this one
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))

rng = np.random.RandomState(0)
{warm_up}
before = peak_mib()
{work}
print(peak_mib() - before)
"""


def _run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize(
    ("kernel", "tiles"),
    [("mercer.Polynomial(3, coef0=1.0)", 24), ("mercer.Gaussian(gamma=0.1) + mercer.Linear()", 48)],
)
def test_a_gram_matrix_takes_its_own_memory_and_a_few_tiles(kernel, tiles):
    """4000 x 4000 float64 is 122 MiB; a tile and its temporaries are a few times 8 MiB for each of 2 threads."""
    code = PEAK.format(
        warm_up=f"k = {kernel}; X = rng.standard_normal((4000, 10)); k(X[:100])",
        work="K = k(X)",
    )
    assert float(_run(code)) < 122 + 2 * tiles


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
@pytest.mark.parametrize("n_rows", [20_000, 80_000])
def test_a_transform_takes_its_own_memory_and_a_few_blocks(n_rows):
    """Features of 256 float32 columns; beside them the blocks in work, whatever the number of rows."""
    code = PEAK.format(
        warm_up=f"X = rng.standard_normal(({n_rows}, 20)).astype('f')\n"
        "m = mercer.TensorSketch(n_components=256).fit(X); m.transform(X[:600])",
        work="Z = m.transform(X)",
    )
    assert float(_run(code)) < n_rows * 256 * 4 / 2**20 + 16


TUNED = """
def rows(n_rows):
    for seed in range(n_rows // 5000):
        drawn = np.random.RandomState(seed)
        X = drawn.standard_normal((5000, 20)).astype("f")
        yield X, X[:, 0] + np.sin(2 * X[:, 1]) + 2 * drawn.standard_normal(5000)

model = mercer.TunedRegressor(max_rows=4000, leaf_rows=500, n_landmarks=64, n_trees=1, random_state=0, n_jobs=1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_a_tuned_fit_of_a_stream_takes_the_memory_of_its_sample():
    """360,000 more rows would take 27 MiB as they are, and about five times as much in a fit that held them."""
    peaks = []
    for n_rows in (40_000, 400_000):
        work = f"model.fit(mercer.as_blocks(lambda: rows({n_rows})))\nassert model.low_order_ is not None"
        work += f"\nmodel.predict(mercer.as_blocks(lambda: rows({n_rows // 4})))"
        peaks.append(float(_run(PEAK.format(warm_up=TUNED, work=work))))
    assert peaks[1] < peaks[0] + 40


def test_optional_packages_stay_optional():
    optional = [
        "pandas",
        "polars",
        "pyarrow",
        "click",
        "rich",
        "jinja2",
        "matplotlib",
        "pytest",
        "hypothesis",
    ]
    _run(
        f"import sys; sys.modules.update(dict.fromkeys({optional!r}))\n"
        "import mercer; [getattr(mercer, name) for name in mercer.__all__]; import mercer.testing"
    )
