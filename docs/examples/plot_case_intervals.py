"""
Case study: a table of numbers, with intervals
==============================================

A regression from the table to a checked interval: fit, look at what was found, ask for intervals, and check that they
hold what they promise on rows that the model has not seen. Download this page as a notebook at its end.
"""

# %%
# The table
# ---------
# 442 patients, ten measurements each; the target is the progress of a disease after a year. A quarter is held out.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from mercer import TunedRegressor, plots

table, target = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X, X_new, y, y_new = train_test_split(table, target, random_state=0)
print(X.describe().loc[["mean", "std"]].round(1).T)

# %%
# The model
# ---------
# One line; scaling, metric, kernel and penalty are chosen by exact leave-one-out errors. ``loo_score_`` is what to
# expect on new rows, and needs no validation set.
model = TunedRegressor(random_state=0).fit(X, y)
print(
    f"R² by leave-one-out {model.loo_score_:.3f}, on new rows {model.score(X_new, y_new):.3f}"
)

# %%
# What was found
# --------------
# The share of each column in the squared gradients of the prediction.
plots.importances(model)
plt.show()

# %%
# Intervals
# ---------
# ``predict_interval`` uses leave-one-out residuals. Intervals are wide where residuals of similar rows are large.
low, high = model.predict_interval(X_new, coverage=0.9).T
covered = (low <= y_new) & (y_new <= high)
order = np.argsort(model.predict(X_new))
figure, axes = plt.subplots()
axes.fill_between(
    np.arange(len(order)),
    low[order],
    high[order],
    alpha=0.25,
    color=plots.MODEL,
    linewidth=0,
    label="interval of 90 %",
)
axes.plot(model.predict(X_new)[order], color=plots.MODEL, label="prediction")
axes.plot(
    y_new.to_numpy()[order], ".", color=plots.NEW_ROWS, label="target of a new row"
)
axes.set(xlabel="new rows, by their prediction", ylabel="progress of the disease")
axes.legend()
plt.show()

# %%
# Do they hold what they promise?
# -------------------------------
# The share of covered rows is random: with n rows and coverage c it has the standard error sqrt(c (1 - c) / n).
n = len(y_new)
for coverage in (0.5, 0.8, 0.9):
    low, high = model.predict_interval(X_new, coverage=coverage).T
    share = np.mean((low <= y_new) & (y_new <= high))
    error = np.sqrt(coverage * (1 - coverage) / n)
    print(f"asked {coverage:.2f}, covered {share:.2f} of {n} rows, +- {2 * error:.2f}")

# %%
# Where is it wrong?
# ------------------
# Residuals of the new rows against the prediction: no trend, and a spread that grows with the prediction.
plots.residuals(model, X_new, y_new)
plt.show()
