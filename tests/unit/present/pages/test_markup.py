"""What a page shows is text: it neither ends an attribute nor becomes markup, and nothing is fetched or run."""

from __future__ import annotations

from html import unescape
from html.parser import HTMLParser

from discreet.present.pages.html_page import Drawn, show_figure, write_page
from discreet.present.pages.markup import Markup, bullets, element, join, table

EVIL = '<b onclick="x()">R&D\'s'


class Found(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_text_is_escaped_and_markup_is_not() -> None:
    for made in (element("p", EVIL), bullets([EVIL]), table([EVIL], [[EVIL, EVIL]], caption=EVIL)):
        found = Found(made)
        assert "b" not in {tag for tag, _ in found.tags}
        assert EVIL in found.text
    assert join([Markup("<i>"), "<i>"]) == "<i>&lt;i&gt;"


def test_an_attribute_holds_any_text() -> None:
    ((tag, attributes),) = Found(element("a", title=EVIL, class_="x", data_name="y")).tags
    assert (tag, attributes) == ("a", {"title": EVIL, "class": "x", "data-name": "y"})


def test_the_words_of_a_figure_are_one_attribute_and_one_caption() -> None:
    found = Found(show_figure(Drawn("name", EVIL, "<svg width='1'></svg>")))
    assert [tag for tag, _ in found.tags] == ["figure", "div", "svg", "figcaption"]
    assert found.tags[2][1]["aria-label"] == EVIL


def test_a_page_fetches_and_runs_nothing() -> None:
    page = write_page(EVIL, element("p", "body"), language="fr")
    found = Found(page)
    policies = [a["content"] for tag, a in found.tags if tag == "meta" and a.get("http-equiv")]
    parts = dict(part.strip().split(" ", 1) for part in (policies[0] or "").split(";"))
    assert parts == {"default-src": "'none'", "style-src": "'unsafe-inline'", "img-src": "data:"}
    assert {"script", "link", "iframe", "b"}.isdisjoint(tag for tag, _ in found.tags)
    assert f"<title>{EVIL}</title>" in unescape(page)
    assert found.tags[0] == ("html", {"lang": "fr"})
