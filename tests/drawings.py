"""What tests ask of a drawing: whether its words stay on it."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from discreet.present.charts.lettering import text_width

_TEXT = "{http://www.w3.org/2000/svg}text"


def beyond_edges(svg: str) -> Iterator[str]:
    """Every text of which a part lies beyond the edge of the drawing, by the widths that the drawing reckoned with."""
    root = ElementTree.fromstring(svg.encode("utf-8"))
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    for text in root.iter(_TEXT):
        size, words = float(text.attrib["font-size"]), text.text or ""
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        wide = text_width(words, size, bold="font-weight" in text.attrib)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.attrib.get("text-anchor", "start")] * wide
        if left < 0 or left + wide > width or y - size < 0 or y + 0.2 * size > height:
            yield words
