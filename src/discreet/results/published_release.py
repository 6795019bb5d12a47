"""What leaves the house: figures with what is promised of them, what they cost and where they come from.

Every question, workload, table, unproven answer, bootstrap table, local estimate and linked count is a `Release`, and
every format takes one. It holds facts as types; `present` finds the words, when somebody reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import language
from discreet.guarantees import Guarantee, Language, checked
from discreet.paths import AnyPath
from discreet.results.claims import Amount, Charged, Claim, Left, Marked, Settlement, Source
from discreet.results.figures import Figure, Figures, Later, Margin, Quality, Statistic
from discreet.results.headings import ALL, Heading, Shown
from discreet.results.labels import Labels
from discreet.results.noise_facts import MeasureNoise
from discreet.results.notes import Note
from discreet.results.row_listing import PairedColumns, RowListing

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Basis", "Calibration", "CalibrationTarget", "Release", "ReleaseKind"]

MARGIN: Final = "margin"
"""The column of a table's rows that names the keys summed over."""

_MOST_OBJECTS: Final = 100_000


class ReleaseKind(StrEnum):
    """What was asked for."""

    QUERY = "query"
    TABLE = "table"
    WORKLOAD = "workload"
    UNPROVEN = "unproven"
    BOOTSTRAP = "bootstrap"
    LOCAL = "local"
    LINKED = "linked"


