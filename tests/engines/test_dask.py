"""A Dask cluster of two processes: the bits of one process, lost workers, collections in, lazy collections out."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402
from dask.distributed import Client, LocalCluster  # noqa: E402

import mercer  # noqa: E402
from mercer import (  # noqa: E402
    FOGDClassifier,
    FOGDRegressor,
    FourierFeatures,
    Gaussian,
    KernelCCA,
    KernelKMeans,
    KernelLogisticRegression,
    KernelOneClassSVM,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    KernelSVC,
    KernelSVR,
    KitchenSinksClassifier,
    LocalKernelRidge,
    NOGDClassifier,
    TunedClassifier,
    TunedRegressor,
    config_context,
)
from mercer.data import as_blocks  # noqa: E402
from mercer.engines import Dask, Local  # noqa: E402
from mercer.learners import BudgetClassifier, BudgetRegressor, TrackingClassifier  # noqa: E402
from mercer.stats import Totals  # noqa: E402
from mercer.testing import check_engine  # noqa: E402

CHUNKS = (900, 0, 1700, 400)
N_ROWS = sum(CHUNKS)
FEW = {"n_components": 20, "random_state": 0}

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own warnings


@pytest.fixture(scope="module")
def client():
    options = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None, "memory_limit": "1GB"}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 100}),
        LocalCluster(n_workers=2, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Elsewhere(Local):
    """Threads that are asked to work as if memory were not shared."""

    shares_memory = False


def _rows():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((N_ROWS, 3)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(N_ROWS)).astype(np.float64)
    return X, y, rng.rand(N_ROWS)


def _arrays(*parts):
    return [da.from_array(part, chunks=(CHUNKS, *part.shape[1:])) for part in parts]


LEARNERS = {
    "ridge": (KernelRidge(Gaussian(), **FEW), "coef_"),
    "gcv": (KernelRidge(Gaussian(), alpha="gcv", **FEW), "coef_"),
    "ridge classifier": (KernelRidgeClassifier(Gaussian(), **FEW), "coef_"),
    "logistic": (KernelLogisticRegression(Gaussian(), tol=1e-3, **FEW), "coef_"),
    "squared hinge": (KernelSVC(Gaussian(), tol=1e-2, **FEW), "coef_"),
    "hinge": (KernelSVC(Gaussian(), loss="hinge", tol=1e-2, **FEW), "coef_"),
    "insensitive": (KernelSVR(Gaussian(), tol=1e-2, **FEW), "coef_"),
    "squared insensitive": (KernelSVR(Gaussian(), loss="squared_epsilon_insensitive", tol=1e-2, **FEW), "coef_"),
    "pca": (KernelPCA(Gaussian(), n_components=2, map_components=20, random_state=0), "components_"),
    "cca": (KernelCCA(Gaussian(), n_components=1, map_components=20, random_state=0), "x_weights_"),
    "k-means": (KernelKMeans(Gaussian(), n_clusters=3, max_iter=3, **FEW), "cluster_centers_"),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_cluster_has_the_bits_of_this_process(client, name):
    model, attribute = LEARNERS[name]
    X, y, weight = _rows()
    target = {"cca": X[:, 1:], "pca": None, "k-means": None}.get(name, y)
    if name in ("ridge classifier", "logistic", "squared hinge", "hinge"):
        target = np.where(y > 0, "up", "down")
    dX, dw = _arrays(X, weight)
    model.fit(dX, None if target is None else _arrays(target)[0], sample_weight=dw)
    found, plan = getattr(model, attribute), model.solution_.details["plan"]
    assert plan == [900, 1700, 400]
    with config_context(engine=Elsewhere()):
        here = model.fit(as_blocks(X, target, sample_weight=weight, plan=plan))
    np.testing.assert_array_equal(getattr(here, attribute), found)


def test_the_score_of_two_views_is_a_reduction(client):
    X, y, weight = _rows()
    Y = np.column_stack([y, X[:, 1:]])
    model = KernelCCA(Gaussian(), n_components=2, map_components=20, random_state=0).fit(X, Y)
    expected = model.score(X, Y, weight)
    dX, dY, dw = _arrays(X, Y, weight)
    assert model.score(dX, dY, sample_weight=dw) == pytest.approx(expected, rel=1e-6)
    assert model.score(as_blocks(X, Y, sample_weight=weight, block_rows=170)) == pytest.approx(expected, rel=1e-6)
    assert abs(model.score(X, Y) - expected) > 1e-5  # the weights matter
    with pytest.raises(ValueError, match=r"KernelCCA: score needs both views"):
        model.score(dX)
    with pytest.raises(ValueError, match=r"X has 2 features, but KernelCCA is expecting 3 features"):
        model.score(dX[:, :2], dY)


def test_the_inertia_of_new_rows_is_a_reduction(client):
    X, _, weight = _rows()
    model = KernelKMeans(Gaussian(), n_clusters=3, max_iter=3, **FEW).fit(X)
    expected = model.score(X, sample_weight=weight)
    dX, dw = _arrays(X, weight)
    assert model.score(dX, sample_weight=dw) == pytest.approx(expected, rel=1e-5)
    assert model.score(as_blocks(X, sample_weight=weight, block_rows=170)) == pytest.approx(expected, rel=1e-5)
    assert model.score(dX) < expected
    with pytest.raises(ValueError, match="X has 2 features, but KernelKMeans is expecting 3"):
        model.score(dX[:, :2])


ONLINE = {
    "fogd": FOGDRegressor(Gaussian(), update="newton", **FEW),
    "fogd classes": FOGDClassifier(Gaussian(), **FEW),
    "nogd": NOGDClassifier(Gaussian(), **FEW),
    "budget": BudgetRegressor(Gaussian(gamma=0.5), budget=20, random_state=0),
    "budget classes": BudgetClassifier(Gaussian(gamma=0.5), budget=20, random_state=0),
}


@pytest.mark.parametrize("name", ONLINE)
def test_online_learners_go_from_partition_to_partition(client, name):
    """The model travels, and the rows stay; the bits are those of the same blocks in this process."""
    model = ONLINE[name]
    X, y, _ = _rows()
    target = y if name in ("fogd", "budget") else np.where(y > 0, "up", "down")
    model.fit(*_arrays(X, target))
    found, n_seen = np.array(model.coef_), model.n_seen_
    here = model.fit(as_blocks(X, target, plan=[900, 1700, 400]))
    np.testing.assert_array_equal(here.coef_, found)
    assert n_seen == N_ROWS
    assert model.score(*_arrays(X, target)) == pytest.approx(model.score(X, target))


def test_what_does_not_fit_a_worker_is_refused_before_the_first_task(client):
    blocks, work = as_blocks(np.ones((10, 2)), owner="KernelRidge"), []
    with pytest.raises(
        MemoryError, match=r"KernelRidge: a worker with 1 threads needs .* MiB for statistics of 305 MiB"
    ):
        Dask(client).reduce(work.append, blocks, Totals.of(40 * 10**6))


def test_rows_that_end_every_worker_are_named(client):
    """A block that kills its worker: one error that names the rows, and a cluster that goes on.

    Rows that waited behind them on the same worker are named too: Dask cannot tell them apart.
    """
    X, y, _ = _rows()
    X[2500] = 77.0
    blocks = as_blocks(*_arrays(X, y))

    def poison(block):
        if np.any(block.X == 77.0):
            os.kill(os.getpid(), signal.SIGKILL)
        return Totals(np.ones(1))

    client.run_on_scheduler(_set_allowed_failures, 0)
    try:
        with pytest.raises(
            RuntimeError, match=r"rows 900 to 2599 \(partition 2 of X\)( or rows .*)? ended every worker that took them"
        ):
            Dask(client).reduce(poison, blocks.recut(100, "KernelRidge"), Totals.of(1))
    finally:
        client.run_on_scheduler(_set_allowed_failures, 100)
    client.wait_for_workers(2, timeout=60)
    total = Dask(client).reduce(lambda block: Totals(np.full(1, block.n_rows)), blocks, Totals.of(1))
    assert total.values == [N_ROWS]


def _set_allowed_failures(number, dask_scheduler):
    dask_scheduler.allowed_failures = number


def test_an_interruption_leaves_no_task(client):
    X, y, _ = _rows()

    def interrupt(n_rows):
        raise KeyboardInterrupt

    blocks = as_blocks(*_arrays(X, y)).recut(100, "KernelRidge")
    with pytest.raises(KeyboardInterrupt):
        Dask(client).reduce(lambda block: time.sleep(0.05) or Totals(np.ones(1)), blocks, Totals.of(1), interrupt)
    for _ in range(100):
        if not any(client.processing().values()):
            break
        time.sleep(0.1)
    assert not any(client.processing().values())


def test_partitions_beyond_the_memory_of_the_workers_are_read_in_each_pass(client, monkeypatch):
    X, y, _ = _rows()
    model = KernelLogisticRegression(Gaussian(), tol=1e-2, **FEW)
    kept = model.fit(*_arrays(X, y > 0)).coef_
    monkeypatch.setattr("mercer.engines.dask._KEPT_SHARE", 0.0)
    source = as_blocks(*_arrays(X, y > 0))
    np.testing.assert_array_equal(model.fit(source).coef_, kept)
    assert source.reader.kept is None


def test_the_laws_of_engines(client):
    check_engine(Dask(client))


def test_files_on_a_cluster_have_the_bits_of_the_array(client, tmp_path):
    X, y, _ = _rows()
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}).to_parquet(tmp_path / "rows.parquet")
    model = KernelRidge(Gaussian(), alpha="gcv", **FEW)
    whole = model.fit(as_blocks(X, y)).coef_
    with config_context(engine=Dask(client)):
        np.testing.assert_array_equal(model.fit(as_blocks(tmp_path / "rows.parquet", target="y")).coef_, whole)


def _lazy_methods():
    yield KernelRidge(Gaussian(), **FEW), "predict"
    yield KernelRidgeClassifier(Gaussian(), **FEW), "predict"
    yield KernelRidgeClassifier(Gaussian(), **FEW), "decision_function"
    yield KernelLogisticRegression(Gaussian(), tol=1e-2, **FEW), "predict_proba"
    yield KernelPCA(Gaussian(), n_components=2, random_state=0), "transform"
    yield KernelKMeans(Gaussian(), n_clusters=2, **FEW), "predict"
    yield FourierFeatures(Gaussian(), **FEW), "transform"


@pytest.mark.parametrize("kind", ["array", "unknown lengths", "CSR", "frame"])
def test_results_are_lazy_and_those_of_this_process(client, kind):
    X, y, _ = _rows()
    labels = np.where(y > 0, "up", "down")
    computed = []
    rows = _arrays(X)[0].map_blocks(lambda part: computed.append(1) or part, dtype=X.dtype, meta=X[:0])
    if kind == "CSR":
        rows = rows.map_blocks(sparse.csr_array, dtype=X.dtype, meta=sparse.csr_array((0, 0), dtype=X.dtype))
    elif kind == "frame":
        frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(N_ROWS) + 7)
        rows = dd.from_pandas(frame, npartitions=3).map_partitions(
            lambda part: computed.append(1) or part, meta=frame[:0]
        )
    elif kind == "unknown lengths":
        rows = rows[da.from_array(y, chunks=(CHUNKS,)) > 0]
        X, labels = X[y > 0], labels[y > 0]
    computed.clear()
    with dask.config.set(scheduler="synchronous"):
        for model, method in _lazy_methods():
            model.fit(*_fit_rows(model, labels))
            found = getattr(model, method)(rows)
            assert not computed
            expected = getattr(model, method)(sparse.csr_array(X) if kind == "CSR" else X)
            values = found.compute()
            np.testing.assert_allclose(_numbers(values), _numbers(expected), rtol=1e-4, atol=1e-5)
            if kind == "frame":
                np.testing.assert_array_equal(values.index, np.arange(N_ROWS) + 7)
            else:
                assert found.dtype == expected.dtype
            computed.clear()


def _fit_rows(model, labels):
    X, y, _ = _rows()
    if isinstance(model, KernelRidge):
        return X, y
    if isinstance(model, KernelRidgeClassifier | KernelLogisticRegression):
        return X, np.where(y > 0, "up", "down")
    return (X,)


def _numbers(values):
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    return values if values.dtype.kind in "fiu" else (values == "up").astype(float)


def test_frames_unknown_lengths_and_weights(client):
    X, y, weight = _rows()
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, w=weight)
    df = dd.from_pandas(frame, npartitions=4)
    df = df[df["a"] > -1.0]  # lengths are not known
    model = KernelRidge(Gaussian(), alpha="gcv", **FEW).fit(df[["a", "b", "c"]], df["y"], sample_weight=df["w"])
    kept = X[:, 0] > -1.0
    here = KernelRidge(Gaussian(), alpha="gcv", **FEW).fit(
        as_blocks(X[kept], y[kept], sample_weight=weight[kept], plan=model.solution_.details["plan"])
    )
    np.testing.assert_array_equal(model.coef_, here.coef_)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    score = model.score(df[["a", "b", "c"]], df["y"], sample_weight=df["w"])
    np.testing.assert_allclose(score, here.score(X[kept], y[kept], weight[kept]), rtol=1e-6)
    named = KernelRidge(Gaussian(), alpha="gcv", **FEW).fit(as_blocks(df, target="y", sample_weight="w"))
    np.testing.assert_array_equal(named.coef_, model.coef_)


def test_columns_of_a_folder_of_parquet_have_the_same_partitions(client, tmp_path):
    """Dask joins small files into one partition if few columns are read: those of y, and not those of X."""
    X, y, _ = _rows()
    frame = pd.DataFrame(np.hstack([X] * 4), columns=[f"x{j}" for j in range(12)]).assign(
        label=np.where(y > 0, "up", "down")
    )
    dd.from_pandas(frame, npartitions=5).to_parquet(tmp_path / "rows")
    df = dd.read_parquet(tmp_path / "rows")
    columns = [f"x{j}" for j in range(12)]
    assert len(df["label"].to_delayed()) < df.npartitions  # else this tests nothing
    model = KernelRidgeClassifier(Gaussian(), **FEW).fit(df[columns], df["label"])
    plan = model.solution_.details["plan"]
    assert plan == [600] * 5
    found = model.coef_
    here = model.fit(as_blocks(frame[columns].to_numpy(), frame["label"].to_numpy(), plan=plan))
    np.testing.assert_array_equal(here.coef_, found)
    df.assign(predicted=model.predict(df[columns])).to_parquet(tmp_path / "scored")
    scored = pd.read_parquet(tmp_path / "scored")
    np.testing.assert_array_equal(scored["predicted"], model.predict(frame[columns].to_numpy()))


def test_csr_chunks(client):
    X, y, _ = _rows()
    X[X < 0.5] = 0.0
    dX = _arrays(X)[0].map_blocks(sparse.csr_array, dtype=X.dtype, meta=sparse.csr_array((0, 0), dtype=X.dtype))
    model = KernelRidge(Gaussian(), alpha="gcv", **FEW).fit(dX, y)
    here = KernelRidge(Gaussian(), alpha="gcv", **FEW).fit(
        as_blocks(sparse.csr_array(X), y, plan=model.solution_.details["plan"])
    )
    np.testing.assert_array_equal(model.coef_, here.coef_)


def test_bad_input_is_named_by_partition_and_row(client):
    X, y, _ = _rows()
    model = KernelRidge(Gaussian(), **FEW)
    bad = X.copy()
    bad[1234, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN at row 1234, column 2.*In partition 2 of X"):
        model.fit(*_arrays(bad, y))
    with pytest.raises(ValueError, match="X has 3000 rows and y has 2999"):
        model.fit(_arrays(X)[0], y[:-1])
    with pytest.raises(ValueError, match="X has 4 partitions and y has 1"):
        model.fit(_arrays(X)[0], dd.from_pandas(pd.Series(y), npartitions=1))
    df = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=2)
    with pytest.raises(ValueError, match="KernelRidge requires y"):
        model.fit(df)
    other = df.map_partitions(lambda part: part.rename(columns={"a": "z"}), meta=df._meta, enforce_metadata=False)
    with pytest.raises(ValueError, match=r"KernelRidge: partition 0 of X has the columns .*, and the data frame has"):
        model.fit(other, y)
    for kind, message in (("float64", "has the type float64 in column 'b'"), (str, "has the type .* in column 'b'")):
        other = df.map_partitions(
            lambda part, kind=kind: part.astype({"b": kind}) if 1600 in part.index else part,
            meta=df._meta,
            enforce_metadata=False,
        )
        with pytest.raises(ValueError, match=f"KernelRidge: partition 1 of X {message}.*with astype"):
            model.fit(other, y)
    wide = _arrays(X)[0].map_blocks(lambda part: part[:, :2] if len(part) == 1700 else part, dtype=X.dtype, meta=X[:0])
    with pytest.raises(ValueError, match="KernelRidge: partition 2 of X has 2 columns, and the array has 3"):
        model.fit(wide, y)
    series = dd.from_pandas(pd.Series(y), npartitions=2).map_partitions(lambda part: part[:-1], meta=pd.Series(y)[:0])
    with pytest.raises(ValueError, match="partition 0 of X has 1500 rows, and that of y has 1499"):
        model.fit(df, series)
    model.fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but KernelRidge is expecting 3"):
        model.predict(_arrays(X[:, :2])[0])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelOneClassSVM(), "a dual variable of each row is kept in this process"),
        (KernelPCA(fit_inverse_transform=True), "fit_inverse_transform learns from all rows"),
        (KernelKMeans(batch_size=100), "batch_size goes through the rows one after the other"),
        (
            LocalKernelRidge(),
            "LocalKernelRidge: X is a Dask collection, and LocalKernelRidge works on rows of this process",
        ),
        (KitchenSinksClassifier(), "X is a Dask collection, and KitchenSinksClassifier works on rows of this process"),
        (TrackingClassifier(FOGDClassifier()), "X is a Dask collection, and TrackingClassifier works on rows of this"),
    ],
    ids=repr,
)
def test_what_stays_local_says_so_before_any_work(client, model, message):
    X, y, _ = _rows()
    computed = []
    rows = _arrays(X)[0].map_blocks(lambda part: computed.append(1) or part, dtype=X.dtype, meta=X[:0])
    with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match=message):
        model.fit(rows, y > 0)
    assert not computed


def test_what_works_on_arrays_does_not_pull_a_collection_here():
    X, y, _ = _rows()
    model = TunedClassifier(random_state=0).fit(X[:200], y[:200] > 0)
    for call in (Gaussian(), model.predict_set):
        with pytest.raises(ValueError, match="Dask collection"), dask.config.set(scheduler="synchronous"):
            call(_arrays(X)[0])


TUNED = {"random_state": 0, "max_rows": 600, "leaf_rows": 300, "n_landmarks": 30}


def test_tuned_estimators_hold_a_sample_and_read_the_other_rows_where_they_are(client):
    X, _, weight = _rows()
    X[::50, 2] = np.nan  # a missing value, as in arrays
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 1.5 * np.random.RandomState(1).standard_normal(N_ROWS)
    model = TunedRegressor(**TUNED).fit(*_arrays(X, y), sample_weight=_arrays(weight)[0])
    assert model.report_.chosen["rows held"].endswith("of 3,000")
    assert model.low_order_ is not None  # the other rows count
    plan = [900, 1700, 400]
    with config_context(engine=Elsewhere()):
        here = TunedRegressor(**TUNED).fit(as_blocks(X, y, sample_weight=weight, plan=plan))
    assert here.report_ == model.report_
    expected = model.predict(X)
    np.testing.assert_array_equal(here.predict(X), expected)
    array = TunedRegressor(**TUNED).fit(X, y, weight)  # one part: sums in another order
    np.testing.assert_allclose(array.predict(X), expected, rtol=1e-4, atol=1e-4)
    lazy = model.predict(_arrays(X)[0])
    assert dask.is_dask_collection(lazy)
    np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-4, atol=1e-5)
    found = model.score(*_arrays(X, y), sample_weight=_arrays(weight)[0])
    assert found == pytest.approx(model.score(X, y, weight), rel=1e-5)
    with pytest.raises(ValueError, match="this method takes no Dask collection"):
        model.predict_interval(_arrays(X)[0])


def test_tuned_classifiers_of_frames(client):
    X, y, _ = _rows()
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=np.where(y > 0, "up", "down"))
    df = dd.from_pandas(frame, npartitions=4)
    model = TunedClassifier(**TUNED).fit(df[["a", "b", "c"]], df["label"])
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.classes_.tolist() == ["down", "up"]
    rows = frame[["a", "b", "c"]]
    np.testing.assert_array_equal(model.predict(df[["a", "b", "c"]]).compute(), model.predict(rows))
    found = model.predict_proba(df[["a", "b", "c"]]).compute()
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-5)
    with pytest.raises(ValueError, match="column 'label' of X holds no numbers"):
        model.fit(df, df["label"])


def test_bad_partitions_of_a_tuned_fit_are_named(client):
    X, y, _ = _rows()
    model = TunedRegressor(**TUNED)
    bad = X.copy()
    bad[1234, 2] = np.inf
    with pytest.raises(ValueError, match=r"infinity \(inf\) at row 1234, column 2.*In partition 2 of X"):
        model.fit(*_arrays(bad, y))
    with pytest.raises(ValueError, match="X has 3000 rows and y has 2999"):
        model.fit(_arrays(X)[0], y[:-1])
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit(*_arrays(X, np.where(np.arange(N_ROWS) == 2000, np.nan, y)))
    wide = _arrays(X)[0].map_blocks(lambda part: part[:, :2] if len(part) == 1700 else part, dtype=X.dtype, meta=X[:0])
    with pytest.raises(ValueError, match="TunedRegressor: partition 2 of X has 2 columns, and the array has 3"):
        model.fit(wide, y)
    with pytest.raises(ValueError, match="at least 2 classes, got 1 class"):
        TunedClassifier(**TUNED).fit(*_arrays(X, np.zeros(N_ROWS, dtype=int)))
    assert not hasattr(model, "model_")


def test_without_a_client_partitions_are_computed_here():
    X, y, _ = _rows()
    with dask.config.set(scheduler="synchronous"):
        blocks = as_blocks(*_arrays(X, y))
        assert [block.n_rows for block in blocks.recut(1000, "Test").labelled()] == [900, 1000, 700, 400]
        model = KernelRidge(Gaussian(), **FEW)
        with config_context(engine=Local()):
            model.fit(*_arrays(X, y))
    np.testing.assert_array_equal(model.coef_, model.fit(as_blocks(X, y, plan=[900, 1700, 400])).coef_)


def test_a_cluster_without_workers_is_an_error_in_words():
    options = {"dashboard_address": None, "processes": False}
    with LocalCluster(n_workers=0, **options) as cluster, Client(cluster, set_as_default=False) as client:
        X, y, _ = _rows()
        with (
            config_context(engine=Dask(client, patience=0.5)),
            pytest.raises(RuntimeError, match=r"the cluster has no worker for 0\.5 s"),
        ):
            KernelRidge(**FEW).fit(X, y)


def test_dask_is_not_imported_without_need():
    code = (
        "import sys, numpy as np, mercer\n"
        "mercer.KernelRidge().fit(np.random.rand(50, 2), np.arange(50.0)).predict(np.ones((2, 2)))\n"
        "import mercer.engines\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('dask', 'distributed')]\n"
    )
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_another_version_of_mercer_is_refused(client, monkeypatch):
    monkeypatch.setitem(vars(mercer), "__version__", "0.0.0")
    with (
        config_context(engine=Dask(client)),
        pytest.raises(RuntimeError, match=r"has mercer 0\.1\.0, and this process has 0\.0\.0"),
    ):
        KernelRidge(**FEW).fit(np.random.RandomState(0).rand(50, 2), np.arange(50.0))


def test_a_killed_worker_changes_no_bit(client):
    X, y, _ = _rows()
    dX, dy = _arrays(X, y)
    model = KernelLogisticRegression(Gaussian(), tol=1e-3, **FEW)
    expected = model.fit(dX, dy > 0).coef_

    def kill():
        time.sleep(0.3)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    for _ in range(3):
        np.testing.assert_array_equal(model.fit(*_arrays(X, y > 0)).coef_, expected)
    thread.join()


def test_a_fit_goes_on_after_all_workers_were_lost_at_once(client):
    """Partitions are slow, so that all of them are still to be computed when the workers are lost."""
    X, y, _ = _rows()
    model = KernelRidge(Gaussian(), alpha=1.0, **FEW)
    expected = model.fit(*_arrays(X, y)).coef_
    slow, target = (part.map_blocks(lambda rows: time.sleep(1.0) or rows, dtype=part.dtype) for part in _arrays(X, y))
    pids = list(client.run(os.getpid).values())
    thread = threading.Timer(0.7, lambda: [os.kill(pid, signal.SIGKILL) for pid in pids])
    thread.start()
    with ThreadPoolExecutor(1) as fits:
        fit = fits.submit(model.fit, slow, target)
        try:
            fit.result(timeout=150)
        except TimeoutError:
            client.restart()  # ends the fit
            raise
    thread.join()
    np.testing.assert_array_equal(model.coef_, expected)
