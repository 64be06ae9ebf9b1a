"""A fit begins with the parameters alone, and is there as a whole or not at all."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer import (
    MEKA,
    FOGDClassifier,
    Gaussian,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    KernelSVC,
    LinearFeatures,
    OrthogonalFeatures,
    Polynomial,
    TensorSketch,
)
from mercer.data import TableError, TablePreparation, open_source
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.table_model import TableModel


def test_unfitted_keeps_the_parameters_themselves_and_what_others_have_set(rng):
    kernel = Gaussian(gamma=1.0)
    fitted = OrthogonalFeatures(kernel, n_components=8).fit(rng.standard_normal((5, 3)))
    fitted.set_output(transform="default").note = "mine"
    other = unfitted(fitted)
    assert other.kernel is kernel
    assert set(vars(other)) == {*fitted.get_params(deep=False), "_sklearn_output_config", "note"}
    with pytest.raises(NotFittedError):
        other.transform(np.zeros((1, 3)))
    assert hasattr(fitted, "frequencies_")


def test_adopt_takes_all_attributes_over():
    one, other = LinearFeatures(), LinearFeatures()
    other.first_ = 1
    adopt(one, other)
    assert one.first_ == 1
    assert not hasattr(unfitted(one), "first_")


def test_a_refit_on_fewer_columns_uses_its_own_rotation(rng):
    wide, narrow, kernel = rng.standard_normal((50, 100)), rng.standard_normal((50, 10)), Gaussian(gamma=0.05)
    fresh = OrthogonalFeatures(kernel, n_components=400, random_state=0).fit(narrow)
    again = OrthogonalFeatures(kernel, n_components=400, random_state=0).fit(wide).fit(narrow)
    np.testing.assert_array_equal(again.transform(narrow), fresh.transform(narrow))
    np.testing.assert_array_equal(again.variance(narrow), fresh.variance(narrow))
    assert not hasattr(again, "signs_")


def test_attributes_of_another_mode_are_gone(rng):
    X, y = rng.random_sample((60, 3)), rng.random_sample(60)
    sketch = TensorSketch(Gaussian(gamma=1.0), n_components=16, random_state=0).fit(X)
    sketch.set_params(kernel=Polynomial(2)).fit(X)
    assert not {"exact_degrees_", "dropped_degrees_", "allocation_"} & set(vars(sketch))
    ridge = KernelRidge(n_components=8, alpha="gcv", random_state=0).fit(X, y).set_params(alpha=1.0).fit(X, y)
    assert not {"alphas_", "scores_", "coef_path_"} & set(vars(ridge))
    pca = KernelPCA(n_components=2, fit_inverse_transform=True, random_state=0).fit(X)
    with pytest.raises(ValueError, match="pre-images were not learned"):
        pca.set_params(fit_inverse_transform=False).fit(X).inverse_transform(np.zeros((1, 2)))


@pytest.mark.parametrize("kind", [KernelSVC, KernelLogisticRegression])
def test_a_warm_start_never_takes_the_map_of_another_kernel(rng, kind):
    """The map in the middle is that of a fit without warm_start, which the first fit's kernel says nothing about."""
    X = rng.standard_normal((80, 3))
    y = X[:, 0] * X[:, 1] > 0
    wide, narrow = Gaussian(gamma=0.1), Gaussian(gamma=5.0)
    model = kind(wide, n_components=16, warm_start=True, random_state=0).fit(X, y)
    model.set_params(kernel=narrow, warm_start=False).fit(X, y)
    model.set_params(kernel=wide, warm_start=True).fit(X, y)
    assert model.feature_map_.kernel_ == wide


@pytest.mark.parametrize("kind", [KernelSVC, KernelLogisticRegression])
def test_a_warm_start_keeps_the_map_and_begins_at_the_solution(rng, kind):
    X = rng.standard_normal((80, 3))
    y = X[:, 0] * X[:, 1] > 0
    model = kind(n_components=16, warm_start=True, random_state=0).fit(X, y)
    before, n_iter = model.feature_map_, model.n_iter_
    model.fit(X, y)
    assert model.feature_map_ is before
    assert model.n_iter_ < n_iter


@pytest.mark.parametrize(
    ("model", "bad"),
    [
        (OrthogonalFeatures(random_state=0), {"n_components": -1}),
        (MEKA(rank=2, n_clusters=2, random_state=0), {"psd": "round"}),
        (KernelRidge(n_components=8, random_state=0), {"alpha": "aic"}),
        (FOGDClassifier(n_components=8, random_state=0), {"loss": "cubic"}),
    ],
)
def test_a_refused_fit_leaves_the_attributes_themselves(rng, model, bad):
    X = rng.random_sample((40, 3))
    y = X[:, 0] > 0.5 if isinstance(model, FOGDClassifier) else X[:, 0]
    before = dict(vars(model.fit(X, y)))
    with pytest.raises(ValueError, match=next(iter(bad))):
        model.set_params(**bad).fit(rng.random_sample((40, 70)), y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items() if name not in bad)


def _table(folder, name, text):
    path = folder / name
    path.write_text(text)
    return open_source(path)


def test_a_refused_preparation_leaves_the_last_one(tmp_path):
    preparation = TablePreparation().fit(_table(tmp_path, "good.csv", "a,b\n1,2\n3,5\n"))
    before = dict(vars(preparation))
    with pytest.raises(TableError, match="nothing to learn from"):
        preparation.fit(_table(tmp_path, "bad.csv", "c\n1\n1\n"))
    assert vars(preparation) == before


def test_a_table_model_of_numbers_has_no_classes_of_an_earlier_fit(tmp_path):
    rows = [(i, "yes" if i > 50 else "no", i / 7) for i in range(100)]
    classes = _table(tmp_path, "classes.csv", "x,y\n" + "".join(f"{x},{label}\n" for x, label, _ in rows))
    numbers = _table(tmp_path, "numbers.csv", "x,y\n" + "".join(f"{x},{value}\n" for x, _, value in rows))
    model = TableModel(KernelSVC(n_components=8), KernelRidge(n_components=8)).fit(classes, "y")
    assert model.fit(numbers, "y").task_ == "regression"
    assert not hasattr(model, "classes_")
