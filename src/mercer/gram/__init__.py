"""Gram matrices as operators, exact by tiles or approximated in linear memory, and the error of an approximation.

All operators are scipy ``LinearOperator``s with ``diagonal``, ``rows``, ``to_dense``, ``memory_bytes`` and ``error``.
The right choice depends on how fast the kernel decays compared with the spread of the data. A wide kernel (small gamma)
gives a matrix of low rank: use ``LowRankGram``. A narrow kernel (large gamma) gives a matrix that is not of low rank,
but nearly block diagonal after clustering the rows: use ``BlockGram``. Between both cases use ``MEKA``, which has low
rank within clusters and between clusters.

``approximation_error`` compares any map or operator with the exact kernel on a sample of rows, and returns confidence
intervals.
"""

from mercer.gram.approximation import ApproximationError, Estimate, approximation_error
from mercer.gram.base import GramOperator
from mercer.gram.block import BlockGram
from mercer.gram.exact import ExactGram
from mercer.gram.low_rank import LowRankGram
from mercer.gram.meka import MEKA
from mercer.gram.mmd import MMD, mmd

__all__ = [
    "MEKA",
    "MMD",
    "ApproximationError",
    "BlockGram",
    "Estimate",
    "ExactGram",
    "GramOperator",
    "LowRankGram",
    "approximation_error",
    "mmd",
]
