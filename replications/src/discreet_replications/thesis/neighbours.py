"""Neighbours that differ in the row of the maximum, and the audit of every promise on them.

The thesis asks on a street where one person has 50,000 and nobody else more than 4,000. The sum is answered with that
person and with another in their place: what noise of the data's own scale gives away is how rich the richest is. The
generator is held fixed between the two; trained on each, it would follow the row as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.cards import parse_card
from discreet.catalogue import Phrase, say
from discreet.engines import engine_for
from discreet.files import write_whole
from discreet.lab.audit import AuditResult, audit_loss
from discreet.lab.strategies.generated_strategy import Generated, calculate_sensitivity
from discreet.lab.strategies.strategy_comparison import ComparedQuery, StrategyBench
from discreet.lab.strategies.subject import AggregateKind, SensitivityStrategy, hold
from discreet.present import csv_columns
from discreet.workspace import Workspace, WorkspaceSettings, add_file
from discreet_replications.thesis.data.public_ranges import COLUMNS, Range

if TYPE_CHECKING:
    from discreet.lab.generator.shelf import Shelved
    from discreet_replications.thesis.data.readings import ThesisTable

__all__ = ["AUDITED", "AuditFinding", "Pair", "audit_all", "list_pairs"]

AUDITED: Final = ("generated", "local", "private-bounds", "public")
_UNIT: Final = "row_number"
_SIDES: Final = ("first", "second")
_STREET: Final = (50, 50_000, 4_000)
_STREET_NAME: Final = Phrase("street")
# Maxima that lie near each other take more answers to tell apart.
_MORE: Final = 10
_STREET_BOUNDS: Final = ("0", "100000")
_ASKED: Final = ("diabetes", "number_emergency")
# Table 22 prints this mean for what was generated of SUM(number_emergency); it stands in where nothing was trained.
_PRINTED_MAXIMUM: Final = Fraction("3.1026")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns of values that differ in one row, what is asked of them, and the maximum that was generated.

    `times` as many samples are drawn of claims without proof, because maxima near each other take more to tell apart.
    """

    name: str
    words: Phrase
    aggregate: str
    column: str
    first: tuple[Decimal, ...]
    second: tuple[Decimal, ...]
    bounds: tuple[str, str]
    step: str
    generated: Fraction
    times: int = 1

    def __post_init__(self) -> None:
        both = zip(self.first, self.second, strict=True)
        if sum(before != after for before, after in both) != 1:
            raise ValueError("neighbours differ in one row")

    @property
    def label(self) -> str:
        """What readers see: a column is called as the data call it."""
        return str(_STREET_NAME) if self.name == _STREET_NAME.en else self.name

    def card(self, dataset: str, *, private: bool) -> str:
        """Each row is a unit, neighbours replace one, and how many there are is public: the thesis' terms."""
        bounds = "private" if private else f"[{self.bounds[0]}, {self.bounds[1]}]"
        whole = Decimal(self.step) == 1
        return "\n".join(
            [
                f"dataset: {dataset}",
                f"population: {dataset}",
                f"unit: {{column: {_UNIT}, rows: 1}}",
                "neighbours: replace-one",
                "size: public",
                "exact_public: true",
                "budget: {epsilon: 1000}",
                "allow: [generated]",
                "columns:",
                f"  {_UNIT}: {{kind: id, type: row}}",
                f"  {self.column}:",
                f"    kind: {'integer' if whole else 'number'}",
                f"    bounds: {bounds}",
                *([] if whole else [f"    step: {self.step}"]),
                "    presence: public",
            ]
        )


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """What an audit shows of one strategy on one pair."""

    pair: Pair
    strategy: str
    proven: bool
    result: AuditResult

    def to_dict(self) -> dict[str, Any]:
        return {
            "neighbours": self.pair.words.en,
            "query": f"{self.pair.aggregate}({self.pair.column})",
            "strategy": self.strategy,
            "differentially_private": self.proven,
            **self.result.to_dict(),
        }


# --- pairs ----------------------------------------------------------------------------------------------------------


def list_pairs(tables: Mapping[str, ThesisTable], generated: Callable[[str, str], Fraction | None]) -> list[Pair]:
    """The street, and where diabetes is at hand the largest number of emergencies with another in its place.

    `generated` tells the maximum that a generator gives for a column of a data set, or None without one.
    """
    dataset, column = _ASKED
    found = _without_maximum(tables[dataset], column, generated(dataset, column)) if dataset in tables else ()
    return [_street(), *found]


