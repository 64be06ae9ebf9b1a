"""The lecture's claims (Bellet, 2018) as experiments: a function a kind of cell, each returning raw numbers."""

from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge as ExactRidge
from sklearn.svm import SVC

from mercer import Fastfood, FourierFeatures, Gaussian, LinearFeatures, Nystroem, SameCategory
from mercer.bench.data import load, unit_rows
from mercer.bench.models import linear_svm, processor_timed, timed
from mercer.features import Concatenate, PartFeatures
from mercer.kernels import Columns, Convolution, Spectrum, SubsetTree, WeisfeilerLehman
from mercer.structures import as_rows

Cell = dict[str, Any]


def _pendigits(n: int, seed: int = 0) -> Any:
    X = load("pendigits").X.astype(np.float64) / 100
    return X[np.random.RandomState(seed).permutation(len(X))[:n]]


def _exponent(sizes: Any, values: Any) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _errors(Z: Any, K: Any) -> dict[str, float]:
    difference = Z @ Z.T - K
    return {
        "frobenius_error": float(np.linalg.norm(difference) / np.linalg.norm(K)),
        "largest_error": float(np.abs(difference).max()),
    }


def _map(name: str, gamma: float, c: int, seed: int) -> Any:
    kernel = Gaussian(gamma=gamma)
    if name == "Fourier":
        return FourierFeatures(kernel, n_components=c, random_state=seed)
    return Nystroem(kernel, n_components=c, landmarks="uniform", random_state=seed)


def error_against_c(cell: Cell) -> dict[str, Any]:
    """Errors of a map's Gram matrix at c features, over draws."""
    X = _pendigits(cell["rows"])
    K = Gaussian(gamma=cell["gamma"])(X)
    maps = [_map(cell["map"], cell["gamma"], cell["c"], seed) for seed in range(cell["runs"])]
    found = [_errors(feature_map.fit_transform(X), K) for feature_map in maps]
    return {name: [errors[name] for errors in found] for name in found[0]}


def rates(cell: Cell) -> dict[str, Any]:
    """Exponents of the errors in c: each run fits a line to log error against log c."""
    X = _pendigits(cell["rows"])
    K, exponents, largest = Gaussian(gamma=cell["gamma"])(X), [], []
    for seed in range(cell["runs"]):
        found = [_errors(_map(cell["map"], cell["gamma"], c, seed).fit_transform(X), K) for c in cell["sizes"]]
        exponents.append(_exponent(cell["sizes"], [errors["frobenius_error"] for errors in found]))
        largest.append(_exponent(cell["sizes"], [errors["largest_error"] for errors in found]))
    return {"exponent": exponents, "exponent_of_largest": largest}


def rate_in_dimension(cell: Cell) -> dict[str, Any]:
    """Exponent in p of the largest error of Fourier features, on points of one ball, over a grid of dimensions."""
    exponents = []
    for seed in range(cell["runs"]):
        worst = []
        for p in cell["dimensions"]:
            X = unit_rows(np.random.RandomState(seed).standard_normal((cell["rows"], p))).astype(np.float64)
            Z = FourierFeatures(Gaussian(gamma=1.0), n_components=cell["c"], random_state=seed).fit_transform(X)
            worst.append(_errors(Z, Gaussian(gamma=1.0)(X))["largest_error"])
        exponents.append(_exponent(cell["dimensions"], worst))
    return {"exponent": exponents}


def map_cost(cell: Cell) -> dict[str, Any]:
    """Seconds to build a map of c features and apply it to the rows of MNIST."""
    X = load("mnist").X[: cell["rows"]].astype(np.float32) / 255
    seeds = range(cell["runs"] + 1)  # the first warms up
    times = [timed(lambda s=seed: _map(cell["map"], 0.02, cell["c"], s).fit_transform(X))[1] for seed in seeds]
    return {"map_seconds": times[1:]}


