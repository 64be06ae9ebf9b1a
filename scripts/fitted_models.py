"""Small fitted models of every public estimator, in every mode that changes what is stored: originals of forged files.

``examples()`` yields the models with rows to use them on; the tests check that every declared attribute occurs in one.
"""

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import mercer
from mercer import (
    ArcCosine,
    Cauchy,
    Chi2,
    Columns,
    Composed,
    Exponential,
    ExponentialPower,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    KernelRidge,
    Laplacian,
    Linear,
    Matern,
    Metric,
    Normalized,
    Polynomial,
    RationalQuadratic,
    SameCategory,
    ScaledColumns,
    Sigmoid,
    VovkInfinite,
    VovkPolynomial,
)
from mercer.data import TablePreparation, open_source
from mercer.features import (
    ConvolutionFeatures,
    HomogeneousFeatures,
    InducedFeatures,
    PartFeatures,
    PartTensorSketch,
    SubsequenceSketch,
)
from mercer.kernels import (
    Angular,
    Convolution,
    GappedKmers,
    Graphlets,
    HammingKmers,
    Induced,
    LabelledWalks,
    LowOrder,
    Neighbourhoods,
    NeuralTangent,
    PartialTree,
    ShortestPath,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    WeightedDegree,
    WeisfeilerLehman,
    Windows,
)
from mercer.learners import ColumnPreparation
from mercer.learners.table_model import TableModel

ROWS = np.random.RandomState(0).rand(48, 4)
WIDE = np.random.RandomState(1).rand(40, 70)
CSR = sparse.csr_array(np.where(ROWS > 0.4, ROWS, 0))
CODES = np.round(3 * ROWS)
LABELS = np.array(["a", "b", "c"], dtype=object)[np.arange(len(ROWS)) % 3]
GAUSSIAN = Gaussian(gamma=1.0)
EXPRESSION = GAUSSIAN + 2 * Normalized(Linear()) * Columns(Laplacian(gamma=1.0), [0])


class Example(NamedTuple):
    """A fitted model, and rows that it takes (a table's path for a model of tables)."""

    model: Any
    X: Any


def kernels() -> list[Any]:
    """Return a kernel of every class."""
    return [
        ArcCosine(1),
        ArcCosine(1, depth=3),
        *(NeuralTangent(2), Angular(NeuralTangent(1)), Induced(GAUSSIAN, Polynomial(2))),
        Cauchy(length_scale=0.7),
        Chi2(),
        Columns(GAUSSIAN, [0, 2]),
        Composed(Exponential(gamma=1.0), GAUSSIAN),
        Exponential(gamma=0.5),
        mercer.ExponentialChi2(sigma=0.5),
        ExponentialPower(1.5, length_scale=1.0),
        GAUSSIAN,
        Hellinger(),
        Intersection(),
        JensenShannon(),
        Laplacian(gamma=0.3),
        *(Spectrum(3), GappedKmers(4, 2, both_strands=True, alphabet="ACGT"), WeightedDegree(3)),
        *(HammingKmers(3, 0.5, alphabet="ACGT"), Subsequence(2, 0.5, alphabet="acgt")),
        *(Graphlets(4, n_draws=20), LabelledWalks(2), PartialTree(), PartialTree(0.5, 0.5, max_size=None)),
        *(WeisfeilerLehman(2), ShortestPath(), Subtree(0.5), SubsetTree(0.4), Convolution(GAUSSIAN, average="root")),
        Convolution(GAUSSIAN, decompose=Windows(2, alphabet="ACGT", encoding=[[0.0], [1.0], [2.0], [3.0]])),
        Convolution(GAUSSIAN, decompose=Neighbourhoods(1, labels=True)),
        Linear(),
        Matern(1.2, length_scale=1.0),
        Metric(GAUSSIAN, np.eye(4)[:, :2]),
        LowOrder(GAUSSIAN, order=2.0),
        Normalized(Polynomial(2)),
        Polynomial(3, coef0=1.0),
        Linear() * GAUSSIAN,
        RationalQuadratic(2.0, length_scale=1.0),
        SameCategory(offset=0.5),
        ScaledColumns(GAUSSIAN, [1.0, 0.0, 2.0, 3.0]),
        0.5 * Linear(),
        Sigmoid(gamma=0.1),
        Linear() + GAUSSIAN,
        VovkInfinite(),
        VovkPolynomial(3),
    ]


