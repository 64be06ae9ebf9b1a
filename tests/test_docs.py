"""The documentation's sources: names, pages and blocks. ``scripts/build_docs.sh`` builds it and runs the blocks."""

import importlib
import importlib.util
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import mercer
from mercer.testing import check_feature_map, check_kernel

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "gallery" not in path.parts)
PACKAGES = [
    "kernels",
    "structures",
    "features",
    "gram",
    "learners",
    "data",
    "datasets",
    "storage",
    "export",
    "plots",
    "bench",
    "testing",
]
FENCE = re.compile(r"^(`{3,}|:{3,})([^\n`]*)\n(.*?)^\1\s*$", re.DOTALL | re.MULTILINE)


def _listed():
    """Return the names that the pages of the API list, each with its module."""
    names = set()
    for path in (DOCS / "api").glob("*.rst"):
        module = None
        for line in path.read_text().splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.removeprefix(".. currentmodule:: ")
            elif re.fullmatch(r" {3}\w+", line):
                names.add(f"{module}.{line.strip()}")
    return names


def test_every_public_name_has_an_entry_and_every_entry_a_name():
    listed = _listed()
    objects = {
        id(getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2])) for name in listed
    }
    public = [(mercer, name) for name in mercer.__all__ if not name.startswith("_") and name != "datasets"]
    for package in PACKAGES:
        module = importlib.import_module(f"mercer.{package}")
        public += [(module, name) for name in module.__all__]
    missing = [f"{module.__name__}.{name}" for module, name in public if id(getattr(module, name)) not in objects]
    assert missing == []


def test_every_page_is_in_a_table_of_contents():
    reached = {DOCS / "index.md"}
    for page in PAGES:
        for _, info, body in FENCE.findall(page.read_text()):
            if info.strip() == "{toctree}":
                entries = [line for line in body.splitlines() if line and not line.startswith(":")]
                targets = [re.sub(r".*<(.+)>", r"\1", entry) for entry in entries]
                reached |= {(page.parent / f"{target}.md").resolve() for target in targets}
    assert [str(page) for page in PAGES if page not in reached] == []


def test_every_block_of_code_is_run_but_for_a_few_that_say_so():
    not_run = []
    for page in PAGES:
        for _, info, body in FENCE.findall(page.read_text()):
            language = info.strip()
            if language.startswith("{code-block}"):
                assert ":class: not-run" in body, f"{page}: a code-block is for code that is not run"
                not_run.append(page.name)
            elif not language.startswith("{"):
                assert language in {"python", "console", "text"}, f"{page}: a block in {language!r}"
    # Installing, hours of experiments, and another library's code.
    assert sorted(not_run) == ["deploying.md", "deploying.md", "deploying.md", "falkon.md", "index.md", "papers.md"]


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_kernel_and_the_map_of_the_how_to_pages_keep_the_laws():
    kernels = _load("hyperbolic_cosine", DOCS / "howto/code/hyperbolic_cosine.py")
    maps = _load("gaussian_projection", DOCS / "howto/code/gaussian_projection.py")
    check_kernel(kernels.HyperbolicCosine(gamma=2.0))
    check_feature_map(maps.GaussianProjection(n_components=8), sklearn_checks=False)
    with pytest.raises(ValueError, match="gamma must be positive"):
        kernels.HyperbolicCosine(gamma=0.0)


def test_a_page_becomes_a_notebook(monkeypatch):
    pytest.importorskip("sphinx", reason="the extensions of the pages need mercer[docs]")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    made = importlib.import_module("notebooks").notebook(
        "# Title\n\n```python\n1 + 1\n```\n\n```console\n$ ls\n```\nEnd\n"
    )
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in made["cells"]]
    assert cells == [("markdown", "# Title"), ("code", "1 + 1"), ("code", "!ls"), ("markdown", "End")]


def test_the_index_lists_every_entry_from_a_to_z(monkeypatch):
    pytest.importorskip("sphinx", reason="the extensions of the pages need mercer[docs]")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    names = importlib.import_module("api_index").names(DOCS / "api")
    assert set(names) == _listed()
    last = [name.rpartition(".")[2].lower() for name in names]
    assert last == sorted(last)


class TestRunner:
    @pytest.fixture
    def run(self, monkeypatch):
        pytest.importorskip("sphinx", reason="the runner of code blocks needs mercer[docs]")
        from docutils import nodes

        monkeypatch.syspath_prepend(DOCS / "_ext")
        runner = importlib.import_module("run_blocks")

        def run(*blocks):
            with runner.Page("page") as page:
                found = []
                for language, text in blocks:
                    doctest = language == "doctest"
                    node = nodes.doctest_block if doctest else nodes.literal_block
                    found.append(page.run(node(text, text) if doctest else node(text, text, language=language)))
                return found

        run.error = runner.BlockError
        return run

    def test_blocks_of_a_page_share_names_and_a_folder(self, run):
        blocks = [
            ("python", "from pathlib import Path\nPath('x').write_text('7')\nn = 7"),
            ("console", "$ cat x; echo"),
        ]
        assert run(*blocks, ("python", "print(n)\nn + 1"), ("doctest", ">>> n\n7")) == ["", "7\n", "7\n8\n", ""]

    @pytest.mark.parametrize(
        ("language", "text"),
        [
            ("python", "1 / 0"),
            ("python", "import warnings; warnings.warn('deprecated')"),
            ("console", "$ false"),
            ("console", "$ true\n$ mercer no-such-command"),
            ("console", "ls"),
            ("doctest", ">>> 1 + 1\n3"),
        ],
    )
    def test_a_block_that_does_not_do_what_it_says_is_an_error(self, run, language, text):
        with warnings.catch_warnings(), pytest.raises(run.error):
            run((language, text))

    def test_a_command_may_go_on_over_lines(self, run):
        assert run(("console", "$ echo a \\\n    b\n$ echo c")) == ["a b\nc\n"]

    @pytest.mark.parametrize(("block", "succeeds"), [("print(6 * 7)", True), ("assert 6 * 7 == 43", False)])
    def test_a_block_that_fails_ends_the_build(self, run, tmp_path, block, succeeds):
        pytest.importorskip("myst_parser", reason="the pages need mercer[docs]")
        (tmp_path / "conf.py").write_text(
            f"import sys; sys.path.insert(0, {str(DOCS / '_ext')!r})\nextensions = ['myst_parser', 'run_blocks']\n"
        )
        (tmp_path / "index.md").write_text(f"# Page\n\n```python\n{block}\n```\n")
        command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(tmp_path), str(tmp_path / "out")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) is succeeds, done.stderr
        if succeeds:
            assert re.search(r"output.*42", (tmp_path / "out/index.html").read_text(), flags=re.DOTALL)
        else:
            assert "a code block failed" in done.stderr
