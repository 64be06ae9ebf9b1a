"""Maps and models that ONNX has no arithmetic for, each with what is missing and what to use instead."""

from mercer.export.registry import refuse
from mercer.features import ConvolutionFeatures, InducedFeatures, PartFeatures, RandomBinning, SeededBlocks

refuse(
    RandomBinning,
    "ONNX has no operator that hashes cells (32-bit products that wrap around). Use FourierFeatures with the same "
    "kernel.",
)
refuse(
    SeededBlocks,
    "a file would have to hold the frequencies of all slabs, which are drawn from a seed instead. Use FourierFeatures, "
    "or predict in Python.",
)
for _kind in (PartFeatures, ConvolutionFeatures):
    refuse(_kind, "it takes objects, and ONNX has no operators that hash their parts. Use transform in Python.")
refuse(InducedFeatures, "it is a map of the features of another map. Use Nystroem with the same kernel.")
