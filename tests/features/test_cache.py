"""What a fitted map keeps beside itself."""

import pickle
from weakref import ref

import numpy as np

from mercer import FourierFeatures
from mercer.features.cache import cached


class _Owner:
    pass


def test_made_once_a_key_and_anew_for_another_array():
    owner, source, made = _Owner(), np.arange(3.0), []

    def make():
        made.append(1)
        return source * 2

    assert cached(owner, source, "a", make) is cached(owner, source, "a", make)
    cached(owner, source, "b", make)
    assert len(made) == 2
    cached(owner, source.copy(), "a", make)
    assert len(made) == 3


def test_gone_with_its_owner():
    owner, source = _Owner(), np.arange(3.0)
    made = ref(cached(owner, source, "a", lambda: np.arange(2.0)))
    assert made() is not None
    del owner
    assert made() is None


def test_a_refit_and_another_precision_are_seen():
    X = np.random.default_rng(0).standard_normal((20, 3))
    fourier = FourierFeatures(n_components=8, random_state=0).fit(X)
    first = fourier.transform(X)
    assert fourier.transform(X.astype(np.float32)).dtype == np.float32
    fourier.set_params(random_state=1).fit(X)
    assert np.abs(fourier.transform(X) - first).max() > 0.01
    other = pickle.loads(pickle.dumps(fourier))
    np.testing.assert_array_equal(other.transform(X), fourier.transform(X))
