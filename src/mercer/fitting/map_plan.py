"""Which feature map a fit draws: the user's map, or the default map of a kernel."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from sklearn.base import clone

from mercer.config import get_config, lasting_limit
from mercer.features import FeatureMap, feature_map
from mercer.features.fourier.seeded_blocks import WIDE
from mercer.fitting.scale import choose_scale, has_automatic_scale
from mercer.fitting.survey import Sample
from mercer.fitting.targets import Targets
from mercer.fitting.trial import left_out_error
from mercer.fitting.width import CURVE_ROWS, ROWS_PER_FEATURE, Solver, choose_width
from mercer.kernels import Kernel
from mercer.kernels.parameter import as_kernel
from mercer.kernels.structured.parts import is_keyed
from mercer.structures.domains import Domain
from mercer.validation import check_integer, check_memory

# Rows per block: few enough for accurate products of float32 features, and enough for fast ones.
BLOCK_ROWS = 4096
# Most bytes of the features of a block. Two such blocks are recycled, so that no pass asks the system for memory.
_BLOCK_BYTES = 2**26
# Rows that a kernel with parameters from the data is resolved on, and the least number that a map is fitted on.
_SAMPLE_ROWS = 4096
# Features on which scales of the kernel are compared.
_TRIAL_FEATURES = 512
# What n_components="auto" means for kernels that count the parts of objects: hashed columns, which are sparse.
_KEYED_FEATURES = 2**18
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
        Rows to fit the map on.
    is_automatic : bool
        Whether ``n_features`` is where a choice begins.
    solver : Solver
        What limits the choice.
    """

    owner: str
    kernel: Kernel
    n_features: int
    given: FeatureMap | None = None
    width_name: str = "n_components"
    sample_rows: int = _SAMPLE_ROWS
    is_automatic: bool = False
    solver: Solver = field(default_factory=Solver)

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
        solver: Solver | None = None,
    ) -> Self:
        """Check the parameters of a learner; ``natural`` is the kernel that None stands for."""
        kernel = as_kernel(owner, kernel, natural)
        if given is not None:
            if not isinstance(given, FeatureMap):
                raise ValueError(f"{owner}: {given_name} must be a feature map such as TensorSketch(), got {given!r}.")
            return cls(owner, kernel, 0, given, width_name, max(_SAMPLE_ROWS, given.rows_to_fit))
        solver = solver or Solver()
        wanted, is_automatic = _width(owner, width_name, n_features, kernel, solver), isinstance(n_features, str)
        return cls(owner, kernel, 0, None, width_name, is_automatic=is_automatic, solver=solver).of_width(wanted)

    def of_width(self, n_features: int) -> Self:
        """Return the plan of a map of so many features."""
        plan = replace(self, n_features=n_features)
        # neither hashed features of objects nor features in slabs learn from the rows
        learns = self.kernel.domain == "rows" and not plan.has_slabs
        return replace(plan, sample_rows=max(_SAMPLE_ROWS, ROWS_PER_FEATURE * n_features) if learns else _SAMPLE_ROWS)

    @property
    def has_slabs(self) -> bool:
        """Whether the map makes its features in slabs."""
        if self.given is not None:
            return self.given.has_slabs
        return self.n_features > WIDE and self.kernel.domain == "rows" and self._map().has_slabs

    def _map(self, seed: int | None = None) -> FeatureMap:
        """Return the unfitted map of the kernel."""
        return feature_map(self.kernel, self.n_features, random_state=seed)

    @property
    def domain(self) -> Domain:
        """What the map takes: rows of numbers, or objects."""
        return self.kernel.domain if self.given is None else self.given.domain

    @property
    def needs_y(self) -> bool:
        """Whether the kernel has a scale that the targets are to choose."""
        return self.given is None and has_automatic_scale(self.kernel)

    def widest(self, n_rows: int | None, n_columns: int, itemsize: int) -> int:
        """Return the largest number of features that a choice may end at, for rows of this number and size."""
        if not self.is_automatic or self.kernel.domain != "rows":
            return self.n_features
        return max(self.n_features, self.solver.widest(n_rows, n_columns, itemsize))

    def chosen(self, sample: Sample, targets: Targets, widest: int, seed: int) -> tuple[Self, dict[str, object]]:
        """Return the plan with scale and number of features chosen on a sample that holds y, and what was measured."""
        plan, details = self, dict[str, object]()
        some = sample.first(CURVE_ROWS)

        def error_of(plan: Self) -> float:
            return left_out_error(plan.draw(some, np.random.RandomState(seed)), some, targets)

        if self.needs_y:
            resolved, trial = self.kernel.resolve(some.rows, some.weight), self.of_width(_TRIAL_FEATURES)
            scale = choose_scale(self.kernel, resolved, lambda kernel: error_of(replace(trial, kernel=kernel)))
            plan, details = replace(plan, kernel=scale.kernel), scale.details()
        if self.is_automatic and self.kernel.domain == "rows":
            choice = choose_width(lambda width: error_of(plan.of_width(width)), plan.n_features, widest)
            plan, details = plan.of_width(choice.n_features), {**details, **choice.details()}
        return plan, details

    @property
    def width(self) -> int:
        """The number of features that is asked for; 0 where the user's map does not say."""
        wanted = getattr(self.given, "n_components", None) if self.given is not None else self.n_features
        return int(wanted) if isinstance(wanted, int | np.integer) and wanted > 0 else 0

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
        some = sample.first(_SAMPLE_ROWS)  # so that the kernel does not change with the number of features
        kernel = self.kernel.resolve(some.rows, some.weight)
        seed = rng.randint(2**31 - 1)
        drawn = feature_map(kernel, self.n_features, random_state=seed)
        drawn.fit_member(sample.rows, np.random.RandomState(seed))  # the survey has checked the rows
        return drawn


def _width(owner: str, name: str, given: object, kernel: Kernel, solver: Solver) -> int:
    """Return the number of features that a parameter asks for, or where the choice of "auto" begins."""
    if not isinstance(given, str):
        return check_integer(owner, name, given)
    if given != "auto":
        raise ValueError(f"{owner}: {name} must be 'auto' or an integer >= 1, got {given!r}.")
    # hashed columns are sparse, but a solver with D x D matrices makes them dense
    return _KEYED_FEATURES if is_keyed(kernel) and not solver.is_dense else solver.usual_width


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
