r"""
Strings and graphs without a Gram matrix
========================================

Kernels on strings and graphs count common parts. Their features are hashed to sparse columns. On the left, the error of
hashed features falls like :math:`1/\sqrt{D}` in the number of columns. On the right, the first two principal
components of sequences of three families, found from the features alone.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA, Normalized
from mercer.features import PartFeatures
from mercer.kernels import GappedKmers, Spectrum
from mercer.structures import Strings

rng = np.random.RandomState(0)
motifs = ("TGACTCAT", "CACGTGAC", "GGGCGGGG")


def sequence(family):
    """Return random letters with the motif of a family at two places."""
    letters = rng.choice(list("ACGT"), size=80)
    for start in (10, 40):
        letters[start : start + 8] = list(motifs[family])
    return "".join(letters)


y = np.arange(300) % 3
X = Strings([sequence(family) for family in y])

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6))
kernel = Normalized(Spectrum(5, least=3, alphabet="ACGT"))
K = kernel(X)
widths = 2 ** np.arange(6, 19, 2)
errors = []
for width in widths:
    squares = []
    for seed in range(8):
        hashed = PartFeatures(kernel, n_components=int(width), random_state=seed)
        Z = hashed.fit_transform(X)
        G = Z @ Z.T
        G = G if isinstance(G, np.ndarray) else G.toarray()
        squares.append(np.mean((G - K) ** 2))
    errors.append(np.sqrt(np.mean(squares)))
left.loglog(widths, errors, "o-", base=2)
left.set(xlabel="columns D", ylabel="root mean square error of k(x, y)")

# %%
gapped = Normalized(GappedKmers(6, 1, alphabet="ACGT"))
pca = KernelPCA(gapped, n_components=2, map_components=4096, random_state=0)
scores = pca.fit_transform(X)
for family, motif in enumerate(motifs):
    right.scatter(*scores[y == family].T, s=8, label=motif)
right.legend(title="motif")
right.set(xlabel="first component", ylabel="second component")
plt.show()
