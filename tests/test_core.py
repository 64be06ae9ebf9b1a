"""The core under test is the one expected; the choice of primitive per call."""

import ast
import inspect
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from mercer import core, reference
from mercer.testing import rounding


def test_the_core_under_test_is_the_one_expected(request):
    conftest = request.config.pluginmanager.get_plugin(str(request.config.rootpath / "tests" / "conftest.py"))
    assert conftest.core_under_test() == conftest.expected_core()


def test_mercer_is_the_installed_package_not_the_source_tree():
    import mercer

    assert core.__file__.startswith(mercer.__path__[0])


@pytest.mark.parametrize("length", [7, 11, 13, 22, 1009])
def test_lengths_with_a_large_prime_go_through_scipy(rng, length):
    X = rng.standard_normal((5, 9))
    index, sign = rng.randint(length, size=(3, 9), dtype=np.int32), np.ones((3, 9), dtype=np.int8)
    out, expected = np.empty((5, length)), np.empty((5, length))
    core.tensor_sketch(X, slice(0, 5), index, sign, 1.0, 0.0, out)
    reference.tensor_sketch(X, index, sign, 1.0, 0.0, expected)
    np.testing.assert_allclose(out, expected, atol=rounding(float, 9) * np.abs(expected).max())


def test_pointers_of_another_integer_type_than_the_columns(rng):
    X = sparse.random_array((6, 10), density=0.4, format="csr", rng=0)
    X.indptr = X.indptr.astype(np.int64)
    X.indices = X.indices.astype(np.int32)
    index, sign = rng.randint(8, size=10, dtype=np.int32), np.ones(10, dtype=np.int8)
    out, expected = np.empty((3, 8)), np.empty((3, 8))
    core.count_sketch(X, slice(2, 5), index, sign, out)
    reference.count_sketch(X.toarray()[2:5], index, sign, expected)
    np.testing.assert_allclose(out, expected)


def _stub():
    stub = ast.parse((Path(core.__file__).parent / "_core.pyi").read_text())
    return {node.name: [a.arg for a in node.args.args] for node in stub.body if isinstance(node, ast.FunctionDef)}


GROUPED = {"descend", "descend_csr", "online_kernel_gradient", "online_newton", "rows_in_doubt", "nearest_centres"}
GROUPED |= {"boost_symmetric_tree", "budget_learn"}


@pytest.mark.parametrize("name", sorted(set(reference.__all__) & set(_stub())))
def test_reference_and_compiled_primitives_take_the_same_arguments(name):
    parameters = inspect.signature(getattr(reference, name)).parameters
    grouped = [parameter.annotation for parameter in parameters.values() if hasattr(parameter.annotation, "_fields")]
    assert bool(grouped) == (name in GROUPED)
    fields = [list(getattr(p.annotation, "_fields", [p.name])) for p in parameters.values()]
    assert sum(map(len, fields)) == len(_stub()[name])
    if not grouped or name.startswith("descend"):  # the others give fields shorter names, or an order of their own
        assert list(chain.from_iterable(fields)) == _stub()[name]
