"""Kernels of parts by a double loop over parts, and strategies for random objects."""

from collections import Counter

import numpy as np
from hypothesis import strategies as st

COUNTS = ("product", "presence", "intersection")


def compared(left, right, counts="product"):
    """Return the kernel of two lists of parts, each a hashable thing."""
    a, b = Counter(left), Counter(right)
    rules = {"product": lambda p, q: p * q, "presence": lambda p, q: 1, "intersection": min}
    return float(sum(rules[counts](a[part], b[part]) for part in a if part in b))


def gram(objects, parts, counts="product"):
    listed = [parts(one) for one in objects]
    return np.array([[compared(x, y, counts) for y in listed] for x in listed])


strings = st.lists(st.text("abN", max_size=8), min_size=1, max_size=4)


@st.composite
def graph_lists(draw):
    graphs = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(0, 5))
        nodes = st.integers(0, max(n - 1, 0))
        edges = sorted({tuple(sorted(e)) for e in draw(st.lists(st.tuples(nodes, nodes), max_size=7)) if e[0] != e[1]})
        graphs.append((edges if n else [], draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))))
    return graphs


@st.composite
def tree_lists(draw):
    trees = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(1, 7))
        labels = draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
        trees.append((labels, [-1, *(draw(st.integers(0, v - 1)) for v in range(1, n))]))
    return trees


def neighbours(graph):
    edges, labels = graph
    return [[b for a, b in edges if a == v] + [a for a, b in edges if b == v] for v in range(len(labels))]


def children(tree):
    labels, parents = tree
    return [[c for c in range(len(labels)) if parents[c] == v] for v in range(len(labels))]
