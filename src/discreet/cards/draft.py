"""A first card for a file, with DECIDE wherever only a person may decide.

Names, types, value labels and declared missing codes are the file's metadata and are taken over. Rows are
looked at to guess what kind a column is; bounds and categories are read from them only when the custodian
asks for it, and then every column says so (`provenance: from_rows`): such a card tells about the rows.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from discreet.cards.card_schema import CARD
from discreet.cards.columns import ColumnKind
from discreet.cards.row_look import ColumnLook, is_shown, look_at_rows
from discreet.cards.schema_reader import UNDECIDED
from discreet.cards.schema_words import brief, hint, with_comment
from discreet.catalogue import say, say_count
from discreet.paths import AnyPath, as_path
from discreet.sources import DataSource, FileLimits, open_source

__all__ = ["draft_card"]

_PLAIN: Final = re.compile(r"[A-Za-z0-9À-ÿ_]([A-Za-z0-9À-ÿ_ .()/'’-]*[A-Za-z0-9À-ÿ_.)])?")
_ID_NAME: Final = re.compile(r"(^|_)(id|pid|uuid|identifier)$|^(id|pid)_", re.IGNORECASE)
_ROW_ID: Final = "row_id"
_CATEGORY_GUESS: Final = 30


@dataclass(frozen=True, slots=True)
class _Guess:
    """What is known of a column before anybody decided anything."""

    name: str
    source: str
    kind: ColumnKind
    whole: bool
    seen: ColumnLook
    label: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


def draft_card(
    file: AnyPath,
    *,
    from_rows: bool,
    encoding: str | None = None,
    delimiter: str | None = None,
    limits: FileLimits | None = None,
) -> str:
    """YAML text that reads as a card once every DECIDE in it has been replaced."""
    file = as_path(file, "file")
    source = open_source(file, encoding=encoding, delimiter=delimiter, limits=limits)
    names = [name for name in source.names if name and source.names.count(name) == 1]
    skipped = [name for name in dict.fromkeys(source.names) if name not in names]
    seen = look_at_rows(source, names, all_rows=from_rows)
    guesses = [_guess(source, name, own, seen[name]) for name, own in zip(names, _own_names(names), strict=True)]
    identified = any(guess.kind is ColumnKind.ID for guess in guesses)
    lines = [*_head(file, skipped, identified=identified), "columns:", *(() if identified else _row_lines())]
    for guess in guesses:
        lines += _column_lines(guess, from_rows=from_rows)
    return "\n".join(lines) + "\n"


def _row_lines() -> Iterator[str]:
    """A unit for files in which no column looks like an id."""
    yield with_comment(f"  {_ROW_ID}:", say("no column looks like an id. Leave this out if one is"))
    yield "    kind: id"
    yield with_comment("    type: row", say("every row of the file is a unit of its own"))


def _head(file: Path, skipped: Sequence[str], *, identified: bool) -> Iterator[str]:
    name = _identifier(file.name.split(".")[0], first="d").lower()
    yield CARD.editor_line
    draft = say("A draft. Replace every {word}; `discreet card check` lists those that are left.", word=UNDECIDED)
    yield f"# {draft}"
    if skipped:
        left_out = say_count(
            "{count} column of the file has no name or shares one; it is left out.",
            "{count} columns of the file have no name or share one; they are left out.",
            len(skipped),
        )
        yield f"# {left_out}"
    yield _line("dataset", name)
    yield _line("title", _scalar(name))
    yield _line("population", name)
    yield "unit:"
    yield _line("unit.column", UNDECIDED, "" if identified else say("{name} if nobody has two rows", name=_ROW_ID))
    yield _line("unit.rows", UNDECIDED, "" if identified else say("1 with {name}", name=_ROW_ID))
    yield _line("neighbours", "add-remove")
    yield "budget:"
    yield _line("budget.epsilon", UNDECIDED)
    yield with_comment("# rows_at_most: ...", brief(CARD.key("rows_at_most")))
    yield with_comment("# weight: {column: ..., cap: ...}", brief(CARD.key("weight")))
    complete = say(
        "`complete: true` at a column says that every row should have a value; no draft says it from the rows."
    )
    yield f"# {complete}"


def _line(path: str, value: str, more: str = "") -> str:
    """A key with its value, and what the card's language says of it."""
    indent = "  " * path.count(".")
    told = hint(CARD.key(path))
    comment = say("{meaning}; {more}", meaning=told, more=more) if more else told
    return with_comment(f"{indent}{path.rpartition('.')[2]}: {value}", comment)


