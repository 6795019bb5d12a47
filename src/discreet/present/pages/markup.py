"""HTML that cannot be broken by what it shows: text is escaped unless it was built here.

Labels, titles and configurations are untrusted; only `Markup` passes as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

__all__ = ["Markup", "bullets", "element", "join", "table"]

_EMPTY: Final = frozenset({"br", "hr", "input", "link", "meta"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str) -> Markup:
    """One element; a trailing underscore in an attribute's name is dropped, other underscores become hyphens."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"' for key, value in attributes.items()
    )
    if name in _EMPTY:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[str]) -> Markup:
    return Markup("".join(item if isinstance(item, Markup) else escape(item) for item in children))


def bullets(sentences: Sequence[str]) -> Markup:
    return element("ul", *(element("li", sentence) for sentence in sentences))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> Markup:
    """A table that scrolls where it is too wide; the first cell of every row names it."""
    title = [element("p", caption, class_="caption")] if caption else []
    # Headings may be broken into lines, but not within an equation.
    names = [cell.replace(" = ", "\u00a0=\u00a0") for cell in head]
    top = element("thead", element("tr", *(element("th", name, scope="col") for name in names)))
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:])) for row in rows
    ]
    # A title inside the table would be as wide as it is, and cut off with it.
    return join([*title, element("div", element("table", top, element("tbody", *body)), class_="scroll")])
