"""The public face of a dataset: what its card says, as plain values. Never anything from the rows."""

from __future__ import annotations

from discreet.cards.card import Card, Column, ColumnKind, PublicTotals
from discreet.guarantees import text

__all__ = ["describe_card"]


def describe_card(card: Card, language: str) -> dict[str, object]:
    """Whom the dataset protects, and its columns, with labels in one language."""
    return {
        "dataset": card.dataset,
        "title": card.title.text(language),
        "description": card.description.text(language) if card.description is not None else None,
        "population": card.population,
        "unit": {"column": card.unit.column, "rows": card.unit.rows},
        "neighbours": str(card.neighbours),
        "size": card.size,
        **({"rows_at_most": card.rows_at_most} if card.rows_at_most is not None else {}),
        "weight": _describe_weight(card),
        **({"totals": [_describe_totals(item, language) for item in card.totals]} if card.totals else {}),
        "columns": [_describe_column(column, language) for column in card.columns],
    }


def _describe_weight(card: Card) -> dict[str, object] | None:
    if card.weight is None:
        return None
    rule = card.weight
    caps = {code: text(cap) for code, cap in rule.caps}
    return {"column": rule.column, "cap": text(rule.largest), "by": rule.by, "caps": caps}


def _describe_totals(totals: PublicTotals, language: str) -> dict[str, object]:
    values = {code: text(total) for code, total in totals.values}
    return {"by": totals.by, "total": text(totals.total), "values": values, "source": totals.source.text(language)}


def _describe_column(column: Column, language: str) -> dict[str, object]:
    face: dict[str, object] = {
        "name": column.name,
        "kind": column.kind,
        "label": column.label.text(language),
        "public": column.public,
    }
    if column.kind is ColumnKind.CATEGORY:
        face["categories"] = {category.code: category.label.text(language) for category in column.categories}
    if column.bounds is not None:
        face["bounds"] = [text(bound) for bound in column.bounds]
    if column.private_bounds:
        face["bounds_private"] = True
    if column.public_presence:
        face["presence"] = "public"
    if column.complete:
        face["complete"] = True
    if column.references is not None:
        face["references"] = ".".join(column.references)
    if column.step is not None:
        face["step"] = text(column.step)
    for name, amount in (("typical", column.typical), ("precision", column.precision)):
        if amount is not None:
            face[name] = text(amount)
    if column.missing:
        face["missing"] = list(column.missing)
    if column.from_rows:
        face["provenance"] = "from_rows"
    return face
