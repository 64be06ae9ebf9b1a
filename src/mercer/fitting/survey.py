"""The survey: one pass over all rows, before there is a feature map."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from mercer._typing import Array, Rows
from mercer.data import Block, Blocks
from mercer.fitting.passes import Passes
from mercer.fitting.targets import Targets
from mercer.stats import ColumnRanges, RowSample, Statistic
from mercer.structures import Ragged


@dataclass(frozen=True)
class Sample:
    """A uniform sample of the rows.

    Parameters
    ----------
    rows : array or CSR matrix
    given_weight : ndarray
        The sample weights of these rows.
    keys : ndarray, optional
        Random numbers of these rows: those with the smallest keys are a smaller sample.
    y : ndarray, optional
        The targets of these rows as they were given, where a survey was asked for them.
    """

    rows: Rows
    given_weight: Array
    keys: Array | None = None
    y: Array | None = None

    @cached_property
    def weight(self) -> Array:
        """The weights of the rows; all 1 where the sample has no row of positive weight."""
        return self.given_weight if self.given_weight.any() else np.ones(len(self.given_weight))

    @cached_property
    def counted(self) -> Rows:
        """The rows of positive weight."""
        counts = self.given_weight > 0
        return self.rows if counts.all() else self.rows[counts]

    def first(self, size: int) -> "Sample":
        """Return the sample that a survey of this ``size`` takes with the same seed: the rows of the smallest keys."""
        if self.keys is None or len(self.keys) <= size:
            return self
        chosen = np.sort(np.argsort(self.keys, kind="stable")[:size])
        y = None if self.y is None else self.y[chosen]
        return Sample(self.rows[chosen], self.given_weight[chosen], self.keys[chosen], y)

    def block(self) -> Block:
        """Return the rows, targets and weights as a block."""
        return Block(self.rows, self.y, self.given_weight)


@dataclass(frozen=True)
class Survey:
    """What one pass over the rows returns.

    Attributes
    ----------
    targets : Targets
        What y means, with its classes or means known.
    sample : Sample
        A uniform sample of the rows, to fit a map on.
    wide_sample : Sample
        A uniform sample of more rows, ``sample`` among them; the same rows where no more are asked for.
    ranges : ColumnRanges
        Of the rows of positive weight.
    weight : float
        The sum of the sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import as_blocks
    >>> from mercer.fitting import Classes, Passes, Survey
    >>> blocks = as_blocks(np.eye(4), np.array(["a", "b", "b", "a"]))
    >>> survey = Survey.of(blocks, Classes("KernelSVC"), Passes("KernelSVC"), size=3, seed=0)
    >>> survey.targets.classes.tolist(), survey.weight, survey.sample.rows.shape
    (['a', 'b'], 4.0, (3, 4))
    """

    targets: Targets
    sample: Sample
    wide_sample: Sample
    ranges: ColumnRanges
    weight: float

    @classmethod
    def of(
        cls,
        blocks: Blocks,
        targets: Targets,
        passes: Passes,
        *,
        size: int,
        seed: int,
        wide_size: int = 0,
        with_y: bool = False,
    ) -> "Survey":
        """Read all rows once, on all threads: check and count them, sample ``size`` of them, and summarise y.

        ``wide_size`` rows are sampled for ``wide_sample`` if that is more. With ``with_y`` samples hold y too.

        The sample depends on the seed and on the numbers of the rows: neither on the blocks nor on the threads.
        """
        most = max(size, wide_size)
        labels = RowSample(most, seed) if with_y else None
        total = Look(0.0, ColumnRanges.of(blocks.width), RowSample(most, seed), labels)

        def look(block: Block) -> Look:
            weight = targets.sample_weight(block)
            return total.zero().update(targets, block, np.ones(block.n_rows) if weight is None else weight)

        passes.reduce("survey", look, blocks, total)
        if not total.weight > 0:
            raise ValueError(f"{passes.owner}: sample_weight must not be all zero. Leave it out for equal weights.")
        y = None if total.labels is None else total.labels.rows
        y = y.ravel() if y is not None and y.shape[1] == 1 else y
        wide = Sample(total.sample.rows, total.sample.values, total.sample.keys, y)
        return cls(targets.known(total.found), wide.first(size), wide, total.ranges, total.weight)


@dataclass
class Look:
    """The statistic of a survey."""

    weight: float
    ranges: ColumnRanges
    sample: RowSample
    labels: RowSample | None = None  # the y of the same rows
    found: Statistic | None = None  # in y

    def zero(self) -> Self:
        """Return the survey of no rows."""
        labels = None if self.labels is None else self.labels.zero()
        return type(self)(0.0, self.ranges.zero(), self.sample.zero(), labels)

    def update(self, targets: Targets, block: Block, weight: Array) -> Self:
        """Add a block and its weights."""
        self.weight += float(weight.sum())
        counts = weight > 0
        if not isinstance(block.X, Ragged):  # objects have no columns of numbers
            self.ranges.update(block.X if counts.all() else block.X[counts])
        self.sample.update(block.X, block.first_row, weight)
        if self.labels is not None and block.y is not None:
            y = np.asarray(block.y)
            self.labels.update(y.reshape(len(y), -1), block.first_row)
        self.found = targets.found_in(block, weight)
        return self

    def merge(self, other: Self) -> Self:
        """Add the survey of later rows."""
        self.weight += other.weight
        self.ranges.merge(other.ranges)
        self.sample.merge(other.sample)
        if self.labels is not None and other.labels is not None:
            self.labels.merge(other.labels)
        if other.found is not None:
            self.found = other.found if self.found is None else self.found.merge(other.found)
        return self
