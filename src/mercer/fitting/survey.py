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
    """

    rows: Rows
    given_weight: Array

    @cached_property
    def weight(self) -> Array:
        """The weights of the rows; all 1 where the sample has no row of positive weight."""
        return self.given_weight if self.given_weight.any() else np.ones(len(self.given_weight))

    @cached_property
    def counted(self) -> Rows:
        """The rows of positive weight."""
        counts = self.given_weight > 0
        return self.rows if counts.all() else self.rows[counts]


@dataclass(frozen=True)
class Survey:
    """What one pass over the rows returns.

    Attributes
    ----------
    targets : Targets
        What y means, with its classes or means known.
    sample : Sample
        A uniform sample of the rows.
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
    ranges: ColumnRanges
    weight: float

    @classmethod
    def of(cls, blocks: Blocks, targets: Targets, passes: Passes, *, size: int, seed: int) -> "Survey":
        """Read all rows once, on all threads: check and count them, sample ``size`` of them, and summarise y.

        The sample depends on the seed and on the numbers of the rows: neither on the blocks nor on the threads.
        """
        total = _Look(0.0, ColumnRanges.of(blocks.width), RowSample(size, seed))

        def look(block: Block) -> _Look:
            weight = targets.sample_weight(block)
            return total.zero().update(targets, block, np.ones(block.n_rows) if weight is None else weight)

        passes.reduce("survey", look, blocks, total)
        if not total.weight > 0:
            raise ValueError(f"{passes.owner}: sample_weight must not be all zero. Leave it out for equal weights.")
        sample = Sample(total.sample.rows, total.sample.values)
        return cls(targets.known(total.found), sample, total.ranges, total.weight)


@dataclass
class _Look:
    """The statistic of a survey."""

    weight: float
    ranges: ColumnRanges
    sample: RowSample
    found: Statistic | None = None  # in y

    def zero(self) -> Self:
        return type(self)(0.0, self.ranges.zero(), self.sample.zero())

    def update(self, targets: Targets, block: Block, weight: Array) -> Self:
        self.weight += float(weight.sum())
        counts = weight > 0
        if not isinstance(block.X, Ragged):  # objects have no columns of numbers
            self.ranges.update(block.X if counts.all() else block.X[counts])
        self.sample.update(block.X, block.first_row, weight)
        self.found = targets.found_in(block, weight)
        return self

    def merge(self, other: Self) -> Self:
        self.weight += other.weight
        self.ranges.merge(other.ranges)
        self.sample.merge(other.sample)
        if other.found is not None:
            self.found = other.found if self.found is None else self.found.merge(other.found)
        return self
