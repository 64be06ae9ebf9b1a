"""Tensor Sketch of the subsequences of strings."""

import numpy as np

from mercer import key_core
from mercer._typing import Array, Rows, override
from mercer.features.base import Writer
from mercer.features.kernel_map import KernelMap
from mercer.features.sketches.hashes import draw_hashes, stored_hashes
from mercer.kernels import Kernel, Subsequence
from mercer.key_core import LetterHashes
from mercer.state import Flag, Sizes, Stored, require

_NAME = "SubsequenceSketch"
_CODES = 256


class SubsequenceSketch(KernelMap):
    r"""The map of ``Subsequence``: a Tensor Sketch of all subsequences, by one pass over the letters.

    Each letter has a bucket and a sign for each of the p places of a subsequence. The bucket of a subsequence is the
    sum of those of its letters modulo D, and its sign is their product. The sketch of all subsequences is then a
    recursion: a letter shifts the sketch of the shorter subsequences before it. Where the :math:`|\Sigma|^p`
    subsequences are at most D, each has a column of its own, and the map is exact.

    Parameters
    ----------
    kernel : Subsequence, default=Subsequence(3)
    n_components : int, default=100
        Number of features D.
    random_state : int, RandomState or None

    Attributes
    ----------
    kernel_ : Subsequence
    is_exact_ : bool
        Whether each subsequence has a column; ``n_features_out`` is then their number.
    index_, sign_ : ndarray of shape (p, 256)
        Bucket and sign of each letter, by its code, at each place.

    Notes
    -----
    Time O(p |x| D) for a string: contiguous additions. Unbiased. The variance is at most

    .. math:: \left( \frac{2 (2^p - 1)}{D} + \frac{2 (3^p - 2^{p+1} + 1)}{D^2} \right) k(x, x)\, k(y, y).

    At each place the letters of two pairs of subsequences must agree in one of three ways to have signs whose product
    has a mean other than 0. One way, at all places, is the kernel itself. The two others share a bucket with
    probability 1/D, and mixed ones with at most :math:`2/D^2`; each sum is at most k(x, x) k(y, y), by Cauchy and
    Schwarz. ``variance`` is an estimate from re-draws, 0 where the map is exact. With few letters and many features
    collisions are rare and large: 200 re-draws may miss them, and the bound is then the better guide.

    References
    ----------
    N. Pham and R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD 2013.
    A. Joudaki, G. Rätsch and A. Kahles, "Fast alignment-free similarity estimation by tensor sketching", 2020.

    Examples
    --------
    >>> from mercer.features import SubsequenceSketch
    >>> from mercer.kernels import Subsequence
    >>> texts = ["ACGTTGCA", "ACTTGA"]
    >>> fitted = SubsequenceSketch(Subsequence(2, alphabet="ACGT"), n_components=64).fit(texts)
    >>> Z = fitted.transform(texts)
    >>> fitted.is_exact_, Z.shape
    (True, (2, 16))
    >>> bool(abs(Z @ Z.T - fitted.kernel_(texts)).max() < 1e-6)
    True
    """

    _stored = Stored(is_exact_=Flag(), **stored_hashes("p", _CODES, below="D"))

    _natural_kernel = Subsequence(3)
    kernel_: Subsequence

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        if not isinstance(kernel, Subsequence):
            raise ValueError(
                f"{_NAME}: kernel must be Subsequence(length, decay), got {kernel!r}. Use feature_map(kernel)."
            )

    @override
    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        assert isinstance(kernel, Subsequence)  # noqa: S101 - by ``check_kernel``
        n_letters, length = kernel.n_letters, kernel.length
        self.is_exact_ = n_letters**length <= n_components
        if not self.is_exact_:
            self.index_, self.sign_ = draw_hashes(rng, n_components, (length, _CODES))
            return n_components
        codes = np.minimum(np.arange(_CODES), n_letters - 1)
        places = n_letters ** np.arange(length)
        self.index_ = (codes * places[:, None]).astype(np.int32)
        self.sign_ = np.ones((length, _CODES), dtype=np.int8)
        return int(n_letters**length)

    @override
    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(sizes["p"] == self.kernel_.length, "index_ must hold a bucket for each letter of a subsequence")
        require(bool(np.all(np.abs(self.sign_) == 1)), "sign_ must hold -1 and 1")
        if self.is_exact_:
            expected = self.kernel_.n_letters**self.kernel_.length
            require(sizes["D"] == expected, "n_features_out must be the number of subsequences where is_exact_")
            places = self.kernel_.n_letters ** np.arange(sizes["p"])
            codes = np.minimum(np.arange(_CODES), self.kernel_.n_letters - 1)
            require(bool(np.all(self.index_ == codes * places[:, None])), "index_ must number the subsequences")

    @property
    @override
    def is_random(self) -> bool:
        return not self.is_exact_

    def _hashes(self) -> LetterHashes:
        length, width = len(self.index_), self.n_features_out_
        widths = np.full(length + 1, width, dtype=np.int64)
        if self.is_exact_:
            widths[:] = self.kernel_.n_letters ** np.arange(length + 1)
        return LetterHashes(self.index_, self.sign_, widths)

    @override
    def writer(self, X: Rows) -> Writer:
        kernel, hashes, strings = self.kernel_, self._hashes(), self.kernel_.strings(X)

        def write(rows: slice, out: Array) -> None:
            key_core.subsequence_sketch(strings[rows], kernel.letters, hashes, kernel.decay, out)

        return write

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array | None:
        return np.zeros((X.shape[0], Y.shape[0])) if self.is_exact_ else None

    @override
    def most_features(self, n_features: int) -> float:
        kernel = self.kernel if isinstance(self.kernel, Subsequence) else self._natural_kernel
        return float(kernel.n_letters**kernel.length)
