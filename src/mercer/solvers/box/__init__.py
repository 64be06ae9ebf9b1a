"""Quadratic programs with bounds on each variable."""