def rank(cell: Cell) -> dict[str, Any]:
    """Errors of Nystroem with c columns reduced to rank k."""
    X = _pendigits(cell["rows"])
    K = Gaussian(gamma=cell["gamma"])(X)
    kept = max(1, int(cell["share"] * cell["c"]))
    found = []
    for seed in range(cell["runs"]):
        nystroem = Nystroem(
            Gaussian(gamma=cell["gamma"]),
            n_components=cell["c"],
            rank=None if cell["share"] == 1 else kept,
            reduction="landmarks",
            landmarks="uniform",
            random_state=seed,
        )
        found.append(_errors(nystroem.fit_transform(X), K)["frobenius_error"])
    return {"frobenius_error": found}


def sampling(cell: Cell) -> dict[str, Any]:
    """Errors of Nystroem by how its columns are chosen."""
    X = _pendigits(cell["rows"]) if cell["data"] == "pendigits" else _magic(cell["rows"])
    kernel = Gaussian(gamma=cell["gamma"])
    K = kernel(X)
    found = [
        _errors(
            Nystroem(kernel, n_components=cell["c"], landmarks=cell["landmarks"], random_state=seed).fit_transform(X), K
        )["frobenius_error"]
        for seed in range(cell["runs"])
    ]
    return {"frobenius_error": found}


def _magic(n: int) -> Any:
    X = load("magic04").X.astype(np.float64)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[np.random.RandomState(0).permutation(len(X))[:n]]


def support(cell: Cell) -> dict[str, Any]:
    """Exponent of the number of support vectors of a kernel SVM in the number of rows."""
    data = load("banana")
    order = np.random.RandomState(0).permutation(len(data.X))
    counts = [len(SVC(gamma=1.0).fit(data.X[order[:n]], data.y[order[:n]]).support_) for n in cell["sizes"]]
    return {"exponent": _exponent(cell["sizes"], counts), "counts": counts}


def exact_cost(cell: Cell) -> dict[str, Any]:
    """Exponents in n of the time to train and to predict with exact kernel ridge regression."""
    train, test = [], []
    for n in cell["sizes"]:
        X = np.random.RandomState(0).standard_normal((n, 10))
        model = ExactRidge(kernel="rbf", alpha=1.0)
        train.append(min(timed(lambda m=model, X=X: m.fit(X, X[:, 0]))[1] for _ in range(2)))
        rows = np.random.RandomState(1).standard_normal((2000, 10))
        test.append(min(timed(lambda m=model, X=rows: m.predict(X))[1] for _ in range(3)))
    return {
        "exponent_train": _exponent(cell["sizes"], train),
        "exponent_predict": _exponent(cell["sizes"], test),
        "fit_seconds": train[-1],
        "map_seconds": 0.0,
        "predict_seconds": test[-1],
    }


def feature_cost(cell: Cell) -> dict[str, Any]:
    """Exponent in p of the time of c = 4096 features: dense Fourier against Fastfood."""
    maps = {"Fourier": FourierFeatures, "Fastfood": Fastfood}
    seconds = []
    for p in cell["dimensions"]:
        X = np.random.RandomState(0).standard_normal((cell["rows"], p)).astype(np.float32)
        fitted = maps[cell["map"]](Gaussian(gamma=1.0 / p), n_components=4096, random_state=0).fit(X)
        fitted.transform(X)
        seconds.append(min(timed(lambda m=fitted, X=X: m.transform(X))[1] for _ in range(cell["runs"])))
    return {"exponent": _exponent(cell["dimensions"], seconds), "map_seconds": seconds}


def nystroem_cost(cell: Cell) -> dict[str, Any]:
    """Exponents in n and in c of the time of Nystroem features."""

    def seconds(n: int, c: int) -> float:
        X = np.random.RandomState(0).standard_normal((n, 20)).astype(np.float32)
        return min(timed(lambda: _map("Nystroem", 0.05, c, 0).fit_transform(X))[1] for _ in range(cell["runs"]))

    seconds(1000, 100)
    in_n = [seconds(n, 200) for n in cell["rows"]]
    in_c = [seconds(2000, c) for c in cell["columns"]]
    return {"exponent_in_n": _exponent(cell["rows"], in_n), "exponent_in_c": _exponent(cell["columns"], in_c)}


