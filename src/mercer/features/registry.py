"""Tables by class: what is registered for a class holds for its subclasses too."""

from collections.abc import Mapping
from typing import TypeVar

Value = TypeVar("Value")


def of_nearest_ancestor(table: Mapping[type, Value], instance: object) -> Value | None:
    """Return the row of an object's class, or else of its nearest ancestor that has one; None without any.

    >>> of_nearest_ancestor({int: "integer", object: "anything"}, True)
    'integer'
    """
    return next((table[ancestor] for ancestor in type(instance).__mro__ if ancestor in table), None)
