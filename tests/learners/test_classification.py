"""What classifiers share: classes from scores, weights of classes, and models from files."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV

from mercer import Gaussian, KernelLogisticRegression, KernelRidgeClassifier, KernelSVC, as_blocks
from mercer.state import UnsoundError, check_stored

KINDS = [KernelLogisticRegression, KernelRidgeClassifier, KernelSVC]


def _rows(n_classes):
    X = np.random.RandomState(0).standard_normal((200, 2))
    return X, np.array(list("abc"))[np.digitize(X[:, 0], np.linspace(-0.5, 0.5, n_classes - 1))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_those_of_the_scores(kind, n_classes):
    X, y = _rows(n_classes)
    model = kind(random_state=0).fit(X, y)
    scores = model.decision_function(X)
    assert scores.shape == ((200,) if n_classes == 2 else (200, 3))
    chosen = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), np.unique(y)[chosen])
    assert model.score(X, y) == np.mean(model.predict(X) == y)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_unknown_classes_are_refused(kind):
    X, y = _rows(2)
    for source in ((X, y), (as_blocks(X, y),)):
        with pytest.raises(ValueError, match=f"{kind.__name__}: class_weight names 'z', which is not a class of y"):
            kind(class_weight={"z": 2.0}).fit(*source)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_whose_coefficients_do_not_match_its_classes_is_refused(kind):
    model = kind(random_state=0).fit(*_rows(3))
    check_stored(model)
    model.classes_ = np.array(["a", "b"])
    with pytest.raises(UnsoundError, match="there must be a column of scores for each class"):
        check_stored(model)
    model = kind(random_state=0).fit(*_rows(3)).set_params(class_weight={"z": 1.0})
    with pytest.raises(ValueError, match="class_weight names 'z'"):
        check_stored(model)


@pytest.mark.parametrize("kind", [KernelRidgeClassifier, KernelSVC])
def test_scores_that_are_no_probabilities_name_the_learners_that_have_them(kind):
    X, y = _rows(2)
    for model in (kind(random_state=0), kind(random_state=0).fit(X, y)):
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError, match=r"KernelLogisticRegression.*CalibratedClassifierCV"):
            model.predict_proba(X)
        with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
            _ = model.nothing
    calibrated = CalibratedClassifierCV(kind(random_state=0), cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_is_that_of_the_map_with_numbers_for_its_parameters(kind):
    X, y = _rows(2)
    model = kind(Gaussian(gamma="scale"), n_components=32, random_state=0)
    assert not hasattr(model, "kernel_")
    kernel = model.fit(X, y).kernel_
    assert kernel.gamma == pytest.approx(1 / (2 * X.var()))
    assert model.set_params(n_components=64).fit(X, y).kernel_ == kernel
