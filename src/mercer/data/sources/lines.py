"""Lines of text files."""

from collections.abc import Iterator
from os import PathLike, fspath

from mercer.data.columns import Kind, TableError
from mercer.data.sources.base import Block, Source, in_batches
from mercer.data.sources.compression import opened
from mercer.structures import Strings


class LinesSource(Source):
    r"""The lines of a text file (also .gz, .bz2 and .zst) as strings, one object per line, without its line break.

    An empty line is an empty string. The file has one column, ``text``, and no labels: give y to ``as_blocks``.

    Parameters
    ----------
    path : str or path
    categorical : names of columns
        No effect: there is no further column.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer.data import as_blocks, open_source
    >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
    >>> _ = open(path, "w").write("one\ntwo\n")
    >>> [block.tolist() for block in as_blocks(open_source(path, format="lines"))]
    [[b'one', b'two']]
    """

    own_objects = "text"

    def __init__(self, path: str | PathLike[str], *, categorical: tuple[str, ...] = ()):
        self.name = fspath(path)
        self._kinds: dict[str, Kind] = {"text": "object"}

    def type_of(self, column: str) -> str:
        """Return the type of a column, for messages."""
        return "text"

    def pieces(self, block_rows: int) -> Iterator[Block]:
        """Yield the lines, ``block_rows`` at a time."""
        try:
            with opened(self.name) as (file, _):
                for lines in in_batches(file, block_rows):
                    yield Block(Strings([line.removesuffix(b"\n").removesuffix(b"\r") for line in lines]))
        except (OSError, EOFError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise TableError(f"{self.name}: not a readable text file: {error}.") from None
