"""Kernel machines at linear cost, through explicit feature maps.

Names load when they are first used: ``import mercer`` alone imports neither SciPy nor scikit-learn. The stub
``__init__.pyi`` is the one list of public names and of the modules they come from; type checkers read it too.
"""

import os
from importlib import import_module


def _modules_of_names() -> dict[str, str]:
    """Return the module of each name of the stub, whose lines read ``from module import name as name``."""
    modules = {}
    with open(os.path.join(os.path.dirname(__file__), "__init__.pyi"), encoding="utf-8") as stub:
        for line in stub:
            match line.split():
                case ["from", module, "import", name, "as", _]:
                    modules[name] = module
    return modules


_MODULE_OF = _modules_of_names()

# Names of scikit-learn, by what takes their place here.
_SPELLED = {
    "AdditiveChi2Sampler": "AdditiveFeatures(Chi2())",
    "LogisticRegression": "KernelLogisticRegression()",
    "OneClassSVM": "KernelOneClassSVM()",
    "PolynomialCountSketch": "TensorSketch(Polynomial(degree, gamma=..., coef0=...))",
    "RBF": "Gaussian(gamma=...)",
    "RBFSampler": "FourierFeatures(Gaussian(gamma=...))",
    "Ridge": "KernelRidge()",
    "RidgeClassifier": "KernelRidgeClassifier()",
    "SVC": "KernelSVC()",
    "SVR": "KernelSVR()",
}

__all__ = ["__version__", *sorted(_MODULE_OF)]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("mercer")
    module = _MODULE_OF.get(name)
    if module is None:
        instead = f". Take mercer.{_SPELLED[name]}" if name in _SPELLED else ""
        raise AttributeError(f"module 'mercer' has no attribute {name!r}{instead}")
    value = import_module(f"mercer.{name}") if module == "mercer" else getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
