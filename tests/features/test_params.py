"""Kernels take part in a grid search although they never change."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mercer import (
    FourierFeatures,
    Gaussian,
    KernelRidge,
    KernelSVC,
    Linear,
    LinearFeatures,
    Nystroem,
    Polynomial,
    RandomMaclaurin,
    TensorSketch,
    feature_map,
)
from mercer.features import Concatenate


def test_set_params_replaces_the_kernel_and_leaves_the_callers_alone():
    kernel = Polynomial(2, gamma=1.0)
    sketch = TensorSketch(kernel)
    assert sketch.set_params(kernel__gamma=0.5, kernel__degree=3) is sketch
    assert sketch.kernel == Polynomial(3, gamma=0.5)
    assert kernel == Polynomial(2, gamma=1.0)


def test_none_becomes_the_natural_kernel_first():
    assert TensorSketch().set_params(kernel__gamma=0.5).kernel == Polynomial(2, gamma=0.5)
    assert RandomMaclaurin().set_params(kernel__coef0=1.0).kernel == Polynomial(2, coef0=1.0)


def test_inside_a_sum():
    sketch = TensorSketch(Linear() + 2.0 * Polynomial(2))
    sketch.set_params(kernel__terms_1__kernel__degree=4, kernel__terms_1__scale=3.0)
    assert sketch.kernel == Linear() + 3.0 * Polynomial(4)


def test_a_new_kernel_and_its_parameter_in_one_call():
    sketch = TensorSketch().set_params(kernel__degree=5, kernel=Polynomial(2, coef0=1.0))
    assert sketch.kernel == Polynomial(5, coef0=1.0)


def test_get_params_lists_what_set_params_takes():
    sketch = TensorSketch(Linear() + Polynomial(2))
    params = sketch.get_params()
    assert params["kernel__terms_1__degree"] == 2
    assert clone(sketch).set_params(**params).get_params() == params


def test_clone_keeps_the_identical_kernel():
    kernel = Linear() + Gaussian(gamma=2.0)
    copy = clone(RandomMaclaurin(kernel, n_components=7, h01=True, p=3.0, random_state=3))
    assert copy.kernel is kernel
    assert (copy.n_components, copy.h01, copy.p, copy.random_state) == (7, True, 3.0, 3)


def test_grid_search_over_kernel_parameters_in_a_pipeline():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(TensorSketch(n_components=32, random_state=0), LinearSVC())
    grid = {"tensorsketch__kernel__gamma": [0.01, 0.1], "tensorsketch__kernel__degree": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X / 10, y)
    assert (
        search.best_estimator_[0].kernel.get_params()["degree"] == search.best_params_["tensorsketch__kernel__degree"]
    )
    assert len({repr(params) for params in search.cv_results_["params"]}) == 4


def test_members_of_a_list_of_maps():
    both = Concatenate([LinearFeatures(), TensorSketch()])
    both.set_params(maps_1__kernel__degree=3, maps_1__n_components=17)
    assert both.maps[1].kernel == Polynomial(3)
    assert both.get_params()["maps_1__n_components"] == 17
    both.set_params(maps_0=RandomMaclaurin())
    assert isinstance(both.maps[0], RandomMaclaurin)


@pytest.mark.parametrize("name", ["kernel__sigma", "nonsense", "maps_7__n_components"])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError, match=r"no parameter|Invalid parameter"):
        Concatenate([TensorSketch()]).set_params(**{name: 1}) if "maps" in name else TensorSketch().set_params(
            **{name: 1}
        )


def test_a_map_of_an_expression_in_a_grid_search_changes_its_draw():
    X = np.random.RandomState(0).standard_normal((5, 3))
    chosen = feature_map(Linear() + Polynomial(2), 16, random_state=0)
    before = chosen.fit_transform(X)
    after = chosen.set_params(maps_1__kernel__gamma=2.0).fit_transform(X)
    assert chosen.kernel_ == Linear() + Polynomial(2, gamma=2.0)
    assert not np.allclose(before, after)


@pytest.mark.parametrize("kind", [KernelSVC, KernelRidge, Nystroem, FourierFeatures])
def test_parameters_of_a_kernel_are_refused_with_the_spelling_of_mercer(kind):
    name = kind.__name__
    with pytest.raises(
        TypeError, match=rf"{name}: gamma is a parameter of the kernel. Write {name}\(Gaussian\(gamma=0.1\)\)"
    ):
        kind(gamma=0.1)
    with pytest.raises(TypeError, match=r"gamma and degree are .* Write .*\(Polynomial\(degree=3, gamma=0.1\)\)"):
        kind(kernel="poly", gamma=0.1, degree=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'gama'"):
        kind(gama=0.1)


def test_the_hint_leaves_signatures_and_positional_arguments_as_they_are():
    assert list(inspect.signature(KernelSVC).parameters)[:2] == ["kernel", "n_components"]
    assert KernelSVC(Gaussian(gamma=0.1)).kernel == Gaussian(gamma=0.1)
