"""The experiments of the survey by Soni, Garg and others: a function a kind of cell, each returning raw numbers."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from mercer import (
    MEKA,
    Fastfood,
    FOGDClassifier,
    FourierFeatures,
    Gaussian,
    KitchenSinks,
    Laplacian,
    NOGDClassifier,
    Nystroem,
    RandomBinning,
)
from mercer.bench.data import load, prepared
from mercer.bench.models import linear_svm, processor_timed
from mercer.gram import BlockGram
from mercer.learners import BudgetClassifier

Cell = dict[str, Any]
FILES = {
    "BANANA": "banana",
    "MAGIC04": "magic04",
    "LETTERS": "letter",
    "USPS": "usps",
    "COVTYPE": "covtype",
    "MNIST": "mnist",
}

# Tables 2 and 4 of the survey, in the order of its columns.
METHODS = ("Linear SVM", "Nystroem", "RFF", "RKS", "Fastfood", "FOGD", "NOGD", "Kernel SVM")
TRAINING = {
    "BANANA": (0.0433, 0.0755, 0.1163, 0.0663, 0.09021, 0.0244, 0.0428, 0.2048),
    "MAGIC04": (1.3654, 0.3721, 0.5488, 0.4969, 0.5287, 0.4097, 0.4814, 6.9772),
    "LETTERS": (11.5490, 2.2720, 7.0539, 8.3801, 6.0679, 0.6937, 0.9839, 4.9477),
    "USPS": (3.2111, 0.3289, 0.2156, 0.1919, 2.1740, 0.0189, 0.4860, 3.3575),
    "COVTYPE": (24.2727, 0.5469, 1.3632, 4.5047, 4.3250, 3.6581, 0.7044, 35.5756),
    "MNIST": (16.1708, 1.5239, 0.3546, 0.237, 5.9429, 0.0311, 0.6495, 13.9363),
}
ACCURACY = {
    "BANANA": (0.556, 0.904, 0.896, 0.901, 0.892, 0.8498, 0.8651, 0.902),
    "MAGIC04": (0.790, 0.825, 0.818, 0.801, 0.820, 0.7947, 0.7986, 0.902),
    "LETTERS": (0.705, 0.859, 0.894, 0.691, 0.909, 0.8013, 0.7630, 0.823),
    "USPS": (0.928, 0.943, 0.167, 0.163, 0.149, 0.1099, 0.9261, 0.924),
    "COVTYPE": (0.656, 0.677, 0.676, 0.746, 0.741, 0.6824, 0.6014, 0.977),
    "MNIST": (0.854, 0.939, 0.107, 0.106, 0.104, 0.100, 0.872, 0.528),
}


def _rows(name: str, largest: int, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Return unscaled rows, at most so many, in random order; a third to test where there is no published split."""
    data = load(FILES[name])
    rng = np.random.RandomState(seed)
    if data.X_test is not None:
        train, test = rng.permutation(len(data.X))[:largest], rng.permutation(len(data.X_test))[:largest]
        return data.X[train].astype(np.float32), data.y[train], data.X_test[test].astype(np.float32), data.y_test[test]
    order = rng.permutation(len(data.X))[: 3 * largest // 2]
    cut = 2 * len(order) // 3
    X, y = data.X[order].astype(np.float32), data.y[order]
    return X[:cut], y[:cut], X[cut:], y[cut:]


def _prepared(cell: Cell, X: Any, X_test: Any) -> tuple[Any, Any]:
    """Scale columns: to [0, 1] for the survey's setting, where pixels went unscaled into its MNIST kernel SVM."""
    if cell["setting"] == "proper":
        scaler: Any = StandardScaler().fit(X)
    elif cell["data"] == "USPS" or (cell["data"] == "MNIST" and cell["method"] == "Kernel SVM"):
        return X, X_test
    elif cell["data"] == "MNIST":
        return X / 255, X_test / 255
    else:
        scaler = MinMaxScaler().fit(X)
    return scaler.transform(X).astype(np.float32), scaler.transform(X_test).astype(np.float32)


def _gamma(cell: Cell, X: Any) -> float:
    """Return the bandwidth: a library's defaults, as the survey's numbers suggest, or the median distance's.

    scikit-learn's RBFSampler has gamma = 1 whatever the dimension, its Nystroem and the SVC of the time 1 / d.
    """
    if cell["setting"] == "as in the survey":
        return 1.0 if cell["method"] in ("RFF", "RKS", "Fastfood", "FOGD") else 1.0 / X.shape[1]
    rows = X[np.random.RandomState(0).choice(len(X), min(len(X), 500), replace=False)].astype(np.float64)
    squares = (rows**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * rows @ rows.T
    return float(1.0 / np.median(distances[np.triu_indices(len(rows), 1)]))


def _map(method: str, gamma: float, D: int, seed: int) -> Any:
    kernel = Gaussian(gamma=gamma)
    maps = {
        "Nystroem": lambda: Nystroem(kernel, n_components=D, landmarks="uniform", random_state=seed),
        "RFF": lambda: FourierFeatures(kernel, n_components=D, random_state=seed),
        "RKS": lambda: KitchenSinks("cosine", kernel, n_components=D, random_state=seed),
        "Fastfood": lambda: Fastfood(kernel, n_components=D, random_state=seed),
    }
    return maps[method]()


STEPS = (0.01, 0.1, 1.0, 10.0)


def _online(method: str, gamma: float, D: int, seed: int, step: float) -> Any:
    """Return the survey's online learners: a perceptron's steps, that is the hinge loss, on features, one pass."""
    rule = {"update": "gradient", "loss": "hinge", "schedule": "constant", "step": step, "random_state": seed}
    if method == "NOGD":
        return NOGDClassifier(Gaussian(gamma=gamma), n_components=D, **rule)
    return FOGDClassifier(features=_map("RFF", gamma, D, seed), **rule)


def _held_out_step(method: str, gamma: float, D: int, X: Any, y: Any) -> float:
    """Return the step, which the survey does not give: that with the fewest mistakes on the first 1,000 rows."""
    mistakes = [_online(method, gamma, D, 0, step).fit(X[:1000], y[:1000]).n_mistakes_ for step in STEPS]
    return STEPS[int(np.argmin(mistakes))]


def _fitted(cell: Cell, X: Any, y: Any, gamma: float, seed: int) -> tuple[Any, float, float]:
    """Return what predicts, and the seconds of the map and of training."""
    method = cell["method"]
    if method in ("FOGD", "NOGD"):
        learner = _online(method, gamma, cell["D"], seed, _held_out_step(method, gamma, cell["D"], X, y))
        learner, seconds = processor_timed(lambda: learner.fit(X, y))
        return learner.predict, 0.0, seconds
    if method == "Kernel SVM":
        svm, seconds = processor_timed(lambda: SVC(gamma=gamma, C=1.0, cache_size=500).fit(X, y))
        return svm.predict, 0.0, seconds
    if method == "Linear SVM":
        svm, seconds = processor_timed(lambda: linear_svm(X, y))
        return svm.predict, 0.0, seconds
    feature_map = _map(method, gamma, cell["D"], seed)
    Z, map_seconds = processor_timed(lambda: feature_map.fit_transform(X))
    svm, seconds = processor_timed(lambda: linear_svm(Z, y))
    return lambda rows: svm.predict(feature_map.transform(rows)), map_seconds, seconds


def classify(cell: Cell) -> dict[str, Any]:
    """Accuracy on test rows and times of a method with the survey's bandwidth or a proper one (tables 2 to 4)."""
    names = ("map_seconds", "fit_seconds", "predict_seconds", "test_correct")
    runs: dict[str, list[Any]] = {name: [] for name in names}
    for seed in range(cell["runs"]):
        X, y, X_test, y_test = _rows(cell["data"], cell["largest"], seed)
        X, X_test = _prepared(cell, X, X_test)
        gamma = _gamma(cell, X)
        predict, map_seconds, fit_seconds = _fitted(cell, X, y, gamma, seed)
        labels, predict_seconds = processor_timed(lambda p=predict, X=X_test: p(X))
        found = int((labels == y_test).sum())
        for name, value in zip(names, (map_seconds, fit_seconds, predict_seconds, found), strict=True):
            runs[name].append(value)
    return {**runs, "test_rows": len(y_test), "train_rows": len(y), "gamma": gamma}


def meka(cell: Cell) -> dict[str, Any]:
    """Relative error of MEKA on rows of a set (table 5)."""
    data = prepared("soni_garg", {"IJCNN": "ijcnn1", "PENDIGITS": "pendigits"}[cell["data"]])
    X = data.X[: cell["rows"]].astype(np.float64)
    # The survey's rank is of the whole approximation: each cluster has its share.
    rank = cell["rank"] // cell["clusters"]
    approximation = MEKA(Gaussian(gamma=cell["gamma"]), n_clusters=cell["clusters"], rank=rank, random_state=0).fit(X)
    sample = np.random.RandomState(0).choice(len(X), min(len(X), 1000), replace=False)
    K = Gaussian(gamma=cell["gamma"])(X[sample])
    estimate = np.asarray(approximation.rows(sample))[:, sample]
    return {"frobenius_error": float(np.linalg.norm(estimate - K) / np.linalg.norm(K))}


def own_tables(cell: Cell) -> dict[str, Any]:
    """In how many of the six sets the survey's own tables bear an observation of its text out."""

    def column(table: dict[str, tuple[float, ...]], name: str, method: str) -> float:
        return table[name][METHODS.index(method)]

    approximations = ("Nystroem", "RFF", "RKS", "Fastfood")
    holds = {
        "Fastfood has the longest training": lambda s: (
            column(TRAINING, s, "Fastfood") == max(column(TRAINING, s, m) for m in approximations)
        ),
        "Nystroem beats Fourier in training time": lambda s: (
            column(TRAINING, s, "Nystroem") < column(TRAINING, s, "RFF")
        ),
        "Nystroem beats Fourier in accuracy": lambda s: column(ACCURACY, s, "Nystroem") > column(ACCURACY, s, "RFF"),
        "some map trains faster than linear": lambda s: (
            min(column(TRAINING, s, m) for m in approximations) < column(TRAINING, s, "Linear SVM")
        ),
        "FOGD beats NOGD in training time": lambda s: column(TRAINING, s, "FOGD") < column(TRAINING, s, "NOGD"),
        "FOGD beats NOGD in accuracy": lambda s: column(ACCURACY, s, "FOGD") > column(ACCURACY, s, "NOGD"),
        "Nystroem is the best map on it": lambda s: (
            column(ACCURACY, s, "Nystroem") == max(column(ACCURACY, s, m) for m in approximations)
        ),
        "every map trains faster than the kernel SVM": lambda s: (
            max(column(TRAINING, s, m) for m in approximations) < column(TRAINING, s, "Kernel SVM")
        ),
        "some map within 5 points of the kernel SVM": lambda s: (
            max(column(ACCURACY, s, m) for m in approximations) > column(ACCURACY, s, "Kernel SVM") - 0.05
        ),
        "within twice the linear SVM's time": lambda s: (
            max(column(TRAINING, s, m) for m in approximations) <= 2 * column(TRAINING, s, "Linear SVM")
        ),
        "better than the linear SVM": lambda s: (
            min(column(ACCURACY, s, m) for m in approximations) > column(ACCURACY, s, "Linear SVM")
        ),
    }
    return {"sets_of_six": sum(holds[cell["observation"]](name) for name in TRAINING)}


def sizes(cell: Cell) -> dict[str, Any]:
    """Rows, attributes and classes of a data set as we have it (table 1)."""
    data = load(FILES[cell["data"]]).joined()
    rows, columns = data.X.shape
    return {"rows": rows, "attributes": columns, "classes": len(np.unique(data.y))}


def binning(cell: Cell) -> dict[str, Any]:
    """Bias of random binning for a Laplace kernel, in standard errors; and whether a Gaussian one is refused."""
    X = np.random.RandomState(0).standard_normal((2, 3))
    if cell["kernel"] == "Gaussian":
        try:
            RandomBinning(Gaussian(gamma=1.0), n_components=64, random_state=0).fit(X)
        except (ValueError, TypeError):
            return {"refused": 1}
        return {"refused": 0}
    kernel, estimates = Laplacian(gamma=0.5), []
    for seed in range(cell["draws"]):
        Z = RandomBinning(kernel, n_components=cell["D"], random_state=seed).fit_transform(X)
        estimates.append(float((Z @ Z.T)[0, 1]))
    error = np.std(estimates, ddof=1) / len(estimates) ** 0.5
    return {"bias_z": abs(np.mean(estimates) - float(kernel(X)[0, 1])) / error}


def blocks(cell: Cell) -> dict[str, Any]:
    """Error of a block-diagonal and of a low-rank approximation at equal storage, against gamma (section 3.1)."""
    data = load("pendigits")
    X = data.X[: cell["rows"]].astype(np.float64) / 100
    kernel = Gaussian(gamma=cell["gamma"])
    K = kernel(X)
    if cell["approximation"] == "block":
        estimate = BlockGram(kernel, X, n_clusters=5, random_state=0).to_dense()
    else:
        values, vectors = np.linalg.eigh(K)
        rank = len(X) // 5
        estimate = (vectors[:, -rank:] * values[-rank:]) @ vectors[:, -rank:].T
    return {
        "frobenius_error": float(np.linalg.norm(estimate - K) / np.linalg.norm(K)),
        "distance_from_identity": float(np.linalg.norm(K - np.eye(len(K))) / np.linalg.norm(K)),
    }


STREAMS = {"COD-RNA": "codrna", "IJCNN1": "ijcnn1", "COVTYPE": "covtype", "A9A": "a9a", "MNIST": "mnist"}
# Names of the literature: update and maintenance.
BUDGETS = {
    "RBP": ("perceptron", "random"),
    "Forgetron": ("perceptron", "shrink"),
    "Projectron": ("perceptron", "project_newest"),
    "Projectron++": ("margin_perceptron", "project_newest"),
    "BPA-S": ("passive_aggressive", "absorb"),
    "BPA-NN": ("passive_aggressive", "absorb_nearest"),
    "BPA-P": ("passive_aggressive", "project"),
    "BSGD remove": ("gradient", "remove"),
    "BSGD project": ("gradient", "project"),
    "BSGD merge": ("gradient", "merge"),
    "BOGD": ("gradient", "stochastic"),
    "BOGD++": ("gradient", "stochastic_weighted"),
    "KRLS-T": ("newton", "project"),
}


def _stream(name: str, n_rows: int, seed: int) -> tuple[Any, Any]:
    data = load(STREAMS[name])
    order = np.random.RandomState(seed).permutation(len(data.X))[:n_rows]
    X = StandardScaler().fit_transform(data.X[order].astype(np.float64))
    return X, data.y[order]


def _stream_learner(method: str, gamma: float, size: int, seed: int) -> Any:
    kernel = Gaussian(gamma=gamma)
    if method in BUDGETS:
        update, maintenance = BUDGETS[method]
        return BudgetClassifier(kernel, budget=size, update=update, maintenance=maintenance, random_state=seed)
    kind, _, steps = method.partition(" ")
    rule = {"update": "gradient"} if steps == "gradient" else {}
    if kind == "NOGD":
        return NOGDClassifier(kernel, n_components=size, random_state=seed, **rule)
    # A pair of features holds one frequency of d numbers, as a support vector does.
    return FOGDClassifier(kernel, n_components=2 * size, random_state=seed, **rule)


# Rows that are learned before the clock starts, and rows that are timed; sizes grow and shrink by this factor.
WARM_ROWS, TIMED_ROWS, GROWTH = 1000, 2000, 2**0.5


def _seconds_of(method: str, gamma: float, size: int, X: Any, y: Any) -> float:
    """Return the processor's seconds of a learner under way, the least of three, without what a fit begins with."""
    learner = _stream_learner(method, gamma, size, 0)
    warm = min(WARM_ROWS, len(X) // 2)
    learner.partial_fit(X[:warm], y[:warm], classes=np.unique(y))
    rows, labels = X[warm:][:TIMED_ROWS], y[warm:][:TIMED_ROWS]
    return min(processor_timed(lambda: copy(learner).partial_fit(rows, labels))[1] for _ in range(3))


def _size_of_equal_time(method: str, gamma: float, budget: int, X: Any, y: Any) -> int:
    """Return the largest size at which a learner takes no longer per row than BSGD by merging at the budget.

    Sizes beyond the timed rows are not tried.
    """
    if method == "BSGD merge":
        return budget
    most = _seconds_of("BSGD merge", gamma, budget, X, y)
    size = budget
    if _seconds_of(method, gamma, size, X, y) <= most:
        while size * GROWTH < TIMED_ROWS and _seconds_of(method, gamma, round(size * GROWTH), X, y) <= most:
            size = round(size * GROWTH)
        return size
    while size > 2 and _seconds_of(method, gamma, size, X, y) > most:
        size = int(size / GROWTH)
    return size


def budget_streams(cell: Cell) -> dict[str, Any]:
    """Mistakes before each row is learned, over several orders, and the processor's seconds of the whole pass."""
    mistakes, seconds, size = [], [], cell["budget"]
    for seed in range(cell["orders"]):
        X, y = _stream(cell["data"], cell["rows"], seed)
        gamma = _gamma({"setting": "proper"}, X)
        if seed == 0 and cell["comparison"] == "equal time":
            size = _size_of_equal_time(cell["method"], gamma, size, X, y)
        learner = _stream_learner(cell["method"], gamma, size, seed)
        seconds.append(processor_timed(lambda learner=learner, X=X, y=y: learner.fit(X, y))[1])
        mistakes.append(int(learner.n_mistakes_))
    no_map = [0.0] * len(seconds)
    return {"mistakes": mistakes, "stream_rows": len(y), "fit_seconds": seconds, "map_seconds": no_map, "size": size}
