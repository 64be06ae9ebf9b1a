"""Laws of what is stored: every attribute of every fitted estimator is declared, and every declared one occurs."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.preprocessing import OneHotEncoder

import mercer
from mercer.kernels import Kernel
from mercer.state import attributes_of, fields_of, parts
from mercer.storage import ModelFileError, dumps, foreign, loads, registry
from mercer.testing.estimators import public_classes

FITTED_MODELS = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "fitted_models.py"))
MODELS = [example.model for example in FITTED_MODELS["examples"]()]
ESTIMATORS = list(public_classes(BaseEstimator, of_objects=True).values())


def inside(value):
    """Yield an object with all estimators and parts inside it."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from inside(item)
    elif isinstance(value, BaseEstimator) or type(value) in parts().values():
        yield value
        yield from inside(vars(value))
    elif isinstance(value, Kernel):
        yield from inside(vars(value))


def own_attributes(value):
    params = value.get_params(deep=False) if isinstance(value, BaseEstimator) else ()
    return {name for name in vars(value) if name not in params}


def every_class():
    found = {}
    for value in inside(MODELS):
        found.setdefault(type(value), []).append(value)
    return found


CLASSES = every_class()


def test_every_public_estimator_and_kernel_and_part_has_an_example():
    assert not {cls.__name__ for cls in ESTIMATORS} - {cls.__name__ for cls in CLASSES}
    assert not {cls.__name__ for cls in parts().values()} - {cls.__name__ for cls in CLASSES}
    assert not set(foreign.STORED) - {cls.__name__ for cls in CLASSES} - {"Pipeline"}
    with_code = {"DotProduct", "FunctionKernel", "Parts"}  # they hold a function
    inside_maps = {"ExpectedProduct", "PrecomputedKernel"}
    assert (
        not set(public_classes(Kernel, of_objects=True))
        - with_code
        - inside_maps
        - {type(model).__name__ for model in MODELS}
    )


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_attribute_is_declared_and_every_declaration_occurs(cls):
    declared = {kind.attribute or name for name, kind in registry.stored_by(cls).items()}
    seen = set().union(*(own_attributes(value) for value in CLASSES[cls]))
    assert seen <= declared
    # Names of columns and the kind of output are anybody's, and have a test of their own.
    assert declared - seen <= {"feature_names_in_", "_sklearn_output_config"}


@pytest.mark.parametrize("cls", [*ESTIMATORS, *parts().values()], ids=lambda cls: cls.__name__)
def test_every_class_has_a_declaration_of_public_names(cls):
    assert fields_of(cls)
    assert not [name for name in registry.stored_by(cls) if name.startswith("_")]


@pytest.fixture
def undeclared(monkeypatch):
    """Take the declaration away from a class; what was read of it before is cached."""
    monkeypatch.setattr(mercer.LinearFeatures, "_stored", {})
    _forget()
    yield mercer.LinearFeatures
    _forget()


def _forget():
    fields_of.cache_clear()
    attributes_of.cache_clear()


def test_a_class_without_a_declaration_is_refused_on_save(undeclared):
    with pytest.raises(ModelFileError, match="has the attribute 'index_', which is neither a parameter nor declared"):
        dumps(undeclared().fit(np.eye(3)))


def test_a_class_without_a_declaration_is_refused_on_load(request):
    data = dumps(mercer.LinearFeatures().fit(np.eye(3)))
    request.getfixturevalue("undeclared")
    with pytest.raises(ModelFileError, match="sets the attribute 'index_' of LinearFeatures"):
        loads(data)


def test_a_model_changed_by_hand_is_not_saved():
    """What could not be read again is not written."""
    model = mercer.LinearFeatures(n_components=2).fit(np.eye(3))
    model.index_[0] = 2
    with pytest.raises(ModelFileError, match=r"not as fit left it: LinearFeatures: index_ .* below D = 2, got 2"):
        dumps(model)


@pytest.mark.parametrize("model", [m for m in MODELS if not isinstance(m, Kernel)], ids=lambda m: type(m).__name__)
def test_no_declared_attribute_may_be_missing_or_of_another_kind(model):
    """Each attribute that a fit sets is taken out, and replaced, by hand: the check must notice either."""
    for value in inside(model):
        attributes, declared = dict(vars(value)), registry.stored_by(type(value))
        registry.check(value, registry.stored_by(type(value)))
        for name, kind in declared.items():
            attribute = kind.attribute or name
            if attribute not in attributes:
                continue
            _assert_refused(value, {**attributes, attribute: object()})
            without = {key: item for key, item in attributes.items() if key != attribute}
            if not kind.optional and own_attributes(value) - {"_sklearn_output_config"} != {
                attribute
            }:  # which would not be fitted
                _assert_refused(value, without)


def _assert_refused(value, attributes):
    before = vars(value)
    object.__setattr__(value, "__dict__", attributes)
    try:
        with pytest.raises(ValueError):  # noqa: PT011 - each kind has its own words
            registry.check(value, registry.stored_by(type(value)))
    finally:
        object.__setattr__(value, "__dict__", before)


def test_pointers_of_sparse_landmarks_may_not_wrap():
    """Differences of these 32-bit pointers are positive, and a product would read far outside the matrix."""
    rows = sparse.csr_array(np.random.RandomState(0).rand(7, 3))
    model = mercer.Nystroem(mercer.Polynomial(2), n_components=7, landmarks=rows, random_state=0).fit(rows)
    model.landmarks_.indptr[4:7] = [2**20, 2**30, -3 * 2**29]
    with pytest.raises(ModelFileError, match="not a valid CSR matrix: its indptr is not in order"):
        loads(dumps(model))


def test_products_of_stored_features_and_links_are_finite():
    rows = np.random.RandomState(0).rand(40, 3)
    model = mercer.MEKA(mercer.Gaussian(gamma=1.0), n_clusters=2, rank=3, random_state=0).fit(rows)
    model.features_[0][0, 0] = np.finfo(np.float64).max
    with pytest.raises(ModelFileError, match="the products of features_ and link_ must be finite"):
        dumps(model)


def test_phases_of_additive_features_do_not_overflow():
    model = mercer.AdditiveFeatures(n_components=4, random_state=0).fit(np.random.RandomState(0).rand(6, 3))
    model.step_ = 1e308
    with pytest.raises(ModelFileError, match="step_ must be at most 2"):
        dumps(model)


def test_offsets_of_phases_lie_within_a_turn():
    model = mercer.FourierFeatures(n_components=5, random_state=0).fit(np.random.RandomState(0).rand(6, 3))
    for offset in (-1e45, 7.0):
        model.offsets_[0] = offset
        with pytest.raises(ModelFileError, match="offsets_ must hold numbers"):
            dumps(model)


def test_an_encoder_into_no_type_of_numbers_is_refused():
    encoder = OneHotEncoder().fit([["a"], ["b"]])
    assert loads(dumps(encoder)).transform([["b"]]).toarray().tolist() == [[0.0, 1.0]]
    with pytest.raises((ModelFileError, ValueError), match="dtype must be a type of numbers"):
        loads(dumps(encoder.set_params(dtype=float("nan"))))
