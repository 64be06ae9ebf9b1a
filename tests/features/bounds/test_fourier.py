"""Bounds of Fourier maps: Chebyshev on exact variances, and the bound over a compact set."""

import numpy as np

from mercer import FourierFeatures, Gaussian, Matern, components_for
from mercer.testing import sample_rows


def test_the_number_is_the_least_that_chebyshev_gives_for_independent_frequencies():
    X, kernel = sample_rows(), Gaussian(gamma=0.5)
    needed = components_for(kernel, X, error=0.3, confidence=0.8, kind="absolute", method="fourier", source="exact")
    chebyshev = next(c for c in (needed, *needed.alternatives) if c.inequality.startswith("Chebyshev"))
    n = int(chebyshev)
    assert chebyshev.nature == "bound"
    for width, holds in ((n, True), (n - 2, False)):  # two fewer: an odd width has a frequency with an offset
        variance = FourierFeatures(kernel, n_components=width, random_state=0).fit(X).variance(X)
        assert bool(np.all(variance <= 0.2 * 0.3**2)) == holds


def test_orthogonal_frequencies_without_a_closed_form_are_measured_not_proved():
    def natured(kernel):
        return components_for(kernel, sample_rows(), error=0.3, kind="absolute", method="orthogonal").nature

    assert natured(Matern(1.5, length_scale=1.0)) == "measured"
    assert natured(Gaussian(gamma=0.5)) == "bound"


def test_a_uniform_bound_asks_for_more_on_a_wider_set():
    X, kernel = sample_rows(), Gaussian(gamma=0.5)
    near, far = (
        components_for(kernel, scale * X, error=0.3, kind="uniform", method="fourier").n_components
        for scale in (1.0, 10.0)
    )
    assert np.isfinite(near)
    assert far > near
