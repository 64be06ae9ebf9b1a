"""``mercer transform``: the features of the map of a model."""

import numpy as np
import pandas as pd
import pytest

import mercer


@pytest.mark.filterwarnings("ignore::mercer.data.TableWarning")
def test_features_are_those_of_the_models_map(table, model, run, here):
    done = run("transform", model, table, "-o", "z.npy")
    assert done.exit_code == 0, done.stderr
    loaded = mercer.load(model)
    expected = np.vstack(list(loaded.transform(table)))
    np.testing.assert_array_equal(np.load("z.npy"), expected)
    run("transform", model, table, "-o", "z.parquet")
    np.testing.assert_array_equal(pd.read_parquet("z.parquet").to_numpy(), expected)
