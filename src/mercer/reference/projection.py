"""Products of random projections, the features of Random Maclaurin (Kar and Karnick, 2012, Algorithm 1)."""

import numpy as np

from mercer._typing import Array
from mercer.reference.border import csr_rows


def project_product(X: Array, W: Array, widths: Array, out: Array) -> None:
    """Overwrite out (n, D) with products of projections of the dense rows of X (n, d).

    W (d, sum(widths)) holds the factors side by side: factor j is its next widths[j] columns, and multiplies the
    first widths[j] features. ``widths`` does not increase, and features from widths[0] on are the empty product 1.
    """
    out[:, widths[0] if len(widths) else 0 :] = 1
    projected = np.empty((len(X), widths[1]), dtype=out.dtype) if len(widths) > 1 else out
    start = 0
    for j, width in enumerate(widths):
        target = (projected if j else out)[:, :width]
        np.matmul(X, W[:, start : start + width], out=target)
        if j:
            out[:, :width] *= target
        start += width


def sign_products(X: Array, codes: Array, widths: Array, scales: Array, out: Array) -> None:
    """Overwrite out (n, D) with scaled products of projections of the dense rows of X (n, d) on vectors of signs.

    If bit k of codes[g, j] (g < ceil(d / 8)) is 1, projection j adds column 8 g + k, otherwise it subtracts the column.
    ``widths`` is as in project_product, and scales[i] multiplies feature i < widths[0].
    """
    bits = np.unpackbits(codes, axis=0, count=X.shape[1], bitorder="little")
    W = 2 * bits.astype(X.dtype) - 1
    W[:, : len(scales)] *= scales
    project_product(X, W, widths, out)


def project_product_csr(data: Array, indices: Array, indptr: Array, W: Array, widths: Array, out: Array) -> None:
    """Overwrite out (n, D) with products of projections of CSR rows; see project_product."""
    X = csr_rows(data, indices, indptr, len(W))
    out[:, widths[0] if len(widths) else 0 :] = 1
    start = 0
    for j, width in enumerate(widths):
        projected = X @ W[:, start : start + width]
        if j == 0:
            out[:, :width] = projected
        else:
            out[:, :width] *= projected
        start += width
