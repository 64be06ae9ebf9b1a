"""Hashes of numbers."""

from mercer.key_core import splitmix64

__all__ = ["splitmix64"]
