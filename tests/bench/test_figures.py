"""Figures become SVG that a strict page can hold, in colours of the reader's scheme."""

import re
from xml.etree import ElementTree as ET

import pytest

from mercer.bench.figures import draw, swatch, themed
from mercer.bench.spec import Cell
from mercer.bench.store import Outcome

SPEC = {"x": "D", "y": "frobenius_error", "series": "map", "panel": "kernel", "log": ["x", "y"]}


def _cells():
    return [
        Outcome(Cell("e", {"kernel": kernel, "map": name, "D": D}, {}), "done", {"frobenius_error": [1 / D, 2 / D]})
        for kernel in ("k1", "k2")
        for name in ("a", "<b> & $x^2$")
        for D in (10, 100, 1000)
    ]


def test_a_figure_has_a_panel_a_value_and_a_legend():
    drawn = draw(SPEC, _cells(), "f")
    assert [panel.title for panel in drawn.panels] == ["k1", "k2"]
    assert drawn.legend == (("a", 0), ("<b> & $x^2$", 1))
    assert "a goes from 0.15 at 10 to 0.0015 at 1000" in drawn.panels[0].alt


def test_svg_has_no_styles_no_fixed_colours_and_ids_of_its_own():
    first, second = (draw(SPEC, _cells(), salt).panels[0].svg for salt in ("one", "two"))
    root = ET.fromstring(first)  # noqa: S314  (our own)
    assert not [element for element in root.iter() if "style" in element.attrib or element.tag.endswith("}style")]
    assert not re.search(r'(fill|stroke)="#(?!ffffff)', first)
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for svg, known in zip((first, second), ids, strict=True):
        assert set(re.findall(r'(?:url\(#|href="#)([^")]+)', svg)) <= known


def test_logarithmic_ticks_are_plain_numbers():
    svg = draw(SPEC, _cells(), "f").panels[0].svg
    assert "mathdefault" not in svg
    assert ">100<" in re.sub(r"\s", "", svg)


def test_nothing_run_draws_nothing():
    assert draw(SPEC, [Outcome(Cell("e", {"D": 1}, {}), "missing")], "f") is None


def test_foreign_colours_stay_and_fonts_become_sizes():
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><text style="font: 12px serif; fill: #123456">x</text></svg>'
    assert re.search(r'<text font-size="12px" fill="#123456" class="fill-ink">', themed(svg, "s"))


@pytest.mark.parametrize("style", range(8))
def test_every_series_has_a_swatch_of_its_colour(style):
    assert f"stroke-s{style}" in swatch(style)
