r"""
Error against the number of features
====================================

The error of random maps falls as :math:`1/\sqrt{D}`, and ``variance`` predicts the error, by a closed form for these
maps. Dots are measured errors, the root mean square over ten draws; lines are predictions.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import FourierFeatures, Gaussian, Polynomial, RandomMaclaurin, TensorSketch

X = load_digits().data[:200]
X /= np.linalg.norm(X, axis=1, keepdims=True)
widths = 2 ** np.arange(6, 12)
maps = {
    "Random Maclaurin, degree 2": RandomMaclaurin(Polynomial(2, coef0=1.0)),
    "Tensor Sketch, degree 2": TensorSketch(Polynomial(2, coef0=1.0)),
    "Fourier pairs, Gaussian": FourierFeatures(Gaussian(gamma=2.0)),
}

figure, axes = plt.subplots()
for label, z in maps.items():
    measured, predicted = [], []
    for width in widths:
        squares = []
        for seed in range(10):
            Z = z.set_params(n_components=int(width), random_state=seed).fit_transform(
                X
            )
            K = z.kernel_(X)
            squares.append(np.sum((Z @ Z.T - K) ** 2))
        measured.append(np.sqrt(np.mean(squares)) / np.linalg.norm(K))
        predicted.append(np.sqrt(z.variance(X).sum()) / np.linalg.norm(K))
    (line,) = axes.loglog(widths, predicted, label=label)
    axes.loglog(widths, measured, "o", color=line.get_color())
axes.set(
    xlabel="features D",
    ylabel="relative error of the Gram matrix",
    title="Measured (dots) and predicted (lines)",
)
axes.legend()
plt.show()
