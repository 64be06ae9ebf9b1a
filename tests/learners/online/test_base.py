"""FOGD and NOGD: scikit-learn's contract, the per-row oracle, streams, counts, faults, bad input."""

import pickle
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    FOGDClassifier,
    FOGDRegressor,
    Gaussian,
    NOGDClassifier,
    NOGDRegressor,
    as_blocks,
)

CLASSIFIERS = [FOGDClassifier, NOGDClassifier]
REGRESSORS = [FOGDRegressor, NOGDRegressor]
UPDATES = ["newton", "adagrad", "gradient"]


@parametrize_with_checks(
    [kind(update=update) for kind in (*CLASSIFIERS, *REGRESSORS) for update in ("newton", "gradient")]
)
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((700, 3))
    values = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, values


def _labels(values, n_classes):
    return np.array(list("abcd"))[np.digitize(values, np.quantile(values, np.arange(1, n_classes) / n_classes))]


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["dense", "CSR"])
def test_arrays_and_blocks_give_the_same_bits(rng, kind, dtype, layout):
    X = rng.standard_normal((5000, 4)).astype(dtype)
    y = _labels(X[:, 0] * X[:, 1], 3) if kind in CLASSIFIERS else X[:, 0] * X[:, 1]
    X = sparse.csr_array(X) if layout == "CSR" else X
    model = kind(Gaussian(gamma="scale"), n_components=40, random_state=0)
    one = clone(model).set_params(n_jobs=1).fit(X, y)
    parts = [slice(0, 10), slice(10, 4500), slice(4500, 5000)]
    for source in (as_blocks(X, y, block_rows=77), as_blocks(lambda: ((X[part], y[part]) for part in parts))):
        other = clone(model).set_params(n_jobs=2).fit(source)
        np.testing.assert_array_equal(other.coef_, one.coef_)
        assert other.cumulative_loss_ == one.cumulative_loss_
        np.testing.assert_array_equal(other.predict(as_blocks(X)), one.predict(X))


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_partial_fit_of_parts_is_fit(rows, kind):
    X, values = rows
    y = _labels(values, 3) if kind in CLASSIFIERS else values
    classes = {"classes": np.unique(y)} if kind in CLASSIFIERS else {}
    model = kind(Gaussian(gamma=0.5), n_components=50, random_state=0)
    whole, parts = clone(model).fit(X, y), clone(model)
    for start in range(0, 700, 70):
        parts.partial_fit(X[start : start + 70], y[start : start + 70], **classes)
        parts = pickle.loads(pickle.dumps(parts))
    assert parts.n_seen_ == whole.n_seen_ == 700
    assert parts.cumulative_loss_ == pytest.approx(whole.cumulative_loss_)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-7)
    if kind in CLASSIFIERS:
        assert parts.n_mistakes_ == whole.n_mistakes_
    again = parts.fit(X, y)  # forgets
    assert again.n_seen_ == 700
    np.testing.assert_array_equal(again.coef_, whole.coef_)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_html_and_progress(rows, kind, capfd):
    X, y = rows[0], (rows[1] > 0).astype(int)
    model = kind(Gaussian(gamma=0.3), verbose=1).fit(X, y)
    assert f"{kind.__name__}: online pass" in "".join(capfd.readouterr())
    assert kind.__name__ in estimator_html_repr(model)
    model.set_params(verbose=0).fit(X, y)
    assert capfd.readouterr() == ("", "")


