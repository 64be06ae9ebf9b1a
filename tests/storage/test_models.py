"""Every estimator, map and kernel comes back from its file bit for bit, in this process and in a fresh one."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import mercer
from mercer import (
    Chi2,
    Columns,
    Composed,
    Exponential,
    Gaussian,
    Kernel,
    KernelRidge,
    KernelRidgeClassifier,
    Laplacian,
    Linear,
    Matern,
    ModelFileError,
    Normalized,
    Nystroem,
    Polynomial,
    RandomMaclaurin,
    ScaledColumns,
    TensorSketch,
    feature_map,
)
from mercer.state import parts
from mercer.storage import describe, dumps, loads, registry
from mercer.testing.estimators import public_classes

ROWS = np.random.RandomState(0).rand(120, 5)
PUBLIC = public_classes(BaseEstimator)
ESTIMATORS = sorted(PUBLIC)
KERNELS = [
    Gaussian(gamma=0.1 + 0.2),
    Gaussian(gamma="median"),
    Polynomial(3, gamma=1 / 3, coef0=1e-300),
    Matern(2.5, length_scale=np.pi),
    Columns(Laplacian(gamma=1.0), [0, 3]) * Linear() + 0.1 * Chi2(),
    ScaledColumns(Gaussian(gamma=1.0), [1 / 3, -0.0, 7.0, 1e22, 5e-324]),
    Normalized(Composed(Exponential(gamma=1.0), Gaussian(gamma=0.5))),
    mercer.kernels.Sum((mercer.kernels.Sum((Linear(), Linear())), Linear())),
]
SUM = Gaussian(gamma=0.5) + 2 * Normalized(Linear()) * Columns(Laplacian(gamma=1.0), [0])


def fitted(estimator, X=ROWS):
    """Fit any estimator by its tags, as scikit-learn's own checks do."""
    labels = np.array(["few", "many", "some"])[np.argsort(X[:, 0]) % 3] if _is_classifier(estimator) else X[:, 0]
    return estimator.fit(X, _second_view(X) if "CCA" in type(estimator).__name__ else labels)


def _is_classifier(estimator):
    return getattr(estimator, "_estimator_type", None) == "classifier" or hasattr(estimator, "decision_function")


def _second_view(X):
    return X[:, ::-1] ** 2


def assert_same(one, other, path="model"):
    """Compare values of any kind, bit by bit."""
    assert type(one) is type(other), path
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, path
        assert one.shape == other.shape, path
        if one.flags.forc:  # the layout decides how products round
            assert (one.flags.c_contiguous, one.flags.f_contiguous) == (
                other.flags.c_contiguous,
                other.flags.f_contiguous,
            ), path
        assert one.tolist() == other.tolist() if one.dtype == object else one.tobytes() == other.tobytes(), path
    elif sparse.issparse(one):
        for name in ("data", "indices", "indptr"):
            assert_same(getattr(one, name), getattr(other, name), f"{path}.{name}")
    elif isinstance(one, dict):
        assert list(one) == list(other), path
        for key, value in one.items():
            assert_same(value, other[key], f"{path}[{key!r}]")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), path
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{path}[{i}]")
    elif isinstance(one, np.random.RandomState):
        assert_same(one.get_state(legacy=False), other.get_state(legacy=False), path)
    elif hasattr(one, "__dict__") and not isinstance(one, type):
        assert_same(vars(one), vars(other), path)
    else:
        assert repr(one) == repr(other), path


def outputs(model, X=ROWS):
    methods = [name for name in ("transform", "predict", "decision_function", "predict_proba") if hasattr(model, name)]
    return [np.asarray(getattr(model, name)(X)) for name in methods]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_public_estimator_is_registered_and_comes_back_bit_for_bit(name):
    assert registry.estimator(name) is PUBLIC[name]
    model = fitted(PUBLIC[name]())
    again = loads(dumps(model))
    assert_same(model, again)
    for one, other in zip(outputs(model), outputs(again), strict=True):
        np.testing.assert_array_equal(one, other)
    assert_same(PUBLIC[name](), loads(dumps(PUBLIC[name]())))
    clone(again)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_come_back_equal_and_exact(kernel):
    again = loads(dumps(kernel))
    assert_same(kernel, again)
    assert again == kernel


