"""The page: everything escaped, no script, no style but the one its policy names, ids of its own."""

import itertools
import re
import sys
from html.parser import HTMLParser

import pytest

from mercer import bench
from mercer.bench.page import policy

DASH = "\N{EN DASH}"
VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """Collects tags, attributes and ids, and checks that tags nest."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.ids, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def text(paper):
    bench.run("author_2020")
    return bench.report("author_2020").read_text()


def test_hostile_names_are_escaped(text):
    page = Page(text)
    assert not page.open
    assert "script" not in page.tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "A &lt;b&gt;Paper&lt;/b&gt; &amp; $more$" in text
    assert "good &lt;i&gt;beats&lt;/i&gt; bad" in text


def test_nothing_is_loaded_or_run(text):
    page = Page(text)
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not names & {"style", "src", "srcset", "action", "data"}
    links = [value for name, value in page.attributes if name in ("href", "xlink:href")]
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links} <= set(page.ids)
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


def test_the_policy_names_the_style_and_nothing_else(text):
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    assert text.count("<style") == 1
    assert policy(style).replace("'", "&#39;") in text
    assert policy(style).startswith("default-src 'none'; style-src 'sha256-")


def test_ids_are_unique(text):
    ids = Page(text).ids
    assert len(ids) == len(set(ids))


def test_every_figure_has_words_for_those_who_cannot_see_it(text):
    assert re.search(r'role="img" aria-label="relative Frobenius error against D', text)
    assert "<figcaption>Errors.</figcaption>" in text
    assert "The numbers behind this figure" in text


MISSED = """
[[claim]]
id = "missed"
source = "Figure 1"
says = "bad beats good"
experiment = "errors"
kind = "order"
metric = "frobenius_error"
left = { map = "bad" }
right = { map = "good" }
over = { D = [10] }

[[table]]
id = "again"
source = "Table 2"
says = "{data}: accuracy of the second kind."
note = "Both of them <so>."
experiment = "other"
metric = "train_accuracy"
columns = ["data", "published", "spread"]
rows = [["here", 99.0, 0.5], ["<script>alert(1)</script>", 80.0, 0.5]]
"""


@pytest.fixture
def missed(paper):
    with (paper / "claims.toml").open("a") as file:
        file.write(MISSED)
    bench.run("author_2020")
    return " ".join(bench.report("author_2020").read_text().split())


def _groups(text):
    """Return the summaries of the groups of claims, and whether each is open."""
    found = re.findall(r'<details class="group[^"]*" id="[^"]+"( open)?> <summary>(.*?)</summary>', text)
    return {re.sub(r"\s+", " ", re.sub("<[^>]+>", "", summary)).strip(): bool(state) for state, summary in found}


def test_what_was_not_reproduced_stands_open_and_the_rest_is_closed(missed):
    assert _groups(missed) == {
        "Figure 1 ✓ 1 reproduced ✕ 1 not reproduced": True,
        "Table 1: accuracy on the training rows ✓ 1 reproduced ▲ 1 better": False,
        "Table 2: accuracy on the training rows ▲ 1 better ✕ 1 not reproduced": True,
        f"Text It is nice. {DASH} not run": False,
    }


def test_the_summary_comes_first_and_leads_to_what_was_not_reproduced(missed):
    summary, rest = missed.split("<nav", 1)
    assert "<strong>2</strong>" in summary  # not reproduced
    assert '<a href="#errors-claims-0">Figure 1</a> bad beats good' in summary
    assert "Ours: 91.00 ± 1.41 %, published: 99.00 ± 0.50 %." in summary
    assert "good &lt;i&gt;beats&lt;/i&gt; bad" not in summary
    assert rest.index("<figure") < rest.index("<details class=")


def test_a_page_that_reproduced_all_has_no_list_of_what_was_not(text):
    assert "What was not reproduced" not in text
    assert not any(_groups(" ".join(text.split())).values())


def test_what_the_claims_of_a_group_say_alike_is_said_once(missed):
    assert missed.count("Both of them &lt;so&gt;.") == 1
    main = missed.split("<main", 1)[1]
    assert main.count("accuracy of the second kind.") == 1
    assert '<th scope="row">here</th>' in main


def test_a_table_whose_columns_are_its_rows_has_a_column_a_metric(text):
    heads = [re.sub("<[^>]+>", " ", head).split() for head in re.findall("<thead>(.*?)</thead>", text)]
    assert ["data", "accuracy", "on", "the", "training", "rows"] in heads


def test_headings_go_down_one_level_at_a_time(text):
    levels = [int(tag[1]) for tag in Page(text).tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_verdicts_and_the_machine_are_on_the_page(text):
    assert "90.50 ± 0.50 %" in text
    assert ">not run<" in re.sub(r"\s+", " ", text).replace("</span> not run</span>", ">not run<")
    assert "nobody can measure it" in text
    assert "it takes too long" not in text
    assert '<th scope="row">cpu</th>' in text


def test_a_page_of_nothing_run_says_so(paper):
    text = bench.report("author_2020", output=paper / "page.html").read_text()
    assert "it has not been run yet" in text
    assert "<svg" in text


def test_a_page_that_cannot_be_written_is_one_sentence(paper):
    (paper / "file").write_text("")
    with pytest.raises(bench.BenchError, match="cannot be written"):
        bench.report("author_2020", output=paper / "file" / "page.html")


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_what_to_install_is_one_line(paper, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "mercer.bench.figures", raising=False)
    with pytest.raises(bench.BenchError, match=rf"the page needs {package}.*pip install 'mercer\[bench\]'"):
        bench.report("author_2020")


def test_the_quick_run_is_called_so(paper):
    bench.run("author_2020", quick=True)
    text = bench.report("author_2020", quick=True).read_text()
    assert "This is the quick run." in text
    assert "run author_2020 --quick" in text


def test_choices_stand_on_the_page_with_their_reasons_and_exploratory_ones_as_such(paper):
    path = paper / "experiment.toml"
    choices = """
[[choice]]
what = "C"
ours = "<b>1</b>"
because = "the default"
[[choice]]
what = "gamma"
ours = "2"
because = "it looked good"
exploratory = true
"""
    path.write_text(path.read_text() + choices)
    text = bench.report("author_2020").read_text()
    assert "&lt;b&gt;1&lt;/b&gt;" in text
    assert "<strong>Exploratory:</strong> it looked good" in text
    assert text.count("Exploratory:") == 1


def test_what_waits_for_a_long_run_says_how_long(paper):
    path = paper / "experiment.toml"
    path.write_text(path.read_text().replace('function = "other"', 'function = "other"\ntakes = "two days"'))
    assert "it has not been run yet: two days" in bench.report("author_2020").read_text()
