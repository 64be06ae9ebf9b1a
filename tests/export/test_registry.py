"""What cannot be written is refused in words."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mercer import Gaussian, Laplacian, LinearFeatures, RandomBinning
from mercer.export import ExportError
from mercer.features import InducedFeatures, SeededBlocks


def test_a_missing_operator_is_named_with_what_to_use_instead(run, diabetes):
    X = diabetes[0]
    with pytest.raises(ExportError, match=r"RandomBinning .* hashes cells .* Use FourierFeatures"):
        run(RandomBinning(Laplacian(), random_state=0).fit(X), X)
    with pytest.raises(ExportError, match=r"SeededBlocks .* drawn from a seed .* Use FourierFeatures"):
        run(SeededBlocks(random_state=0).fit(X), X)
    with pytest.raises(ExportError, match=r"InducedFeatures .* Use Nystroem"):
        run(InducedFeatures(Gaussian(gamma=1.0), LinearFeatures(), n_components=8, random_state=0).fit(X), X)


def test_other_estimators_are_refused_with_the_list_of_classes(run, diabetes):
    with pytest.raises(ExportError, match=r"Ridge cannot .* Classes with ONNX: .*KernelPCA"):
        run(Ridge().fit(*diabetes), diabetes[0])


def test_subclasses_are_written_as_their_nearest_ancestor(run, close, diabetes):
    from mercer import KernelRidge

    class Mine(KernelRidge):
        pass

    X, y = diabetes
    model = Mine(random_state=0).fit(X, y)
    close(run(model, X)["prediction"], np.asarray(model.predict(X)))
