"""The mean target of each level of a column of categories, shrunken, as a column of numbers."""

from dataclasses import dataclass

import numpy as np

from mercer._typing import Array
from mercer.state import Count, Many, Real, Reals, Sizes, Stored, Text, part, require

# Folds of the training rows: the statistic of a row is that of the rows of the other folds. The statistic of a level
# with so many rows is that of all of them.
_FOLDS, _MANY_ROWS = 10, 64
# Levels of a column of whole numbers at most, and rows per level at least, for it to be taken for codes.
_MOST_CODES, _ROWS_PER_CODE = 1000, 10
# Bounds of the number of rows that the overall mean counts for.
_STRENGTHS = (0.1, 1e6)


@part("TargetStatistics")
@dataclass(frozen=True)
class TargetStatistics:
    r"""The shrunken mean of each target for each level: :math:`(s_c + a m) / (n_c + a)`.

    With s_c and n_c the weighted sum of the targets and the weight of the rows of level c, and m the mean of all rows.
    The overall mean counts for a rows: the variance within levels over the variance between levels (the best linear
    prediction of a random effect), estimated by moments. A level that was not seen has the overall mean.

    Attributes
    ----------
    column : int
        The column of the table.
    texts : list of str
        The levels of a column of text, in order; empty for numbers.
    codes : ndarray
        The levels of a column of numbers, in order; empty for text.
    sums : ndarray of shape (n_levels, k)
    counts : ndarray of shape (n_levels,)
    strength : float
        a.

    References
    ----------
    D. Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes in classification and
    prediction problems", SIGKDD Explorations 3(1), 2001.

    Examples
    --------
    >>> import numpy as np
    >>> values, Y = np.array(["x", "y"] * 50, dtype=object), np.array([[0.0], [1.0]] * 50)
    >>> found = TargetStatistics.of(0, values, Y, np.ones(100))
    >>> found.means(np.array(["x", "y", "z"], dtype=object)).round(2).ravel().tolist()
    [0.0, 1.0, 0.5]
    """

    _stored = Stored(
        column=Count(),
        texts=Many(Text()),
        codes=Reals((None,)),
        sums=Reals(("levels", "k")),
        counts=Reals(("levels",), 0.0),
        strength=Real(positive=True),
    )

    column: int
    texts: list[str]
    codes: Array
    sums: Array
    counts: Array
    strength: float

    @classmethod
    def of(cls, column: int, values: Array, Y: Array, weight: Array) -> "TargetStatistics":
        """Learn from the values of a column, targets (n, k), and positive weights."""
        levels, where = _levels(values)
        is_text = values.dtype == object
        counts = np.bincount(where, weights=weight, minlength=len(levels))
        sums = np.stack([np.bincount(where, weights=weight * y, minlength=len(levels)) for y in Y.T], axis=1)
        texts, codes = ([str(level) for level in levels], np.empty(0)) if is_text else ([], levels)
        return cls(column, texts, codes, sums, counts, _strength(Y, weight, where, sums, counts))

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return int(self.sums.shape[1])

    def means(self, values: Array) -> Array:
        """Return the statistics (n, k) of new rows."""
        return self._shrunken(self._places(values), self.sums, self.counts)

    def training_means(self, values: Array, Y: Array, weight: Array, seed: int) -> Array:
        """Return the statistics (n, k) of the training rows: a row of a rare level is not in its own, nor is its fold.

        With the row alone left out, the statistics of the rows of one level would differ by their targets alone, and
        tell them. Folds tell this too where no other level lies between their statistics: trees learn the ten values
        of a frequent level one by one, and new rows have none of them. So all rows of a frequent level have the value
        that new rows have. A row is then in its own statistic, with a weight of at most 1 / 64.
        """
        fold = np.random.RandomState(seed).permutation(len(values)) % _FOLDS
        places, out = self._places(values), np.empty(Y.shape)
        for f in range(_FOLDS):
            inside = fold == f
            at, w = places[inside], weight[inside]
            counts = self.counts - np.bincount(at, weights=w, minlength=len(self.counts))
            left = [np.bincount(at, weights=w * y, minlength=len(self.counts)) for y in Y[inside].T]
            out[inside] = self._shrunken(at, self.sums - np.stack(left, axis=1), np.maximum(counts, 0.0))
        many = self.counts[places] >= _MANY_ROWS
        out[many] = self._shrunken(places[many], self.sums, self.counts)
        return out

    def _shrunken(self, places: Array, sums: Array, counts: Array) -> Array:
        mean = sums.sum(axis=0) / max(counts.sum(), 1e-300)
        means = (sums + self.strength * mean) / (counts + self.strength)[:, None]
        return np.asarray(np.where(places[:, None] >= 0, means[np.maximum(places, 0)], mean))

    def _places(self, values: Array) -> Array:
        """Return the number of the level of each value, -1 for one that was not seen; missing values are a level."""
        if self.texts:
            place = {level: j for j, level in enumerate(self.texts)}
            return np.array([place.get(_text(value), -1) for value in values.tolist()], dtype=np.int64)
        filled = np.where(np.isnan(values), MISSING_CODE, values)
        places = np.minimum(np.searchsorted(self.codes, filled), len(self.codes) - 1)
        return np.asarray(np.where(self.codes[places] == filled, places, -1))

    def _check_stored(self, sizes: Sizes) -> None:
        n_levels = len(self.texts) or len(self.codes)
        require(n_levels == sizes["levels"] >= 1, "there must be sums for each level")
        require(not (self.texts and len(self.codes)), "levels must be texts or codes")
        require(np.all(np.diff(self.codes) > 0), "codes must ascend")


# What a missing value is among the levels: no text of a table holds this character, no code is so low.
MISSING_TEXT, MISSING_CODE = "\x00", -1e308


def coded_columns(values: list[Array], kinds: list[str]) -> list[int]:
    """Return the columns whose levels may have statistics: text, and whole numbers of few values."""
    return [j for j, (column, kind) in enumerate(zip(values, kinds, strict=True)) if _is_coded(column, kind)]


def _is_coded(values: Array, kind: str) -> bool:
    if kind == "date":
        return False
    if kind == "categories":
        return 2 < len(set(values.tolist())) <= len(values) / 2
    known = values[~np.isnan(values)]
    if not len(known) or not np.array_equal(known, np.round(known)) or np.abs(known).max() > 2.0**53:
        return False
    return 2 < len(np.unique(known)) <= min(_MOST_CODES, len(values) / _ROWS_PER_CODE)


def _text(value: str | None) -> str:
    return MISSING_TEXT if value is None else value


def _levels(values: Array) -> tuple[Array, Array]:
    if values.dtype == object:
        texts = np.array([_text(value) for value in values.tolist()], dtype=object)
        levels, where = np.unique(texts, return_inverse=True)
    else:
        levels, where = np.unique(np.where(np.isnan(values), MISSING_CODE, values), return_inverse=True)
    return levels, where


def _strength(Y: Array, weight: Array, where: Array, sums: Array, counts: Array) -> float:
    """Return the variance within levels over that between levels, the mean over the targets of both."""
    total, n_levels = float(counts.sum()), len(counts)
    means = sums / counts[:, None]
    within = float(np.mean(weight @ (Y - means[where]) ** 2)) / max(total - n_levels, 1.0)
    spread = float(np.mean(counts @ (means - sums.sum(axis=0) / total) ** 2)) - (n_levels - 1) * within
    between = spread / max(total - float(counts @ counts) / total, 1e-300)
    if not between > 0:
        return _STRENGTHS[1]
    return float(np.clip(within / between, *_STRENGTHS))