X, Y = np.random.RandomState(0).rand(20, 3), np.arange(20) % 3
NAN = np.where(np.arange(60).reshape(20, 3) == 22, np.nan, X)
BAD = [
    (lambda model: model.partial_fit(NAN, Y), "X contains NaN at row 7, column 1"),
    (lambda model: model.fit(as_blocks(NAN, Y)), "X contains NaN at row 7, column 1"),
    (lambda model: model.partial_fit(X[:, :2], Y), "X has 2 features, but .* is expecting 3 features"),
    (lambda model: model.partial_fit(as_blocks(X[:, :2], Y)), "X has 2 features, but .* is expecting 3 features"),
    (lambda model: model.partial_fit(X, Y[:9]), "X has 20 rows and y has 9"),
    (lambda model: model.partial_fit(X), "requires y to be passed"),
    (lambda model: model.partial_fit(as_blocks(X)), "requires y to be passed"),
    (lambda model: model.partial_fit(as_blocks(X, Y), Y), "X is Blocks, which bring their own y"),
    (lambda model: model.partial_fit(as_blocks(X, Y, sample_weight=np.ones(20))), "have no sample_weight"),
    (lambda model: model.partial_fit(iter([X]), Y), "can be read once only"),
    (lambda model: model.set_params(n_components=0).fit(X, Y), "n_components must be an integer >= 1, got 0"),
    (lambda model: model.set_params(alpha=0).partial_fit(X, Y), "alpha must be a finite number > 0, got 0"),
    (lambda model: model.set_params(step=-1.0).partial_fit(X, Y), "step must be a finite number > 0, got -1.0"),
    (lambda model: model.set_params(update="sgd").partial_fit(X, Y), r"update must be one of \['newton', .*got 'sgd'"),
    (lambda model: model.set_params(schedule=1).partial_fit(X, Y), "schedule must be one of .*, got 1"),
    (lambda model: model.set_params(loss="huber").partial_fit(X, Y), "loss must be one of .*, got 'huber'"),
    (lambda model: model.set_params(kernel="rbf").fit(X, Y), r"got the name 'rbf'. Write Gaussian\(gamma=1.0\)"),
]
BAD_CLASSES = [
    (
        lambda model: model.partial_fit(X, Y + 1),
        r"y holds 3 at row 22 of the stream.*among the classes \[0, 1, 2\]",
    ),
    (
        lambda model: model.partial_fit(X, Y, classes=[0, 1, 2, 3]),
        r"classes must stay .*, \[0, 1, 2\], got \[0, 1, 2, 3",
    ),
    (lambda model: model.partial_fit(X, Y, classes=[[0, 1], [1, 2]]), "y should be a 1d array"),
    (lambda model: model.fit(X, np.ones(20)), "y must hold at least 2 classes, got 1 class"),
    (lambda model: model.fit(X, X[:, 0]), "Unknown label type"),
]


