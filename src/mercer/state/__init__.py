"""Declarations of what a fitted object holds. Model files are checked against these declarations.

A class declares ``_stored``, a dict from names in a model file to kinds of values; a subclass adds to the declarations
of its bases. Sizes have names: dimensions, counts and bounds that share a name in one declaration must be equal. A rule
that sizes cannot express is checked by the method ``_check_stored``.

>>> import numpy as np
>>> from mercer.state import Count, Integers, Reals, Stored, check_stored
>>> class Sketch:
...     _stored = Stored(
...         n_buckets_=Count("D", least=1),
...         index_=Integers(("d",), least=0, below="D"),
...         weights_=Reals(("d",)),
...     )
>>> sketch = Sketch()
>>> sketch.n_buckets_, sketch.index_, sketch.weights_ = 4, np.array([0, 3, 4]), np.ones(3)
>>> check_stored(sketch)
Traceback (most recent call last):
...
mercer.state.kind.UnsoundError: Sketch: index_ must hold integers below D = 4, got 4
"""

from mercer.state.arrays import Integers, Names, Reals, Rows
from mercer.state.containers import Either, Many, Member, Table
from mercer.state.declared import Stored, attributes_of, check_fields, check_stored, fields_of, has_state, part, parts
from mercer.state.kind import Dimension, Kind, Sizes, UnsoundError, require
from mercer.state.values import LARGEST_COUNT, LARGEST_DEGREE, Count, Flag, OneOf, Plain, Real, Text

__all__ = [
    "LARGEST_COUNT",
    "LARGEST_DEGREE",
    "Count",
    "Dimension",
    "Either",
    "Flag",
    "Integers",
    "Kind",
    "Many",
    "Member",
    "Names",
    "OneOf",
    "Plain",
    "Real",
    "Reals",
    "Rows",
    "Sizes",
    "Stored",
    "Table",
    "Text",
    "UnsoundError",
    "attributes_of",
    "check_fields",
    "check_stored",
    "fields_of",
    "has_state",
    "part",
    "parts",
    "require",
]
