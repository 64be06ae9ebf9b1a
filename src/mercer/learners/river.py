"""Online learners behind river's interface: one row at a time, as a dict.

``RiverClassifier`` and ``RiverRegressor`` are river estimators where river is installed, and can stand in its pipelines
and evaluations. Without river they have the same methods. Nothing else in mercer imports river.
"""

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax
from sklearn.base import clone

from mercer._typing import Array
from mercer.learners.online.fogd import FOGDClassifier, FOGDRegressor
from mercer.validation import check_integer

if TYPE_CHECKING:

    class _Classifier:
        """river's, where river is installed."""

    class _Regressor:
        """river's, where river is installed."""

else:
    try:
        from river.base import Classifier as _Classifier
        from river.base import Regressor as _Regressor
    except ModuleNotFoundError:
        _Classifier = _Regressor = object

UNKNOWN_KEYS = ("ignore", "refuse")


class OnlineEstimator(Protocol):
    """A learner that the adapters take: ``FOGDClassifier``, ``NOGDRegressor``, ..."""

    loss: str

    def partial_fit(self, X: Array, y: ArrayLike) -> Self:
        """Learn rows."""

    def predict(self, X: Array) -> Array:
        """Return predictions for rows."""


class _Rows:
    """Dicts as rows of an array: keys are found in the first rows, a missing key is 0."""

    def __init__(self, owner: str, unknown_keys: str, warm_up: int):
        self._owner = owner
        if not isinstance(unknown_keys, str) or unknown_keys not in UNKNOWN_KEYS:
            raise ValueError(f"{owner}: unknown_keys must be one of {list(UNKNOWN_KEYS)}, got {unknown_keys!r}.")
        self._refuses = unknown_keys == "refuse"
        n_rows = check_integer(owner, "warm_up", warm_up, least=2)
        self.waiting: deque[tuple[dict[Hashable, float], float]] = deque(maxlen=n_rows)
        self._columns: dict[Hashable, int] | None = None

    @property
    def is_full(self) -> bool:
        """Whether as many rows wait as the warm-up has."""
        return len(self.waiting) == self.waiting.maxlen

    def wait(self, x: Mapping[Hashable, float], y: float) -> None:
        """Keep a row of the warm-up; the oldest is dropped where the warm-up goes on because y was always the same."""
        self.waiting.append(({key: self._number(key, value) for key, value in x.items()}, y))

    def released(self) -> tuple[Array, Array]:
        """Return the rows of the warm-up and their y, whose keys are the columns from now on, ordered by their text."""
        keys = dict.fromkeys(key for x, _ in self.waiting for key in x)
        self._columns = {key: column for column, key in enumerate(sorted(keys, key=lambda key: (str(key), repr(key))))}
        X, y = np.vstack([self.row(x) for x, _ in self.waiting]), np.array([y for _, y in self.waiting])
        self.waiting.clear()
        return X, y

    def row(self, x: Mapping[Hashable, float]) -> Array:
        """Return a dict as an array of one row."""
        columns = self._columns or {}
        row = np.zeros((1, len(columns)))
        for key, value in x.items():
            if key in columns:
                row[0, columns[key]] = self._number(key, value)
            elif self._refuses:
                raise ValueError(
                    f"{self._owner}: the row has the key {key!r}, which no row of the warm-up had. Construct the "
                    "adapter with unknown_keys='ignore', or with a longer warm_up."
                )
        return row

    def _number(self, key: Hashable, value: object) -> float:
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise ValueError(
                f"{self._owner}: the value of {key!r} must be a finite number, got {value!r}. Encode text, and fill in "
                "missing values, in a step before (river.preprocessing.OneHotEncoder, StatImputer)."
            )
        return number


