"""Box plots show quartiles, whiskers, what lies beyond them, and the value that replicates scatter around."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import quantiles
from xml.etree import ElementTree

import pytest

from discreet.present.charts.boxes import BoxPanel, _summarise, _thin, draw_boxes
from discreet.present.pages.html_page import Drawn

SVG = "{http://www.w3.org/2000/svg}"


def draw(panels: Sequence[BoxPanel], *, shared: bool = False) -> Drawn:
    return draw_boxes(name="b", words="Words", title="A & B", panels=panels, across=2, unit="kg", shared=shared)


def test_a_box_is_its_quartiles_and_whiskers() -> None:
    sample = [float(value) for value in range(100)] + [500.0, -500.0]
    box = _summarise(sample)
    assert [box.first, box.median, box.third] == pytest.approx(quantiles(sample, n=4, method="inclusive"))
    assert (box.low, box.high) == (0, 99)
    assert box.beyond == (-500, 500)


@pytest.mark.parametrize("sample", [[3.0], [0.0, 0.0], [0.0, 0.0, 0.0, 9.0], [1.0, 2.0]])
def test_few_replicates_are_still_a_box(sample: list[float]) -> None:
    box = _summarise(sample)
    assert box.low <= box.first <= box.median <= box.third <= box.high


def test_many_dots_are_thinned_and_keep_the_outermost() -> None:
    beyond = [float(value) for value in range(1000)]
    kept = _thin(beyond)
    assert len(kept) == 40
    assert (kept[0], kept[-1]) == (0, 999)
    assert _thin(beyond[:7]) == beyond[:7]


def test_every_panel_has_boxes_labels_and_a_dashed_line() -> None:
    panels = [BoxPanel(f"Cell {place}", [("<i>", [1, 2, 3]), ("(ii)", [2, 2.5, 9])], 2.0) for place in range(3)]
    drawn = draw(panels)
    root = ElementTree.fromstring(drawn.svg)
    texts = [one.text for one in root.iter(f"{SVG}text")]
    assert {"Cell 0", "Cell 1", "Cell 2", "<i>", "(ii)", "A & B", "kg", "value without noise"} <= set(texts)
    assert len(list(root.iter(f"{SVG}rect"))) == 6
    # One in each panel and one that says what it is.
    assert sum("stroke-dasharray" in one.attrib for one in root.iter(f"{SVG}line")) == 4
    assert drawn.words == "Words"
    assert draw(panels) == drawn


def test_one_axis_for_all_or_one_for_each() -> None:
    panels = [BoxPanel("small", [("a", [0, 1])], None), BoxPanel("large", [("a", [0, 1000])], None)]
    assert draw(panels).svg.count(">1,000<") == 1
    assert draw(panels, shared=True).svg.count(">1,000<") == 2


def test_an_empty_group_is_a_dash_and_numbers_are_finite() -> None:
    assert ">–<" in draw([BoxPanel("none", [("a", [])], None)]).svg
    with pytest.raises(ValueError, match="finite"):
        BoxPanel("bad", [("a", [float("nan")])], None)
    with pytest.raises(ValueError, match="panels"):
        draw([])
