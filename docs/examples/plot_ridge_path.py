"""
The penalty, without cross-validation
=====================================

``alpha="loo"`` scores every penalty by the exact leave-one-out error, from one decomposition and one more pass over the
rows. The chosen penalty is compared with the error on new rows (dashed), which the fit has not seen.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import Gaussian, KernelRidge
from mercer.datasets import kernel_regression

data = kernel_regression(3000, 4, noise=0.5, random_state=0)
train, test = slice(0, 1000), slice(1000, None)
model = KernelRidge(
    Gaussian(gamma=0.1),
    n_components=300,
    alpha="loo",
    alphas=np.logspace(-6, 3, 40),
    random_state=0,
)
model.fit(data.X[train], data.y[train])

Z = model.feature_map_.transform(data.X)
mean, centre = Z[train].mean(axis=0), data.y[train].mean()
paths = ((Z[test] - mean) @ coef[0] + centre for coef in model.coef_path_)
on_new_rows = [np.mean((path - data.y[test]) ** 2) for path in paths]

figure, axes = plt.subplots()
axes.loglog(model.alphas_, model.scores_, label="leave-one-out, from the fit")
axes.loglog(model.alphas_, on_new_rows, "--", label="2,000 new rows")
axes.axvline(
    model.alpha_, color="#374151", linewidth=1, label=f"chosen: {model.alpha_:.2g}"
)
axes.axhline(data.best, color="#9d174d", linestyle=":", label="best possible")
axes.set(xlabel="alpha", ylabel="mean squared error")
axes.legend()
plt.show()
