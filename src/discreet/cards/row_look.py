"""A look at a file's rows for a draft: enough to guess a kind, or all of them when the custodian asks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final

from discreet.cards.columns import canonical_code
from discreet.sources import BLANK_TOKENS, WHITE_SPACE, DataSource

__all__ = ["ColumnLook", "is_shown", "look_at_rows"]

_NUMBER: Final = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d{1,15})(\.\d{0,15})?([eE][+-]?\d{1,2})?|[+-]?\.\d{1,15}")
_CODES_LIMIT: Final = 1_000
_DECIMALS_LIMIT: Final = 6
_LARGEST: Final = 10**15


@dataclass(slots=True)
class ColumnLook:
    """What the rows looked at hold in one column."""

    typed: bool = False
    values: int = 0
    numbers: int = 0
    low: Decimal | None = None
    high: Decimal | None = None
    places: int = 0
    _codes: set[str] | None = field(default_factory=set)

    @property
    def numeric(self) -> bool:
        return self.numbers == self.values and (self.typed or self.values > 0)

    @property
    def whole(self) -> bool:
        return self.numeric and self.places == 0

    @property
    def codes(self) -> tuple[str, ...] | None:
        """Every value seen, sorted; None when there were too many to be a list."""
        return None if self._codes is None else tuple(sorted(self._codes))

    def few(self, limit: int) -> bool:
        return self._codes is not None and 0 < len(self._codes) <= limit

    def grid(self) -> tuple[str, str, str] | None:
        """Bounds and step as text, widened to the step, or None when the rows give none."""
        if self.low is None or self.high is None:
            return None
        step = Decimal(1).scaleb(-self.places)
        low = self.low.quantize(step, rounding=ROUND_FLOOR)
        high = self.high.quantize(step, rounding=ROUND_CEILING)
        if low >= high:
            high = low + step
        if max(abs(low), abs(high)) > _LARGEST * min(step, Decimal(1)):
            return None
        return format(low, "f"), format(high, "f"), format(step, "f")

    def take(self, text: str) -> None:
        """Note one value."""
        value = unicodedata.normalize("NFC", text.strip(WHITE_SPACE))
        if value.lower() in BLANK_TOKENS:
            return
        self.values += 1
        if self._codes is not None and len(value) <= 200 and all(map(is_shown, value)):
            self._codes.add(canonical_code(value))
            if len(self._codes) > _CODES_LIMIT:
                self._codes = None
        if not _NUMBER.fullmatch(value):
            return
        self.numbers += 1
        number = Decimal(value.replace(",", "")).normalize()
        exponent = number.as_tuple().exponent
        assert isinstance(exponent, int)
        self.places = max(self.places, min(-exponent, _DECIMALS_LIMIT))
        self.low = number if self.low is None else min(self.low, number)
        self.high = number if self.high is None else max(self.high, number)


def is_shown(character: str) -> bool:
    """Whether a character may stand in a card: no controls, no marks that reorder text."""
    return character in "\t\n" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}


def look_at_rows(source: DataSource, names: Sequence[str], *, all_rows: bool) -> dict[str, ColumnLook]:
    """Look at the first batch of rows, or at all of them."""
    from pyarrow import types

    looks = {name: ColumnLook() for name in names}
    for batch in source.batches(list(names)):
        for name in names:
            column = batch.column(name)
            looks[name].typed = types.is_integer(column.type) or types.is_floating(column.type)
            for value in _distinct(column):
                looks[name].take(value)
        if not all_rows:
            break
    return looks


def _distinct(column: Any) -> Iterator[str]:
    """The values of a column as text, each once; NaN and infinities are no values."""
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_floating(column.type):
        column = column.filter(compute.is_finite(column))
    return (value for value in compute.unique(column).cast(pa.string()).to_pylist() if value is not None)