def _assert_refused(model, call, message):
    before, params = dict(model.__dict__), model.get_params()
    coef = model.coef_.copy()
    with pytest.raises((ValueError, TypeError), match=message):
        call(model)
    model.set_params(**params)
    assert model.__dict__.keys() == before.keys()
    assert all(model.__dict__[name] is value for name, value in before.items() if name.endswith("_"))
    np.testing.assert_array_equal(model.coef_, coef)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize(("call", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_named_and_the_model_unchanged(kind, call, message):
    for budget in (5, 100):  # both phases of NOGD
        _assert_refused(kind(random_state=0, n_components=budget).fit(X, Y), call, message)
    if kind in REGRESSORS and "expecting" not in message:
        with pytest.raises((ValueError, TypeError), match=message):
            call(kind())


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(("call", "message"), BAD_CLASSES, ids=range(len(BAD_CLASSES)))
def test_bad_classes_are_named_and_the_model_unchanged(kind, call, message):
    _assert_refused(kind(random_state=0).fit(X, Y), call, message)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_first_call_names_all_classes(kind):
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        kind().partial_fit(X, Y)
    with pytest.raises(NotFittedError):
        kind().predict(X)
    model = kind(Gaussian(gamma=0.5)).partial_fit(
        X[:4], Y[:4] % 2, classes=[0, 1, 2]
    )  # the third class has not come yet
    assert model.coef_.shape[0] == 3


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_bandwidth_found_on_one_row_is_warned_of_once(kind):
    model = kind(n_components=8, random_state=0)
    with pytest.warns(
        UserWarning, match=rf"{kind.__name__}: the parameters of Gaussian\(\) .* only 1, and stay"
    ) as said:
        model.partial_fit(X[:1], Y[:1])
    model.partial_fit(X[1:2], Y[1:2])  # warnings are errors in these tests
    assert len(said) == 1
    assert said[0].filename == __file__
    kind(Gaussian(gamma=0.5), n_components=8, random_state=0).partial_fit(X[:1], Y[:1])  # a number needs no rows
    kind(n_components=8, random_state=0).partial_fit(X[:20], Y[:20])


@pytest.mark.parametrize("kind", REGRESSORS)
def test_steps_that_are_too_long_are_said(kind):
    model = kind(Gaussian(gamma=0.5), update="gradient", schedule="constant", step=1e200, n_components=3)
    model.fit(X[:3], np.zeros(3))
    _assert_refused(model, lambda model: model.partial_fit(X, Y), "the weights overflow at row 3 of the stream")


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("anew", [False, True])
def test_ctrl_c_leaves_the_model_after_the_last_whole_block(rng, kind, anew):
    n_rows = 4096
    rows = rng.standard_normal((3 * n_rows, 2))
    y = (rows[:, 0] > 0).astype(int)

    def source():
        for i in range(3):
            if i == 2 and interrupted:
                raise KeyboardInterrupt
            yield rows[i * n_rows : (i + 1) * n_rows], y[i * n_rows : (i + 1) * n_rows]

    model = kind(n_components=20, random_state=0)
    classes = {"classes": [0, 1]} if kind in CLASSIFIERS else {}
    expected = clone(model).partial_fit(rows[: 2 * n_rows], y[: 2 * n_rows], **classes)
    interrupted = False
    stream = as_blocks(source)
    _ = stream.dtype
    interrupted = True
    if anew and kind in CLASSIFIERS:  # whose first pass, for the classes, is interrupted: nothing has been learned
        model.fit(rows[:50], y[:50])
        expected = clone(model).fit(rows[:50], y[:50])
    learn = partial(model.fit, stream) if anew else partial(model.partial_fit, stream, **classes)
    with pytest.raises(KeyboardInterrupt):
        learn()
    assert model.n_seen_ == expected.n_seen_
    np.testing.assert_array_equal(model.coef_, expected.coef_)


MEMORY = """
import sys
import numpy as np
from mercer import FOGDClassifier, Gaussian, NOGDClassifier
X = np.random.RandomState(0).rand(4096, 8).astype("f")
y = X[:, 0] > X[:, 1]
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
models = [FOGDClassifier(Gaussian(gamma=1.0), n_components=16, update=u) for u in ("gradient", "adagrad", "newton")]
models.append(NOGDClassifier(Gaussian(gamma=1.0), n_components=16))
sizes = []
for n_blocks in (10, int(sys.argv[1])):
    for i in range(n_blocks):
        for model in models:
            model.partial_fit(X + np.float32(i % 7), y, classes=[False, True])
    sizes.append(peak())
assert all(np.isfinite(model.coef_).all() for model in models)
print(*sizes, models[0].n_seen_)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_a_million_rows_in_bounded_memory():
    """The peak after a million rows is within 5 % of that after 40960; their features would take 64 MiB."""
    run = subprocess.run([sys.executable, "-c", MEMORY, "240"], capture_output=True, check=True, timeout=300)
    few, many, n_seen = map(int, run.stdout.split())
    assert n_seen == 250 * 4096
    assert many < 1.05 * few, f"{few / 1024:.0f} MiB at 40960 rows, {many / 1024:.0f} MiB at {n_seen}"


@pytest.mark.parametrize("kind", [FOGDClassifier, NOGDClassifier])
def test_many_classes_are_learned_without_a_warning(rng, kind):
    X, letters = rng.standard_normal((300, 2)), np.array(list("abcdefghijklmnopqrstuvwxyz"))
    y = letters[np.arange(300) % 26]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(random_state=0).fit(X, y)
        model.partial_fit(X, y, classes=letters)
    np.testing.assert_array_equal(model.classes_, letters)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("budget", [5, 100])  # both phases of NOGD
def test_steps_go_on_as_they_began(kind, budget):
    """A Newton step after gradient steps would read a curvature that was never begun."""
    for first in ("newton", "adagrad", "gradient"):
        for then in {"newton", "adagrad", "gradient"} - {first}:
            model = kind(random_state=0, n_components=budget, update=first).fit(X, Y)
            message = f"update must stay what it was on the first call to partial_fit, '{first}', got '{then}'"
            _assert_refused(model, lambda model, then=then: model.set_params(update=then).partial_fit(X, Y), message)
    model = kind(random_state=0, n_components=budget, alpha=0.1).fit(X, Y)
    _assert_refused(
        model, lambda model: model.set_params(alpha=2.0).partial_fit(X, Y), "alpha must stay .*, 0.1, got 2"
    )
    free = kind(random_state=0, n_components=budget, update="gradient").fit(X, Y)
    assert free.set_params(alpha=2.0, step=0.1).partial_fit(X, Y).n_seen_ == 2 * len(X)
    assert model.set_params(alpha=3.0).fit(X, Y).alpha_ == 3.0


@pytest.mark.parametrize("kind", [NOGDClassifier, NOGDRegressor])
def test_a_lowered_budget_ends_the_first_phase(kind):
    model = kind(random_state=0, n_components=100).fit(X, Y)
    n_rows = len(model.state_.coef)
    assert model.feature_map_ is None
    assert n_rows > 3
    model.set_params(n_components=3).partial_fit(X, Y)
    assert len(model.feature_map_.landmarks_) == n_rows


@pytest.mark.parametrize("update", ["newton", "gradient"])
def test_a_budget_beyond_64_bits_raised_between_two_calls_is_never_reached(update):
    rows = np.random.RandomState(0).rand(60, 3)
    model, large = (NOGDRegressor(update=update, n_components=n, random_state=0) for n in (1000, 1000))
    for one in (model, large):
        one.partial_fit(rows[:30], rows[:30, 0])
    large.set_params(n_components=10**30).partial_fit(rows[30:], rows[30:, 0])
    model.partial_fit(rows[30:], rows[30:, 0])
    np.testing.assert_array_equal(large.predict(rows), model.predict(rows))
    with pytest.raises(ValueError, match="n_components must be an integer >= 1, got 0"):
        large.set_params(n_components=0).partial_fit(rows, rows[:, 0])
