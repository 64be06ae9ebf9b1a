"""Kernels on objects: strings, sequences, graphs, trees and bags.

All have one form. An object is decomposed into parts, each with a key that says what the part is and a weight, and
k(x, y) is the sum of the products of the weights of parts with the same key. Where parts also carry a vector, the
vectors are compared by a kernel of their own (``Convolution``).
"""
