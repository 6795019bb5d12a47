"""What is said beside the figures of a table: how it was made, what its intervals hold, what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from discreet.guarantees import text
from discreet.results import (
    Calibrated,
    CappedWeights,
    Coverage,
    GradedMeans,
    LeftOut,
    Linearised,
    MarginsAddUp,
    MarginsAreMeans,
    MeansNotShown,
    MeasuredMargin,
    Note,
    NotInTable,
    NotInTotals,
    NotNegative,
    StrategyUsed,
)
from discreet.tables.calibration import Target
from discreet.tables.formation import Formed, may_be_negative, tell_left_out
from discreet.tables.quality import GOOD_PART, USABLE_PART
from discreet.tables.table_design import Component, Design

__all__ = ["describe_design", "name_margin", "note_strategy", "notes_of", "strategy_rows"]


def describe_design(design: Design, suppress_above: Decimal | None) -> dict[str, object]:
    """What was asked for and how it was measured, for machines."""
    request = design.formed.request
    return {
        "by": list(request.by),
        "value": request.value,
        "mean": request.mean,
        "weighted": request.weighted,
        "where": request.where,
        **({"no_missing": True} if request.no_missing else {}),
        **({"leave_out": {name: [*codes] for name, codes in request.leave_out.items()}} if request.leave_out else {}),
        "margins": [[request.by[index] for index in margin] for margin in request.kept()[1:]],
        **({} if request.sampling is None else {"sampling": request.sampling}),
        **({} if suppress_above is None else {"suppressed_above": text(suppress_above)}),
        "strategy": [describe_component(design.formed, component) for component in design.components],
    }


def describe_component(formed: Formed, component: Component) -> dict[str, object]:
    """The chosen strategy of one measure."""
    return {
        "measure": component.face.told,
        "name": component.chosen.name,
        "noise": component.chosen.noise,
        "measured": [
            {
                "keeps": [formed.request.by[index] for index in item.kept],
                "residual": item.residual,
                "share": float(component.part * item.share),
            }
            for item in component.chosen.measured
        ],
    }


def name_margin(formed: Formed, kept: tuple[int, ...]) -> str:
    """province × smoking, or total."""
    return " × ".join(formed.request.by[index] for index in kept) or "total"


def note_strategy(formed: Formed, component: Component, *, alone: bool = True) -> StrategyUsed:
    """The chosen strategy of a measure; where it is not `alone`, with its part of the budget."""
    measured = tuple(
        MeasuredMargin(tuple(formed.request.by[index] for index in item.kept), item.residual, item.share)
        for item in component.chosen.measured
    )
    if alone:
        return StrategyUsed(component.chosen.noise, measured)
    return StrategyUsed(component.chosen.noise, measured, component.face.told, component.part)


def _note_grades(formed: Formed) -> GradedMeans:
    """What the grades of means go by."""
    mean, column = formed.mean, formed.card.column(formed.request.value or "")
    assert mean is not None
    if column.precision is not None:
        return GradedMeans("precision", column.precision, GOOD_PART, USABLE_PART, third=False)
    return GradedMeans("relative" if mean.low == 0 else "range", None, GOOD_PART, USABLE_PART, third=mean.low >= 0)


def _note_missing(formed: Formed, targets: Sequence[Target]) -> Iterator[NotInTotals]:
    """Which cells have no place in the totals."""
    for target in targets:
        for index in target.kept:
            if None in (formed.plan.keys[index].cells or ()):
                yield NotInTotals(formed.headings[index].title)


def notes_of(design: Design, *, suppress_above: Decimal | None, targets: Sequence[Target] = ()) -> tuple[Note, ...]:
    """What the figures are, beyond the facts that every release states."""
    formed, alone = design.formed, len(design.components) == 1
    notes: list[Note] = [Coverage("calibrated" if targets else "raw")]
    notes += [note_strategy(formed, component, alone=alone) for component in design.components]
    if formed.mean is None:
        notes.append(MarginsAddUp())
        notes += [] if may_be_negative(formed) else [NotNegative()]
    else:
        notes += [MarginsAreMeans(), MeansNotShown(), _note_grades(formed)]
    if (without := tell_left_out(formed.request, formed.card)) is not None:
        notes.append(NotInTable(without))
    if formed.request.weighted:
        notes.append(CappedWeights(calibrated=bool(targets)))
    if targets:
        notes += [Calibrated(), *([Linearised()] if len(targets) > 1 else []), *_note_missing(formed, targets)]
    if suppress_above is not None:
        notes.append(LeftOut(suppress_above))
    return tuple(notes)


def strategy_rows(formed: Formed, component: Component) -> list[Mapping[str, object]]:
    """Every strategy of one measure with its expected error for each published margin, the chosen one marked."""
    step = float(component.face.step)
    return [
        {
            "name": strategy.name,
            "noise": strategy.noise,
            "chosen": strategy is component.chosen or strategy == component.chosen,
            "mean_expected_variance": strategy.mean * step**2,
            "margins": [
                {
                    "keeps": [formed.request.by[index] for index in margin],
                    "figures": component.layout.count(margin),
                    "expected_variance": variance * step**2,
                    "standard_error": variance**0.5 * step,
                }
                for margin, variance in strategy.expected.items()
            ],
            "measured": [
                {
                    "keeps": [formed.request.by[index] for index in item.kept],
                    "residual": item.residual,
                    "share": float(item.share),
                }
                for item in strategy.measured
            ],
        }
        for strategy in component.strategies
    ]