def maps() -> Iterator[tuple[Any, Any]]:
    """Yield maps and the rows to fit them on; sketches of length 101 have a prime factor beyond 5."""
    for X in (ROWS, CSR, ROWS.astype(np.float32)):
        yield mercer.TensorSketch(Polynomial(2, coef0=1.0), n_components=101, random_state=0), X
        yield mercer.LinearFeatures(n_components=3, random_state=0), X
        yield (
            mercer.features.TensorProduct(
                [mercer.LinearFeatures(), mercer.FourierFeatures(n_components=7)], n_components=77
            ),
            X,
        )
    yield mercer.TensorSketch(Polynomial(3), n_components=60, n_sketches=2, random_state=0), ROWS
    yield mercer.TensorSketch(GAUSSIAN, n_components=41, random_state=np.random.RandomState(0)), ROWS
    yield mercer.TensorSketch(Exponential(gamma=1.0), n_components=41, random_state=0), CSR
    yield mercer.TensorSketch(VovkPolynomial(3), n_components=30, random_state=0), ROWS
    yield mercer.SplitSketch(Polynomial(3, coef0=1.0), n_components=41, random_state=0), ROWS
    yield mercer.SplitSketch(Polynomial(4), n_components=11, random_state=0), CSR
    yield mercer.RandomMaclaurin(Polynomial(3, coef0=1.0), n_components=20, h01=True, random_state=0), ROWS
    yield mercer.RandomMaclaurin(Exponential(gamma=0.5), n_components=20, random_state=0), CSR
    yield mercer.RandomMaclaurin(Composed(Exponential(gamma=1.0), EXPRESSION), n_components=8, random_state=0), ROWS
    yield mercer.LinearFeatures(), ROWS
    yield mercer.FourierFeatures(Matern(1.5), n_components=21, random_state=0), CSR
    yield mercer.FourierFeatures(GAUSSIAN, n_components=11, pairs=False, random_state=0), ROWS
    yield mercer.OrthogonalFeatures(GAUSSIAN, n_components=21, random_state=0), ROWS
    yield mercer.OrthogonalFeatures(GAUSSIAN, n_components=21, random_state=0), WIDE
    yield mercer.QuasiRandomFeatures(GAUSSIAN, n_components=16, random_state=0), ROWS
    yield mercer.Fastfood(GAUSSIAN, n_components=21, random_state=0), ROWS
    yield mercer.RandomBinning(Laplacian(gamma=1.0), n_components=20, n_grids=7, random_state=0), ROWS
    yield mercer.RandomBinning(Laplacian(gamma=1.0), n_components=20, n_grids=7, sparse_output=True), CSR
    yield mercer.RandomBinning(Laplacian(gamma=1.0), n_components=None, n_grids=5, sparse_output=True), ROWS
    yield HomogeneousFeatures(NeuralTangent(2), n_components=40, random_state=0), ROWS
    yield HomogeneousFeatures(ArcCosine(1, depth=2), n_components=9, method="maclaurin", random_state=0), CSR
    yield InducedFeatures(GAUSSIAN, mercer.TensorSketch(n_components=11), n_components=8, random_state=0), ROWS
    for phi in ("cosine", "sigmoid", "relu"):
        yield mercer.KitchenSinks(phi, n_components=11, random_state=0), ROWS
    yield mercer.AdditiveFeatures(Chi2(), n_components=30), ROWS
    yield mercer.AdditiveFeatures(JensenShannon(), n_components=3, random_state=0), ROWS
    yield mercer.features.ExponentialChi2Features(n_components=21, random_state=0), ROWS
    yield mercer.CategoryFeatures(SameCategory(offset=0.5), n_components=80), CODES[:, :2]
    yield mercer.CategoryFeatures(n_components=5, random_state=0), CODES
    yield (
        mercer.features.Concatenate([mercer.LinearFeatures(), mercer.TensorSketch()], n_components=20, random_state=0),
        ROWS,
    )
    yield mercer.features.Rescale(mercer.TensorSketch(n_components=11), scale=2.0, random_state=0), ROWS
    yield mercer.features.Normalize(mercer.TensorSketch(n_components=11), random_state=0), ROWS
    yield mercer.features.Widened(mercer.TensorSketch(), error=0.3, random_state=0), ROWS
    yield mercer.features.ScaleColumns(mercer.LinearFeatures(), weights=[1.0, 2.0, 0.0, 1.0], random_state=0), ROWS
    yield mercer.features.SelectColumns(mercer.FourierFeatures(n_components=8), columns=[0, 2], random_state=0), CSR
    yield mercer.features.ShiftInvariantFeatures(GAUSSIAN, n_components=11, random_state=0), ROWS
    yield mercer.features.SeededBlocks(GAUSSIAN, n_components=11, slab=4, random_state=0), ROWS
    yield mercer.Nystroem(GAUSSIAN, n_components=7, random_state=0), ROWS
    yield mercer.Nystroem(Polynomial(2), n_components=7, landmarks="rpcholesky", rank=3, random_state=0), CSR
    yield mercer.Nystroem("precomputed", n_components=6, landmarks="uniform", random_state=0), GAUSSIAN(ROWS)
    yield mercer.MEKA(GAUSSIAN, n_clusters=2, rank=3, random_state=0), ROWS
    yield mercer.MEKA(GAUSSIAN, n_clusters=2, rank=3, psd=None, random_state=0), CSR


