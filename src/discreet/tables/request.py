"""What a table is asked for, in words of the card, and the SQL that says the same to readers.

The plan is made without that SQL (`forming`), and is the one that it would be read as.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from discreet.cards import Card, Column, ColumnKind, canonical_code, edge_fault, unknown_code
from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, QueryRefused, UnknownName
from discreet.guarantees import ExactLike, as_given, text
from discreet.results import Labels
from discreet.sql import Literal
from discreet.tables.linear.layout import Margin, every_margin

__all__ = [
    "MOST_BANDS",
    "MOST_KEYS",
    "TOTAL",
    "Band",
    "CellAggregate",
    "Code",
    "TableRequest",
    "read_codes",
    "read_edges",
    "table_request",
]

MOST_BANDS: Final = 1_000
MOST_KEYS: Final = 6
TOTAL: Final = "total"
_EDGE: Final = re.compile(r"[+-]?\d{1,15}(\.\d{1,9})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Band:
    """One band of a number: from `low` to below `high`; with `last`, up to `high` itself."""

    code: str
    label: Labels
    high: Decimal
    last: bool


@dataclass(frozen=True, slots=True)
class Code:
    """A code of a key as a condition compares with it, and as readers know it."""

    constant: Literal
    label: Labels


@dataclass(frozen=True, slots=True)
class CellAggregate:
    """What is shown of a cell: COUNT of its rows, or another function of the product of some columns."""

    function: str
    factors: tuple[str, ...] = ()

    @property
    def product(self) -> str:
        return " * ".join(f'"{name}"' for name in self.factors)

    def __str__(self) -> str:
        return f"{self.function}({self.product or '*'})"


@dataclass(frozen=True, slots=True)
class TableRequest:
    """A table by the keys `by`: people (or rows), the total of `value`, or its mean; weighted or not.

    `margins` lists the published margins by the keys they keep, `()` being the grand total; None means all of them.
    `edges` cut integers and numbers into bands, before those that the card declares. `no_missing` leaves out rows in
    which a key is missing, `leave_out` those of some codes of a key: as conditions, so no margin counts them either.
    `sampling` names a column with
    the variance of each row's weight over replicate weights: part of the budget then measures what sampling adds.
    """

    dataset: str
    by: tuple[str, ...]
    value: str | None = None
    mean: bool = False
    weighted: bool = False
    where: str | None = None
    edges: Mapping[str, tuple[Decimal, ...]] = field(default_factory=dict)
    margins: tuple[tuple[str, ...], ...] | None = None
    sampling: str | None = None
    no_missing: bool = False
    leave_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.by:
            raise ParameterInvalid(parameter="by", rule=say("must name at least one column"), given=say("none"))
        if len(self.by) > MOST_KEYS:
            raise ParameterInvalid(
                parameter="by",
                rule=say("must name at most {most} columns", most=MOST_KEYS),
                given=say("{count} columns", count=len(self.by)),
            )
        if twice := sorted({name for name in self.by if self.by.count(name) > 1}):
            raise ParameterInvalid(
                parameter="by", rule=say("must name each column once"), given=say("'{name}' twice", name=twice[0])
            )
        if self.mean and self.value is None:
            raise ParameterInvalid(
                parameter="mean", rule=say("needs a value to take the mean of"), given=say("no value")
            )
        if self.sampling is not None and (self.mean or not self.weighted):
            raise ParameterInvalid(
                parameter="sampling", rule=say("goes with weighted counts and totals"), given=say("another table")
            )
        if stray := sorted(set(self.edges) - set(self.by)):
            raise ParameterInvalid(
                parameter="edges", rule=say("must be those of a column of the table"), given=f"'{stray[0]}'"
            )
        for name in self.leave_out:
            if name not in self.by:
                raise UnknownName(sort=Phrase("Column to leave codes out of"), name=name, where="--by", known=self.by)

    @property
    def words(self) -> dict[str, object]:
        """What `table_request` reads as this request."""
        return {
            "dataset": self.dataset,
            "by": list(self.by),
            "value": self.value,
            "mean": self.mean,
            "weighted": self.weighted,
            "where": self.where,
            "edges": {name: list(map(text, edges)) for name, edges in self.edges.items()},
            "margins": True if self.margins is None else [list(names) for names in self.margins],
            "sampling": self.sampling,
            "no_missing": self.no_missing,
            "leave_out": {name: list(codes) for name, codes in self.leave_out.items()},
        }

    def kept(self) -> tuple[Margin, ...]:
        """The published margins by place: the cells first, then from the finest to the grand total."""
        every = list(every_margin(len(self.by)))
        if self.margins is None:
            return tuple(every)
        wanted = {self._margin(names) for names in self.margins}
        return tuple(margin for margin in every if margin in wanted or len(margin) == len(self.by))

    def _margin(self, names: Sequence[str]) -> Margin:
        for name in names:
            if name not in self.by:
                raise UnknownName(sort=Phrase("Margin"), name=name, where="--by", known=(*self.by, TOTAL))
        return tuple(sorted({self.by.index(name) for name in names}))

    # --- in the words of SQL ----------------------------------------------------------------------------------------

    def to_sql(self, card: Card) -> str:
        """The statement: the keys, then what is counted, added up or averaged."""
        keys = ", ".join(f'{self._key(card.column(name))} AS "{name}"' for name in self.by)
        conditions = self._conditions(card)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        places = ", ".join(str(index) for index in range(1, len(self.by) + 1))
        figures = ", ".join(f'{item} AS "figure {index}"' for index, item in enumerate(self.aggregates(card), start=1))
        return f'SELECT {keys}, {figures} FROM "{card.dataset}"{where} GROUP BY {places}'

    def _conditions(self, card: Card) -> list[str]:
        """What was asked for, then that keys are there, then what they are not."""
        result = [] if self.where is None else [f"({self.where}\n)"]
        for column in map(card.column, self.by):
            key = self._key(column)
            if self.no_missing:
                result.append(f"{key} IS NOT NULL")
            if left := self.left_out(column):
                listed = f"{key} NOT IN ({', '.join(_written(code.constant) for code in left)})"
                result.append(listed if self.no_missing else f"({listed} OR {key} IS NULL)")
        return result

    def of_some(self, card: Card) -> bool:
        """Whether it leaves out rows that nobody said were not there."""
        missing = self.no_missing and not all(card.column(name).complete for name in self.by)
        return self.where is not None or bool(self.leave_out) or missing

    def left_out(self, column: Column) -> tuple[Code, ...]:
        """The codes of a key that are left out, or UnknownName with the nearest one."""
        return tuple(self._code(column, given) for given in self.leave_out.get(column.name, ()))

    def _code(self, column: Column, given: str) -> Code:
        bands = self.bands(column)
        if not bands and column.numeric:
            return _number_code(column, given)
        known = [(item.code, item.label) for item in bands or column.categories]
        for code, label in known:
            if canonical_code(code) == canonical_code(given):
                return Code(Literal(code, quoted=True), label)
        where = (
            say("the bands of '{column}'", column=column.name)
            if bands
            else say("the categories of '{column}'", column=column.name)
        )
        raise unknown_code(given, [code for code, _ in known], [label for _, label in known], where=where)

    def _key(self, column: Column) -> str:
        bands = self.bands(column)
        if not bands:
            return f'"{column.name}"'
        cases = [f"WHEN \"{column.name}\" < {text(band.high)} THEN '{band.code}'" for band in bands[:-1]]
        cases.append(f"WHEN \"{column.name}\" IS NOT NULL THEN '{bands[-1].code}'")
        return f"CASE {' '.join(cases)} END"

    def bands(self, column: Column) -> tuple[Band, ...]:
        """The bands of a key, or none: by the edges asked for, else by those of the card."""
        edges = self.edges.get(column.name, column.edges)
        if not edges:
            return ()
        if not column.numeric:
            raise ParameterInvalid(
                parameter="edges", rule=say("must be those of an integer or a number"), given=f"'{column.name}'"
            )
        if fault := edge_fault(column, edges):
            given = ", ".join(text(edge) for edge in edges)
            raise ParameterInvalid(parameter=Phrase("edges of '{column}'", column=column.name), rule=fault, given=given)
        if len(edges) > MOST_BANDS + 1:
            raise ParameterInvalid(
                parameter=Phrase("edges of '{column}'", column=column.name),
                rule=say("make at most {most:,} bands", most=MOST_BANDS),
                given=say("{count:,} bands", count=len(edges) - 1),
            )
        bounds = column.bounds
        assert bounds is not None
        ends = [(max(low, bounds[0]), min(high, bounds[1])) for low, high in pairwise(edges)]
        return tuple(
            _band(column, low, high, last=index == len(ends)) for index, (low, high) in enumerate(ends, start=1)
        )

    def aggregates(self, card: Card) -> tuple[CellAggregate, ...]:
        """What is shown of a cell; then, with replicate weights, the variance that sampling gives it."""
        if self.sampling is None:
            return (self._aggregate(card),)
        squared = () if self.value is None else (self.value, self.value)
        spread = CellAggregate("SUM", (card.column(self.sampling).name, *squared))
        return self._aggregate(card), spread

    def _aggregate(self, card: Card) -> CellAggregate:
        weights = self._weights(card)
        if self.value is None:
            return CellAggregate("SUM", weights) if weights else CellAggregate("COUNT")
        column = card.column(self.value)
        if not column.numeric:
            raise QueryRefused(
                say(
                    "a total or a mean needs numbers, and '{name}' is of kind {kind}. Put it among the keys to count "
                    "its values.",
                    name=column.name,
                    kind=column.kind,
                ),
                part="value",
            )
        if self.mean:
            return CellAggregate("WAVG" if weights else "AVG", (column.name,))
        return CellAggregate("SUM", (*weights, column.name))

    def _weights(self, card: Card) -> tuple[str, ...]:
        if not self.weighted:
            return ()
        if card.weight is None:
            raise QueryRefused(
                say(
                    "'{dataset}' has no weight: its card declares none. Leave out --weighted, or let the custodian "
                    "add `weight: {{column: …, cap: …}}` to the card.",
                    dataset=card.dataset,
                ),
                part="weighted",
            )
        return (card.weight.column,)


def _band(column: Column, low: Decimal, high: Decimal, *, last: bool) -> Band:
    """A code that sorts and reads as what it is: 15-24 for whole numbers, else from low to high."""
    if column.kind is ColumnKind.INTEGER and column.step == 1:
        top = high if last else high - 1
        sign = "-" if low >= 0 else ".."
        code = text(low) if low == top else f"{text(low)}{sign}{text(top)}"
        label = text(low) if low == top else f"{text(low)}–{text(top)}"
        return Band(code, Labels(label, label), high, last)
    code = f"{text(low)}..{text(high)}"
    if last:
        return Band(code, Phrase("{low} to {high}", low=text(low), high=text(high)), high, last)
    return Band(code, Phrase("{low} to under {high}", low=text(low), high=text(high)), high, last)


def _number_code(column: Column, given: str) -> Code:
    """A value of an integer that is a key as it is."""
    number = Decimal(given) if _EDGE.fullmatch(given) else None
    bounds, step = column.bounds, column.step or Decimal(1)
    if number is None or Fraction(number) % Fraction(step) or (bounds and not bounds[0] <= number <= bounds[1]):
        rule = say("must be a value that it can take: a multiple of {step}", step=text(step))
        if bounds:
            low, high = map(text, bounds)
            rule = say(
                "must be a value that it can take: a multiple of {step} from {low} to {high}",
                step=text(step),
                low=low,
                high=high,
            )
        raise ParameterInvalid(
            parameter=Phrase("a value of '{column}' to leave out", column=column.name),
            rule=rule,
            given=f"'{given[:20]}'",
        )
    return Code(Literal(text(number), quoted=False), Labels(text(number), text(number)))


def _written(constant: Literal) -> str:
    return "'" + constant.text.replace("'", "''") + "'" if constant.quoted else constant.text


def table_request(
    dataset: str,
    by: Sequence[str] | str,
    *,
    value: str | None = None,
    mean: bool = False,
    weighted: bool = False,
    where: str | None = None,
    edges: Mapping[str, Sequence[ExactLike]] | None = None,
    margins: bool | Sequence[Sequence[str] | str] = True,
    sampling: str | None = None,
    no_missing: bool = False,
    leave_out: Mapping[str, Sequence[object]] | None = None,
) -> TableRequest:
    """A request as people write it: columns with commas between them, margins by name, `total` for all summed up."""
    cuts = _mapping(edges, parameter="edges", rule=say("must be lists of edges by column"))
    cut = {name: tuple(map(_edge, _several(numbers, "edges"))) for name, numbers in cuts.items()}
    return TableRequest(
        dataset=dataset,
        by=_names(by),
        value=value,
        mean=mean,
        weighted=weighted,
        where=where,
        edges=cut,
        margins=None
        if margins is True
        else ()
        if margins is False
        else tuple(map(_kept, _several(margins, "margins"))),
        sampling=sampling,
        no_missing=no_missing,
        leave_out={
            str(name): tuple(str(code).strip() for code in _several(codes, "leave out"))
            for name, codes in _mapping(
                leave_out, parameter="leave out", rule=say("must be lists of codes by column")
            ).items()
        },
    )


def _edge(given: ExactLike) -> Decimal:
    written = str(given).strip()
    if not _EDGE.fullmatch(written):
        raise ParameterInvalid(
            parameter="edges", rule=say("must be plain decimals with at most nine places"), given=f"'{written[:20]}'"
        )
    return Decimal(written)


def _names(given: Sequence[str] | str) -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else _several(given, "columns")
    for name in parts:
        if not isinstance(name, str):
            raise ParameterInvalid(parameter="columns", rule=say("must be named by text"), given=as_given(name))
    return tuple(name.strip() for name in parts if name.strip())


def _several(given: object, parameter: str) -> Sequence[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise ParameterInvalid(parameter=parameter, rule=say("must be a list"), given=as_given(given))
    return given


def _mapping(given: object, *, parameter: str, rule: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping | None):
        raise ParameterInvalid(parameter=parameter, rule=rule, given=as_given(given))
    return given or {}


def _kept(given: Sequence[str] | str) -> tuple[str, ...]:
    names = _names(given)
    return () if names == (TOTAL,) else names


def read_edges(given: Sequence[str]) -> dict[str, tuple[Decimal, ...]]:
    """`age=0,15,65,120`, once for each column."""
    result: dict[str, tuple[Decimal, ...]] = {}
    for item in given:
        name, sign, numbers = item.partition("=")
        edges = [number.strip() for number in numbers.split(",")]
        if not sign or not name.strip() or not all(_EDGE.fullmatch(edge) for edge in edges):
            raise ParameterInvalid(
                parameter="edges",
                rule=say("must read COLUMN=EDGE,EDGE,… as in age=0,15,65,120"),
                given=f"'{item[:60]}'",
            )
        if name.strip() in result:
            raise ParameterInvalid(
                parameter="edges",
                rule=say("must be given once for a column"),
                given=say("'{name}' twice", name=name.strip()),
            )
        result[name.strip()] = tuple(Decimal(edge) for edge in edges)
    return result


def read_codes(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """`province=60`, as often as there are codes to leave out."""
    result: dict[str, tuple[str, ...]] = {}
    for item in given:
        name, sign, code = (part.strip() for part in item.partition("="))
        if not sign or not name or not code:
            raise ParameterInvalid(
                parameter="leave-out", rule=say("must read COLUMN=CODE as in province=60"), given=f"'{item[:60]}'"
            )
        result[name] = (*result.get(name, ()), code)
    return result
