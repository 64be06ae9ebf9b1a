"""A learner on a table: which one is fitted, rows held out, columns matched by name, model files, and refusals."""

import numpy as np
import pytest

from mercer import KernelLogisticRegression, KernelRidge, KernelSVC, load, save
from mercer.data import TableError, open_source
from mercer.learners.table_model import TableModel

COLOURS = np.array(["red", "green", "blue"])


@pytest.fixture
def table(rng):
    x, colour = rng.rand(400), rng.randint(3, size=400)
    return {"x": x, "colour": COLOURS[colour], "size": 2 * x + colour, "kind": np.where(x + colour > 1.5, "yes", "no")}


@pytest.fixture
def write(tmp_path):
    def written(columns, without=None, name="rows.csv"):
        columns, path = {title: column for title, column in columns.items() if title != without}, tmp_path / name
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        path.write_text("\n".join(lines) + "\n")
        return open_source(str(path))

    return written


def _model(**options):
    return TableModel(KernelSVC(C=10, random_state=0), KernelRidge(alpha=1e-3, random_state=0), **options)


def test_the_target_decides_between_classification_and_regression(table, write):
    classified = _model(test_fraction=0.25).fit(write(table), "kind", ignore=("size",))
    assert (classified.task_, classified.target_) == ("classification", "kind")
    assert classified.classes_.tolist() == ["no", "yes"]
    fitted = _model(test_fraction=0.25).fit(write(table, "kind"), "size")
    assert fitted.task_ == "regression"
    for model in (classified, fitted):
        assert model.n_train_ + model.n_test_ == 400
        assert 50 < model.n_test_ < 150  # Binomial(400, 1/4), sd 8.7: false alarm below 1e-7
        assert model.score_ > 0.9


def test_columns_are_matched_by_name_and_the_file_holds_all(table, write, tmp_path):
    model = _model().fit(write(table, "kind"), "size")
    assert (model.n_train_, model.n_test_, model.score_) == (400, 0, None)
    expected = np.concatenate(list(model.predict(write(table, "kind"))))
    np.testing.assert_allclose(expected, table["size"], atol=0.1)
    save(model, tmp_path / "model.mercer")
    turned = write({name: table[name] for name in ("colour", "x")}, name="turned.csv")
    np.testing.assert_array_equal(np.concatenate(list(load(tmp_path / "model.mercer").predict(turned))), expected)


@pytest.mark.parametrize("learner", [KernelSVC(random_state=0), KernelLogisticRegression(random_state=0)])
def test_scores_have_a_column_for_each_class(table, write, learner):
    model = TableModel(learner).fit(write(table, "size"), "kind")
    (predicted, scores), *more = model.predict_scores(write(table, "size"))
    assert not more
    assert scores.shape == (400, 2)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], predicted)
    assert next(iter(model.predict_scores(write(table, "size"), scores=False)))[1] is None


def test_features_of_rows(table, write):
    model = _model().fit(write(table, "kind"), "size")
    (X,), (Z,) = model.rows(write(table, "kind")), model.transform(write(table, "kind"))
    assert X.shape == (400, 4)
    np.testing.assert_array_equal(Z, model.learner_.feature_map_.transform(X))


def test_what_does_not_fit_is_refused(table, write):
    with pytest.raises(TableError, match="which column is the target"):
        _model().fit(write(table))
    with pytest.raises(ValueError, match="TableModel: the task is regression, and no learner is given for it"):
        TableModel(KernelSVC()).fit(write(table), "size")
    with pytest.raises(ValueError, match="TableModel: KernelRidge does not do classification"):
        TableModel(KernelRidge()).fit(write(table), "kind")