class Basis(StrEnum):
    """What the grades of figures count."""

    NOISE = "privacy noise"
    NOISE_AND_SAMPLING = "privacy noise and sampling"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class CalibrationTarget:
    """Public totals that figures meet: their name, the keys they are by, and where they come from."""

    name: str
    by: tuple[str, ...]
    source: Labels | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Which totals figures meet, which cells have no place in them, and what was shared out like the rest."""

    targets: tuple[CalibrationTarget, ...]
    left_out: tuple[Mapping[str, Shown], ...] = ()
    shared_out: tuple[tuple[str, Mapping[str, Shown]], ...] = ()

    @property
    def linearised(self) -> bool:
        """Whether intervals follow from a linear approximation."""
        return len(self.targets) > 1


@dataclass(frozen=True, repr=False)
class Release:
    """One release. It cannot be built without a claim.

    `headings` are its keys, `statistics` its columns of figures, `order` the names of both as rows show them. `asked`
    is the request for machines. A workload and a collection have a part for each question instead of own figures.
    A release of keys alone has its rows in `bare`.
    """

    kind: ReleaseKind
    title: Labels
    claim: Claim
    settlement: Settlement
    source: Source
    headings: tuple[Heading, ...] = ()
    statistics: tuple[Statistic, ...] = ()
    order: tuple[str, ...] = ()
    level: Decimal | None = None
    notes: tuple[Note, ...] = ()
    mechanisms: Later[Sequence[MeasureNoise]] = field(default_factory=lambda: Later(tuple))
    calibration: Calibration | None = None
    basis: Basis | None = None
    asked: Mapping[str, object] = field(default_factory=dict)
    parts: Mapping[str, Release] = field(default_factory=dict)
    bare: Margin | None = None

    def __repr__(self) -> str:
        if self.parts:
            names, count = ", ".join(self.parts), sum(len(part) for part in self.parts.values())
        else:
            names, count = ", ".join(self.columns), len(self)
        return f"<Release of a {self.kind}: {names}; {count:,} row(s); {self.guarantee}>"

    def __len__(self) -> int:
        """How many rows it has."""
        return len(self.statistics[0].figures) if self.statistics else sum(map(len, self._rows_of))

    @property
    def _rows_of(self) -> Sequence[Margin]:
        """Rows by what they sum over, with their keys."""
        if self.statistics:
            return self.statistics[0].figures.margins
        return () if self.bare is None else (self.bare,)

    @property
    def value(self) -> Shown:
        """The figure of a release that has a single one; None for others."""
        single = len(self.statistics) == 1 and len(self) == 1
        return self.rows[0][self.statistics[0].name] if single else None

    @property
    def guarantee(self) -> Guarantee:
        return self.claim.guarantee

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of keys and statistics, as rows show them."""
        if self.order:
            return self.order
        summed = [MARGIN] if self.kind in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP) else []
        return (*(item.name for item in self.headings), *summed, *(item.name for item in self.statistics))

    @property
    def charge(self) -> dict[str, str]:
        """What the population was charged by this release now, as exact text."""
        return self.settlement.charge.to_dict() if isinstance(self.settlement, Charged) else Amount().to_dict()

    @property
    def remaining(self) -> Left | None:
        """What is left of the budget; None where none is touched."""
        return self.settlement.left if isinstance(self.settlement, Charged | Marked) else None

    @property
    def replayed(self) -> bool:
        """Whether it was released before and is given again."""
        return isinstance(self.settlement, Charged | Marked) and self.settlement.replayed

    @property
    def request_id(self) -> str:
        return self.source.request_id

    @property
    def answers(self) -> Mapping[str, Release]:
        """The answers of a workload by the names of its questions."""
        return self.parts

    @property
    def warnings(self) -> list[str]:
        """What a reader may not pass over, in words."""
        from discreet.present import warnings

        return warnings(self)

    # --- rows -------------------------------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> Sequence[dict[str, Shown]]:
        """One object per cell: categories as codes, the NULL key and keys summed over as None.

        Of very many, they are made when looked at. Of a release with parts, the rows of each under its `question`.
        """
        if self.parts:
            return [{"question": name, **row} for name, part in self.parts.items() for row in part.rows]
        return _as_list(self.listed_rows)

    @cached_property
    def intervals(self) -> Sequence[dict[str, list[int | float | None]]]:
        """The same number of objects as rows, for the statistics: [low, high], None where there is no bound."""
        if self.parts:
            return [interval for part in self.parts.values() for interval in part.intervals]
        return _as_list(self.listed_intervals)

    @cached_property
    def listed_rows(self) -> RowListing[Shown]:
        """The rows as columns, for whoever writes them out one after another."""
        own: dict[str, Sequence[Shown]] = {
            heading.name: _stack([margin.codes[index] for margin in self._rows_of])
            for index, heading in enumerate(self.headings)
        }
        own |= {item.name: _stack([margin.values for margin in item.figures.margins]) for item in self.statistics}
        own |= {MARGIN: self._summed_over} if MARGIN in self.columns and MARGIN not in own else {}
        return RowListing({name: own[name] for name in self.columns}, len(self))

    @property
    def _summed_over(self) -> Sequence[str]:
        """For each row the names of the keys summed over: empty for a cell."""
        over = [("+".join(self.headings[index].name for index in item.over), len(item)) for item in self._rows_of]
        return [names for names, count in over for _ in range(count)]

    @cached_property
    def listed_intervals(self) -> RowListing[list[int | float | None]]:
        """The intervals as columns."""
        own = {
            item.name: PairedColumns(*(self._ends(item, side) for side in ("low", "high"))) for item in self.statistics
        }
        return RowListing({name: own[name] for name in self.columns if name in own}, len(self))

    @staticmethod
    def _ends(statistic: Statistic, side: str) -> Sequence[int | float | None]:
        ends = [(getattr(margin, side), len(margin)) for margin in statistic.figures.margins]
        return _stack([[None] * count if end is None else end for end, count in ends])

    # --- of one statistic -------------------------------------------------------------------------------------------

    @property
    def statistic(self) -> Statistic:
        """The only statistic, or the first; one without figures where a release has none of its own."""
        return self.statistics[0] if self.statistics else Statistic("", self.title, Figures(0, list))

    @property
    def figures(self) -> Sequence[Figure]:
        """Every figure: those of each statistic one after the other, cells before margins."""
        if len(self.statistics) == 1:
            return self.statistic.figures
        return list(chain.from_iterable(item.figures for item in self.statistics))

    @property
    def cells(self) -> Sequence[Figure]:
        """The figures of the first statistic that sum over no key."""
        return self._slice(cells=True)

    @property
    def margins(self) -> Sequence[Figure]:
        """Those that do."""
        return self._slice(cells=False)

    def _slice(self, *, cells: bool) -> Sequence[Figure]:
        """Looked at as columns until somebody asks for one."""
        figures = self.statistic.figures
        chosen = [margin for margin in figures.margins if (not margin.over) is cells]
        return Figures(sum(map(len, chosen)), lambda: chosen)

    def entries(self) -> Iterator[Figure]:
        """The figures of the first statistic, cells before margins."""
        return iter(self.statistic.figures)

    def label(self, figure: Figure, index: int, language: str) -> str:
        """The label of a figure's key; "All" where it was summed over."""
        if index in figure.over:
            return ALL.text(language)
        return self.headings[index].label(figure.codes[index], language)

    @property
    def graded(self) -> bool:
        """Whether any figure has a grade."""
        return any(
            item is not Quality.NOT_RATED for margin in self.statistic.figures.margins for item in margin.quality or ()
        )

    # --- for readers ------------------------------------------------------------------------------------------------

    @checked
    def labels(self, language: Language = "en") -> dict[str, dict[str, str]]:
        """Code to label for every key with categories."""
        return {heading.name: heading.labels(language) for heading in self.headings if heading.face.labels}

    @checked
    def to_dict(self, language: Language = "en") -> dict[str, Any]:
        """Every field of the JSON form; docs/answers.md says what each means."""
        from discreet.present import describe

        return describe(self, language)

    @checked
    def to_arrow(self, language: Language | None = None) -> pyarrow.Table:
        """Keys, values and the ends of their intervals as a table; what is promised is in its metadata.

        With a language, labels stand beside codes.
        """
        from discreet.present import to_arrow

        return to_arrow(self, language)

    @checked
    def to_pandas(self, language: Language | None = None) -> pandas.DataFrame:
        """The same as a data frame, with the same facts in `attrs`; needs the extra 'pandas'."""
        from discreet.present import to_pandas

        return to_pandas(self, language)

    @checked
    def to_polars(self, language: Language | None = None) -> polars.DataFrame:
        """The same as a polars data frame; needs the extra 'polars'."""
        from discreet.present import to_polars

        return to_polars(self, language)

    @checked
    def save(self, path: AnyPath, *, format: str | None = None, language: Language = "en") -> Path:
        """Write a file: .xlsx, .html, .csv, .parquet, .json, .sdmx.csv or .svg by its name, unless `format` says it."""
        from discreet.present import save

        return save(self, path, format=format, language=language)

    @checked
    def plot(self, language: Language = "en") -> Any:
        """The figures as bars with their intervals: an SVG that notebooks show."""
        from discreet.present import plot

        return plot(self, language)

    def _repr_html_(self) -> str:
        from discreet.present import fragment

        return fragment(self, language())


def _stack(columns: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Columns one below the other; one alone as it is."""
    if len(columns) == 1:
        return columns[0]
    return list(chain.from_iterable(item.tolist() if hasattr(item, "tolist") else item for item in columns))


def _as_list(rows: RowListing[Any]) -> Sequence[dict[str, Any]]:
    """Plain objects, unless they would take more memory than a reader expects."""
    return list(rows) if len(rows) <= _MOST_OBJECTS else rows
