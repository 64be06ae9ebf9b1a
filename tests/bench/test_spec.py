"""Papers as folders: grids of cells, and faults named by file."""

import subprocess
import sys

import pytest

from mercer import bench
from mercer.bench.spec import Cell, includes, load_paper


def test_cells_are_the_product_of_the_grid_and_the_quick_one_is_smaller(paper):
    experiment = bench.find_paper("author_2020").experiment("errors")
    assert [tuple(cell.params.values()) for cell in experiment.cells(quick=False)] == [
        ("good", 10),
        ("good", 100),
        ("bad", 10),
        ("bad", 100),
    ]
    assert len(experiment.cells(quick=True)) == 2


def test_a_cell_s_key_depends_on_everything_the_result_does():
    cells = [
        Cell("a", {"D": 1}, {}),
        Cell("a", {"D": 2}, {}),
        Cell("a", {"D": 1}, {"runs": 2}),
        Cell("b", {"D": 1}, {}),
        Cell("a", {"D": 1}, {}, version=2),
    ]
    assert len({cell.key for cell in cells}) == len(cells)


def test_a_hostile_parameter_cannot_leave_the_folder():
    key = Cell("a", {"data": "../../etc/passwd\x00<x>"}, {}).key
    assert "/" not in key
    assert ".." not in key.split("-")[0]


def test_a_list_of_values_accepts_each():
    assert includes({"D": 1, "map": "a"}, {"D": [1, 2]})
    assert not includes({"D": 3}, {"D": [1, 2]})
    assert not includes({"D": 3}, {"map": "a"})


def test_an_unknown_paper_shows_the_list(paper):
    with pytest.raises(bench.BenchError, match=r"'author_202' is not known. Did you mean 'author_2020'\? There are:"):
        bench.find_paper("author_202")


def test_an_unknown_table_shows_the_list(paper):
    with pytest.raises(bench.BenchError, match=r"'eror' is not known. Did you mean 'errors'.*errors, other"):
        bench.run("author_2020", tables=["eror"])


def test_a_table_must_be_in_a_list(paper):
    with pytest.raises(bench.BenchError, match=r"Write \['errors'\]"):
        bench.run("author_2020", tables="errors")


def test_a_missing_folder_of_papers_is_named(monkeypatch):
    monkeypatch.setenv("MERCER_PAPERS", "/nowhere")
    with pytest.raises(bench.BenchError, match="MERCER_PAPERS=/nowhere"):
        bench.papers()


def test_without_a_checkout_the_way_out_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("MERCER_PAPERS", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mercer.bench.spec.__file__", str(tmp_path / "spec.py"))
    with pytest.raises(bench.BenchError, match="set MERCER_PAPERS"):
        bench.papers()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[paper]\ntitle = x", "not valid TOML.*line 2"),
        ("[paper]\ntitle='x'", "must have 'authors'"),
        ("[paper]\ntitle='x'\nauthors='y'\nyear=1\nsummary=''\n[[experiment]]\nname='a'", "must have 'title'"),
        (
            "[paper]\ntitle='x'\nauthors='y'\nyear=1\nsummary=''\n"
            "[[experiment]]\nname='a'\ntitle='t'\nfunction='f'\ngrid={}\nsettigs={}",
            "Did you mean 'settings'",
        ),
        (
            "[paper]\ntitle='x'\nauthors='y'\nyear=1\nsummary=''\n"
            + 2 * "[[experiment]]\nname='a'\ntitle='t'\nfunction='f'\ngrid={}\n",
            "one name",
        ),
    ],
)
def test_a_faulty_specification_names_the_file_and_the_fault(paper, content, message):
    (paper / "experiment.toml").write_text(content)
    with pytest.raises(bench.BenchError, match=f"(?s)experiment.toml.*{message}"):
        load_paper(paper)


def test_listing_papers_loads_neither_plots_nor_templates_nor_scikit_learn():
    code = "import sys, mercer.bench; print({'matplotlib', 'jinja2', 'sklearn'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
