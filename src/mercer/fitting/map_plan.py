"""Which feature map a fit draws: the user's map, or the default map of a kernel."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from mercer.config import get_config, lasting_limit
from mercer.features import FeatureMap, feature_map
from mercer.fitting.survey import Sample
from mercer.kernels import Kernel
from mercer.kernels.parameter import as_kernel
from mercer.kernels.structured.parts import is_keyed
from mercer.validation import check_integer, check_memory

# Rows per block: few enough for accurate products of float32 features, and enough for fast ones.
BLOCK_ROWS = 4096
# Most bytes of the features of a block. Two such blocks are recycled, so that no pass asks the system for memory.
_BLOCK_BYTES = 2**26
# Rows that a map, and a kernel with parameters from the data, are fitted on: the least number, and rows per feature.
_SAMPLE_ROWS = 4096
_SAMPLE_ROWS_PER_FEATURE = 4
# What n_components="auto" means for kernels of objects: hashed columns, sparse, for kernels that count parts; dense
# features for others.
_KEYED_FEATURES, _OBJECT_FEATURES = 2**18, 2**10
# Fewest vectors of one float64 per feature that a solver holds.
_VECTORS = 6


@dataclass(frozen=True)
class MapPlan:
    """The map that a learner asks for, with its parameters checked.

    Attributes
    ----------
    owner : str
        The name that errors begin with.
    kernel : Kernel
    n_features : int
        Features that a map for the kernel has; 0 where the user gives a map.
    given : FeatureMap or None
        The user's map: the kernel and ``n_features`` are then not used.
    width_name : str
        The parameter that sets ``n_features``, for errors.
    sample_rows : int
        Rows to fit the map and the parameters of the kernel on.
    """

    owner: str
    kernel: Kernel
    n_features: int
    given: FeatureMap | None = None
    width_name: str = "n_components"
    sample_rows: int = _SAMPLE_ROWS

    @classmethod
    def of(
        cls,
        owner: str,
        kernel: object,
        n_features: object,
        given: object,
        natural: Kernel,
        *,
        width_name: str = "n_components",
        given_name: str = "features",
    ) -> "MapPlan":
        """Check the parameters of a learner; ``natural`` is the kernel that None stands for."""
        kernel = as_kernel(owner, kernel, natural)
        if given is not None:
            if not isinstance(given, FeatureMap):
                raise ValueError(f"{owner}: {given_name} must be a feature map such as TensorSketch(), got {given!r}.")
            return cls(owner, kernel, 0, given, width_name)
        of_objects = kernel.domain != "rows"
        if of_objects and isinstance(n_features, str) and n_features == "auto":
            n_features = _KEYED_FEATURES if is_keyed(kernel) else _OBJECT_FEATURES
        wanted = check_integer(owner, width_name, n_features)
        # hashed features of objects learn nothing from the rows, however many they are
        n_sampled = _SAMPLE_ROWS if of_objects else max(_SAMPLE_ROWS, _SAMPLE_ROWS_PER_FEATURE * wanted)
        return cls(owner, kernel, wanted, None, width_name, n_sampled)

    def check_size(self, n_columns: int, itemsize: int) -> None:
        """Refuse more features than memory allows, before a row is read."""
        if self.given is None:
            self.check_vectors(feature_map(self.kernel, self.n_features).least_features(n_columns), itemsize)

    def check_vectors(self, n_features: int, itemsize: int) -> None:
        """Refuse more features than there is memory for the vectors of a solver and for one row per thread."""
        row_bytes = 8 * _VECTORS + 3 * itemsize * get_config().threads
        what = "the coefficients, the vectors of the solver, and a row of features for each thread"
        way_out = f"Lower {self.width_name}."
        check_memory(self.owner, self.width_name, n_features, row_bytes * n_features, what, way_out=way_out)

    def draw(self, sample: Sample, rng: np.random.RandomState) -> FeatureMap:
        """Fit the user's map, or draw one for the kernel, on sampled rows, which are all rows where these are few."""
        if self.given is not None:
            drawn: FeatureMap = clone(self.given)
            return drawn.fit(sample.rows)
        kernel = self.kernel.resolve(sample.rows, sample.weight)
        seed = rng.randint(2**31 - 1)
        drawn = feature_map(kernel, self.n_features, random_state=seed)
        drawn.fit_member(sample.rows, np.random.RandomState(seed))  # the survey has checked the rows
        return drawn


def rows_per_block(n_features: int, n_columns: int, itemsize: int) -> int:
    """Return the rows per block for a number of features.

    Fixed by the number of features; fewer if the blocks of all threads would exceed a quarter of a lasting limit.
    """
    limit = lasting_limit()
    most = int(np.clip(_BLOCK_BYTES // (n_features * itemsize), 1, BLOCK_ROWS))
    if limit is None:
        return most
    row_bytes = 3 * itemsize * (n_features + n_columns)
    return int(np.clip(limit // (4 * get_config().threads * row_bytes), 1, most))