def excess(cell: Cell) -> dict[str, Any]:
    """Exponents in c and in n of what the rank-k Nystroem error exceeds the best rank-k error by."""
    kernel, k = Gaussian(gamma=cell["gamma"]), cell["k"]

    def beyond(n: int, c: int, seed: int) -> float:
        X = _pendigits(n)
        K = kernel(X)
        values = np.linalg.eigvalsh(K)
        best = float(np.sqrt((values[:-k] ** 2).sum()))
        nystroem = Nystroem(
            kernel, n_components=c, rank=k, reduction="landmarks", landmarks="uniform", random_state=seed
        )
        Z = nystroem.fit_transform(X)
        return float(np.linalg.norm(Z @ Z.T - K)) - best

    in_c, in_n = [], []
    for seed in range(cell["runs"]):
        in_c.append(_exponent(cell["columns"], [beyond(cell["rows"][-1], c, seed) for c in cell["columns"]]))
        in_n.append(_exponent(cell["rows"], [beyond(n, cell["columns"][0], seed) for n in cell["rows"]]))
    return {"exponent_in_c": in_c, "exponent_in_n": in_n}


def feature_map(cell: Cell) -> dict[str, Any]:
    """Largest gap between the Gram matrix of Nystroem's features and C pinv(W_k) C^T."""
    X = _pendigits(cell["rows"])
    kernel = Gaussian(gamma=1.0)
    nystroem = Nystroem(
        kernel, n_components=cell["c"], rank=cell["k"], reduction="landmarks", landmarks="uniform", random_state=0
    ).fit(X)
    C, W = kernel(X, nystroem.landmarks_), kernel(nystroem.landmarks_)
    values, vectors = np.linalg.eigh(W)
    top = vectors[:, -cell["k"] :]
    exact = C @ (top / values[-cell["k"] :]) @ top.T @ C.T
    Z = nystroem.transform(X)
    return {"gap": float(np.abs(Z @ Z.T - exact).max())}


def primal_cost(cell: Cell) -> dict[str, Any]:
    """Exponents in n of the time to train a linear SVM on features, and to predict with it."""
    train, test = [], []
    rows = np.random.RandomState(1).standard_normal((2000, 10)).astype(np.float32)
    for n in cell["sizes"]:
        X = np.random.RandomState(0).standard_normal((n, 10)).astype(np.float32)
        y = X[:, 0] * X[:, 1] + 0.3 * np.random.RandomState(2).standard_normal(n) > 0
        fourier = FourierFeatures(Gaussian(gamma=0.1), n_components=cell["c"], random_state=0)

        def fit(X: Any = X, y: Any = y, m: Any = fourier) -> Any:
            return linear_svm(m.fit_transform(X), y)

        model, seconds = timed(fit)
        train.append(min(seconds, timed(fit)[1]))
        test.append(min(timed(lambda m=model, f=fourier: m.predict(f.transform(rows)))[1] for _ in range(10)))
    return {
        "exponent_train": _exponent(cell["sizes"], train),
        "exponent_predict": _exponent(cell["sizes"], test),
        "fit_seconds": train[-1],
        "map_seconds": 0.0,
        "predict_seconds": test[-1],
    }


def spectral_law(cell: Cell) -> dict[str, Any]:
    """Bias of E cos(w.x) against the kernel, in standard errors, with frequencies drawn by a law as printed or not."""
    rng, gamma = np.random.RandomState(0), cell["gamma"]
    delta = np.array([0.3, -0.5, 0.2])
    size = (cell["draws"], len(delta))
    if cell["law"] == "Gaussian, as printed":
        w, exact = np.sqrt(2 * gamma) * rng.standard_normal(size), np.exp(-gamma * delta @ delta)
    else:
        scale = np.sqrt(2 * gamma) if cell["law"] == "Laplace, as printed" else gamma
        w, exact = scale * rng.standard_cauchy(size), np.exp(-gamma * np.abs(delta).sum())
    cosines = np.cos(w @ delta)
    return {
        "bias_z": abs(cosines.mean() - exact) / (cosines.std() / len(cosines) ** 0.5),
        "bias": cosines.mean() - exact,
    }


