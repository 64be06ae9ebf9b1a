"""
Kernel PCA
==========

No line separates two rings in the plane, but a line does in the first kernel principal components. 300 features give
the result of the exact method, which needs an n x n matrix, up to signs, and up to a rotation if two eigenvalues
are close.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA as ExactKernelPCA

from mercer import Gaussian, KernelPCA

X, y = make_circles(1000, noise=0.05, factor=0.3, random_state=0)
exact = ExactKernelPCA(2, kernel="rbf", gamma=10.0).fit_transform(X)
ours = KernelPCA(
    Gaussian(gamma=10.0), n_components=2, map_components=300, random_state=0
).fit_transform(X)
ours *= np.sign((ours * exact).sum(axis=0))

figure, axes = plt.subplots(1, 3, figsize=(9.0, 3.1))
for ax, rows, title in zip(
    axes, (X, exact, ours), ("rows", "exact kernel PCA", "300 features"), strict=True
):
    ax.scatter(*rows.T, c=np.where(y, "#b45309", "#0b5394"), s=4)
    ax.set_title(title)
plt.show()
