"""Which update goes with which maintenance and loss, and what the others are told."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer import Gaussian, Laplacian
from mercer.core import BUDGET_MAINTENANCE, BUDGET_UPDATES
from mercer.learners.budget.plan import LOSSES_OF_CLASSES, LOSSES_OF_NUMBERS, MAINTENANCE, BudgetPlan


def plan(losses=LOSSES_OF_CLASSES, kernel=None, **params):
    defaults = {
        "budget": 10,
        "loss": None,
        "update": "gradient",
        "maintenance": None,
        "alpha": None,
        "epsilon": 0.1,
        "tolerance": 1e-3,
        "decay": 1.0,
    }
    return BudgetPlan.of("B", SimpleNamespace(**{**defaults, **params}), kernel or Gaussian(gamma=1.0), losses)


@pytest.mark.parametrize("update", BUDGET_UPDATES)
@pytest.mark.parametrize("maintenance", BUDGET_MAINTENANCE)
def test_every_pair_is_taken_or_refused_in_a_sentence(update, maintenance):
    if maintenance in MAINTENANCE[update]:
        assert plan(update=update, maintenance=maintenance).rule[:2] == (update, maintenance)
    else:
        message = rf"B: maintenance='{maintenance}' does not go with update='{update}': .+\. Choose one of \["
        with pytest.raises(ValueError, match=message):
            plan(update=update, maintenance=maintenance)


def test_merging_is_for_the_gaussian_alone():
    assert plan().rule.maintenance == "merge"
    assert plan(kernel=Laplacian(gamma=1.0)).rule.maintenance == "project"
    with pytest.raises(ValueError, match=r"maintenance='merge' needs a Gaussian kernel.*maintenance='project'"):
        plan(kernel=Laplacian(gamma=1.0), maintenance="merge")


BAD = [
    ({"update": "sgd"}, r"update must be one of \['gradient', .*got 'sgd'"),
    ({"maintenance": "forget"}, "maintenance must be one of .*got 'forget'"),
    ({"update": "newton", "loss": "hinge"}, r"loss must be one of \['squared'\] with update='newton'"),
    ({"maintenance": "stochastic", "loss": "squared"}, r"loss must be one of \['hinge', 'logistic'\]"),
    ({"budget": 0}, "budget must be an integer >= 1, got 0"),
    ({"alpha": 0.0}, "alpha must be a finite number > 0, got 0"),
    ({"epsilon": -1.0}, "epsilon must be a finite number >= 0"),
    ({"decay": 1.5}, r"decay must lie in \(0, 1\], got 1.5"),
    ({"decay": 0.0}, "decay must be a finite number > 0"),
    ({"tolerance": -1.0}, "tolerance must be a finite number >= 0"),
]


@pytest.mark.parametrize(("params", "message"), BAD, ids=range(len(BAD)))
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        plan(**params)


def test_numbers_have_no_perceptron():
    with pytest.raises(ValueError, match=r"update must be one of \['gradient', 'passive_aggressive', 'newton'\]"):
        plan(LOSSES_OF_NUMBERS, update="perceptron")


def test_steps():
    steps, shrinks = plan(alpha=0.5).steps(0, np.ones(3))
    np.testing.assert_allclose(steps, 1 / (0.5 * np.arange(1, 4) + 1))
    np.testing.assert_allclose(shrinks, 1 - 0.5 * steps)
    np.testing.assert_allclose(plan(alpha=0.5).steps(2, np.ones(1))[0], steps[2:])
    # with a decay the steps do not become smaller than those at 1 / (1 - decay) rows
    late, shrinks = plan(alpha=0.5, decay=0.9).steps(10**6, np.ones(1))
    assert late[0] == pytest.approx(1 / (0.5 * 10 + 1))
    assert shrinks[0] == pytest.approx(0.9 * (1 - 0.5 * late[0]))
    # a step for a squared loss does not go beyond the least value
    assert plan(loss="squared_hinge").steps(0, np.array([100.0]))[0][0] == pytest.approx(0.01)
