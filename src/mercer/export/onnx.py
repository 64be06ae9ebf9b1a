"""A fitted model as an ONNX file: the same arithmetic, without Python and without mercer."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import mercer
from mercer.export.columns import width_of
from mercer.export.graph import IR_VERSION, ML_OPSET, OPSET, Graph, Tensor
from mercer.export.registry import ExportError, results, table_results
from mercer.learners.training_rows import domain_of
from mercer.storage import atomic_file

if TYPE_CHECKING:
    from onnx import ModelProto

# Bytes of a protocol buffer at most.
_MOST_BYTES = 2**31 - 1


def to_onnx(
    model: BaseEstimator,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: str = "float32",
    overwrite: bool = True,
) -> "ModelProto":
    """Write a fitted map, learner or pipeline as an ONNX model, which any ONNX runtime can run.

    The file holds the arithmetic of ``transform`` or ``predict`` in operators of ONNX's set 18, with any number of rows
    as input. Predictions of far rows are shrunk as in mercer; warnings and checks of the input are not part of a file.

    Parameters
    ----------
    model : fitted estimator
        A feature map, a learner, a tuned estimator, or a pipeline of scikit-learn's transformers that ends in one of
        them. The transformers are those that ``mercer.save`` stores.
    path : path, optional
        The file to write; it appears whole or not at all.
    dtype : {"float32", "float64"}, default="float32"
        Type of the input and precision of the arithmetic. Kernel values with landmarks and training rows are always
        computed in float64. Not every runtime has all operators in float64.
    overwrite : bool, default=True
        False: ``FileExistsError`` if ``path`` exists.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    ExportError
        If ONNX has no operator for a part of the model. The error names that part, and what to use instead.

    Notes
    -----
    The input is ``X`` (rows, columns). Tuned estimators of data frames with text or dates, and pipelines whose encoders
    take text, have one input (rows, 1) for each column, under its name: numbers, dates as days since 1970 in float64,
    or text, where "" is a missing value. Columns that no step takes are no inputs.

    Outputs: ``features`` of maps; ``prediction`` of regressors; ``label`` and ``probabilities`` or ``scores`` (those of
    ``decision_function``) of classifiers; ``label`` and ``scores`` of one-class machines; ``label`` and ``distances``
    of k-means; ``transformed`` of kernel PCA and of pipelines that end in a transformer.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> from mercer.export import to_onnx
    >>> X = np.random.RandomState(0).rand(200, 2)
    >>> model = KernelRidge(random_state=0).fit(X, X[:, 0])
    >>> [output.name for output in to_onnx(model).graph.output]
    ['prediction']
    """
    _check(model, dtype)
    graph = Graph(dtype)
    outputs = table_results(model, graph)
    if outputs is None:
        outputs = results(model, graph, graph.input("X", width_of(model)))
    made = _model(model, graph, outputs)
    if path is not None:
        with atomic_file(path, overwrite=overwrite) as file:
            file.write(made.SerializeToString())
    return made


def _check(model: BaseEstimator, dtype: str) -> None:
    """Refuse what is no fitted model of rows of numbers, before any work."""
    try:
        import onnx  # noqa: F401, PLC0415 - an optional package
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install 'mercer[onnx]'.") from None
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"to_onnx: model must be a fitted estimator, got {model!r}.")
    if dtype not in ("float32", "float64"):
        raise ValueError(f"to_onnx: dtype must be 'float32' or 'float64', got {dtype!r}.")
    check_is_fitted(model)
    domain = domain_of(model)
    if domain != "rows":
        raise ExportError(
            f"to_onnx: {type(model).__name__} takes {domain}, and ONNX has no operators that hash their parts. "
            "mercer.save keeps the model for Python; or export a model of the features, with transform in Python."
        )


def _model(model: BaseEstimator, graph: Graph, outputs: Mapping[str, Tensor]) -> "ModelProto":
    """Return the checked model with named outputs."""
    from onnx import checker, helper  # noqa: PLC0415 - an optional package

    infos = []
    for name, tensor in outputs.items():
        graph.nodes.append(helper.make_node("Identity", [tensor.name], [name]))
        shape = ["rows"] if tensor.is_flat or name == "label" else ["rows", None]
        infos.append(helper.make_tensor_value_info(name, _code(tensor), shape))
    proto = helper.make_graph(graph.nodes, type(model).__name__, graph.inputs, infos, graph.constants)
    made = helper.make_model(
        proto,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        producer_name="mercer",
        producer_version=mercer.__version__,
        doc_string=repr(model),
    )
    made.ir_version = IR_VERSION
    if made.ByteSize() > _MOST_BYTES:
        raise ExportError(
            f"to_onnx: the model takes {made.ByteSize():,} bytes, and ONNX files hold at most {_MOST_BYTES:,}. Take "
            "fewer features or landmarks."
        )
    checker.check_model(made)
    return made


def _code(tensor: Tensor) -> int:
    from onnx import TensorProto, helper  # noqa: PLC0415 - an optional package

    if tensor.dtype.kind in "UO":
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(tensor.dtype))
