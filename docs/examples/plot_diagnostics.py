"""
Looking at a model
==================

``mercer.plots`` draws what one asks of a fitted model first. Each function takes axes, or makes them, and returns them.
Blue is the model on its training rows, orange is new rows, grey is a reference, other colours are maps.
"""

# %%
# Would more rows help?
# ---------------------
# The score on new rows still rises where more rows help.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.preprocessing import scale

from mercer import (
    Gaussian,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    LocalKernelRidge,
    TunedRegressor,
    plots,
)

diabetes = load_diabetes()
X, y = scale(diabetes.data), diabetes.target
plots.learning_curve(KernelRidge(random_state=0), X, y)
plt.show()

# %%
# How many features?
# ------------------
# The error of the Gram matrix on all rows, from a sample of pairs, with its interval.
pixels = load_digits().data / 16
plots.error_against_components(
    Gaussian(), pixels, methods=("auto", "fourier", "nystroem")
)
plt.show()

# %%
# Which penalty?
# --------------
# The leave-one-out error of every penalty that the fit has tried.
plots.alpha_path(KernelRidge(random_state=0).fit(X, y))
plt.show()

# %%
# How quickly do the eigenvalues fall?
# ------------------------------------
plots.spectrum(
    KernelPCA(n_components=60, map_components=300, random_state=0).fit(pixels)
)
plt.show()

# %%
# Is the noise the same everywhere?
# ---------------------------------
# Leave-one-out residuals of the training rows: no row has judged itself.
plots.residuals(LocalKernelRidge(random_state=0).fit(X, y), None, y)
plt.show()

# %%
# Are probabilities right?
# ------------------------
# Points above the dashed line: the model is right more often than it says.
cancer = load_breast_cancer()
rows = scale(cancer.data)
model = KernelLogisticRegression(random_state=0).fit(rows[:280], cancer.target[:280])
plots.calibration(model, rows[280:], cancer.target[280:], n_bins=6)
plt.show()

# %%
# Which columns matter?
# ---------------------
tuned = TunedRegressor(random_state=0).fit(X, y)
axes = plots.importances(tuned, names=diabetes.feature_names)
print("most important:", diabetes.feature_names[np.argmax(tuned.feature_importances_)])
plt.show()
