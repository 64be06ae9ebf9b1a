"""Ridge leverage scores against their definition, and draws by them."""

import numpy as np
import pytest

from mercer import Gaussian
from mercer.features.nystroem import landmarks, leverage
from mercer.features.nystroem.candidates import Candidates
from mercer.testing import assert_mean_close, sample_rows

KERNEL = Gaussian(gamma=1.0)


def test_leverage_scores_are_exact_with_all_rows_and_draw_by_them():
    X = np.vstack([np.zeros((30, 2)) + 0.01 * sample_rows(30, 2), 5 * sample_rows(4, 2)])
    rows = Candidates.of("test", X, 34, 0)
    scores = leverage.leverage_scores(KERNEL, rows)
    K = KERNEL(X)
    spectrum, U = np.linalg.eigh(K)
    kept = spectrum > leverage._FLAT * spectrum[-1]
    ridge = leverage._ridge_of(spectrum[kept], kept.sum() / 2)
    exact = (U[:, kept] ** 2) @ (spectrum[kept] / (spectrum[kept] + ridge))
    np.testing.assert_allclose(scores, exact, rtol=1e-4, atol=1e-6)
    strays = [np.sum(landmarks.leverage(KERNEL, X, 4, random_state=seed).indices >= 30) for seed in range(200)]
    # 4 of 34 rows are strays: uniform draws would take 4 * 4 / 34 = 0.47 of them.
    with pytest.raises(AssertionError):
        assert_mean_close(strays, 4 * 4 / 34)
    assert np.mean(strays) > 1


def test_the_ridge_has_the_degrees_of_freedom_asked_for():
    spectrum = np.array([10.0, 3.0, 0.5, 1e-8])
    ridge = leverage._ridge_of(spectrum, 1.7)
    assert (spectrum / (spectrum + ridge)).sum() == pytest.approx(1.7)