def test_every_public_kernel_is_registered():
    public = public_classes(Kernel, of_objects=True)
    with_code = {"FunctionKernel", "Parts"}
    assert all(registry.kernel(name) is (None if name in with_code else cls) for name, cls in public.items())


def test_every_row_of_the_registry_is_a_class_that_knows_its_name():
    for module, names in registry._OTHER_ESTIMATORS.items():
        for name in names:
            cls = getattr(import_module(module), name)
            assert registry.name_of(cls) == f"{module}.{name}"
            assert registry.estimator(f"{module}.{name}") is cls
    for name, cls in parts().items():
        assert registry.name_of(cls) == name
        assert registry.part(name) is cls


@pytest.mark.parametrize(
    "name", ["", ".", "Kernel", "feature_map", "datasets", "os.system", "sklearn.svm.SVC", "__all__"]
)
def test_nothing_else_is_in_the_registry(name):
    assert registry.estimator(name) is None
    assert registry.kernel(name) is None
    assert registry.part(name) is None


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_maps_of_expressions_come_back(kernel, layout):
    X = layout(ROWS)
    kernel = kernel.resolve(ROWS)
    try:
        model = feature_map(kernel, 60, random_state=0).fit(X)
    except ValueError:
        model = Nystroem(kernel, n_components=10, random_state=0).fit(X)
    again = loads(dumps(model))
    assert_same(model, again)
    np.testing.assert_array_equal(model.transform(X), again.transform(X))


