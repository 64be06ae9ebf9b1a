"""
A boundary, with few and with many features
===========================================

The exact kernel SVM compared with ``KernelSVC`` on 10, 30 and 300 features. A few features already show roughly where
the boundary is; with a few hundred features, the boundary is that of the exact machine.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from mercer import Gaussian, KernelSVC

X, y = make_moons(600, noise=0.2, random_state=0)
models = {"exact SVM": SVC(gamma=2.0).fit(X, y)}
for n_components in (10, 30, 300):
    models[f"{n_components} features"] = KernelSVC(
        Gaussian(gamma=2.0), n_components=n_components, loss="hinge", random_state=0
    ).fit(X, y)

xx, yy = np.meshgrid(np.linspace(-1.8, 2.8, 150), np.linspace(-1.4, 1.9, 120))
grid = np.column_stack([xx.ravel(), yy.ravel()])
figure, axes = plt.subplots(1, 4, figsize=(9.6, 2.9), sharey=True)
for ax, (title, model) in zip(axes, models.items(), strict=True):
    score = model.decision_function(grid).reshape(xx.shape)
    ax.contourf(
        xx,
        yy,
        score,
        levels=[-np.inf, 0, np.inf],
        colors=["#0b5394", "#b45309"],
        alpha=0.2,
    )
    ax.contour(xx, yy, score, levels=[0], colors="black", linewidths=1)
    ax.scatter(*X.T, c=np.where(y, "#b45309", "#0b5394"), s=4)
    ax.set(title=title, xticks=[], yticks=[])
    ax.grid(visible=False)
plt.show()