def _guess(source: DataSource, name: str, own: str, seen: ColumnLook) -> _Guess:
    notes = source.notes(name)
    labels = {code: text for code, text in notes.labels.items() if code not in notes.missing}
    numeric, whole = seen.numeric, seen.whole
    if labels:
        kind = ColumnKind.CATEGORY
    elif _ID_NAME.search(name):
        kind = ColumnKind.ID
    elif numeric:
        kind = ColumnKind.INTEGER if whole else ColumnKind.NUMBER
    else:
        kind = ColumnKind.CATEGORY if seen.few(_CATEGORY_GUESS) else ColumnKind.TEXT
    return _Guess(own, name, kind, whole, seen, notes.label, tuple(labels.items()), notes.missing)


def _column_lines(guess: _Guess, *, from_rows: bool) -> Iterator[str]:
    yield f"  {guess.name}:"
    if guess.source != guess.name:
        yield f"    source: {_scalar(guess.source)}"
    yield _line("columns.*.kind", guess.kind)
    if guess.label:
        yield f"    label: {_scalar(guess.label)}"
    if guess.kind is ColumnKind.ID:
        yield f"    type: {'integer' if guess.seen.numeric else 'text'}"
    elif guess.kind is ColumnKind.CATEGORY:
        yield from _category_lines(guess, from_rows=from_rows)
    elif guess.kind in {ColumnKind.INTEGER, ColumnKind.NUMBER}:
        yield from _number_lines(guess, from_rows=from_rows)
    if guess.missing:
        yield f"    missing: [{', '.join(_scalar(code) for code in guess.missing)}]"


def _category_lines(guess: _Guess, *, from_rows: bool) -> Iterator[str]:
    if guess.labels:
        yield "    categories:"
        for code, label in guess.labels:
            yield f"      {_scalar(code)}: {_scalar(label)}"
        return
    codes = guess.seen.codes if from_rows else None
    if not codes:
        yield _line("columns.*.categories", UNDECIDED)
        return
    yield "    provenance: from_rows"
    yield "    categories:"
    for code in codes:
        yield f"      {_scalar(code)}: {_scalar(code)}"


def _number_lines(guess: _Guess, *, from_rows: bool) -> Iterator[str]:
    grid = guess.seen.grid() if from_rows else None
    if grid is not None:
        low, high, step = grid
        yield "    provenance: from_rows"
        yield f"    bounds: [{low}, {high}]"
        if guess.kind is ColumnKind.NUMBER:
            yield f"    step: {step}"
        return
    yield _line("columns.*.bounds", UNDECIDED)
    if guess.kind is ColumnKind.NUMBER:
        yield _line("columns.*.step", UNDECIDED)
    yield with_comment("    # typical: ...", brief(CARD.key("columns.*.typical")))


def _own_names(names: Sequence[str]) -> list[str]:
    """A card name for each name in the file, no two alike whatever their case."""
    taken: set[str] = set()
    own = []
    for name in names:
        base = _identifier(name, first="c")
        candidate, number = base, 1
        while candidate.lower() in taken or candidate.lower() == "ord":
            number += 1
            candidate = f"{base[:58]}_{number}"
        taken.add(candidate.lower())
        own.append(candidate)
    return own


def _identifier(name: str, *, first: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_") or first
    return (plain if plain[0].isalpha() else f"{first}_{plain}")[:60]


def _scalar(text: str) -> str:
    """Text as a YAML scalar that reads back as itself."""
    clean = "".join(character for character in text if is_shown(character)).strip()
    if _PLAIN.fullmatch(clean) and clean != UNDECIDED:
        return clean
    return json.dumps(clean, ensure_ascii=False)