@pytest.mark.parametrize(
    "model",
    [
        TensorSketch(Gaussian(gamma=1.0), n_components=64, random_state=0),
        TensorSketch(Exponential(gamma=1.0), n_components=64, random_state=np.random.RandomState(3)),
        RandomMaclaurin(Composed(Exponential(gamma=1.0), SUM), n_components=20, random_state=0),
        Nystroem(Gaussian(gamma=1.0), n_components=12, landmarks=ROWS[:12], rank=4),
        Nystroem("precomputed", n_components=8, random_state=0),
        KernelRidge(features=TensorSketch(n_components=32), alpha="loo", alphas=[0.1, 1.0], random_state=0),
        KernelRidge(Gaussian(), alpha="gcv", n_components=10, random_state=0),
        make_pipeline(StandardScaler(), MinMaxScaler(), KernelRidge(n_components=10, random_state=0)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_parts_inside_models_come_back(model):
    X = Linear()(ROWS[:, :3]) if getattr(model, "kernel", None) == "precomputed" else ROWS
    model.fit(X, ROWS[:, :2])
    again = loads(dumps(model))
    assert_same(model, again)
    for one, other in zip(outputs(model, X), outputs(again, X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_online_learner_between_blocks_comes_back_and_goes_on():
    """Before its landmarks are complete it holds rows; the loaded one learns on as the saved one does."""
    labels = np.argsort(ROWS[:, 0]) % 3
    model = mercer.NOGDClassifier(n_components=10_000, random_state=0).partial_fit(ROWS, labels, classes=[0, 1, 2])
    again = loads(dumps(model))
    assert_same(model, again)
    for learner in (model, again):
        learner.partial_fit(ROWS[::-1], labels[::-1])
    for one, other in zip(outputs(model), outputs(again), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["spam", "ham", "œufs"]),
        np.array([3, -1, 2**40]),
        np.array([True, False, True]),
        np.array(["x", "y", "z"], dtype=object),
        np.array([1.5, 2.5, 3.5], dtype=np.float32),
    ],
    ids=lambda labels: str(labels.dtype.kind) + str(labels.itemsize),
)
def test_classes_of_any_kind_come_back(labels):
    y = labels[np.arange(len(ROWS)) % 3]
    if labels.dtype.kind == "f":
        labels, y = labels.astype(np.int8), y.astype(np.int8)
    model = KernelRidgeClassifier(n_components=10, random_state=0).fit(ROWS, y)
    again = loads(dumps(model))
    assert_same(model, again)
    assert again.predict(ROWS).dtype == model.predict(ROWS).dtype
    np.testing.assert_array_equal(again.predict(ROWS), model.predict(ROWS))


def test_feature_names_and_output_settings_come_back():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(ROWS, columns=["a", "b", "c", "d", "é"])
    model = TensorSketch(n_components=8, random_state=0).set_output(transform="pandas").fit(X)
    again = loads(dumps(model))
    assert_same(model, again)
    pd.testing.assert_frame_equal(model.transform(X), again.transform(X))
    with pytest.raises(ValueError, match="feature names"):
        again.transform(X.rename(columns={"a": "z"}))


def test_a_fresh_process_predicts_the_same_bits(tmp_path):
    models = [
        KernelRidgeClassifier(Gaussian(gamma=1.0) + 0.1 * Linear(), n_components=40, random_state=0),
        Nystroem(Laplacian(gamma=1.0), n_components=10, random_state=0),
        TensorSketch(Polynomial(3, coef0=1.0), n_components=32, random_state=0),
    ]
    np.save(tmp_path / "rows.npy", ROWS)
    for i, model in enumerate(models):
        mercer.save(fitted(model), tmp_path / f"{i}.mercer")
        np.save(tmp_path / f"{i}.npy", outputs(model)[-1])
    code = f"""
import numpy as np, mercer
for i in range({len(models)}):
    model = mercer.load(f"{tmp_path}/{{i}}.mercer")
    work = getattr(model, "decision_function", None) or model.transform
    np.testing.assert_array_equal(work(np.load("{tmp_path}/rows.npy")), np.load(f"{tmp_path}/{{i}}.npy"))
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_arrays_that_were_one_are_one_again():
    model = fitted(Nystroem(Gaussian(gamma=1.0), n_components=10, random_state=0))
    assert model.projection_ is model._inverse_root
    again = loads(dumps(model))
    assert again.projection_ is again._inverse_root


def test_the_same_model_makes_the_same_bytes():
    model = fitted(KernelRidge(n_components=10, random_state=0))
    assert dumps(model) == dumps(loads(dumps(model)))


@pytest.mark.parametrize(
    ("model", "argument"),
    [
        (mercer.KitchenSinks(np.tanh), r"KitchenSinks\.phi is a function \(tanh\)"),
        (
            mercer.KitchenSinks("relu", distribution=lambda rng, n, d: rng.rand(d, n)),
            r"KitchenSinks\.distribution is a function",
        ),
        (KernelRidge(features=mercer.KitchenSinks(np.tanh)), r"KernelRidge\.features\.phi is a function"),
        (TensorSketch(mercer.DotProduct(np.cosh, [1.0, 0.0, 0.5]) + Linear()), None),
        (Nystroem(lambda A, B: np.ones((len(A), len(B)))), r"Nystroem\.kernel is a function"),
        (KernelRidge(alpha=object()), r"KernelRidge\.alpha is a object, which a model file does not hold"),
    ],
    ids=["phi", "distribution", "features.phi", "kernel.f", "kernel", "object"],
)
def test_a_function_of_the_users_own_is_refused_by_the_arguments_name(model, argument, tmp_path):
    if argument is None:
        f = mercer.DotProduct(lambda t: 1 + t, [1.0, 1.0])
        model, argument = TensorSketch(f + Linear()), r"TensorSketch\.kernel\.terms\[0\]\.f is a function \(<lambda>\)"
    with pytest.raises(ModelFileError, match=argument):
        mercer.save(model, tmp_path / "model.mercer")
    assert not list(tmp_path.iterdir())


def test_a_class_or_attribute_of_the_users_own_is_refused():
    class Mine(TensorSketch):
        pass

    with pytest.raises(ModelFileError, match="Mine, a class that a model file cannot name"):
        dumps(Mine())
    model = TensorSketch()
    model.note = "mine"
    with pytest.raises(ModelFileError, match="attribute 'note'"):
        dumps(model)
    with pytest.raises(ModelFileError, match="must be an estimator or a kernel, got a dict"):
        dumps({})


def test_a_description_reads_without_building_the_model(tmp_path):
    model = fitted(KernelRidgeClassifier(n_components=10, random_state=0))
    mercer.save(model, tmp_path / "model.mercer")
    about = describe(tmp_path / "model.mercer")
    assert about.class_name == "KernelRidgeClassifier"
    assert about.kernel == repr(model.feature_map_.kernel_)
    assert about.classes == ["few", "many", "some"]
    assert about.n_features_in == 5
    assert about.parameters["n_components"] == "10"
    assert about.versions["mercer"] == mercer.__version__
    assert about.n_bytes > model.coef_.nbytes
