"""What y means to a learner: classes, numbers or nothing. A value that encodes y per block and shapes results back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer._typing import Array, Rows, RowsLike
from mercer.data import Block, Blocks
from mercer.engines import Local, engine_for
from mercer.stats import ClassTotals, Statistic, TargetMeans
from mercer.validation import check_finite_y, check_real, check_weights, refuse_dates

# What ``class_weight`` may be: a factor per class, or the rule that makes all classes equally heavy.
ClassWeight: TypeAlias = Mapping[str, float] | Mapping[int, float] | Mapping[float, float] | Literal["balanced"] | None

# Kinds of NumPy types that hold truth values and integers, and those that hold text or any object.
_INTEGERS = "biu"
_TEXT = "OUS"


@dataclass(frozen=True)
class Targets:
    """Base of all targets: no y, and rows with weights.

    A survey calls ``found_in`` for each block, merges the results, and ``known`` returns the targets with what was
    found. Afterwards ``encode`` and ``weight`` turn the y and the sample weights of a block into what solvers read.

    Parameters
    ----------
    owner : str
        The name that errors begin with.
    checked : bool
        Whether y and the sample weights were checked as whole arrays. Those of a stream are checked block by block.

    Attributes
    ----------
    n_columns : int
        Columns of the encoded targets.
    is_flat : bool
        Whether predictions have one dimension.
    """

    owner: str
    checked: bool = False

    required: ClassVar[bool] = False

    @property
    def n_columns(self) -> int:
        """Columns of the encoded targets: none without y."""
        return 0

    @property
    def is_flat(self) -> bool:
        """Whether predictions have one dimension."""
        return True

    def check(self, y: RowsLike) -> Rows:
        """Return y, of all rows or of a block, as an array; refuse a y that does not fit."""
        return np.asarray(y)

    def found_in(self, block: Block, weight: Array) -> Statistic | None:
        """Return what a survey finds in the y of a block, if anything; several threads call this at the same time."""
        return None

    def known(self, found: Statistic | None) -> Self:
        """Return the targets with what a survey has found in all blocks."""
        return self

    def encode(self, block: Block) -> Rows:
        """Return the targets of a block as a matrix with one row for each row of X, and ``n_columns`` columns."""
        return np.empty((block.n_rows, 0))

    def sample_weight(self, block: Block) -> Array | None:
        """Return the sample weights of a block, None where all are 1."""
        if block.sample_weight is None or self.checked:
            return block.sample_weight
        return check_weights(self.owner, block.sample_weight, block.n_rows, all_zero=True)

    def weight(self, block: Block) -> Array | None:
        """Return the weights that the solver gives the rows of a block, None where all are 1."""
        return self.sample_weight(block)

    @property
    def origin(self) -> Array:
        """A point near the mean of the encoded targets, of shape (n_columns,)."""
        return np.zeros(self.n_columns)

    @property
    def mean_scores(self) -> Array:
        """The mean of the encoded targets, of shape (n_columns,), from the survey."""
        return self.origin

    def coded(self, blocks: Blocks) -> tuple[Blocks, Self]:
        """Return the blocks with a y that ``encode`` reads faster, and the targets that know it."""
        return blocks, self

    @property
    def as_given(self) -> Self:
        """These targets, for y as it was given."""
        return self

    def n_counted(self, weight: float) -> float:
        """Return the number of rows, counted with repetitions, whose solver weights sum to ``weight``."""
        return weight

    def weight_of_one(self, Y: Array) -> Array | float:
        """Return the solver weight of a single copy of each row, given the encoded targets."""
        return 1.0

    def shaped(self, coef: Array, intercept: Array) -> tuple[Array, Array | float]:
        """Return coefficients (k, D) and intercepts (k,) in the shape of y: (D,) and a number where y is flat."""
        return (coef[0], float(intercept[0])) if self.is_flat else (coef, intercept)


@dataclass(frozen=True)
class Unweighted(Targets):
    """No y, and sample weights that are not read."""

    def sample_weight(self, block: Block) -> Array | None:
        """Return None: all weights are 1."""
        return None


@dataclass(frozen=True)
class Numbers(Targets):
    """Numbers, one for each row, or several in columns.

    Parameters
    ----------
    several : bool
        Whether y may have several columns.
    mean : ndarray of shape (n_columns,)
        The weighted mean of each column, from the survey.
    n_dims : int
        Dimensions of y, from the survey.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import Block
    >>> from mercer.fitting import Numbers
    >>> Numbers("KernelRidge").encode(Block(np.eye(2), np.array([1, 2]))).tolist()
    [[1.0], [2.0]]
    """

    several: bool = True
    mean: Array = field(default_factory=lambda: np.zeros(1))
    n_dims: int = 1

    required = True

    @property
    def n_columns(self) -> int:
        """Columns of y."""
        return len(self.mean)

    @property
    def is_flat(self) -> bool:
        """Whether y has one dimension."""
        return self.n_dims == 1

    @property
    def origin(self) -> Array:
        """The mean of y."""
        return self.mean

    def check(self, y: RowsLike) -> Array:
        """Return y as float64, or refuse text, dates, NaN and infinity."""
        refuse_dates(self.owner, "y", y)
        values = check_array(
            y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self.owner, ensure_all_finite=False
        )
        values = check_finite_y(self.owner, values)
        return values if self.several else column_or_1d(values, warn=True)

    def found_in(self, block: Block, weight: Array) -> TargetMeans | None:
        """Return the means of a block where y may have several columns."""
        return TargetMeans().update(self._values(block), weight) if self.several else None

    def known(self, found: Statistic | None) -> Self:
        """Return the targets with the mean and the number of dimensions of y."""
        return replace(self, mean=found.mean, n_dims=found.n_dims) if isinstance(found, TargetMeans) else self

    def encode(self, block: Block) -> Array:
        """Return y of a block as columns."""
        values = self._values(block)
        return values if values.ndim == 2 else values[:, None]

    def _values(self, block: Block) -> Array:
        assert block.y is not None  # noqa: S101 - the y is required
        return block.y if self.checked else self.check(block.y)


@dataclass(frozen=True)
class Classes(Targets):
    """Classes, found by the survey, as signs: one column for each class, or a single one for two classes.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Factors of the sample weights: one number for each class (1 for a class left out), or W / (n_classes W_c)
        with W and W_c the sums of the sample weights of all rows and of the rows of class c.
    one_hot : bool
        Whether more than two classes are encoded by 1 and 0, not by 1 and -1.
    classes : ndarray of shape (n_classes,)
        In order, from the survey.
    factors : ndarray of shape (n_classes,) or None
        The factor of each class, from the survey; None where all are 1.
    total : float
        The sum of the sample weights, from the survey.
    shares : ndarray of shape (n_classes,)
        Part of the weights, factors included, that each class has, from the survey.
    by_code : bool
        Whether the y of a block holds numbers of classes in place of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.data import Block
    >>> from mercer.fitting import Classes
    >>> targets = Classes("KernelSVC", classes=np.array(["a", "b", "c"]))
    >>> targets.encode(Block(np.eye(2), np.array(["b", "c"]))).tolist()
    [[-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    >>> targets.decode(np.array([[0.5, -1.0, -2.0]])).tolist()
    ['a']
    """

    class_weight: ClassWeight = None
    one_hot: bool = False
    classes: Array = field(default_factory=lambda: np.zeros(0))
    factors: Array | None = None
    total: float = 0.0
    shares: Array = field(default_factory=lambda: np.zeros(0))
    by_code: bool = False

    required = True

    @property
    def n_columns(self) -> int:
        """Columns of scores: 1 for two classes."""
        return 1 if self.is_flat else len(self.classes)

    @property
    def is_flat(self) -> bool:
        """Whether there are two classes."""
        return len(self.classes) == 2

    def check(self, y: RowsLike) -> Array:
        """Return y as labels in one dimension, or refuse what is not a label."""
        # Plain labels are what scikit-learn would return, in a tenth of the time.
        is_plain = type(y) is np.ndarray and y.ndim == 1
        flat: Array = np.asarray(y) if is_plain else column_or_1d(y, warn=True)
        labels = check_finite_y(self.owner, flat)
        # Few different integers are classes; scikit-learn's check of them takes longer than learning a small block.
        if labels.dtype.kind not in _INTEGERS or 2 * len(np.unique(labels)) > len(labels):
            check_classification_targets(labels)
        return labels

    def found_in(self, block: Block, weight: Array) -> ClassTotals:
        """Return the classes of a block and their weights."""
        assert block.y is not None  # noqa: S101 - the y is required
        return ClassTotals().update(block.y if self.checked else self.check(block.y), weight)

    def known(self, found: Statistic | None) -> Self:
        """Return the targets with the classes and their weights."""
        assert isinstance(found, ClassTotals) and found.classes is not None  # noqa: S101, PT018 - of ``found_in``
        given = self.of(found.classes)
        factors = class_factors(self.owner, self.class_weight, given.classes, found.totals)
        weights = found.totals if factors is None else found.totals * factors
        return replace(given, factors=factors, total=float(found.totals.sum()), shares=weights / (weights.sum() or 1.0))

    @property
    def mean_scores(self) -> Array:
        """The mean of the signs of each column."""
        return 2.0 * self.shares[1:] - 1.0 if self.is_flat else 2.0 * self.shares - 1.0

    def of(self, classes: Array) -> Self:
        """Return the targets with these classes, at least two."""
        if len(classes) < 2:
            raise ValueError(
                f"{self.owner}: y must hold at least 2 classes, got 1 class: {classes.tolist()[0]!r}. "
                "Check the labels, or give rows of another class."
            )
        return replace(self, classes=classes)

    def codes(self, y: ArrayLike | None) -> Array:
        """Return the number of each row's class, for the y of a block."""
        labels: Array = np.asarray(y) if self.checked else column_or_1d(y)
        if self.by_code:
            return labels
        if labels.dtype.kind in _TEXT:  # comparing text takes 20 times as long as finding its hash
            codes = np.array([self._code_of.get(label, -1) for label in labels.tolist()], dtype=np.intp)
            known = not (codes < 0).any()
        else:
            codes = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
            known = np.array_equal(self.classes[codes], labels)
        if not known:
            raise ValueError(
                f"{self.owner}: the source of X gave classes in a later pass that the first did not have; "
                "every pass must give the same rows."
            )
        return codes

    @cached_property
    def _code_of(self) -> dict[object, int]:
        return {label: code for code, label in enumerate(self.classes.tolist())}

    def coded(self, blocks: Blocks) -> tuple[Blocks, Self]:
        """Return the blocks with the numbers of the classes for y, where y is an array of text."""
        y = blocks.given_y
        if y is None or y.dtype.kind not in _TEXT:
            return blocks, self
        return blocks.with_y(self.codes(y)), replace(self, by_code=True)

    @property
    def as_given(self) -> Self:
        """These targets, for y as it was given."""
        return replace(self, by_code=False)

    def encode(self, block: Block) -> Array:
        """Return 1 in the column of the row's class and -1 (or 0) elsewhere; for two classes, that of the second."""
        codes = self.codes(block.y)[:, None]
        belongs = codes == (1 if self.is_flat else np.arange(len(self.classes)))
        return belongs.astype(np.float64) if self.one_hot and not self.is_flat else np.where(belongs, 1.0, -1.0)

    def weight(self, block: Block) -> Array | None:
        """Return the sample weights times the factors of the classes."""
        weight = self.sample_weight(block)
        if self.factors is None:
            return weight
        of_class: Array = self.factors[self.codes(block.y)]
        return of_class if weight is None else weight * of_class

    def n_counted(self, weight: float) -> float:
        """Return the sum of the sample weights: the factor of a class does not count rows."""
        return self.total

    def weight_of_one(self, Y: Array) -> Array | float:
        """Return the factor of each row's class."""
        if self.factors is None:
            return 1.0
        of_row: Array = self.factors[(Y[:, 0] > 0).astype(int) if self.is_flat else Y.argmax(axis=1)]
        return of_row

    def decode(self, scores: Array) -> Array:
        """Return the class of each row of scores: (n,) for two classes, else (n, n_classes)."""
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: Array = self.classes[chosen]
        return labels


def class_factors(owner: str, given: ClassWeight, classes: Array, totals: Array) -> Array | None:
    """Return the factor of each class that ``class_weight`` means, None where all are 1."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        unknown = [label for label in given if label not in classes]
        if unknown:
            raise ValueError(f"{owner}: class_weight names {unknown[0]!r}, which is not a class of y: {classes}.")
        weights = [given.get(label, 1.0) for label in classes.tolist()]
        return np.array([check_real(owner, "class_weight", value, least=0) for value in weights])
    if not isinstance(given, str) or given != "balanced":
        raise ValueError(
            f"{owner}: class_weight must be None, 'balanced' or a dict from class to weight, got {given!r}."
        )
    # A class whose rows all have weight 0 weighs nothing, whatever its factor is.
    balanced: Array = totals.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0))
    return balanced


class HoldsTargets(Protocol):
    """What holds the targets of all rows."""

    def targets(self) -> Iterable[Array]:
        """Return y, in one piece or in several."""


def classes_in(blocks: HoldsTargets, targets: Targets) -> Array:
    """Return the classes of all rows, in order: at once where y is an array, else in a pass over the source."""
    engine = engine_for(blocks) if isinstance(blocks, Blocks) and blocks.given_y is None else Local()
    if isinstance(blocks, Blocks) and not engine.shares_memory:
        parts = list(engine.map(lambda block: np.unique(targets.check(block.y)), blocks))
    else:
        parts = [np.unique(y if targets.checked else targets.check(y)) for y in blocks.targets()]
    return np.unique(np.concatenate(parts))
