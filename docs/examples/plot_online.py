"""
Online learning
===============

Every row is predicted before it is learned, so the share of mistakes so far is an error on new rows. Newton steps have
no step size to tune; the step sizes of the other two methods are the best of three.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import FOGDClassifier, Gaussian
from mercer.datasets import rings

data = rings(8000, n_features=3, flip=0.05, random_state=0)
pieces = np.array_split(np.arange(8000), 80)


def mistakes(**options):
    """Return the share of mistakes after each piece of the stream."""
    model = FOGDClassifier(
        Gaussian(gamma=0.5), n_components=100, random_state=0, **options
    )
    shares = []
    for rows in pieces:
        model.partial_fit(data.X[rows], data.y[rows], classes=np.unique(data.y))
        shares.append(model.n_mistakes_ / model.n_seen_)
    return shares


figure, axes = plt.subplots()
seen = np.cumsum([len(rows) for rows in pieces])
for update in ("gradient", "adagrad"):
    axes.plot(
        seen,
        min(
            (mistakes(update=update, step=s) for s in (0.1, 1.0, 5.0)),
            key=lambda m: m[-1],
        ),
        label=update,
    )
axes.plot(seen, mistakes(update="newton"), label="newton")
axes.axhline(1 - data.best, color="#9d174d", linestyle=":", label="best possible")
axes.set(xlabel="rows", ylabel="mistakes so far / rows so far", ylim=(0, 0.3))
axes.legend()
plt.show()
