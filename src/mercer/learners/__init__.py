"""Learners: scikit-learn estimators that send rows through a feature map and solve a linear problem.

Each takes arrays, or ``Blocks`` of rows too many for memory, and gives the same answer for both.
"""

from mercer.learners.budget.classifier import BudgetClassifier
from mercer.learners.budget.regressor import BudgetRegressor
from mercer.learners.cca import KernelCCA
from mercer.learners.kitchen_sinks import KitchenSinksClassifier, KitchenSinksRegressor
from mercer.learners.kmeans import KernelKMeans
from mercer.learners.local.preparation import ColumnPreparation
from mercer.learners.local.report import TuningReport
from mercer.learners.local.ridge import LocalKernelRidge, LocalKernelRidgeClassifier
from mercer.learners.local.tuned import TunedClassifier, TunedRegressor
from mercer.learners.logistic import KernelLogisticRegression
from mercer.learners.one_class import KernelOneClassSVM
from mercer.learners.online.fogd import FOGDClassifier, FOGDRegressor
from mercer.learners.online.nogd import NOGDClassifier, NOGDRegressor
from mercer.learners.online.tracking import TrackingClassifier
from mercer.learners.pca import KernelPCA
from mercer.learners.ridge import KernelRidge, KernelRidgeClassifier
from mercer.learners.svm import KernelSVC, KernelSVR
from mercer.learners.table_model import TableModel

__all__ = [
    "BudgetClassifier",
    "BudgetRegressor",
    "ColumnPreparation",
    "FOGDClassifier",
    "FOGDRegressor",
    "KernelCCA",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelOneClassSVM",
    "KernelPCA",
    "KernelRidge",
    "KernelRidgeClassifier",
    "KernelSVC",
    "KernelSVR",
    "KitchenSinksClassifier",
    "KitchenSinksRegressor",
    "LocalKernelRidge",
    "LocalKernelRidgeClassifier",
    "NOGDClassifier",
    "NOGDRegressor",
    "TableModel",
    "TrackingClassifier",
    "TunedClassifier",
    "TunedRegressor",
    "TuningReport",
]