def objects() -> Iterator[tuple[Any, Any]]:
    """Yield maps of objects, and the objects."""
    strings, bags = ["acgtacgt", "ttga", "acca"], [ROWS[:3], ROWS[3:4]]
    yield PartFeatures(Spectrum(2), n_components=None), strings
    yield PartFeatures(Normalized(Spectrum(2)) + GappedKmers(3, 1), n_components=16, random_state=0), strings
    yield mercer.Nystroem(Spectrum(2), n_components=2, random_state=0), strings
    yield mercer.Nystroem(WeisfeilerLehman(1), n_components=2, random_state=0), [([(0, 1)], 2), ([], 1)]
    yield mercer.Nystroem(Subtree(), n_components=2, random_state=0), ["(a b)", "(a c)"]
    yield mercer.Nystroem(Spectrum(1, tokens=True), n_components=2, random_state=0), [[1, 2], [2, 3]]
    yield mercer.Nystroem(Convolution(GAUSSIAN), n_components=2, random_state=0), bags
    yield PartFeatures(WeisfeilerLehman(2), n_components=64, sparse_output=True), [([(0, 1)], 2), ([], 1)]
    yield PartFeatures(Graphlets(4, n_draws=2) + LabelledWalks(2), n_components=16), [([(0, 1)], 2), ([], 1)]
    yield mercer.Nystroem(PartialTree(max_size=None), n_components=2, random_state=0), ["(a b)", "(a c)"]
    yield ConvolutionFeatures(mercer.FourierFeatures(GAUSSIAN, n_components=6), average="mean"), bags
    attributed = [([(0, 1)], 2, None, [[0.1], [0.4]]), ([], 1, None, [[0.2]])]
    keyed = Neighbourhoods(1, labels=True)
    yield ConvolutionFeatures(mercer.LinearFeatures(), decompose=keyed, n_components=9, random_state=0), attributed
    yield PartTensorSketch(Composed(Polynomial(2, coef0=1.0), Spectrum(2)), n_components=9, random_state=0), strings
    exponential = Composed(Exponential(gamma=1.0), Normalized(Spectrum(2)))
    yield PartTensorSketch(exponential, n_components=9, random_state=0), strings
    yield SubsequenceSketch(Subsequence(3, 0.5), n_components=9, random_state=0), strings
    yield SubsequenceSketch(Subsequence(2, 0.5, alphabet="acgt"), n_components=16), strings
    yield InducedFeatures(Polynomial(2), PartFeatures(Spectrum(2), n_components=8), n_components=9), strings


