"""Random binning features (Rahimi and Recht, 2007, Algorithm 2)."""

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer import core
from mercer._typing import Array, Csr, Rows, RowsLike, Seed, is_sparse, override
from mercer.features.base import Writer
from mercer.features.fourier.phases import require_shift_invariant
from mercer.features.grids import draw_grids, require_grids
from mercer.features.kernel_map import KernelMap
from mercer.kernels import Kernel, Laplacian
from mercer.parallel import for_each_block, row_blocks
from mercer.state import Flag, Integers, Many, Reals, Sizes, Stored, require
from mercer.validation import block_norm, check_integer, check_memory, check_rows, row_number

_LARGEST_CELL = 2.0**31 - 256  # cell numbers are int32, and the bound must be exact in float32


class RandomBinning(KernelMap):
    r"""Random binning: grids of random pitch and shift on which two points share a cell with probability k(x, y).

    A one-dimensional kernel that is convex in t = \|x - y\| is the mean of triangles :math:`\max(0, 1 - t/\delta)`
    over the pitch distribution :math:`p(\delta) = \delta k''(\delta)`; for the Laplace kernel that is Gamma(2,
    1/gamma). In each of G grids, a point is represented by the indicator of its cell.

    With dense features each grid has D // G columns (a few grids have one more), and the cells are hashed to these
    columns with a sign; with ``n_grids=None`` there are as many grids as features. Sparse features have one column per
    cell, and are much closer to the kernel in equal time: their variance has no term in 1/D.

    Parameters
    ----------
    kernel : Laplacian, or a product of one-dimensional convex kernels, default=Laplacian()
        ``ExponentialPower`` with alpha <= 1 and ``Matern`` with nu <= 1/2 are convex on one column
        (``Columns(kernel, [j])``).
    n_components : int or None, default=100
        Number of features D. None, for sparse output only: one column per cell that ``fit`` saw; a cell that ``fit``
        did not see has no feature.
    random_state : int, RandomState or None
    n_grids : int or None
        Number of grids G, at most D. None: ``n_components``, or 100 if ``n_components`` is None.
    sparse_output : bool, default=False
        Return a CSR array with one non-zero per grid and row.

    Attributes
    ----------
    is_sparse_ : bool
        Whether ``transform`` returns CSR arrays.
    columns_ : ndarray of int
        The column of X that belongs to each column of the grids.
    pitches_, shifts_ : ndarray of shape (n_grids, len(columns_))
        Pitches, and shifts in units of the pitch.
    multipliers_ : ndarray of uint32, same shape
        The multipliers of the random 32-bit hash of the cells.
    cells_ : list of ndarray of uint32
        Hashes of the cells seen in ``fit``, one array per grid; empty unless n_components is None.
    kernel_ : Kernel

    Notes
    -----
    ``variance`` is exact: :math:`(k - k^2)/G` with one column per cell, and with w_g columns for grid g
    :math:`(k - k^2)/G + (1 - k) \sum_g w_g^{-1} / G^2`. With ``n_components=None`` the formula holds for rows of
    ``fit``; for a new row, the grids in which ``fit`` did not see the row's cell add nothing. Two different cells have
    the same 32-bit hash with probability 2^-32. Time O(G d) per row, also for CSR rows: a block of CSR rows is made
    dense.

    References
    ----------
    A. Rahimi and B. Recht, "Random features for large-scale kernel machines", NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Laplacian, RandomBinning
    >>> X = np.random.RandomState(0).rand(5, 3)
    >>> binning = RandomBinning(Laplacian(gamma=1.0), n_components=None, n_grids=500, sparse_output=True)
    >>> Z = binning.set_params(random_state=0).fit_transform(X)
    >>> bool(np.abs((Z @ Z.T).toarray() - binning.kernel_(X)).max() < 0.1)
    True
    """

    # G grids, each on c columns.
    _stored = Stored(
        is_sparse_=Flag(),
        columns_=Integers(("c",), least=0, below="d"),
        pitches_=Reals(("G", "c"), positive=True),
        shifts_=Reals(("G", "c")),
        multipliers_=Integers(("G", "c"), (np.uint32,), least=0),
        cells_=Many(Integers((None,), (np.uint32,), least=0)),
    )

    _natural_kernel = Laplacian()

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_components: int | None = 100,
        random_state: Seed = None,
        n_grids: int | None = None,
        sparse_output: bool = False,
    ):
        super().__init__(kernel, n_components=100, random_state=random_state)
        self.n_components = n_components  # type: ignore[assignment]
        self.n_grids = n_grids
        self.sparse_output = sparse_output

    @override
    def check_kernel(self, kernel: Kernel) -> None:
        require_shift_invariant("RandomBinning", kernel)
        require_grids("RandomBinning", kernel)

    def _checked_width(self) -> int:
        if self.n_components is None and self.sparse_output:
            return 0  # one column per cell seen in fit
        way_out = "None (one column per cell seen in fit) needs sparse_output=True."
        return check_integer("RandomBinning", "n_components", self.n_components, way_out=way_out)

    def _check_params(self) -> None:
        super()._check_params()
        if self.n_grids is not None:
            check_integer("RandomBinning", "n_grids", self.n_grids)

    def _check_stored(self, sizes: Sizes) -> None:
        super()._check_stored(sizes)
        require(sizes["G"] and sizes["c"], "pitches_ must have grids and columns")
        if not self.cells_:
            require(sizes["D"] >= sizes["G"], "n_features_out must be at least the number of grids")
            return
        require(self.is_sparse_, "cells_ must be empty if is_sparse_ is False")
        ascend = all(len(cells) and np.all(cells[1:] > cells[:-1]) for cells in self.cells_)
        require(len(self.cells_) == sizes["G"] and ascend, "cells_ must hold the cells of each grid in order")
        require(sum(map(len, self.cells_)) == sizes["D"], "n_features_out must be the number of cells")

    @override
    def fit_member(self, X: Rows, rng: np.random.RandomState) -> None:
        if self.n_components is None:
            raise ValueError(
                "RandomBinning: n_components must be an integer if the map is a member of another map, because members "
                "make dense features, got None. Set n_components to an integer."
            )
        super().fit_member(X, rng)

    def _draw(self, kernel: Kernel, X: Rows, n_components: int, rng: np.random.RandomState) -> int:
        n_grids = n_components or 100
        if self.n_grids is not None:
            n_grids = check_integer("RandomBinning", "n_grids", self.n_grids)
        if 0 < n_components < n_grids:
            raise ValueError(
                f"RandomBinning: n_grids must be at most n_components, got {n_grids} and {n_components}: grids that "
                "share a column only add noise. Raise n_components, or set n_grids=None."
            )
        self._check_size(kernel, n_grids, X.shape[1])
        self.is_sparse_ = bool(self.sparse_output)
        self.columns_, self.pitches_ = draw_grids("RandomBinning", kernel, rng, n_grids, X.shape[1])
        shape = self.pitches_.shape
        self.shifts_: Array = np.asarray(rng.random_sample(shape))
        self.multipliers_: Array = np.asarray(rng.randint(2**32, size=shape, dtype=np.uint32)) | np.uint32(1)
        self.cells_: list[Array] = []
        if n_components:
            return n_components
        hashes = self._hashes(X)
        self.cells_ = [np.unique(hashes[:, g]) for g in range(n_grids)]
        return sum(len(cells) for cells in self.cells_)

    def _check_size(self, kernel: Kernel, n_grids: int, n_features: int) -> None:
        """Raise if the grids, with ``n_columns`` columns per grid, do not fit in memory."""
        n_columns = len(draw_grids("RandomBinning", kernel, np.random.RandomState(0), 1, n_features).columns)
        name, what = "n_components" if self.n_grids is None else "n_grids", f"{n_grids} grids of {n_columns} columns"
        check_memory("RandomBinning", name, n_grids, 56 * n_grids * n_columns, what)

    def transform(self, X: RowsLike) -> Rows:
        """Return the features of the rows of X: an array, or with ``sparse_output`` a CSR array.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray or CSR array of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        if not self.is_sparse_:
            return super().transform(X)
        X = check_rows(self, X, reset=False)
        what = f"{X.shape[0]} rows of cells"
        n_grids = len(self.pitches_)
        check_memory("RandomBinning", "n_grids", n_grids, X.shape[0] * n_grids * (8 + X.dtype.itemsize), what)
        return self._seen_cells(self._hashes(X), X.dtype) if self.cells_ else self._hashed_cells(X)

    @override
    def times(self, X: Rows, weights: Array) -> Array:
        return np.asarray(self.transform(X) @ weights) if self.is_sparse_ else super().times(X, weights)

    def _hashes(self, X: Rows) -> Array:
        """Return the hashes of the cells of all rows, (n, n_grids)."""
        out = np.empty((X.shape[0], len(self.pitches_)), dtype=np.uint32)
        write = self._hash_writer(X)

        def work(rows: slice) -> None:
            block_norm("RandomBinning", "X", X, rows)
            write(rows, out[rows])

        for_each_block(work, row_blocks(X.shape[0], self._rows_in_work(X)))
        return out

    def _hash_writer(self, X: Rows) -> Writer:
        inverse: Array = np.asarray(1 / self.pitches_, dtype=X.dtype, order="C")
        shifts = self.shifts_.astype(X.dtype)
        steepest = inverse.max(axis=0)
        every = np.array_equal(self.columns_, np.arange(X.shape[1]))
        columns = self.columns_

        def write(rows: slice, out: Array) -> None:
            block = X[rows].toarray() if is_sparse(X) else X[rows]
            block = block if every else np.ascontiguousarray(block[:, columns])
            self._check_cells(block, steepest, rows.start)
            core.cell_hashes(block, slice(0, len(block)), inverse, shifts, self.multipliers_, out)

        return write

    @override
    def scratch_bytes(self, X: Rows) -> float:
        return float(2 * X.dtype.itemsize * X.shape[1] + 24 * len(self.pitches_))

    def _check_cells(self, block: Array, steepest: Array, first_row: int) -> None:
        reach = np.abs(block).max(axis=0) * steepest
        if reach.max(initial=0.0) < _LARGEST_CELL:
            return
        column = int(np.argmax(reach))
        row = row_number(first_row + int(np.argmax(np.abs(block[:, column]))))
        raise ValueError(
            f"RandomBinning: row {row}, column {int(self.columns_[column])} of X is more than 2^31 grid cells away "
            "from 0, and would overflow its cell number. Scale X down, or lower gamma."
        )

    def _grid_widths(self) -> Array:
        n_grids = len(self.pitches_)
        if n_grids > self.n_features_out_:  # the last grids would have column numbers out of range
            raise ValueError(
                f"RandomBinning: {n_grids} grids need at least {n_grids} features, got {self.n_features_out_}."
            )
        widths = np.full(n_grids, self.n_features_out_ // n_grids, dtype=np.int64)
        widths[: self.n_features_out_ % n_grids] += 1
        return widths

    @override
    def writer(self, X: Rows) -> Writer:
        write_hashes = self._hash_writer(X)
        n_grids = len(self.pitches_)
        value = X.dtype.type(n_grids**-0.5)
        starts, widths = self._grid_columns()

        def write(rows: slice, out: Array) -> None:
            hashes = np.empty((out.shape[0], n_grids), dtype=np.uint32)
            write_hashes(rows, hashes)
            signs = hashes.view(np.int32)  # the highest bit is the sign
            if n_grids == out.shape[1]:
                out[...] = signs
                np.copysign(value, out, out=out)
                return
            out[...] = 0
            index = starts + _positions(hashes, widths)
            np.put_along_axis(out, index, np.copysign(value, signs).astype(out.dtype), axis=1)

        return write

    def _grid_columns(self) -> tuple[Array, Array]:
        """Return the first column and the number of columns of each grid."""
        widths = self._grid_widths()
        return np.cumsum(widths) - widths, widths

    def _hashed_cells(self, X: Rows) -> Csr:
        n_rows, n_grids = X.shape[0], len(self.pitches_)
        index = np.empty((n_rows, n_grids), dtype=np.int32)
        data = np.empty((n_rows, n_grids), dtype=X.dtype)
        value = X.dtype.type(n_grids**-0.5)
        starts, widths = self._grid_columns()
        starts, write_hashes = starts.astype(np.int32), self._hash_writer(X)

        def work(rows: slice) -> None:
            block_norm("RandomBinning", "X", X, rows)
            hashes = np.empty((rows.stop - rows.start, n_grids), dtype=np.uint32)
            write_hashes(rows, hashes)
            data[rows] = hashes.view(np.int32)
            np.copysign(value, data[rows], out=data[rows])
            np.add(_positions(hashes, widths), starts, out=index[rows])

        for_each_block(work, row_blocks(n_rows, self._rows_in_work(X)))
        return _csr(data.ravel(), index.ravel(), np.arange(n_rows + 1) * n_grids, (n_rows, self.n_features_out_))

    def _seen_cells(self, hashes: Array, dtype: DTypeLike) -> Csr:
        n_rows, n_grids = hashes.shape
        index = np.empty((n_rows, n_grids), dtype=np.int64)
        seen = np.empty((n_rows, n_grids), dtype=bool)
        start = 0
        for g, cells in enumerate(self.cells_):
            place = np.minimum(np.searchsorted(cells, hashes[:, g]), len(cells) - 1)
            index[:, g], seen[:, g] = start + place, cells[place] == hashes[:, g]
            start += len(cells)
        pointers = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
        data = np.full(int(pointers[-1]), n_grids**-0.5, dtype=dtype)
        return _csr(data, index[seen], pointers, (n_rows, start))

    @override
    def exact_variance(self, X: Array, Y: Array) -> Array:
        k = self.kernel_(X, Y)
        n_grids = len(self.pitches_)
        variance: Array = (k - k**2) / n_grids
        if not self.cells_:
            variance += (1 - k) * float((1 / self._grid_widths()).sum()) / n_grids**2
        return variance

    @override
    def largest_feature(self, norm: float, X: Rows) -> float:
        return 1.0


def _positions(hashes: Array, widths: Array) -> Array:
    """Return the column of each cell, within the ``widths`` of its grid, from the lower 31 bits of the cell's hash."""
    if np.all(widths == widths[0]) and widths[0] & (widths[0] - 1) == 0:
        return (hashes & np.uint32(widths[0] - 1)).view(np.int32)
    return ((hashes & np.uint32(2**31 - 1)) % widths.astype(np.uint32)).view(np.int32)


def _csr(data: Array, indices: Array, indptr: Array, shape: tuple[int, int]) -> Csr:
    kind = np.int32 if max(shape[1], len(data)) < 2**31 else np.int64
    Z = sparse.csr_array((data, indices.astype(kind, copy=False), indptr.astype(kind)), shape=shape)
    Z.has_sorted_indices = Z.has_canonical_format = True  # grids come in order, and no two share a column
    return Z
