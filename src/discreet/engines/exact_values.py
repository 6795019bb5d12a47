"""Values as they come back from an engine: whole numbers, texts and NULL, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

__all__ = ["Row", "Value", "exact_row"]

Value = int | str | None
Row = tuple[Value, ...]


def exact_row(row: Iterable[object]) -> Row:
    """The row in Python's own types. Decimals must be whole: a template that lets a fraction through has failed."""
    return tuple(map(_exact, row))


def _exact(value: object) -> Value:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    raise TypeError("an engine gave something that is no whole number, text or NULL")
