"""What offline pages share: their policy, how mathematics is set, and escaping."""

import base64
import hashlib
import html

import pytest

from mercer.bench.page import policy, typeset


@pytest.mark.parametrize(
    ("text", "set_as"),
    [
        ("(1+<x,y>)^10", "(1+⟨x,y⟩)¹⁰"),
        ("|x|^2p in R^d", "|x|²ᵖ in Rᵈ"),
        ("10^-6", "10⁻⁶"),
        ("sigma", "\N{GREEK SMALL LETTER SIGMA}"),
        ("sigmas and x^y", "sigmas and x^y"),
    ],
)
def test_mathematics_is_set(text, set_as):
    assert typeset(text) == set_as


def test_the_policy_lets_in_one_style_sheet_by_its_hash():
    digest = base64.b64encode(hashlib.sha256(b"p {}").digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy("p {}")
    assert policy("p {}").startswith("default-src 'none'")
    assert policy("p {}") != policy("q {}")


def test_a_page_escapes_what_it_shows_and_carries_its_policy(tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    from mercer.bench.page import render

    (tmp_path / "one.html").write_text("<p>{{ name }}</p><style>{{ style }}</style>{{ policy }}")
    page = render("one.html", tmp_path, name="<b> <x,y>^2")
    assert "<p>&lt;b&gt; ⟨x,y⟩²</p>" in page
    assert "default-src 'none'" in html.unescape(page)


def test_a_name_that_a_template_misses_is_an_error(tmp_path):
    jinja2 = pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    from mercer.bench.page import render

    (tmp_path / "one.html").write_text("{{ nothing }}")
    with pytest.raises(jinja2.UndefinedError):
        render("one.html", tmp_path)
