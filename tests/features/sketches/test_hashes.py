"""Tables of hashes: ranges, signs, and their distribution."""

import numpy as np

from mercer.features.sketches.hashes import draw_hashes, draw_signs
from mercer.testing import assert_mean_close


def test_buckets_and_signs_are_in_range_and_balanced():
    index, sign = draw_hashes(np.random.RandomState(0), 7, (3, 4000))
    assert (index.dtype, sign.dtype, index.shape, sign.shape) == (np.int32, np.int8, (3, 4000), (3, 4000))
    assert set(np.unique(index)) == set(range(7))
    assert set(np.unique(sign)) == {-1, 1}
    assert_mean_close(sign.ravel().astype(float), 0.0, false_alarm=1e-6)
    assert_mean_close(index.ravel().astype(float), 3.0, false_alarm=1e-6)


def test_signs_come_in_the_type_asked_for():
    assert draw_signs(np.random.RandomState(0), (5,), np.int64).dtype == np.int64