def _street() -> Pair:
    people, rich, most = _STREET
    others = tuple(Decimal(1_000 + (most - 1_000) * index // (people - 2)) for index in range(people - 1))
    return Pair(
        name=_STREET_NAME.en,
        words=Phrase(
            "a street of {people}: the richest has {rich:,}, or somebody with {other:,} lives there instead",
            people=people,
            rich=rich,
            other=others[0],
        ),
        aggregate="SUM",
        column="income",
        first=(Decimal(rich), *others),
        second=(others[0], *others),
        bounds=_STREET_BOUNDS,
        step="1",
        generated=Fraction(most),
    )


def _without_maximum(table: ThesisTable, column: str, generated: Fraction | None) -> Iterator[Pair]:
    """The row of the largest value takes the least one; nothing where several rows have the largest."""
    values = sorted((value for value, count in table.histogram(column) for _ in range(count)), reverse=True)
    if values[0] == values[1]:
        return
    public = _range_of(table.dataset, column)
    yield Pair(
        name=column,
        words=Phrase(
            "{dataset}, {column}: the largest value is {largest:f}, or without its row {next:f}",
            dataset=table.dataset,
            column=column,
            largest=values[0],
            next=values[1],
        ),
        aggregate="SUM",
        column=column,
        first=tuple(values),
        second=(values[-1], *values[1:]),
        bounds=(public.low, public.high),
        step=public.step,
        generated=_PRINTED_MAXIMUM if generated is None else generated,
        times=_MORE if 2 * values[0] < 3 * values[1] else 1,
    )


def _range_of(dataset: str, column: str) -> Range:
    return next(item for item in COLUMNS[dataset] if isinstance(item, Range) and item.column == column)


# --- the audit ------------------------------------------------------------------------------------------------------


def audit_all(
    pairs: Sequence[Pair], *, epsilon: str, samples: int, progress: Callable[[str, int, int], None]
) -> list[AuditFinding]:
    """Every audited strategy on every pair, with fresh noise."""
    result: list[AuditFinding] = []
    for pair in pairs:
        with TemporaryDirectory(prefix="discreet-") as folder:
            for name, first, second in _ready(pair, Path(folder), epsilon):
                stage = say("auditing {strategy} on {neighbours}", strategy=name, neighbours=pair.label)
                progress(stage, len(result), len(pairs) * len(AUDITED))
                proven = first.guarantee.differentially_private
                asked = samples * (1 if proven else pair.times)
                shown = audit_loss(_answers(first, asked), _answers(second, asked), claimed=float(epsilon))
                result.append(AuditFinding(pair, name, proven, shown))
    return result


def _answers(strategy: SensitivityStrategy, samples: int) -> list[float]:
    return [strategy.draw().result for _ in range(samples)]


def _ready(pair: Pair, folder: Path, epsilon: str) -> Iterator[tuple[str, SensitivityStrategy, SensitivityStrategy]]:
    """Each strategy on both sides; what is calibrated to the rows sees them as they are, not clamped to a range."""
    workspace = _house(pair, folder)
    for name in AUDITED:
        homes = [f"{side}_{'public' if name == 'public' else 'private'}" for side in _SIDES]
        with ExitStack() as opened:
            benches = []
            for home in homes:
                query = ComparedQuery.read(
                    f"SELECT {pair.aggregate}({pair.column}) FROM {home}", workspace, epsilon=epsilon
                )
                engine = opened.enter_context(closing(engine_for(query.datasets, salt=workspace.salt)))
                benches.append(StrategyBench(query, engine, model=_no_model))
            first, second = (_generated(bench, pair) if name == "generated" else bench.ready(name) for bench in benches)
            yield name, first, second


def _house(pair: Pair, folder: Path) -> Workspace:
    settings = WorkspaceSettings(key=folder / "unused.key", anchor=folder / "unused.anchor")
    workspace = Workspace.create(folder / "workspace", settings=settings)
    for side, values in zip(_SIDES, (pair.first, pair.second), strict=True):
        file = folder / f"{side}.csv"
        write_whole(file, csv_columns([pair.column], [[values]]), durable=False)
        for bounds in ("public", "private"):
            name = f"{side}_{bounds}"
            card = parse_card(pair.card(name, private=bounds == "private"), file=f"{name}.yaml")
            add_file(workspace, file, card, replace=False)
    return workspace


def _no_model() -> Shelved:
    raise AssertionError("the generated maximum of a pair is fixed")


def _generated(bench: StrategyBench, pair: Pair) -> Generated:
    subject = bench.query.plain
    rows = hold(subject, bench.engine)
    guessed = calculate_sensitivity(AggregateKind(pair.aggregate), pair.generated, rows.rows)
    rng = np.random.default_rng()
    return Generated.calibrate(subject, rows, guessed, epsilon=bench.query.epsilon, rng=rng)
