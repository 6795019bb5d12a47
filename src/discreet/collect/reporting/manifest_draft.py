"""A first manifest from a dataset card: categories and bounded numbers as questions, public categories as groups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from discreet.cards import Card, Column, ColumnKind, hint, with_comment
from discreet.catalogue import say
from discreet.collect.reporting.manifest_schema import MANIFEST
from discreet.errors import UsageError
from discreet.guarantees import ExactLike, exact
from discreet.guarantees import text as plain_text
from discreet.results import Labels

__all__ = ["draft_manifest"]

_CLASSES: Final = 8  # down to a 128th of the cap: from the card alone, never from the weights in a file


def draft_manifest(card: Card, *, epsilon: ExactLike, columns: Sequence[str] = (), groups: Sequence[str] = ()) -> str:
    """YAML text that reads as a manifest. Without names: every column that can be asked, and no group."""
    total = exact(epsilon, parameter="epsilon")
    grouped = [_group(card, name) for name in groups]
    asked = [_question(card, name) for name in columns] or [
        column for column in card.columns if _askable(column) and not column.public and not card.is_weight(column)
    ]
    if not asked:
        raise UsageError(
            say("card '{dataset}' has no category or bounded number that could be asked.", dataset=card.dataset)
        )
    lines = [*_head(card, total), *_weight_lines(card, groups)]
    if grouped:
        lines.append(_line("groups"))
        for column in grouped:
            lines += [f"  {column.name}:", f"    label: {_label(column.label)}", *_category_lines(column)]
    lines.append("questions:")
    for column in asked:
        lines += _question_lines(column)
    return "\n".join(lines) + "\n"


def _head(card: Card, epsilon: Decimal) -> Iterator[str]:
    yield MANIFEST.editor_line
    yield f"# {say('A draft. Read it line by line; then: discreet local sign FILE --out manifest.json')}"
    yield f"survey: {card.dataset.replace('_', '-')}"
    yield _line("version", "1")
    yield f"title: {_label(card.title)}"
    yield _line("epsilon", plain_text(epsilon))
    yield _line("mode", "sampling")
    yield _line("respondent", "random")


def _weight_lines(card: Card, groups: Sequence[str]) -> Iterator[str]:
    rule = card.weight
    if rule is None:
        return
    step = card.column(rule.column).step or Decimal("0.01")
    if rule.by is not None and rule.by in groups:
        values = ", ".join(f"{_scalar(code)}: {plain_text(cap)}" for code, cap in rule.caps)
        cap = f"{{by: {rule.by}, values: {{{values}}}}}"
    else:
        cap = plain_text(rule.largest)
    yield _line("weight")
    yield f"  column: {rule.column}"
    yield f"  cap: {cap}"
    yield f"  step: {plain_text(step)}"
    yield _line("weight.classes", str(_CLASSES))


def _line(path: str, value: str = "") -> str:
    """A key with its value, and what the manifest's language says of it."""
    indent = "  " * path.count(".")
    return with_comment(f"{indent}{path.rpartition('.')[2]}: {value}".rstrip(), hint(MANIFEST.key(path)))


def _question_lines(column: Column) -> Iterator[str]:
    yield f"  {column.name}:"
    yield f"    label: {_label(column.label)}"
    yield f"    kind: {column.kind}"
    if column.kind is ColumnKind.CATEGORY:
        yield from _category_lines(column)
    else:
        assert column.bounds is not None
        assert column.step is not None
        yield f"    bounds: [{', '.join(plain_text(bound) for bound in column.bounds)}]"
        yield f"    step: {plain_text(column.step)}"
    yield _line("questions.*.missing", "category")
    if column.missing:
        yield f"    missing_codes: [{', '.join(_scalar(code) for code in column.missing)}]"
    yield "    randomiser: automatic"


def _category_lines(column: Column) -> Iterator[str]:
    yield "    categories:"
    for category in column.categories:
        yield f"      {_scalar(category.code)}: {_label(category.label)}"


def _group(card: Card, name: str) -> Column:
    column = card.column(name)
    if column.kind is not ColumnKind.CATEGORY or not column.public:
        raise UsageError(
            say(
                "'{name}' cannot be a group: groups are sent in clear, so they must be public categories of the card.",
                name=name,
            )
        )
    return column


def _question(card: Card, name: str) -> Column:
    column = card.column(name)
    if not _askable(column):
        raise UsageError(say("'{name}' cannot be asked: questions are categories, or numbers with bounds.", name=name))
    return column


def _askable(column: Column) -> bool:
    return column.kind is ColumnKind.CATEGORY or (column.numeric and column.bounds is not None)


def _label(labels: Labels) -> str:
    return f"{{en: {_scalar(labels.en)}, fr: {_scalar(labels.fr)}}}"


def _scalar(text: str) -> str:
    """Text as a quoted YAML scalar that reads back as itself."""
    return json.dumps(text, ensure_ascii=False)
