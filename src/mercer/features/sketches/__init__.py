"""Sketches of dot-product kernels: random maps whose inner products are polynomials and series of <x, y>."""
