"""Experts of several decays: the contract, the bound of fixed share, cuts, files, interruptions, and drift."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import FOGDClassifier, Gaussian, NOGDClassifier, as_blocks
from mercer.datasets import abrupt_drift, rotating_drift
from mercer.learners import BudgetClassifier, TrackingClassifier
from mercer.learners.online.tracking import losses_in_unit, tracked

KERNEL = Gaussian(gamma=1.0)
EXPERTS = [
    FOGDClassifier(KERNEL, n_components=40, random_state=0),
    NOGDClassifier(KERNEL, n_components=20, update="gradient", random_state=0),
    BudgetClassifier(KERNEL, budget=20, random_state=0),
]


@parametrize_with_checks(
    [
        TrackingClassifier(decays=(1.0, 0.99)),
        TrackingClassifier(BudgetClassifier(budget=20), decays=(1.0, 0.99)),
    ]
)
def test_scikit_learn_s_contract(estimator, check):
    check(estimator)


def three_classes(n=600):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] > 0.5, "right", np.where(X[:, 1] > 0, "up", "down"))


@pytest.mark.parametrize("expert", EXPERTS, ids=lambda expert: type(expert).__name__)
def test_cuts_and_files_in_mid_stream_leave_the_bits(expert, tmp_path):
    X, y = three_classes()
    whole, parts = TrackingClassifier(expert).fit(X[:512], y[:512]), TrackingClassifier(expert)
    if not isinstance(expert, BudgetClassifier):  # features of blocks are products of other sizes
        parts.partial_fit(X[:512], y[:512], classes=np.unique(y))
    for start, stop in [(0, 128), (128, 384), (384, 512)] if isinstance(expert, BudgetClassifier) else []:
        parts.partial_fit(X[start:stop], y[start:stop], classes=np.unique(y))
    mercer.save(parts, tmp_path / "model")
    for model in (whole, parts, loaded := mercer.load(tmp_path / "model")):
        model.partial_fit(X[512:], y[512:])
    for name in ("weights_", "n_seen_", "n_mistakes_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
        np.testing.assert_array_equal(getattr(loaded, name), getattr(whole, name))
    np.testing.assert_array_equal(loaded.decision_function(X), whole.decision_function(X))
    assert not any("listener" in expert.__dict__ for expert in whole.experts_)


def test_one_expert_is_the_learner_itself():
    X, y = three_classes()
    for expert in EXPERTS:
        alone, tracking = clone(expert).set_params(decay=0.99).fit(X, y), TrackingClassifier(expert, decays=(0.99,))
        tracking.fit(X, y)
        expected = np.clip(alone.decision_function(X), -1, 1)
        np.testing.assert_allclose(tracking.decision_function(X), expected, rtol=1e-6)
    rows = as_blocks(X, y)
    assert TrackingClassifier(EXPERTS[0]).fit(rows).n_seen_ == len(X)
    csr = TrackingClassifier(EXPERTS[0]).fit(sparse.csr_array(X), y)
    assert csr.score(sparse.csr_array(X), y) > 0.7


@pytest.mark.parametrize("k", [1, 3])
def test_fixed_share_keeps_its_bound(k):
    """Against the best expert of each regime, which changes s times; the even mean of the experts breaks the bound."""
    rng, n, share, N, s = np.random.RandomState(0), 6000, 1e-3, 3, 2
    codes = rng.randint(max(k, 2), size=n)
    wanted = np.where(codes == 1, 1.0, -1.0)[:, None] if k == 1 else np.where(np.arange(k) == codes[:, None], 1.0, -1.0)
    regime = np.arange(n) * (s + 1) // n
    scores = np.stack([np.where((regime == i)[:, None], wanted, -wanted) for i in range(N)])
    losses = losses_in_unit(scores, codes)
    assert losses.min() == 0
    assert losses.max() == 1
    rate = TrackingClassifier(decays=(1.0, 0.9, 0.8), share=share)._rate()
    weights, _ = tracked(np.full(N, 1 / N), losses, rate, share)
    mixed = losses_in_unit(np.einsum("tn,ntk->tk", weights, scores)[np.newaxis], codes).sum()
    best = losses.min(axis=0).sum()
    price = np.log(N) + s * np.log(N / share) - (n - 1 - s) * np.log1p(-share)
    bound = best + price / rate + rate * n / 8
    assert mixed <= bound < losses_in_unit(scores.mean(axis=0)[np.newaxis], codes).sum()


@pytest.mark.parametrize("make", [abrupt_drift, rotating_drift])
def test_the_mixture_is_nearly_as_good_as_the_best_decay_in_hindsight(make):
    stream = make(6000, random_state=1)
    expert = EXPERTS[0]
    mistakes = [
        clone(expert).set_params(decay=decay).fit(stream.X, stream.y).n_mistakes_
        for decay in (1.0, 0.9999, 0.999, 0.99)
    ]
    tracking = TrackingClassifier(expert).fit(stream.X, stream.y)
    assert min(mistakes) < 0.7 * mistakes[0]
    assert tracking.n_mistakes_ < min(mistakes) + 0.05 * len(stream.y)


def test_an_interruption_keeps_whole_blocks(monkeypatch):
    X, y = three_classes(5000)
    model = TrackingClassifier(EXPERTS[0]).partial_fit(X[:400], y[:400], classes=np.unique(y))
    calls, inner = [], TrackingClassifier._after

    def interrupted(self, block, labels, classes):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return inner(self, block, labels, classes)

    monkeypatch.setattr(TrackingClassifier, "_after", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    assert model.n_seen_ == 400 + 4096
    assert all(expert.n_seen_ == model.n_seen_ for expert in model.experts_)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"decays": ()}, "decays must be a sequence of at least one number"),
        ({"decays": (1.5,)}, r"decays must lie in \(0, 1\], got 1.5"),
        ({"share": 1.0}, r"share must lie in \(0, 1\), got 1.0"),
        ({"estimator": FOGDClassifier(new_classes="learn")}, "new_classes='error'"),
    ],
)
def test_bad_parameters(params, message):
    X, y = three_classes(50)
    with pytest.raises(ValueError, match=message):
        TrackingClassifier(**params).fit(X, y)


def test_faults_of_use():
    X, y = three_classes(50)
    with pytest.raises(TypeError, match="estimator must be a FOGDClassifier"):
        TrackingClassifier(Gaussian()).fit(X, y)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        TrackingClassifier().partial_fit(X, y)
    model = TrackingClassifier(EXPERTS[0]).fit(X, y)
    before = model.n_seen_, model.weights_.copy()
    with pytest.raises(ValueError, match="y holds 'left' at row 50 of the stream"):
        model.partial_fit(X, ["left"] * 50)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((3, 2), np.nan), y[:3])
    assert model.n_seen_ == before[0]
    np.testing.assert_array_equal(model.weights_, before[1])
    with pytest.raises(ValueError, match="decays must stay"):
        model.set_params(decays=(1.0,)).partial_fit(X, y)
