"""Sums of kernel functions: the kernel values of rows with rows that a model holds."""

import numpy as np

from mercer._typing import Rows, is_sparse
from mercer.export.graph import Graph, Tensor
from mercer.export.kernels import FixedPairs, kernel_values
from mercer.export.registry import ExportError
from mercer.kernels import FunctionKernel, Kernel
from mercer.learners.budget.base import BudgetLearner
from mercer.learners.online.support import Support


def columns(owner: str, kernel: Kernel, rows: Rows, X: Tensor) -> Tensor:
    """Write k(x, rows) in float64: sums of kernel functions may be small differences of large ones."""
    if isinstance(kernel, FunctionKernel):
        raise ExportError(
            f"to_onnx: {owner} of your own function {kernel!r} cannot be written as ONNX. Take a kernel of mercer, or "
            "kernel='precomputed' and pass rows of kernel values."
        )
    dense = rows.toarray() if is_sparse(rows) else rows
    return kernel_values(kernel, FixedPairs(X.cast(np.float64), dense.astype(np.float64)))


def expanded(model: object, graph: Graph, X: Tensor) -> Tensor | None:
    """Write the kernel values with the rows that a budget learner or the first phase of NOGD holds; None for others."""
    state = getattr(model, "state_", None)
    if not isinstance(model, BudgetLearner) and not isinstance(state, Support):
        return None
    assert state is not None  # noqa: S101 - of both kinds
    name = type(model).__name__
    if not len(state.coef):
        raise ExportError(f"to_onnx: {name} holds no support vectors yet, and scores every row 0. Give it rows first.")
    return columns(name, state.kernel, state.rows, X)
