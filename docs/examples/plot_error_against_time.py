"""
Error against time
==================

The time of a map matters as much as its error at a given width. Time is the best of three times to map 1,797 rows of
digits; the error is that of the Gram matrix of 500 of these rows, the mean of three draws. Lower and further left is
better.
"""

# %%
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import Fastfood, FourierFeatures, Gaussian, Nystroem, OrthogonalFeatures

X = (load_digits().data / 16).astype(np.float32)
kernel = Gaussian(gamma="median").resolve(X)
sample = X[:500]
K = kernel(sample)


def measure(z):
    """Return the time of a transform and the relative error of the kernel."""
    times, errors = [], []
    for seed in range(3):
        z.set_params(random_state=seed).fit(X)
        start = perf_counter()
        Z = z.transform(X)
        times.append(perf_counter() - start)
        errors.append(np.linalg.norm(Z[:500] @ Z[:500].T - K) / np.linalg.norm(K))
    return 1000 * min(times), np.mean(errors)


figure, axes = plt.subplots()
for marker, z in zip(
    "osD^", (FourierFeatures, Fastfood, OrthogonalFeatures, Nystroem), strict=True
):
    widths = (64, 256, 1024) if z is Nystroem else (64, 256, 1024, 4096)
    points = np.array([measure(z(kernel, n_components=width)) for width in widths])
    axes.loglog(*points.T, marker=marker, label=z.__name__)
    for width, (milliseconds, error) in zip(widths, points, strict=True):
        axes.annotate(
            str(width),
            (milliseconds, error),
            xytext=(4, 4),
            textcoords="offset points",
            fontsize=8,
        )
axes.set(
    xlabel="milliseconds to map 1,797 rows", ylabel="relative error of the Gram matrix"
)
axes.set_title("Digits, Gaussian kernel; the numbers are the features D")
axes.legend()
plt.show()
