"""Which engine works on blocks: that of the configuration, which refuses at once what it cannot read; else threads."""

import numpy as np
import pytest

from mercer import KernelOneClassSVM, KernelRidge, config_context
from mercer.data import as_blocks
from mercer.engines import Local, engine_for


class Elsewhere(Local):
    shares_memory = False


def test_the_engine_of_the_configuration():
    blocks, engine = as_blocks(np.eye(3)), Elsewhere()
    assert type(engine_for(blocks)) is Local
    with config_context(engine=engine):
        assert engine_for(blocks) is engine
        with pytest.raises(ValueError, match="can be read from its beginning only"):
            engine_for(as_blocks(lambda: iter([np.eye(3)])))
    with pytest.raises(ValueError, match="engine must be an engine"), config_context(engine="dask"):
        pass


def test_a_fit_asks_the_engine_of_the_configuration_before_any_work(rng):
    reads = []

    def factory():
        reads.append(1)
        yield rng.rand(50, 2), np.arange(50) % 2

    blocks = as_blocks(factory)
    reads.clear()
    with config_context(engine=Elsewhere()):
        with pytest.raises(ValueError, match="this engine reads parts of the rows"):
            KernelRidge().fit(blocks)
        with pytest.raises(ValueError, match=r"KernelOneClassSVM: a dual variable of each row.*Fit a sample"):
            KernelOneClassSVM().fit(rng.rand(50, 2))
    assert not reads
