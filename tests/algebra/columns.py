"""Columns of hand-made plans by name: every name has one identity, so that plans read as their cards do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from discreet.cards.card import Card, ColumnKind
from discreet.sql.algebra import Field, Identity, Scan

__all__ = ["Names", "at", "called", "field", "scan"]


class Names:
    """Identities by name, in the order in which names are first used: the same in every run, unlike the shared ones."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def at(self, name: str) -> Identity:
        """The identity of a name."""
        if name not in self._names:
            self._names.append(name)
        return Identity(self._names.index(name))

    def field(self, name: str) -> Field:
        """The column of that name."""
        return Field(self.at(name))

    def called(self) -> Mapping[Identity, str]:
        """The names given so far, by identity."""
        return {Identity(number): name for number, name in enumerate(self._names)}

    def scan(self, card: Card, rows: int | None = None, *, version: int = 0, prefix: str = "") -> Scan:
        """A dataset, its columns under their own names; with a prefix where two datasets share some."""
        listed = [column.name for column in card.columns if column.kind is not ColumnKind.ID]
        columns = tuple((self.at(f"{prefix}{name}"), name) for name in listed)
        return Scan(card.dataset, card.unit.rows if rows is None else rows, columns, version)


_SHARED: Final = Names()

at, field, called, scan = _SHARED.at, _SHARED.field, _SHARED.called, _SHARED.scan
