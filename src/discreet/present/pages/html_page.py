"""One HTML file with its own style and figures, without scripts and without a network."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from discreet.present.pages.markup import Markup, element

__all__ = ["Drawn", "show_figure", "write_page"]

# Nothing is fetched and nothing runs, even if a label tried to.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True, slots=True, repr=False)
class Drawn:
    """A figure as it is shown: its name, what it shows in words, and its SVG text. A notebook shows the drawing."""

    name: str
    words: str
    svg: str

    def __repr__(self) -> str:
        return f"<Drawing: {self.words}>"

    def _repr_svg_(self) -> str:
        return self.svg


def write_page(title: str, *body: str, language: str = "en") -> str:
    """The whole file."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("style", Markup(_style())),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', *body), lang=language)}\n"


def show_figure(drawn: Drawn, *, narrow: bool = False) -> Markup:
    """The drawing itself, named for those who cannot see it."""
    label = element("x", aria_label=drawn.words).removeprefix("<x").removesuffix("></x>")
    svg = Markup(drawn.svg.replace("<svg ", f'<svg role="img"{label} ', 1))
    caption = element("figcaption", drawn.words)
    return element("figure", element("div", svg, class_="scroll"), caption, class_="narrow" if narrow else "wide")


def _style() -> str:
    return (files("discreet.present.pages") / "resources" / "page.css").read_text(encoding="utf-8")
