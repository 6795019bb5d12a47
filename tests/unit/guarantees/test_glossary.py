"""The glossary is complete in both languages, and no term is explained twice."""

from __future__ import annotations

from tests.places import DOCS

PAGE = (DOCS / "glossary.md").read_text("utf-8")


def terms() -> list[list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] not in ("English", "---")]


def test_sixty_terms_or_more_each_once() -> None:
    rows = terms()
    assert len(rows) >= 60
    assert len({row[0] for row in rows}) == len(rows)
    assert len({row[1] for row in rows}) == len(rows)


def test_each_term_has_one_sentence_in_both_languages() -> None:
    for row in terms():
        assert len(row) == 4, row[0]
        for sentence in row[2:]:
            assert sentence.endswith("."), row[0]
            assert ". " not in sentence, row[0]
