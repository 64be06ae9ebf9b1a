"""Targets as values: classes, numbers or nothing, encoded per block and shaped back."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.data import Block, as_blocks
from mercer.fitting import Classes, Numbers, Targets, Unweighted
from mercer.fitting.targets import class_factors, classes_in


def _block(y=None, weight=None, n_rows=4):
    return Block(np.zeros((n_rows, 1)), None if y is None else np.asarray(y), weight)


def _found(targets, y, weight=None):
    return targets.known(targets.found_in(_block(y), np.ones(len(y)) if weight is None else weight))


def test_two_classes_are_one_column_of_signs():
    targets = _found(Classes("Test"), ["b", "a", "b", "a"])
    assert targets.classes.tolist() == ["a", "b"]
    assert (targets.n_columns, targets.is_flat, targets.total) == (1, True, 4.0)
    assert targets.encode(_block(["b", "a", "a", "b"])).tolist() == [[1.0], [-1.0], [-1.0], [1.0]]
    assert targets.decode(np.array([-0.5, 0.5])).tolist() == ["a", "b"]
    coef, intercept = targets.shaped(np.ones((1, 5)), np.array([2.0]))
    assert coef.shape == (5,)
    assert intercept == 2.0


@pytest.mark.parametrize(("one_hot", "off"), [(False, -1.0), (True, 0.0)])
def test_several_classes_are_a_column_each(one_hot, off):
    targets = _found(Classes("Test", one_hot=one_hot), [3, 1, 2, 1])
    assert (targets.n_columns, targets.is_flat) == (3, False)
    expected = [[off, off, 1.0], [1.0, off, off], [off, 1.0, off], [1.0, off, off]]
    assert targets.encode(_block([3, 1, 2, 1])).tolist() == expected
    assert targets.decode(np.array([[0.1, 0.3, 0.2]])).tolist() == [2]
    coef, intercept = targets.shaped(np.ones((3, 5)), np.zeros(3))
    assert coef.shape == (3, 5)
    assert intercept.shape == (3,)


def test_the_weight_of_a_class_multiplies_that_of_its_rows():
    targets = _found(Classes("Test", class_weight={"a": 3.0}), ["a", "b", "b", "b"])
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    assert targets.weight(_block(["b", "a", "a", "b"], weight)).tolist() == [1.0, 6.0, 9.0, 4.0]
    assert targets.weight(_block(["b", "a", "a", "b"])).tolist() == [1.0, 3.0, 3.0, 1.0]
    assert targets.sample_weight(_block(["b", "a", "a", "b"], weight)).tolist() == weight.tolist()
    assert targets.weight_of_one(np.array([[1.0], [-1.0]])).tolist() == [1.0, 3.0]
    assert targets.n_counted(99.0) == 4.0  # the factor of a class does not count rows
    several = replace(targets, classes=np.array(["a", "b", "c"]), factors=np.array([1.0, 2.0, 3.0]))
    assert several.weight_of_one(np.array([[-1.0, -1.0, 1.0], [1.0, -1.0, -1.0]])).tolist() == [3.0, 1.0]


def test_balanced_classes_have_the_same_total():
    classes, totals = np.array(["a", "b", "c"]), np.array([1.0, 4.0, 0.0])
    factors = class_factors("Test", "balanced", classes, totals)
    assert (factors * totals).tolist() == [2.5, 2.5, 0.0]
    assert class_factors("Test", None, classes, totals) is None
    for wrong in ({"d": 1.0}, {"a": -1.0}, "even", 2.0):
        with pytest.raises(ValueError, match=r"Test: class_weight"):
            class_factors("Test", wrong, classes, totals)


def test_a_class_that_the_survey_has_not_seen_is_named():
    targets = _found(Classes("Test"), ["a", "b", "b", "a"])
    for checked in (False, True):
        with pytest.raises(ValueError, match="Test: the source of X gave classes in a later pass"):
            replace(targets, checked=checked).encode(_block(["a", "c", "a", "b"]))
    with pytest.raises(ValueError, match=r"Test: y must hold at least 2 classes, got 1 class: 'a'. Check"):
        _found(Classes("Test"), ["a", "a"])


def test_labels_of_a_stream_are_checked_in_the_survey():
    targets = Classes("Test")
    for wrong in ([0.5, 1.5, 2.5, 0.1], [[1, 0], [0, 1]], [np.nan, 1.0, 2.0, 1.0]):
        with pytest.raises(ValueError, match=r"Unknown label type|1d array|Input y contains NaN"):
            targets.found_in(_block(wrong), np.ones(len(wrong)))


def test_the_classes_of_arrays_and_streams():
    X, y = np.zeros((6, 1)), np.array(["b", "a", "c", "b", "a", "c"])
    for blocks in (as_blocks(X, y), as_blocks(lambda: ((X[a:b], y[a:b]) for a, b in ((0, 2), (2, 6))))):
        assert classes_in(blocks, Classes("Test")).tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(("y", "shape"), [([1, 2, 4, 5], (4, 1)), ([[1, 2], [3, 4], [5, 6], [7, 8]], (4, 2))])
def test_numbers_keep_their_shape(y, shape):
    targets = _found(Numbers("Test"), y)
    values = np.asarray(y, dtype=float).reshape(shape)
    np.testing.assert_array_equal(targets.encode(_block(y)), values)
    np.testing.assert_allclose(targets.origin, values.mean(axis=0))
    assert targets.n_columns == shape[1]
    coef, intercept = targets.shaped(np.ones((shape[1], 3)), np.ones(shape[1]))
    assert coef.shape == ((3,) if np.ndim(y) == 1 else (2, 3))
    assert np.ndim(intercept) == np.ndim(y) - 1


def test_one_number_for_each_row():
    targets = Numbers("Test", several=False)
    assert targets.found_in(_block([1, 2, 3, 4]), np.ones(4)) is None
    assert targets.known(None) == targets
    with pytest.raises(ValueError, match="1d array"):
        targets.check(np.ones((4, 2)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["a", "b"], "could not convert string"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "Test: y holds dates or times"),
        ([1.0, np.inf], "Test: Input y contains infinity.*in row 1"),
        ([np.nan], "Test: Input y contains NaN.*in row 0"),
    ],
)
def test_what_is_no_number_is_refused_unless_it_was_checked(wrong, message):
    with pytest.raises(ValueError, match=message):
        Numbers("Test").encode(_block(wrong))
    given = np.array([[1.0], [np.nan]])
    np.testing.assert_array_equal(Numbers("Test", checked=True).encode(_block(given)), given)


def test_weights_are_checked_in_streams_and_taken_from_arrays():
    weight = np.array([1.0, -1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=r"Test: sample_weight must hold finite numbers >= 0, got -1.0 at row 1"):
        Targets("Test").weight(_block(None, weight))
    assert Targets("Test", checked=True).weight(_block(None, weight)) is weight
    assert Targets("Test").weight(_block()) is None
    assert Unweighted("Test").weight(_block(None, weight)) is None


def test_no_targets():
    targets = Targets("Test")
    assert not targets.required
    assert targets.encode(_block()).shape == (4, targets.n_columns) == (4, 0)
    assert targets.found_in(_block(), np.ones(4)) is None
    assert targets.known(None) is targets


@pytest.mark.parametrize("kind", [object, "U5", "S5"])
def test_codes_of_text_are_found_by_hash_and_once_for_arrays(rng, kind, monkeypatch):
    labels = np.array(["b", "a", "ccc"])[rng.randint(0, 3, 500)].astype(kind)
    targets = Classes("Test", checked=True).of(np.unique(labels))
    expected = np.searchsorted(targets.classes, labels)
    np.testing.assert_array_equal(targets.codes(labels), expected)
    with pytest.raises(ValueError, match="classes in a later pass"):
        Classes("Test").of(np.array(["a", "b"])).codes(np.array(["a", "other"]).astype(object))
    blocks, coded = targets.coded(as_blocks(np.zeros((500, 1)), labels, block_rows=100))
    monkeypatch.setattr(Classes, "_code_of", None)  # no text is looked at again
    found = np.concatenate([coded.codes(block.y) for block in blocks.labelled()])
    np.testing.assert_array_equal(found, expected)


def test_numbers_and_streams_keep_their_labels():
    targets = Classes("Test").of(np.array([1, 2]))
    blocks = as_blocks(np.zeros((2, 1)), np.array([1, 2]))
    assert targets.coded(blocks) == (blocks, targets)
    streamed = as_blocks(lambda: iter([(np.zeros((2, 1)), np.array(["a", "b"]))]))
    named = Classes("Test").of(np.array(["a", "b"]))
    assert named.coded(streamed)[0] is streamed


def test_integers_are_checked_as_scikit_learn_checks_them():
    """Few different integers are passed on; many are warned of, and numbers with a fraction are refused."""
    few = np.tile([3, 7], 20)
    np.testing.assert_array_equal(Classes("Owner").check(few), few)
    with pytest.warns(UserWarning, match="unique classes is greater than 50%"):
        Classes("Owner").check(np.arange(30))
    with pytest.raises(ValueError, match="continuous"):
        Classes("Owner").check(np.linspace(0.1, 0.9, 30))
