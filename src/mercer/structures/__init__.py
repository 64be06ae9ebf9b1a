"""Rows that are objects: strings, sequences of tokens, graphs, trees, bags of vectors, and objects of any kind.

A kernel on structured data has one of these as its domain. Lists of objects are packed once into a value of this
package, a few flat arrays and the pointers of each object; everything after that works on the arrays.
"""

from mercer.structures.anything import Objects
from mercer.structures.bags import Bags
from mercer.structures.domains import as_rows, check_objects
from mercer.structures.graphs import Graphs
from mercer.structures.ragged import Ragged
from mercer.structures.sequences import Sequences
from mercer.structures.strings import Strings
from mercer.structures.trees import Trees

__all__ = ["Bags", "Graphs", "Objects", "Ragged", "Sequences", "Strings", "Trees", "as_rows", "check_objects"]
