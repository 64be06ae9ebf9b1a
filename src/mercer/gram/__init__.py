"""Gram matrices as operators, exact by tiles or approximated in linear memory, and how well they are approximated.

All are scipy ``LinearOperator``s with ``diagonal``, ``rows``, ``to_dense``, ``memory_bytes`` and ``error``. Which to
take depends on how fast the kernel decays compared with the spread of the data. A wide kernel (small gamma) gives a
matrix of low rank: ``LowRankGram``. A narrow one (large gamma) gives a matrix that is nearly block diagonal once the
rows are clustered, and of no low rank: ``BlockGram``. In between ``MEKA`` has both, low rank within and between
clusters.

``approximation_error`` measures any map or operator against the exact kernel on a sample of rows, and says how sure it
is of what it measured.
"""

from mercer.gram.approximation import ApproximationError, Estimate, approximation_error
from mercer.gram.base import GramOperator
from mercer.gram.block import BlockGram
from mercer.gram.exact import ExactGram
from mercer.gram.low_rank import LowRankGram
from mercer.gram.meka import MEKA

__all__ = [
    "MEKA",
    "ApproximationError",
    "BlockGram",
    "Estimate",
    "ExactGram",
    "GramOperator",
    "LowRankGram",
    "approximation_error",
]