class RiverClassifier(_Classifier):
    """An online classifier of mercer as a classifier of river.

    The first ``warm_up`` rows are kept: kernels find their width on them, and their keys become the columns. From then
    on every row is learned as it comes. Until then, predictions are the frequencies of the labels so far. Labels may be
    anything that can be the key of a dict, and new ones may come at any time.

    A key that a row does not have counts as 0, as in river. A key that no row of the warm-up had is ignored, or refused
    with ``unknown_keys="refuse"``. Values must be finite numbers. Kernels compare distances, so scale the columns
    first: ``river.preprocessing.StandardScaler() | RiverClassifier(...)``.

    Parameters
    ----------
    learner : online classifier, default=FOGDClassifier(loss="logistic")
        It is copied, not changed. ``predict_proba_one`` needs ``loss="logistic"``.
    warm_up : int, default=100
    unknown_keys : "ignore" or "refuse", default="ignore"

    Attributes
    ----------
    fitted : the classifier that learns, or None during the warm-up
        Its classes are numbers, in the order in which the labels came.
    labels : list
        The labels in that order.

    Notes
    -----
    A call costs about a millisecond, whatever the model. ``partial_fit`` of whole blocks is much faster per row.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> from mercer.datasets import rings
    >>> from mercer.learners import FOGDClassifier
    >>> from mercer.learners.river import RiverClassifier
    >>> data = rings(400, flip=0.0, random_state=0)
    >>> model = RiverClassifier(FOGDClassifier(Gaussian(gamma=1.0), random_state=0))
    >>> n_right = 0
    >>> for (east, north), ring in zip(data.X, data.y):
    ...     x = {"east": east, "north": north}
    ...     n_right += model.predict_one(x) == ("outer" if ring else "inner")
    ...     model.learn_one(x, "outer" if ring else "inner")
    >>> bool(n_right > 300)
    True
    """

    def __init__(
        self, learner: OnlineEstimator | None = None, *, warm_up: int = 100, unknown_keys: str = "ignore"
    ) -> None:
        self.learner = learner
        self.warm_up = warm_up
        self.unknown_keys = unknown_keys
        self.fitted: FOGDClassifier | None = None
        self.labels: list[Hashable] = []
        self._codes: dict[Hashable, int] = {}
        self._rows = _Rows(type(self).__name__, unknown_keys, warm_up)

    def learn_one(self, x: Mapping[Hashable, float], y: Hashable) -> None:
        """Learn a row and its label."""
        code = self._codes.get(y, len(self.labels))
        if self.fitted is not None:
            self.fitted.partial_fit(self._rows.row(x), np.array([code]))
        else:
            self._rows.wait(x, code)
        if code == len(self.labels):
            self._codes[y] = code
            self.labels.append(y)
        if self.fitted is None and self._rows.is_full and len({code for _, code in self._rows.waiting}) > 1:
            self._begin()

    def _begin(self) -> None:
        learner = FOGDClassifier(loss="logistic") if self.learner is None else clone(self.learner)
        X, codes = self._rows.released()
        classes = np.arange(len(self.labels))  # one may have come, and have been dropped, in a long warm-up
        self.fitted = learner.set_params(new_classes="learn").partial_fit(X, codes.astype(np.int64), classes=classes)

    def predict_one(self, x: Mapping[Hashable, float], **_: object) -> Hashable | None:
        """Return the label of a row, None before the first row."""
        if self.fitted is not None:
            return self.labels[int(self.fitted.predict(self._rows.row(x))[0])]
        return max(self._frequencies(), key=self._frequencies().__getitem__) if self.labels else None

    def predict_proba_one(self, x: Mapping[Hashable, float], **_: object) -> dict[Hashable, float]:
        """Return the probability of each label; NotImplementedError if the learner's loss gives none."""
        if self.fitted is None:
            return self._frequencies()
        if self.fitted.loss != "logistic":
            raise NotImplementedError(
                f"{type(self).__name__}: scores of loss={self.fitted.loss!r} are no probabilities. Take "
                "loss='logistic'."
            )
        scores = self.fitted.decision_function(self._rows.row(x))
        one = [1 - expit(scores[0]), expit(scores[0])] if scores.ndim == 1 else softmax(scores[0])
        return {label: float(probability) for label, probability in zip(self.labels, one, strict=True)}

    def _frequencies(self) -> dict[Hashable, float]:
        """Return how often each label is among the waiting rows."""
        counts = Counter(code for _, code in self._rows.waiting)
        return {label: counts[code] / len(self._rows.waiting) for code, label in enumerate(self.labels)}

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, object]]:
        """Yield parameters for river's own checks."""
        yield {"learner": FOGDClassifier(loss="logistic", n_components=20, random_state=0), "warm_up": 20}


class RiverRegressor(_Regressor):
    """An online regressor of mercer as a regressor of river; rows, keys and the warm-up are as in ``RiverClassifier``.

    During the warm-up the prediction is the mean of the targets so far, 0 before the first.

    Parameters
    ----------
    learner : online regressor, default=FOGDRegressor()
    warm_up : int, default=100
    unknown_keys : "ignore" or "refuse", default="ignore"

    Attributes
    ----------
    fitted : the regressor that learns, or None during the warm-up

    Examples
    --------
    >>> from mercer.learners.river import RiverRegressor
    >>> model = RiverRegressor(warm_up=2)
    >>> model.learn_one({"a": 1.0}, 3.0)
    >>> model.predict_one({"a": 2.0})
    3.0
    """

    def __init__(
        self, learner: OnlineEstimator | None = None, *, warm_up: int = 100, unknown_keys: str = "ignore"
    ) -> None:
        self.learner = learner
        self.warm_up = warm_up
        self.unknown_keys = unknown_keys
        self.fitted: OnlineEstimator | None = None
        self._rows = _Rows(type(self).__name__, unknown_keys, warm_up)

    def learn_one(self, x: Mapping[Hashable, float], y: float) -> None:
        """Learn a row and its target."""
        if self.fitted is not None:
            self.fitted.partial_fit(self._rows.row(x), [y])
            return
        self._rows.wait(x, y)
        if self._rows.is_full:
            learner: OnlineEstimator = FOGDRegressor() if self.learner is None else clone(self.learner)
            self.fitted = learner.partial_fit(*self._rows.released())

    def predict_one(self, x: Mapping[Hashable, float], **_: object) -> float:
        """Return the prediction for a row."""
        if self.fitted is not None:
            return float(self.fitted.predict(self._rows.row(x))[0])
        targets = [y for _, y in self._rows.waiting]
        return float(np.mean(targets)) if targets else 0.0

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, object]]:
        """Yield parameters for river's own checks."""
        yield {"learner": FOGDRegressor(n_components=20, random_state=0), "warm_up": 20}
