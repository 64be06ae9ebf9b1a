"""Try an installed mercer with nothing but its own dependencies: compiled core, map, learner, model file."""

import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import mercer
from mercer import core

if not core.COMPILED:
    sys.exit("smoke test: the compiled core is missing.")
X, y = load_digits(return_X_y=True)
X = X / 16
z = mercer.TensorSketch(mercer.Polynomial(2), n_components=256, random_state=0).fit(X)
model = mercer.KernelSVC(mercer.Gaussian(gamma=0.05), n_components=512, random_state=0).fit(X[:1200], y[:1200])
score = model.score(X[1200:], y[1200:])
path = Path(tempfile.mkdtemp()) / "digits.mercer"
mercer.save(model, path)
checks = {
    "the features are finite": bool(np.isfinite(z.transform(X)).all()),
    "the accuracy on digits is above 0.9": score > 0.9,
    "a model file predicts as the model does": bool((mercer.load(path).predict(X) == model.predict(X)).all()),
}
for name, holds in checks.items():
    print(f"{'ok' if holds else 'FAILED':7}{name}")
print(f"mercer {mercer.__version__}, {core.simd_level()}, accuracy {score:.3f}")
sys.exit(not all(checks.values()))
