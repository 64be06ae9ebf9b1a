"""Other values of parameters: unknown ones are asked for."""

import pytest

from mercer import LinearFeatures
from mercer.testing import (
    check_refits,
)


def test_a_parameter_without_another_value_is_asked_for():
    class Named(LinearFeatures):
        def __init__(self, kernel=None, *, n_components=100, random_state=None, tone="loud"):
            super().__init__(kernel, n_components=n_components, random_state=random_state)
            self.tone = tone

    with pytest.raises(AssertionError, match=r"others=\{'tone': \[...\]\}"):
        check_refits(Named())
    check_refits(Named(), others={"tone": ["quiet"]})
    with pytest.raises(AssertionError, match=r"others names \['tune'\]"):
        check_refits(Named(), others={"tune": ["quiet"]})
