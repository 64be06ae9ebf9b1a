"""Columns that a kernel of one scale does not see are named in one warning."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import Gaussian, KernelRidge, KernelSVC, Linear, Polynomial, ScaledColumns, as_blocks


def _frame(scale):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=["a", "b", "wide"])
    return frame.assign(wide=scale * frame["wide"], constant=1.0), frame["a"].to_numpy()


def _warnings(fit):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in found]


@pytest.mark.parametrize("kernel", [Gaussian(gamma="scale"), Polynomial(2, gamma=1e-12)])
def test_columns_far_narrower_than_another_are_named_once(kernel):
    X, y = _frame(1e6)
    model = KernelRidge(kernel, n_components=32, alpha=1.0, random_state=0)
    (said,) = _warnings(lambda: model.fit(X, y))
    assert said.startswith("KernelRidge: columns 'a', 'b' vary by less than a thousandth of column 'wide'")
    assert "make_pipeline(StandardScaler(), KernelRidge(...))" in said
    (of_array,) = _warnings(lambda: model.fit(X.to_numpy()[:, [0, 2]], y))
    assert of_array.startswith("KernelRidge: column 0 varies by less than a thousandth of column 1")
    assert _warnings(lambda: model.fit(as_blocks(X.to_numpy()[:, [0, 2]], y))) == [of_array]


def test_nothing_is_said_of_columns_that_the_kernel_sees():
    X, y = _frame(10.0)
    rare = X.assign(rare=np.arange(200) == 0)  # 1 of 200: a small standard deviation, and a range that counts
    unscaled, _ = _frame(1e6)
    each = ScaledColumns(Gaussian(gamma=0.1), (1.0, 1.0, 1e-6, 1.0))
    svc = KernelSVC(n_components=32, random_state=0)
    fits = [
        lambda: KernelRidge(n_components=32, random_state=0).fit(rare, y),
        lambda: KernelRidge(each, n_components=32, random_state=0).fit(unscaled, y),
        lambda: KernelRidge(Linear(), random_state=0).fit(unscaled, y),
        lambda: make_pipeline(StandardScaler(), svc).fit(unscaled, y > 0),
        lambda: KernelRidge(Gaussian(gamma=1.0), n_components=32, alpha=1.0, random_state=0).fit(1e200 * X, y),
        lambda: KernelRidge(n_components=32, alpha=1.0, random_state=0).fit(sparse.csr_array(unscaled.to_numpy()), y),
    ]
    assert [_warnings(fit) for fit in fits] == [[]] * len(fits)
