"""One pass over a stream: a model after each block, which Ctrl-C keeps and a checkpoint records."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mercer._typing import Array
from mercer.checkpoints import Loop, resumable
from mercer.data import Block
from mercer.engines import Engine
from mercer.fitting.progress import progress
from mercer.fresh_fit import adopt, unfitted
from mercer.learners.base import Learner
from mercer.learners.checkpointed import checkpointed

T = TypeVar("T")


@dataclass(frozen=True)
class Learn:
    """Learn a block: work that travels, given the plan of the steps and what y means."""

    plan: Any
    targets: Any

    def __call__(self, learner: Any, block: Block) -> Any:
        """Return the learner after the block."""
        return learner.after(self.plan, block, self.targets)


class OnePassLearner(Learner):
    """A learner of rows in their order. A subclass writes ``_models``, mostly by ``_chained``.

    Attributes are replaced all at once after a block: an error leaves the estimator as it was before the call, and
    Ctrl-C as it was after the last whole block.
    """

    n_seen_: int
    # Told the scores of a block before each of its rows was learned; set for the time of a call alone.
    listener: Callable[[Array], None] | None = None

    def _pass(self, X: Any, y: ArrayLike | None, *, fresh: bool, classes: ArrayLike | None = None) -> Self:
        """Learn the rows of X, from the start if ``fresh``, else from where the last call ended."""
        learner, learned = unfitted(self) if fresh else twin(self), self
        quiet = np.errstate(over="ignore", invalid="ignore")
        try:
            with self._threads(), quiet, checkpointed(learner) if fresh else nullcontext():
                for model in learner._models(X, y, classes, fresh=fresh):
                    learned = model
        except KeyboardInterrupt:
            self._take_over(learned)  # the whole blocks so far
            raise
        self._take_over(learned)
        return self

    def _take_over(self, learned: Self) -> None:
        learned.random_state = self.random_state  # a checkpoint has its own seed
        adopt(self, learned)

    @abstractmethod
    def _models(self, X: Any, y: ArrayLike | None, classes: ArrayLike | None, *, fresh: bool) -> Iterator[Self]:
        """Yield the learner after each block."""

    def _chained(self, learn: Learn, blocks: Any, engine: Engine, *, is_recorded: bool) -> Iterator[Self]:
        """Yield the learner after each block; a fit that a checkpoint knows goes on after its last block."""
        learner = self
        with (
            resumable("online pass") if is_recorded else Loop() as loop,
            progress(f"{type(self).__name__}: online pass", blocks.n_rows, self.verbose) as advance,
        ):
            if loop.state is not None:
                learner, blocks = twin(self), blocks.after(loop.state["n_seen"])
                learner.__dict__.update(loop.state["attributes"])
                yield learner
            for model in engine.chain(learn, blocks, learner, advance):
                if loop.is_recorded:
                    state = {"n_seen": model.n_seen_, "attributes": learned_state(model)}
                    loop.advance(state, at=f"row {model.n_seen_:,}")
                yield model


def twin(learner: T) -> T:
    """Return a learner with the same attributes, the objects themselves; ``copy`` takes as long as ten small rows."""
    other = object.__new__(type(learner))
    other.__dict__ = learner.__dict__.copy()
    return other


def learned_state(learner: OnePassLearner) -> dict[str, object]:
    """Return what the rows so far have set. Online state is replaced and never changed, so this may be kept."""
    params = learner.get_params(deep=False)
    return {name: value for name, value in vars(learner).items() if name not in params and name != "listener"}
