"""Pictures of noise: the laws they draw, what they say, and that those of the documentation are current."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from discreet.present.charts.curves import STYLES, Curve, CurvePanel, draw_curves
from discreet.present.charts.densities import draw_densities, laplace_density, normal_density
from discreet.present.charts.pictures import picture_file
from discreet.present.pages.html_page import Drawn
from tests.places import DOCS

SHOWN = DOCS
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_densities_are_those_of_their_laws(scale: float) -> None:
    step = scale / 200
    places = [step * place for place in range(-6_000, 6_001)]
    assert sum(laplace_density(x, scale=scale) for x in places) * step == pytest.approx(1, abs=1e-4)
    assert sum(x * x * laplace_density(x, scale=scale) for x in places) * step == pytest.approx(2 * scale**2, rel=1e-3)
    assert sum(normal_density(x, deviation=scale) for x in places) * step == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("drawn", list(draw_densities()), ids=lambda drawn: drawn.name)
def test_pictures_of_the_documentation_are_current(drawn: Drawn) -> None:
    """Written by `make docs`; a page shows each, and none is large."""
    file = SHOWN / "pictures" / f"{drawn.name}.svg"
    written = file.read_text(encoding="utf-8")
    assert written == picture_file(drawn)
    assert len(written) < 20_000
    assert f"pictures/{file.name}" in "".join(page.read_text(encoding="utf-8") for page in SHOWN.glob("*.md"))


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_picture_is_titled_described_and_readable_at_half_a_page(language: str) -> None:
    for drawn in draw_densities(language):
        root = ElementTree.fromstring(drawn.svg)
        assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        assert len(root[1].text or "") > 80
        sizes = [float(text.get("font-size", "0")) for text in root.iter(f"{SVG}text")]
        assert min(sizes) * 340 / float(root.get("width", "0")) >= 8.5


def test_curves_differ_in_colour_lightness_and_dashes() -> None:
    lights = []
    for colour, _ in STYLES:
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    assert len({dashes for _, dashes in STYLES}) == len(STYLES)
    assert max(lights) < 140  # dark enough for print


def test_beyond_both_peaks_neighbours_differ_by_the_ratio_told() -> None:
    neighbours = next(drawn for drawn in draw_densities() if drawn.name == "neighbours")
    assert "85.7%" in neighbours.words
    assert "56.5%" in neighbours.words
    lines = re.findall(r'<polyline points="([^"]+)"', neighbours.svg)
    first, second = (
        {float(x): float(y) for x, y in (point.split(",") for point in line.split())} for line in lines[:2]
    )
    foot = max(first.values())
    peak = min(second, key=second.__getitem__)
    beyond = [x for x in sorted(first) if x > peak and foot - first[x] > 10]
    assert len(beyond) > 2
    for x in beyond:
        assert (foot - second[x]) / (foot - first[x]) == pytest.approx(6, rel=0.02)


def test_corners_are_drawn_sharp_and_panels_share_their_curves() -> None:
    peak = Curve("peak", lambda x: 1 - abs(x - 0.123456), (0.123456,))
    panel = CurvePanel("", (peak,), 0, 1)
    assert panel.top == 1
    other = CurvePanel("", (Curve("other", lambda x: x),), 0, 1)
    with pytest.raises(ValueError, match="share their curves"):
        draw_curves(name="n", title="t", words="w", across="x", up="y", panels=[panel, other])
    with pytest.raises(ValueError, match="one to four curves"):
        CurvePanel("", (), 0, 1)