def learners() -> Iterator[tuple[Any, Any, Any]]:
    """Yield learners with X and y."""
    one, two = ROWS[:, 0], ROWS[:, :2]
    sketch = mercer.TensorSketch(n_components=11)
    few = {"n_components": 7, "random_state": 0}
    yield KernelRidge(GAUSSIAN, **few), ROWS, one
    yield KernelRidge(GAUSSIAN, posterior=True, **few), ROWS, one
    yield KernelRidge(EXPRESSION, alpha="gcv", alphas=[0.1, 1.0], **few), CSR, two
    yield KernelRidge(features=sketch, alpha="loo", random_state=0), ROWS.astype(np.float32), one
    slabs = mercer.features.SeededBlocks(GAUSSIAN, n_components=11, slab=4, random_state=0)
    yield KernelRidge(features=slabs, n_components="grow"), ROWS, one
    yield KernelRidge(features=slabs), ROWS, two
    yield mercer.KernelRidgeClassifier(GAUSSIAN, **few), ROWS, LABELS
    yield mercer.KernelRidgeClassifier(GAUSSIAN, alpha="gcv", class_weight="balanced", **few), ROWS, one > 0.5
    for loss in ("hinge", "squared_hinge"):
        yield mercer.KernelSVC(GAUSSIAN, loss=loss, warm_start=True, tol=0.1, **few), ROWS, LABELS
    yield mercer.KernelSVC(features=sketch, tol=0.1, random_state=0), CSR, one > 0.5
    yield mercer.KernelSVR(GAUSSIAN, warm_start=True, tol=0.1, **few), ROWS, two
    yield mercer.KernelLogisticRegression(GAUSSIAN, warm_start=True, **few), ROWS, LABELS
    yield mercer.KernelLogisticRegression(GAUSSIAN, **few), CSR, one > 0.5
    small = {"leaf_rows": 16, "n_landmarks": 5, "n_trees": 2, "random_state": 0}
    yield mercer.LocalKernelRidge(GAUSSIAN, alpha=0.1, **small), CSR, one
    yield mercer.LocalKernelRidge(ScaledColumns(GAUSSIAN, [1.0, 0.0, 2.0, 3.0]), **small), ROWS.astype(np.float32), two
    yield mercer.LocalKernelRidge(EXPRESSION), ROWS, one
    yield mercer.LocalKernelRidgeClassifier(GAUSSIAN, **small), ROWS, LABELS
    yield mercer.LocalKernelRidgeClassifier(class_weight="balanced", **small), CSR, one > 0.5
    yield mercer.TunedRegressor(**small), ROWS, one
    yield mercer.TunedClassifier(class_weight="balanced", **small), np.where(ROWS > 0.95, np.nan, ROWS), LABELS
    yield mercer.TunedClassifier(), ROWS.astype(np.float32), one > 0.5
    codes = np.column_stack([np.arange(300) % 4, np.arange(300) % 7]).astype(float)
    yield mercer.TunedRegressor(**small), codes, np.array([3.0, -2.0, 4.0, 0.0])[np.arange(300) % 4]
    additive = np.random.RandomState(0).standard_normal((300, 8))
    yield mercer.TunedClassifier(**small), additive, np.sin(2 * additive).sum(axis=1) > 0
    yield mercer.KernelOneClassSVM(GAUSSIAN, **few), ROWS, None
    yield mercer.KernelPCA(GAUSSIAN, n_components=3, map_components=7, fit_inverse_transform=True), ROWS, None
    yield mercer.KernelPCA(features=sketch, random_state=0), CSR, None
    yield mercer.KernelKMeans(GAUSSIAN, n_clusters=3, **few), ROWS, None
    yield mercer.KernelCCA(GAUSSIAN, map_components=7, random_state=0), ROWS, ROWS[:, ::-1] ** 2
    yield mercer.KitchenSinksClassifier(**few), ROWS, LABELS
    yield mercer.KitchenSinksRegressor("relu", **few), ROWS, one
    for update in ("newton", "adagrad", "gradient"):
        yield mercer.FOGDClassifier(GAUSSIAN, update=update, **few), ROWS, LABELS
        yield mercer.NOGDClassifier(GAUSSIAN, update=update, **few), ROWS, LABELS
        yield mercer.NOGDRegressor(GAUSSIAN, update=update, n_components=1000, random_state=0), CSR, one
    yield mercer.NOGDClassifier(GAUSSIAN, decay=0.99, new_classes="learn", **few), ROWS, LABELS
    for update, maintenance in (("gradient", "merge"), ("newton", "project"), ("perceptron", "shrink")):
        small = {"budget": 6, "update": update, "maintenance": maintenance, "random_state": 0}
        yield mercer.learners.BudgetClassifier(GAUSSIAN, **small), ROWS, LABELS
    yield mercer.learners.BudgetRegressor(Laplacian(gamma=1.0), budget=6), CSR, one
    tracking = mercer.learners.TrackingClassifier(mercer.FOGDClassifier(GAUSSIAN, **few), decays=(1.0, 0.9))
    yield tracking, ROWS, LABELS
    yield mercer.FOGDRegressor(features=sketch, random_state=0), CSR, one
    yield mercer.FOGDRegressor(GAUSSIAN, **few), ROWS, one
    yield mercer.NOGDClassifier(GAUSSIAN, n_components=1000, random_state=0), ROWS, one > 0.5


def with_trees() -> Iterator[tuple[Any, Any, Any]]:
    """Yield a tuned regressor with predictions of boosted trees as a column, X and y."""
    boxes = np.random.RandomState(0).uniform(size=(600, 3))
    target = np.where((boxes[:, 0] > 0.3) & (boxes[:, 1] < 0.6), 1.0, 0.0) + (boxes[:, 2] > 0.5)
    yield mercer.TunedRegressor(n_trees=1, random_state=0), boxes, target


