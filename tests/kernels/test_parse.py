"""Kernel expressions: every kernel's repr parses to itself; whatever is wrong is pointed at; nothing is run."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer import kernels
from mercer.kernels import Kernel, KernelSyntaxError, parse_kernel
from mercer.testing.estimators import public_classes

NUMBERS = st.floats(min_value=1e-6, max_value=1e6) | st.sampled_from([5e-324, 1e300, 0.1, 1 / 3])
LEAVES = st.one_of(
    st.builds(lambda g: mercer.Gaussian(gamma=g), NUMBERS | st.sampled_from(["scale", "median"])),
    st.builds(lambda g: mercer.Laplacian(gamma=g), NUMBERS),
    st.builds(lambda d, c: mercer.Polynomial(d, coef0=c), st.integers(1, 9), NUMBERS),
    st.builds(lambda g, c: mercer.Sigmoid(gamma=g, coef0=-c), NUMBERS, NUMBERS),
    st.builds(lambda g: mercer.Exponential(gamma=g), NUMBERS),
    st.builds(lambda nu, scale: mercer.Matern(nu, length_scale=scale), NUMBERS, NUMBERS),
    st.builds(lambda a, scale: mercer.RationalQuadratic(a, length_scale=scale), NUMBERS, NUMBERS),
    st.builds(mercer.ExponentialPower, st.floats(0.1, 2.0)),
    st.builds(lambda s: mercer.ExponentialChi2(sigma=s), NUMBERS),
    st.builds(lambda s: mercer.Cauchy(length_scale=s), NUMBERS),
    st.builds(mercer.ArcCosine, st.integers(0, 2)),
    st.builds(lambda depth: mercer.ArcCosine(1, depth=depth), st.integers(2, 5)),
    st.builds(kernels.NeuralTangent, st.integers(1, 5)),
    st.builds(lambda depth: kernels.Angular(kernels.NeuralTangent(depth)), st.integers(1, 5)),
    st.builds(lambda g, order: kernels.LowOrder(mercer.Gaussian(gamma=g), order=order), NUMBERS, st.floats(0.5, 9.0)),
    st.builds(mercer.VovkPolynomial, st.integers(1, 9)),
    st.sampled_from(
        [
            mercer.Linear(),
            mercer.Chi2(),
            mercer.Hellinger(),
            mercer.Intersection(),
            mercer.JensenShannon(),
            mercer.VovkInfinite(),
            mercer.SameCategory(),
            kernels.ExpectedProduct("sigmoid", None),
        ]
    ),
)


# Kernels of objects, which do not mix with kernels of rows.
OF_OBJECTS = [
    kernels.Spectrum(5, least=3, counts="presence", alphabet="ACGT", fold_case=True),
    kernels.Spectrum(2, tokens=True),
    kernels.GappedKmers(8, 2, both_strands=True, alphabet="ACGT"),
    kernels.HammingKmers(8, 0.25, both_strands=True, alphabet="ACGT"),
    kernels.Subsequence(4, 0.25, alphabet="ACGT", fold_case=True),
    kernels.WeightedDegree(4),
    kernels.WeisfeilerLehman(3, counts="intersection"),
    kernels.ShortestPath(),
    kernels.Graphlets(5, n_draws=None),
    kernels.LabelledWalks(3, 0.25),
    kernels.PartialTree(0.5, 0.3, terminal=2.0, max_size=None),
    kernels.Subtree(0.5),
    kernels.SubsetTree(0.4, max_size=3, leaves=False),
    kernels.Convolution(mercer.Gaussian(gamma=0.5), average="mean"),
    kernels.Convolution(
        mercer.Linear(), decompose=kernels.Windows(3, alphabet="ab", encoding=((0.5, 1.0), (2.0, -1.0)))
    ),
    kernels.Convolution(mercer.Linear(), decompose=kernels.Neighbourhoods(2, labels=True)),
    kernels.Induced(mercer.Gaussian(gamma=0.5), kernels.WeisfeilerLehman(2)),
    mercer.Composed(mercer.Polynomial(2), kernels.Spectrum(3)),
]


def _grown(inner):
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
        st.builds(lambda c, k: c * k, st.floats(1e-3, 1e3), inner),
        st.builds(mercer.Normalized, inner),
        st.builds(lambda g, k: mercer.Composed(mercer.Exponential(gamma=g), k), st.floats(0.01, 100), inner),
        st.builds(mercer.ScaledColumns, inner, st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4)),
        st.builds(mercer.Columns, inner, st.lists(st.integers(0, 99), min_size=1, unique=True)),
        st.builds(lambda k, t: mercer.Metric(k, [t]), inner, st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4)),
    )


EXPRESSIONS = st.recursive(LEAVES, _grown, max_leaves=8)


@given(EXPRESSIONS)
@settings(max_examples=300)
def test_what_a_kernel_prints_parses_to_the_same_kernel(kernel):
    again = parse_kernel(repr(kernel))
    assert again == kernel
    assert repr(again) == repr(kernel)


@pytest.mark.parametrize("kernel", OF_OBJECTS, ids=repr)
def test_kernels_of_objects_print_and_parse_too(kernel):
    for one in (kernel, 2.0 * kernel + mercer.Normalized(kernel)):
        assert parse_kernel(repr(one)) == one


def test_every_concrete_public_kernel_has_a_place_in_the_law_above():
    drawn = {"Sum", "Product", "Scaled", "Normalized", "Composed", "ScaledColumns", "Columns", "Metric"}
    drawn |= {type(leaf).__name__ for leaf in [*_leaves(), *OF_OBJECTS]}
    of_functions_and_matrices = {"DotProduct", "FunctionKernel", "Parts", "PrecomputedKernel"}
    assert set(public_classes(Kernel, of_objects=True)) - drawn == of_functions_and_matrices


def _leaves():
    found = []

    @given(LEAVES)
    @settings(max_examples=500, derandomize=True, database=None)
    def collect(leaf):
        found.append(leaf)

    collect()
    return found


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("Gaussian(gamma=0.5) + 0.1*Linear()", mercer.Gaussian(gamma=0.5) + 0.1 * mercer.Linear()),
        (" Gaussian ( gamma = 1/784 , ) ", mercer.Gaussian(gamma=1 / 784)),
        ("Gaussian()", mercer.Gaussian()),
        ('Gaussian(gamma="median")', mercer.Gaussian(gamma="median")),
        ("Linear()*2*3", 6 * mercer.Linear()),
        ("(Linear() + Chi2()) * Linear()", (mercer.Linear() + mercer.Chi2()) * mercer.Linear()),
        ("Polynomial(degree=2, coef0=1)", mercer.Polynomial(2, coef0=1.0)),
        ("Polynomial(2, gamma=(1 - .5) * 4e0)", mercer.Polynomial(2, gamma=2.0)),
        ("Columns(Linear(), [0, 1])", mercer.Columns(mercer.Linear(), [0, 1])),
        ("Sum((Linear(), Chi2()))", mercer.Linear() + mercer.Chi2()),
        ("Scaled(2.0, Linear())", 2 * mercer.Linear()),
        ("Sigmoid(coef0=-1)", mercer.Sigmoid(coef0=-1.0)),
        ("Linear()\n+ Chi2()", mercer.Linear() + mercer.Chi2()),
    ],
)
def test_what_a_person_writes(text, kernel):
    assert parse_kernel(text) == kernel


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "the expression is empty"),
        ("   ", 4, "the expression is empty"),
        ("Gausian(gamma=0.5)", 1, "did you mean 'Gaussian'"),
        ("Linear() + rbf(gamma=1)", 12, "did you mean 'Gaussian'"),
        ("Linear() + polynomial(3)", 12, "did you mean 'Polynomial'"),
        ("Linear", 7, r"expected '\(' after Linear"),
        ("Linear(", 8, r"expected '\)', found the end"),
        ("Linear()) + Chi2()", 9, r"unexpected '\)'"),
        ("Linear() Chi2()", 10, "unexpected 'Chi2'"),
        ("Gaussian(gama=1)", 10, "has no parameter 'gama'; did you mean 'gamma'"),
        ("Gaussian(0.5)", 10, "takes 0 arguments without a name; write gamma="),
        ("Linear() + Gaussian(gamma=-1)", 21, r"Gaussian: gamma must be .*got -1"),
        ("Polynomial()", 1, "Polynomial needs degree"),
        ("Polynomial(2, degree=3)", 15, "degree is given twice"),
        ("Polynomial(2.5)", 12, "degree must be an integer"),
        ("2", 1, "this is no kernel"),
        ("'text'", 1, "this is no kernel"),
        ("Linear() + 1", 10, r"a constant is Polynomial\(1, coef0"),
        ("-Linear()", 1, "has no minus"),
        ("-2 * Linear()", 4, "scale must be"),
        ("Linear() - Chi2()", 10, "kernels have no -"),
        ("Linear() / 2", 10, r"write a factor such as 0.5 \* kernel"),
        ("Gaussian(gamma=1/0)", 17, "division by zero"),
        ("Gaussian(gamma=1e999)", 16, "too large"),
        ("Gaussian(gamma=1e300*1e300)", 21, "too large"),
        ("Linear() ^ 2", 10, r"unexpected character '\^'"),
        ("Gaussian(gamma='scale)", 16, "closing quote"),
        ("DotProduct(cosh)", 1, "holds a function"),
        ("Kernel()", 1, "there is no kernel 'Kernel'"),
        ("Columns(Linear(), 3)", 19, "columns must be a sequence"),
        ("Composed(Gaussian(), Linear())", 10, "f must be a dot-product kernel"),
        ("Gaussian(gamma=None)", 10, "gamma"),
        ("Sum(Linear())", 5, "terms"),
        ("__import__('os').system('true')", 17, "unexpected character"),
        ("__import__('os')", 1, "there is no kernel"),
        ("Linear().__class__", 9, r"unexpected character '\.'"),
        ("Gaussian(gamma=99999999999999999999)", 16, "too large"),
    ],
)
def test_an_error_points_at_its_column(text, column, message):
    with pytest.raises(KernelSyntaxError, match=message) as caught:
        parse_kernel(text)
    assert caught.value.column == column
    said, line, caret = str(caught.value).split("\n")
    assert said.endswith(f"(column {column})")
    assert len(caret) - len("  ^") == column - 1
    assert line[2:] == re.sub(r"\s", " ", text)


def test_the_caret_stands_under_its_place_in_a_long_line():
    text = " + ".join(["Linear()"] * 50 + ["Lineer()"] + ["Linear()"] * 50)
    with pytest.raises(KernelSyntaxError) as caught:
        parse_kernel(text)
    _, line, caret = str(caught.value).split("\n")
    assert line[len(caret) - 1 :].startswith("Lineer()")
    assert len(line) < 130


@pytest.mark.parametrize(
    "text",
    ["(" * 50 + "Linear()" + ")" * 50, "Normalized(" * 100_000, "-" * 100_000, "1" * 300_000, "[" * 100_000],
    ids=["brackets", "calls", "minus", "digits", "lists"],
)
def test_depth_and_length_are_limited(text):
    with pytest.raises(KernelSyntaxError):
        parse_kernel(text)


def test_a_long_sum_and_many_weights_are_no_trouble():
    assert len(parse_kernel("+".join(["Linear()"] * 2000)).terms) == 2000
    kernel = mercer.ScaledColumns(mercer.Gaussian(gamma=1.0), np.random.RandomState(0).rand(5000))
    assert parse_kernel(repr(kernel)) == kernel


@given(st.text(alphabet="LinearGaussianScale()[]+-*/=.,'\"0123456789e _", max_size=60))
@settings(max_examples=500)
def test_any_text_is_a_kernel_or_the_one_error(text):
    column = 1
    try:
        assert isinstance(parse_kernel(text), Kernel)
    except KernelSyntaxError as error:
        column = error.column
    assert 1 <= column <= len(text) + 1


def test_text_must_be_text():
    with pytest.raises(ValueError, match="text must be a string"):
        parse_kernel(3)
