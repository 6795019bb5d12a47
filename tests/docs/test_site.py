"""The site is built without a warning, says what GitHub shows, and fetches nothing from another host."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, Final

import pytest
from markdown_it import MarkdownIt
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from tests.places import DOCS, ROOT

PAGES: Final = sorted(DOCS.rglob("*.md"))
BLOB: Final = "https://github.com/discreet-dp/discreet/blob/main/"
_STRUCTURE: Final = ("h1", "h2", "h3", "h4", "li", "ol", "p", "pre", "table", "tr", "ul")


class _Heard(logging.Handler):
    """What a build says from warnings upwards."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@contextmanager
def hear() -> Iterator[list[str]]:
    """What a build complains of."""
    heard, logger = _Heard(), logging.getLogger("mkdocs")
    logger.addHandler(heard)
    try:
        yield heard.messages
    finally:
        logger.removeHandler(heard)


def build_site(folder: Path, **changes: Any) -> None:
    """As `mkdocs build --strict` does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True, **changes))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with hear() as heard:
        build_site(folder)
    assert heard == []
    return folder


def page_of(site: Path, page: Path) -> str:
    place = page.relative_to(DOCS).with_suffix("")
    folder = place.parent if place.name == "README" else place
    return (site / folder / "index.html").read_text(encoding="utf-8")


def test_pages_read_as_on_github(site: Path) -> None:
    """The site's Markdown asks for blank lines and indents that GitHub's does not; neither loses a list or a word."""
    plain = MarkdownIt("commonmark").enable("table")
    for page in PAGES:
        shown = page_of(site, page).split("<article", 1)[1].split(">", 1)[1].split("</article>")[0]
        github = plain.render(page.read_text(encoding="utf-8"))
        assert count_parts(shown) == count_parts(github), page.name
        assert letters_of(shown) == letters_of(github), page.name


def count_parts(html: str) -> Counter[str]:
    return Counter(re.findall(rf"<({'|'.join(_STRUCTURE)})\b", html))


def letters_of(html: str) -> str:
    """What is read, without white space: highlighted code is many small elements."""
    text = re.sub(r'<a class="headerlink".*?</a>|<!--.*?-->|<[^>]*>', "", html, flags=re.DOTALL)
    return "".join(unescape(text).split())


def test_no_other_host_is_contacted(site: Path) -> None:
    for file in site.rglob("*.html"):
        assert [found for found in fetched(file.read_text(encoding="utf-8")) if "//" in found] == [], file
    for file in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", file.read_text(encoding="utf-8")), file


def fetched(html: str) -> Iterator[str]:
    """What a browser loads by itself."""
    for tag in re.findall(r"<(?:script|img|iframe|source|link)\b[^>]*>", html):
        if 'rel="canonical"' not in tag and not re.search(r'rel="(?:next|prev)"', tag):
            yield from re.findall(r'(?:src|href)="?([^" >]+)', tag)


def test_schemas_and_pictures_are_served(site: Path) -> None:
    served = [file.relative_to(DOCS) for folder in ("schemas", "pictures") for file in (DOCS / folder).iterdir()]
    assert [file for file in served if not (site / file).exists()] == []


def test_links_into_the_repository_lead_somewhere() -> None:
    for page in [*PAGES, *ROOT.glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        assert [path for path in re.findall(re.escape(BLOB) + r"([^)#\s]+)", text) if not (ROOT / path).exists()] == []


def test_planted_faults_are_found(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "README.md").write_text(
        "# A\n\n[a](nowhere.md) [b](#nowhere) [c](other.md#nowhere) [d](../LICENSE) [e](folder)\n", encoding="utf-8"
    )
    for name in ("other.md", "forgotten.md"):
        (docs / name).write_text("# B\n", encoding="utf-8")
    with hear() as heard, pytest.raises(Abort, match="6 warnings in strict mode"):
        build_site(tmp_path / "site", docs_dir=str(docs), nav=["README.md", "other.md"])
    for fault in ("'nowhere.md'", "'#nowhere'", "'other.md#nowhere'", "'../LICENSE'", "'folder'", "forgotten.md"):
        assert [message for message in heard if fault in message], fault
