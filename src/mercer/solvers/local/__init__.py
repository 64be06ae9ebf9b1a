"""Kernel ridge regression in leaves: exact within a leaf, of low rank between leaves."""