def stacking(cell: Cell) -> dict[str, Any]:
    """Largest gap between the Gram matrix of stacked features and the sum of those of the parts."""
    X = _pendigits(cell["rows"])
    fourier = FourierFeatures(Gaussian(gamma=1.0), n_components=200, random_state=0)
    stacked = Concatenate([LinearFeatures(), fourier], random_state=0).fit(X)
    Z = stacked.transform(X)
    parts = [member.transform(X) for member in stacked.maps_]
    gap = np.abs(Z @ Z.T - sum(P @ P.T for P in parts)).max()
    return {"gap": float(gap)}


def _objects(kind: str, n: int) -> tuple[Any, Any]:
    """Return a kernel on strings, trees or graphs, and random objects of it."""
    rng = np.random.RandomState(0)
    if kind == "strings":
        return Spectrum(4, least=2), ["".join(rng.choice(list("acgt"), size=rng.randint(0, 60))) for _ in range(n)]
    if kind == "trees":
        sizes = rng.randint(1, 20, size=n)
        return SubsetTree(0.5, max_size=3), [
            (rng.randint(3, size=size).tolist(), [-1, *(int(rng.randint(v)) for v in range(1, size))]) for size in sizes
        ]
    sizes = rng.randint(1, 20, size=n)
    graphs = [(rng.randint(size, size=(2 * size, 2)), rng.randint(3, size=size).tolist()) for size in sizes]
    return WeisfeilerLehman(3), graphs


def structured(cell: Cell) -> dict[str, Any]:
    """Return the gap of explicit features to their kernel, the sign of its spectrum, and the exponent in n."""
    kernel, few = _objects(cell["objects"], cell["rows"])
    Z = PartFeatures(kernel, n_components=None, random_state=0).fit_transform(few)
    K = kernel(few)
    eigenvalues = np.linalg.eigvalsh(K)
    _, many = _objects(cell["objects"], cell["sizes"][-1])
    packed = as_rows("structured", kernel.domain, many)
    hashed = PartFeatures(kernel, n_components=2**18, random_state=0).fit(packed)
    times = []
    for n in cell["sizes"]:
        runs = [processor_timed(lambda n=n: hashed.transform(packed[:n]))[1] for _ in range(cell["runs"])]
        times.append(min(runs))
    return {
        "gap": float(np.abs((Z @ Z.T).toarray() - K).max() / np.abs(K).max()),
        "negative_part": max(0.0, -float(eigenvalues[0] / eigenvalues[-1])),
        "exponent": _exponent(cell["sizes"], times),
    }


def mapping(cell: Cell) -> dict[str, Any]:
    """Return the gap of a sum over a transitive relation to a convolution of SameCategory and the kernel of parts."""
    rng = np.random.RandomState(0)
    bags = [
        np.column_stack([rng.randint(4, size=size), rng.standard_normal(size)])
        for size in rng.randint(1, 8, size=cell["rows"])
    ]
    kernel = Convolution(Columns(SameCategory(), [0]) * Columns(Gaussian(gamma=1.0), [1]))
    K = kernel(bags)
    direct = np.array(
        [
            [((a[:, None, 0] == b[None, :, 0]) * np.exp(-((a[:, None, 1] - b[None, :, 1]) ** 2))).sum() for b in bags]
            for a in bags
        ]
    )
    eigenvalues = np.linalg.eigvalsh(direct)
    return {
        "gap": float(np.abs(K - direct).max()),
        "negative_part": max(0.0, -float(eigenvalues[0] / eigenvalues[-1])),
    }
