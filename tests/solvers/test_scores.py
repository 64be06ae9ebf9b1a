"""Linear scores: a product in the precision of the features, and sums in float64."""

import numpy as np
import pytest
from scipy import sparse

from mercer.solvers.scores import linear_scores


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("n_columns", [1, 3, 40])
def test_scores_are_float64_products(rng, dtype, layout, n_columns):
    Z, coef = rng.standard_normal((50, 7)).astype(dtype), rng.standard_normal((7, n_columns))
    intercept = rng.standard_normal(n_columns)
    scores = linear_scores(layout(Z), coef, intercept)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, Z.astype(np.float64) @ coef + intercept, atol=40 * np.finfo(dtype).eps)
