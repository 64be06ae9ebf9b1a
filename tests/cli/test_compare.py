"""compare: every suitable model on the same rows, and a page that is safe to open."""

import html
import json
import re

import numpy as np
import pytest

SMALL = ["-D", "16", "--kernel", "Gaussian(gamma=2.0)", "--rows", "400"]


@pytest.fixture(scope="module")
def compared(run, tmp_path_factory):
    page = tmp_path_factory.mktemp("page") / "page.html"
    done = run("compare", *SMALL, "-D", "64", "--report", page, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout), page.read_text()


def test_exact_linear_and_every_map_of_the_kernel_are_measured(compared):
    results = compared[0]["results"]
    by_model = {}
    for result in results:
        by_model.setdefault(result["model"], []).append(result)
    assert {"linear model", "exact SVM", "fourier", "orthogonal", "fastfood", "tensor sketch", "nystroem"} <= set(
        by_model
    )
    assert [result["n_components"] for result in by_model["orthogonal"]] == [16, 64]
    assert by_model["exact SVM"][0]["score"] > 0.97
    few, many = by_model["nystroem"]
    assert many["kernel_error"] < few["kernel_error"] < 1
    assert "binning" not in by_model  # the Gaussian has no grids


def test_the_page_has_the_numbers_the_plots_and_no_way_out(compared):
    said, page = compared
    for result in said["results"]:
        if result["score"] is not None:
            assert f"{result['score']:.4f}" in page
    assert page.count('class="plot"') == 10
    for sentence in (*said["growth"]["sentences"], *said["other_growths"][0]["sentences"]):
        assert html.escape(sentence) in page
    assert page.index("trains on") < page.index('class="plot"') < page.index("<table")
    assert "default-src 'none'" in html.unescape(page)
    assert not re.search(r"<script|src=|http://(?!www\.w3\.org)|https://|\sstyle=", page)


def test_rows_grow_and_both_machines_are_measured(compared):
    said = compared[0]["growth"]
    for model in ("exact SVM", "mercer"):
        assert [step["n_rows"] for step in said["steps"] if step["model"] == model] == [100, 200, 400]
    assert len(said["sentences"]) == 3


def test_digits_grow_too_where_covertype_is_not_on_the_machine(run, monkeypatch, here):
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(here))
    done = run("compare", *SMALL, "--no-report", "--json")
    (other,) = json.loads(done.stdout)["other_growths"]
    assert "digits" in other["data"]
    assert {step["model"] for step in other["steps"]} == {"exact SVM", "mercer"}


def test_covertype_grows_where_its_file_is_on_the_machine(run, monkeypatch):
    import mercer.datasets
    from mercer.bench import comparison

    asked = []
    rows = comparison.two_rings(2500)[0]
    monkeypatch.setattr(mercer.datasets, "find", lambda info: info.file)
    monkeypatch.setattr(comparison, "named", lambda name, n_rows, seed: asked.append((name, n_rows)) or rows)
    found = comparison.at_hand(300)
    assert asked == [("covtype", 10_300)]
    assert (len(found.y_train), len(found.y_test)) == (300, 2000)


def test_a_plot_and_few_lines_are_printed_and_all_maps_where_asked(run, here, monkeypatch):
    monkeypatch.delenv("MERCER_DATA", raising=False)  # Covertype would take the place of the digits
    done = run("compare", *SMALL, "--no-report")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    text = lines[next(i for i, line in enumerate(lines) if line.endswith("m mercer")) + 1 :]
    assert len(text) <= 10
    for name in ("training time", "mercer trains on 400 rows", "digits", "--all"):
        assert name in done.stdout
    every = run("compare", *SMALL, "--no-report", "--all")
    for name in ("exact SVM", "nystroem", "kernel error"):
        assert name in every.stdout
    assert list(here.iterdir()) == []


def test_a_table_is_compared_with_trees_and_the_tuned_estimator(run, here):
    rng = np.random.RandomState(0)
    lines = [f"{a:.3f},{b:.3f},{int(a * b > 0)}" for a, b in rng.standard_normal((300, 2))]
    (here / "rows.csv").write_text("\n".join(["a,b,y", *lines]))
    done = run("compare", "rows.csv", "-t", "y", "-D", "32", "--no-report", "--json")
    assert done.exit_code == 0, done.stderr
    steps = json.loads(done.stdout)["growth"]["steps"]
    assert {step["model"] for step in steps} == {"exact SVM", "mercer", "tuned mercer", "boosted trees"}
    assert all(0.5 < step["score"] <= 1 for step in steps if step["n_rows"] > 200)


def test_a_small_table_has_no_maps_wider_than_its_rows(run, here):
    rng = np.random.RandomState(0)
    lines = [f"{a:.3f},{b:.3f},{a * b:.3f}" for a, b in rng.standard_normal((400, 2))]
    (here / "rows.csv").write_text("\n".join(["a,b,y", *lines]))
    done = run("compare", "rows.csv", "-t", "y", "--time-limit", "0.1", "--no-report", "--json")
    said = json.loads(done.stdout)
    assert {result["n_components"] for result in said["results"]} - {None} == {128}
    assert said["train_rows"] == 280
    assert said["notes"] == []


def test_a_table_with_hostile_names_is_escaped_in_the_page(run, here):
    rng = np.random.RandomState(0)
    lines = [f"{a:.3f},{b:.3f},{int(a * b > 0)}" for a, b in rng.standard_normal((120, 2))]
    name = "<img src=x>.csv"
    (here / name).write_text("\n".join(["a,b,y", *lines]))
    done = run("compare", name, "-t", "y", "-D", "8", "--kernel", "Polynomial(2)", "--report", "page.html", "--json")
    assert done.exit_code == 0, done.stderr
    page = (here / "page.html").read_text()
    assert "<img" not in page
    assert "&lt;img src=x&gt;.csv" in page


def test_regression_compares_by_r2(run, here):
    x = np.random.RandomState(0).rand(200)
    np.savez("rows.npz", X=np.column_stack([x, x**2]), y=np.sin(6 * x))
    done = run("compare", "rows.npz", "-t", "y", "-D", "32", "--kernel", "Gaussian()", "--no-report", "--json")
    said = json.loads(done.stdout)
    assert said["task"] == "regression"
    best = max(result["score"] for result in said["results"] if result["model"] == "nystroem")
    assert best > 0.95


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--kernel", "Nonsense()"], 2, "there is no kernel 'Nonsense'"),
        (["-t", "y"], 2, "--target names a column of DATA, and no DATA is given"),
        (["rows.csv"], 3, "there is no such file"),
        (["--report", "no/page.html"], 5, "there is no folder 'no'"),
        (["-D", "0"], 2, "Invalid value"),
    ],
)
def test_bad_input(run, here, arguments, code, message):
    done = run("compare", *arguments)
    assert (done.exit_code, message in done.stderr) == (code, True), done.stderr
    assert list(here.iterdir()) == []
