"""What a question would do, told before it is asked: plan, sensitivities, noise, widths, cost. No row is looked at.

Everything follows from the statement, the cards and the ledger; there is no time in it and no data file is
opened, so an explanation is the same whether the rows are there or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from discreet.cards import Card
from discreet.catalogue import say, say_count
from discreet.guarantees import CentralGuarantee
from discreet.ledger import PopulationStanding, StoredAnswer
from discreet.mechanisms import NoisyMax
from discreet.release.cells.evaluation import joint_level, measures_with_noise, reach
from discreet.release.forecast.accuracy import (
    Amounts,
    Assumptions,
    Depends,
    ExpectedNoise,
    assume,
    is_ranked,
    reach_of,
)
from discreet.release.forecast.explanation import Explanation, MeasureFigures, OutputFigures, Slice
from discreet.release.forecast.outlook import foresee
from discreet.release.measurement.pricing import MeasurePrice, Pricing, UsedMechanism, price
from discreet.release.measurement.private_bounds import rows_needed
from discreet.release.measurement.ranking import depth
from discreet.release.measurement.searched_bounds import Searching, price_searching
from discreet.sql import (
    Extreme,
    KeyShown,
    Noted,
    Output,
    Statement,
    facts_of,
    lineage_of,
    measures_used,
    word_statement,
)

__all__ = ["explain", "figure_outputs", "noise_of"]


def explain(
    statement: Statement,
    cards: Mapping[str, Card],
    *,
    epsilon: Decimal,
    delta: Decimal = Decimal(0),
    level: Decimal,
    standing: PopulationStanding,
    analyst: str,
    assumed: Amounts | None = None,
    shares: Sequence[Decimal] | None = None,
    stored: Callable[[CentralGuarantee], StoredAnswer | None] = lambda _: None,
) -> Explanation:
    """What asking would measure, add, charge and leave; refused as the question itself would be.

    That the budget would be exceeded is a note, not a refusal. `stored` finds what would be given again instead.
    """
    assumptions = assume(statement, assumed or {})
    card = cards[statement.plan.dataset]
    facts = facts_of(statement.plan.source, cards)
    if statement.searched and shares is None:
        searching = price_searching(statement, cards, epsilon=epsilon)
        pricing, charged = searching.pricing, searching.guarantee
        measures = tuple(_figure_searching(statement, searching, level))
        outputs = tuple(_figure_unknown(statement, searching))
    else:
        pricing = price(statement, cards, epsilon=epsilon, delta=delta, shares=shares)
        charged, measures = pricing.guarantee, tuple(_figure_measures(statement, pricing, level))
        outputs = figure_outputs(statement, pricing, level=level, assumptions=assumptions)
    return Explanation(
        plan=word_statement(statement, cards),
        plan_hash=statement.hash,
        population=card.population,
        unit=say_count(
            "{unit}, at most {count:,} row each",
            "{unit}, at most {count:,} rows each",
            facts.rows,
            unit=card.unit.column,
        ),
        neighbours=str(card.neighbours),
        level=level,
        measures=measures,
        outputs=outputs,
        threshold=_threshold(pricing),
        assumed=assumptions.said,
        notes=tuple(_notes(statement, cards)),
        outlook=foresee(charged, standing, analyst, stored(charged)),
    )


def figure_outputs(
    statement: Statement, pricing: Pricing, *, level: Decimal, assumptions: Assumptions
) -> tuple[OutputFigures, ...]:
    """Expected error and half-width of every noisy column, slice by slice."""
    return tuple(
        _figure_output(column.name, column.shows, statement, pricing, level, assumptions)
        for column in statement.presentation.columns
        if not isinstance(column.shows, KeyShown)
    )


def _figure_output(
    name: str, output: Output, statement: Statement, pricing: Pricing, level: Decimal, assumptions: Assumptions
) -> OutputFigures:
    used = sorted(measures_used(output))
    noisy = measures_with_noise(used, [item.mechanisms for item in pricing.measures])
    joint = joint_level(level, len(noisy))
    cells = _slice_names(statement, [pricing.measures[index] for index in used])
    if is_ranked(output, statement):
        if not isinstance(output, Noted):
            return OutputFigures(name, depends=say("reads a quantile or an extreme, whose accuracy is stated in ranks"))
        part = _slices(statement, pricing, output.measure, level)
        ranks = tuple(item.half_width for item in part)
        return OutputFigures(name, cells, tuple(item.expected for item in part), ranks, ranked=True)
    if joint is None:
        return OutputFigures(name, depends=say("reads too many measures for an interval at this level"))
    try:
        reaches = [
            reach_of(
                output,
                {index: noise_of(pricing.measures[index], number, joint) for index in used},
                statement,
                assumptions,
                name=name,
            )
            for number in range(len(cells))
        ]
    except Depends as missing:
        return OutputFigures(name, depends=str(missing))
    expected = tuple(item.expected for item in reaches)
    widths = tuple(item.half_width for item in reaches)
    return OutputFigures(name, cells, expected, widths, exact=all(item.exact for item in reaches))


def _figure_searching(statement: Statement, searching: Searching, level: Decimal) -> Iterator[MeasureFigures]:
    """The searches with their noise, then the measures of the answer, whose noise nobody knows yet."""
    for search in searching.searches:
        mechanism, moved = search.mechanism, search.moved.largest
        noise = Slice(
            cell=None,
            sensitivity=moved.l1,
            derivation=moved.derivation,
            parameters=mechanism.parameters(),
            scale=mechanism.scale,
            expected=mechanism.expected_absolute_error(),
            half_width=Fraction(reach(mechanism, level)),
        )
        words = say("bounds of {column}, looked for in {count} bands", column=search.name, count=search.plan.cell_count)
        yield MeasureFigures(words, search.epsilon, mechanism.name, Fraction(1), ranked=False, slices=(noise,))
    same = len(statement.measures) == len(searching.farthest.measures)  # bounds may make one of two measures
    faces = statement.measures if same else searching.farthest.measures
    for face, priced in zip(faces, searching.pricing.measures, strict=True):
        named = next((item.name for item in priced.mechanisms if item is not None), "exact-public")
        yield MeasureFigures(face.told, priced.epsilon, named, face.step, ranked=False, slices=())


def _figure_unknown(statement: Statement, searching: Searching) -> Iterator[OutputFigures]:
    needed = [rows_needed(search.mechanism) for search in searching.searches]
    near, far = (max(ends) for ends in zip(*needed, strict=True))
    text = say(
        "its noise follows from the bounds found, which are given with the answer. None are found, and the answer "
        "says next to nothing, unless one band holds about {near:,} rows ({far:,} for values farthest from 0)",
        near=near,
        far=far,
    )
    for column in statement.presentation.columns:
        if not isinstance(column.shows, KeyShown):
            yield OutputFigures(column.name, depends=text)


def _figure_measures(statement: Statement, pricing: Pricing, level: Decimal) -> Iterator[MeasureFigures]:
    for index, (face, priced) in enumerate(zip(statement.measures, pricing.measures, strict=True)):
        mechanism = next((item for item in priced.mechanisms if item is not None), None)
        yield MeasureFigures(
            text=face.told,
            epsilon=priced.epsilon,
            mechanism="exact-public" if mechanism is None else mechanism.name,
            step=face.step,
            ranked=isinstance(mechanism, NoisyMax),
            slices=_slices(statement, pricing, index, level),
        )


def _slices(statement: Statement, pricing: Pricing, index: int, level: Decimal) -> tuple[Slice, ...]:
    priced, step = pricing.measures[index], statement.measures[index].step
    names = _slice_names(statement, [priced])
    found = []
    for number, (cell, moved) in enumerate(zip(names, priced.sensitivities.each, strict=True)):
        mechanism, noise = priced.mechanisms[number], noise_of(priced, number, level)
        ranked = isinstance(mechanism, NoisyMax)
        unit = Fraction(1) if ranked else step
        found.append(
            Slice(
                cell=cell,
                sensitivity=moved.l1,
                derivation=moved.derivation,
                parameters={} if mechanism is None else mechanism.parameters(),
                scale=None if mechanism is None or isinstance(mechanism, NoisyMax) else mechanism.scale * step,
                expected=noise.expected * float(unit),
                half_width=(noise.half_width + _aim(statement, index, priced, mechanism)) * unit,
            )
        )
    return tuple(found)


def noise_of(priced: MeasurePrice, number: int, level: Decimal) -> ExpectedNoise:
    """The noise in one slice; a measure without slices of its own is the same in all."""
    mechanism = priced.mechanisms[number if len(priced.mechanisms) > 1 else 0]
    if mechanism is None:
        return ExpectedNoise(0, 0.0)
    if isinstance(mechanism, NoisyMax):
        candidates = priced.candidate_count
        return ExpectedNoise(
            mechanism.half_width(level, candidates=candidates),
            mechanism.expected_absolute_error(candidates=candidates),
        )
    return ExpectedNoise(reach(mechanism, level), mechanism.expected_absolute_error())


def _aim(statement: Statement, index: int, priced: MeasurePrice, mechanism: UsedMechanism | None) -> int:
    """How many rows inside the end an extreme aims on purpose."""
    extreme = isinstance(statement.plan.measures[index], Extreme)
    if not extreme or not isinstance(mechanism, NoisyMax) or priced.candidates is None:
        return 0
    return depth(mechanism, candidates=priced.candidates)


def _slice_names(statement: Statement, priced: Sequence[MeasurePrice]) -> tuple[str | None, ...]:
    """The values of the key by which some of these measures have noise of their own."""
    key = next((item.sensitivities.key for item in priced if item.sensitivities.key is not None), None)
    if key is None:
        return (None,)
    face, cells = statement.keys[key], statement.plan.keys[key].cells
    return tuple(f"{face.name} {'NULL' if cell is None else face.shown(cell)}" for cell in cells or ())


def _threshold(pricing: Pricing) -> str | None:
    if pricing.threshold is None:
        return None
    return say_count(
        "only keys with a noisy count of at least {least:,} units are shown; one unit can reach {count:,} key",
        "only keys with a noisy count of at least {least:,} units are shown; one unit can reach {count:,} keys",
        pricing.threshold.keys,
        least=pricing.threshold.least,
    )


def _notes(statement: Statement, cards: Mapping[str, Card]) -> Iterator[str]:
    read = sorted(name for dataset, name in lineage_of(statement.plan, cards) if name in cards[dataset].from_rows)
    if read:
        yield say(
            "The categories or bounds of {columns} were read from the rows (provenance: from_rows): the answer would "
            "not be differentially private and leaves a marker.",
            columns=", ".join(read),
        )
    if any(isinstance(measure, Extreme) for measure in statement.plan.measures):
        yield say("MIN and MAX aim a few rows inside the end on purpose, so that what is chosen stays near the data.")
    if statement.presentation.having is not None or statement.presentation.limit is not None:
        yield say("Widths hold cell by cell, before HAVING and LIMIT select some of them.")