def pipelines() -> Iterator[tuple[Any, Any]]:
    """Yield pipelines with the scikit-learn classes that a file may hold, and their rows."""
    ridge = KernelRidge(GAUSSIAN, n_components=5, random_state=0)
    for scaler in (StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler(), Normalizer()):
        yield make_pipeline(scaler, ridge), ROWS
    holed = np.where(ROWS > 0.95, np.nan, ROWS)
    yield make_pipeline(SimpleImputer(), StandardScaler(), ridge), holed
    yield make_pipeline(OneHotEncoder(), ridge), CODES
    yield make_pipeline(OneHotEncoder(drop="first", handle_unknown="ignore"), ridge), CODES
    yield make_pipeline(OneHotEncoder(min_frequency=9, handle_unknown="infrequent_if_exist"), ridge), CODES
    for step in (PolynomialFeatures(2), PowerTransformer(), QuantileTransformer(n_quantiles=7), VarianceThreshold()):
        yield make_pipeline(step, ridge), ROWS
    yield make_pipeline(KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), ridge), ROWS
    yield (
        make_pipeline(SimpleImputer(add_indicator=True), make_union(Binarizer(threshold=0.5), "passthrough"), ridge),
        holed,
    )
    yield make_pipeline(OrdinalEncoder(min_frequency=9), ridge), CODES
    known = {"handle_unknown": "use_encoded_value", "unknown_value": -1, "encoded_missing_value": -2}
    yield make_pipeline(OrdinalEncoder(**known), ridge), np.where(CODES == 2, np.nan, CODES)
    text = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    steps = [("numbers", StandardScaler(), [0, 1]), ("text", text, [3]), ("none", "drop", [2])]
    table = np.empty((len(ROWS), 5), dtype=object)
    table[:, :3], table[:, 3], table[:, 4] = ROWS[:, :3], LABELS, ROWS[:, 3]
    yield make_pipeline(ColumnTransformer(steps, remainder="passthrough"), ridge), table
    yield make_pipeline(ColumnTransformer([("some", MinMaxScaler(), slice(1, 3))]), ridge), ROWS


def tables() -> Iterator[tuple[Any, Any]]:
    """Yield models of tables, and the paths of their tables."""
    folder = Path(tempfile.mkdtemp())
    lines = [f"{x[0]:.3f},{x[1]:.3f},{'uvw'[i % 3]},{'yn'[i % 2]}" for i, x in enumerate(ROWS)]
    (folder / "rows.csv").write_text("\n".join(["one,two,letter,target", *lines]) + "\n")
    learner = {"classifier": mercer.KernelRidgeClassifier(GAUSSIAN, n_components=5, random_state=0)}
    learner["regressor"] = KernelRidge(GAUSSIAN, n_components=5, random_state=0)
    for target in ("target", "one"):
        model = TableModel(**learner, test_fraction=0.2).fit(open_source(str(folder / "rows.csv")), target)
        yield model, str(folder / "rows.csv")
    on_letters = mercer.KernelRidgeClassifier(mercer.kernels.Spectrum(1), n_components=16, random_state=0)
    model = TableModel(on_letters).fit(open_source(str(folder / "rows.csv")), "target", text="letter")
    yield model, str(folder / "rows.csv")
    tuned = {"regressor": mercer.TunedRegressor(n_trees=1, time_budget=0.1, random_state=0)}
    yield TableModel(**tuned).fit(folder / "rows.csv", "one"), str(folder / "rows.csv")
    dates = [f"2020-01-{1 + i % 28:02d},{x[0]:.3f}" if i % 9 else f",{x[0]:.3f}" for i, x in enumerate(ROWS)]
    (folder / "dates.csv").write_text("\n".join(["when,target", *dates]) + "\n")
    yield TableModel(regressor=learner["regressor"]).fit(folder / "dates.csv", "target"), str(folder / "dates.csv")
    yield ColumnPreparation().fit(np.where(ROWS > 0.95, np.nan, ROWS)), None
    yield TablePreparation().fit(open_source(str(folder / "rows.csv"))), None


def examples() -> Iterator[Example]:
    """Yield all fitted models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kernel in kernels():
            yield Example(kernel, ROWS)
        for feature_map, X in maps():
            yield Example(feature_map.fit(X), X)
        for feature_map, X in objects():
            yield Example(feature_map.fit(X), X)
        for learner, X, y in (*learners(), *with_trees()):
            yield Example(learner.fit(X) if y is None else learner.fit(X, y), X)
        yield Example(KernelRidge(GAUSSIAN, n_components=5, random_state=0).partial_fit(ROWS, ROWS[:, 0]), ROWS)
        for pipeline, X in pipelines():
            yield Example(pipeline.fit(X, ROWS[:, 0]), X)
        for model, path in tables():
            yield Example(model, path)
