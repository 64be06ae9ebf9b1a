"""Models for other programs: ``to_onnx`` writes fitted maps, learners and pipelines as ONNX.

One file per family of maps and models holds its formulas. ``registry`` is the table from classes to formulas, and
``graph`` turns formulas into nodes.
"""

from mercer.export import columnwise as _columnwise  # noqa: F401, registers its formulas
from mercer.export import composed as _composed  # noqa: F401, registers its formulas
from mercer.export import encoders as _encoders  # noqa: F401, registers its formulas
from mercer.export import fourier as _fourier  # noqa: F401, registers its formulas
from mercer.export import linear_models as _linear_models  # noqa: F401, registers its formulas
from mercer.export import local as _local  # noqa: F401, registers its formulas
from mercer.export import nystroem as _nystroem  # noqa: F401, registers its formulas
from mercer.export import pipelines as _pipelines  # noqa: F401, registers its formulas
from mercer.export import refusals as _refusals  # noqa: F401, registers its reasons
from mercer.export import scalers as _scalers  # noqa: F401, registers its formulas
from mercer.export import sketches as _sketches  # noqa: F401, registers its formulas
from mercer.export import tables as _tables  # noqa: F401, registers its formulas
from mercer.export import tuned as _tuned  # noqa: F401, registers its formulas
from mercer.export import unsupervised as _unsupervised  # noqa: F401, registers its formulas
from mercer.export.onnx import to_onnx
from mercer.export.registry import ExportError

__all__ = ["ExportError", "to_onnx"]
