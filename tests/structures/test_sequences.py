"""Sequences of numbers, words and characters."""

import numpy as np
import pytest

from mercer.structures import Sequences


def test_words_have_the_same_number_everywhere():
    words = Sequences([["be", "or"], np.array(["or"]), []])
    assert list(words) == list(Sequences.of_words(["be  or", "or", ""]))
    # the number is part of model files: it must never change
    assert list(words)[1] == [2321552899115187103]


def test_characters_are_whole():
    assert list(Sequences.of_characters(["aü", ""])) == [[97, 252], []]


def test_integers_stay():
    assert list(Sequences([[3, -1], np.array([2**40])])) == [[3, -1], [2**40]]


@pytest.mark.parametrize(("wrong", "words"), [("text", "of_words"), (3, "sequence of tokens"), ([0.5], "integers")])
def test_an_object_that_is_no_sequence_is_named(wrong, words):
    with pytest.raises(ValueError, match=rf"X\[1\].*{words}"):
        Sequences([[1], wrong])


def test_text_must_be_text():
    with pytest.raises(ValueError, match=r"X\[0\] must be text"):
        Sequences.of_words([3])
