"""
Where landmarks fall
====================

The error of Nyström's method depends on its landmarks. k-means spreads them by density, randomly pivoted Cholesky
prefers rows with a large residual of the kernel, greedy pivoting prefers outliers. Errors are those of the Gram matrix
at 30 landmarks.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import Gaussian, Nystroem

rng = np.random.RandomState(0)
X = np.vstack(
    [
        rng.normal(0, 0.4, (1500, 2)),
        rng.normal((3, 1), 0.9, (400, 2)),
        rng.uniform(-3, 6, (100, 2)),
    ]
)
kernel = Gaussian(gamma=0.5)
K = kernel(X)
figure, axes = plt.subplots(1, 4, figsize=(9.6, 3.0), sharex=True, sharey=True)
for ax, landmarks in zip(
    axes, ("uniform", "kmeans", "rpcholesky", "greedy"), strict=True
):
    z = Nystroem(kernel, n_components=30, landmarks=landmarks, random_state=0).fit(X)
    Z = z.transform(X)
    ax.scatter(*X.T, s=2, color="#9ca3af")
    ax.scatter(*z.landmarks_.T, s=14, color="#b45309")
    ax.set(
        title=f"{landmarks}\nerror {np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K):.4f}",
        xticks=[],
        yticks=[],
    )
    ax.grid(visible=False)
plt.show()
