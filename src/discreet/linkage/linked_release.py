"""The answer to a linked count as it is read: counts, shares and rates, with everything to be said beside them.

Everything here follows from the noisy cells and public numbers, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike, Neighbours, PureDP, exact, posterior, text
from discreet.linkage.agreements.agreement import Agreement, AgreementTerms
from discreet.linkage.agreements.agreement_schema import MOST_PEOPLE
from discreet.linkage.linked_figures import CellNoise, Estimated, NoisySum
from discreet.linkage.offices.researcher_desk import ReadAnswer
from discreet.linkage.tariff import LinkedKind
from discreet.mechanisms import DiscreteLaplace
from discreet.results import (
    Accounted,
    BeliefRise,
    BeliefTable,
    CappedWeights,
    Claim,
    Coverage,
    DrawnAtRate,
    Figures,
    Heading,
    KeyFace,
    KnownPopulation,
    Later,
    LinkedInPart,
    LinkedProtection,
    Margin,
    MeasureNoise,
    Noise,
    Note,
    NotProtected,
    RatiosNotShown,
    RegistryReceipt,
    Release,
    ReleaseKind,
    Source,
    Statistic,
    UnderAccount,
)

__all__ = ["PRIORS", "publish_answer"]

PRIORS: Final = ("0.05", "0.25", "0.5", "0.75", "0.95")
"""From which beliefs a reader is told how far they may rise."""

_TITLES: Final = {
    "count": Phrase("Count"),
    "size": Phrase("Effective size"),
    "share": Phrase("Share"),
    "distribution": Phrase("Distribution"),
    "distribution_with": Phrase("Distribution (with)"),
    "distribution_without": Phrase("Distribution (without)"),
    "rate_ratio": Phrase("Rate ratio"),
    "rate_with": Phrase("Rate (with)"),
    "rate_without": Phrase("Rate (without)"),
    "scaled_count": Phrase("Scaled count"),
    "linked_share": Phrase("Share linked"),
}
_AMOUNTS: Final = ("count", "size")

Columns = dict[str, list[Estimated]]


def publish_answer(
    agreement: Agreement,
    found: ReadAnswer,
    *,
    level: ExactLike = "0.95",
    population_share: ExactLike | None = None,
    population: int | None = None,
) -> Release:
    """What an answer says.

    With the share of a population that has the property, how often people with it are in the sample against people
    without it; with the size of that population too, how often each are.
    """
    answer, asked, terms = found.answer, found.asked, agreement.terms
    public = _check_public(found, population_share, population)
    noise = CellNoise.of(scale=answer.scale * asked.largest, level=level)
    sums = _Sums.of(found, terms, noise)
    columns = _columns(sums, found, terms, public)
    headings, codes = _headings(found)
    tariff = terms.tariff
    return Release(
        kind=ReleaseKind.LINKED,
        title=Phrase("{study}: {property}", study=terms.title, property=asked.title),
        claim=Claim(
            PureDP(epsilon=tariff.epsilon),
            terms.registry.dataset,
            neighbours=Neighbours.REPLACE_ONE,
            each=_unit(terms),
        ),
        settlement=Accounted(answer.charge, tariff.parts, tariff.cap, terms.members),
        source=Source(terms.study, 0, request_id=answer.request, agreement=agreement.digest),
        headings=headings,
        statistics=tuple(_statistic(name, items, codes, found) for name, items in columns.items()),
        level=noise.level,
        notes=tuple(_notes(found, terms, public, columns)),
        mechanisms=Later(lambda: [_mechanism(found, terms)]),
        asked={
            "where": found.where,
            "property": asked.name,
            "kind": answer.kind.value,
            "scale": answer.scale,
            "groups": list(found.groups),
        },
    )


@dataclass(frozen=True, slots=True)
class _Public:
    """What a reader knows of the population: the share with the property, and its size."""

    share: Decimal
    people: int | None


def _check_public(found: ReadAnswer, share: ExactLike | None, people: int | None) -> _Public | None:
    if share is None:
        if people is not None:
            raise ParameterInvalid(
                parameter="population",
                rule=say("goes with population_share, the share of it with the property"),
                given=str(people),
            )
        return None
    known, kind = exact(share, parameter="population_share", below=1), found.answer.kind
    if people is not None and (isinstance(people, bool) or not 1 <= people <= MOST_PEOPLE):
        raise ParameterInvalid(
            parameter="population",
            rule=say("must be a whole number from 1 to {most:,}", most=MOST_PEOPLE),
            given=str(people),
        )
    if kind is LinkedKind.HISTOGRAM or (kind is LinkedKind.COUNT and people is None):
        rule = say("goes with one property: ask for it with the kind count-and-size")
        if kind is LinkedKind.COUNT:
            rule = say("goes with an answer of the kind count-and-size, or with population too")
        raise ParameterInvalid(parameter="population_share", rule=rule, given=text(known))
    return _Public(known, people)


def _unit(terms: AgreementTerms) -> Literal["person", "household"]:
    return "household" if terms.unit == "household" else "person"


# --- figures --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sums:
    """The cells of every group as sums in the property's own units, and one over each group's rate."""

    cells: tuple[tuple[NoisySum, ...], ...]
    raised: tuple[Fraction, ...]
    noise: CellNoise

    @classmethod
    def of(cls, found: ReadAnswer, terms: AgreementTerms, noise: CellNoise) -> _Sums:
        assert found.answer.cells is not None, "a closed study gives no answer to read"
        step = Fraction(1) if found.asked.weight is None else Fraction(found.asked.weight.step)
        cells = tuple(tuple(NoisySum((cell,), (step,)) for cell in group) for group in found.answer.cells)
        return cls(cells, tuple(1 / Fraction(rate) for rate in found.rates), noise)

    def column(self, place: int) -> list[NoisySum]:
        return [group[place] for group in self.cells]

    def distribution(self, place: int) -> list[Estimated]:
        """The share of each group among all of them, as if none had been thinned."""
        whole = [cell.times(factor) for cell, factor in zip(self.column(place), self.raised, strict=True)]
        return [_share_of(self.noise, whole, place) for place in range(len(whole))]


def _share_of(noise: CellNoise, sums: Sequence[NoisySum], place: int) -> Estimated:
    return noise.share(sums[place], NoisySum.join([item for at, item in enumerate(sums) if at != place]))


def _columns(sums: _Sums, found: ReadAnswer, terms: AgreementTerms, public: _Public | None) -> Columns:
    """The statistics by name, each with a figure for every row."""
    kind, groups = found.answer.kind, len(found.groups)
    if kind is LinkedKind.HISTOGRAM:
        columns = _histogram(sums, found)
    else:
        columns = _property(sums, sized=kind is LinkedKind.COUNT_AND_SIZE, several=groups > 1)
    if public is not None:
        columns |= _rates(sums, terms, public, sized=kind is LinkedKind.COUNT_AND_SIZE)
    if terms.linked_share is not None:
        scaled = [item.times(1 / Fraction(terms.linked_share)) for item in _counted(sums, kind)]
        columns["scaled_count"] = [sums.noise.amount(item) for item in scaled]
    if kind is LinkedKind.COUNT_AND_SIZE and terms.mapped and found.asked.weight is None:
        columns["linked_share"] = [sums.noise.share(NoisySum.join(group[:2]), group[2]) for group in sums.cells]
    return columns


def _counted(sums: _Sums, kind: LinkedKind) -> list[NoisySum]:
    """The cells with the property, or with each value: one for every row."""
    if kind is LinkedKind.HISTOGRAM:
        return [cell for group in sums.cells for cell in group]
    return sums.column(0)


def _property(sums: _Sums, *, sized: bool, several: bool) -> Columns:
    noise, having = sums.noise, sums.column(0)
    columns: Columns = {"count": [noise.amount(item) for item in having]}
    if sized:
        others = sums.column(1)
        columns["size"] = [noise.amount(NoisySum.join(pair)) for pair in zip(having, others, strict=True)]
        columns["share"] = [noise.share(*pair) for pair in zip(having, others, strict=True)]
    if several:
        columns["distribution_with"] = sums.distribution(0)
    if several and sized:
        columns["distribution_without"] = sums.distribution(1)
    return columns


def _histogram(sums: _Sums, found: ReadAnswer) -> Columns:
    """Values stand one below the other in each group. They have shares where nobody has two of them."""
    noise, width = sums.noise, len(found.asked.values)
    columns: Columns = {"count": [noise.amount(cell) for group in sums.cells for cell in group]}
    if found.asked.answers == 1:
        columns["share"] = [_share_of(noise, group, place) for group in sums.cells for place in range(width)]
    if len(found.groups) > 1:
        spread = [sums.distribution(place) for place in range(width)]
        columns["distribution"] = [spread[place][at] for at in range(len(found.groups)) for place in range(width)]
    return columns


def _rates(sums: _Sums, terms: AgreementTerms, public: _Public, *, sized: bool) -> Columns:
    """People with the property against people without, and how often each of them are in the sample."""
    share, columns = Fraction(public.share), Columns()
    if sized:
        odds = share / (1 - share)
        columns["rate_ratio"] = [sums.noise.ratio(group[0], group[1].times(odds)) for group in sums.cells]
    if public.people is not None:
        linked = Fraction(1) if terms.linked_share is None else Fraction(terms.linked_share)
        for place, (name, part) in enumerate((("rate_with", share), ("rate_without", 1 - share))[: 1 + sized]):
            factors = [factor / (linked * part * public.people) for factor in sums.raised]
            scaled = [cell.times(factor) for cell, factor in zip(sums.column(place), factors, strict=True)]
            columns[name] = [sums.noise.amount(item) for item in scaled]
    return columns


def _headings(found: ReadAnswer) -> tuple[tuple[Heading, ...], tuple[list[str], ...]]:
    """The keys, and the codes of every row."""
    groups, values = found.groups, found.asked.values if found.answer.kind is LinkedKind.HISTOGRAM else ()
    rows = [(group, value) for group in groups for value in ([item.name for item in values] or [""])]
    headings, codes = [], []
    if len(groups) > 1:
        headings.append(Heading("group", Phrase("Group"), KeyFace("group", groups)))
        codes.append([group for group, _ in rows])
    if values:
        face = KeyFace("value", tuple(item.name for item in values), tuple(item.title for item in values))
        headings.append(Heading("value", found.asked.title, face))
        codes.append([value for _, value in rows])
    return tuple(headings), tuple(codes)


def _statistic(name: str, items: Sequence[Estimated], codes: tuple[list[str], ...], found: ReadAnswer) -> Statistic:
    margin = Margin(
        (), codes, [item.value for item in items], low=[item.low for item in items], high=[item.high for item in items]
    )
    step = "1" if found.asked.weight is None else text(found.asked.weight.step)
    amount = name in _AMOUNTS
    return Statistic(
        name,
        _TITLES[name],
        Figures(len(items), lambda: [margin]),
        step=step if amount else None,
        whole=amount and "." not in step,
    )


# --- what is said beside them ---------------------------------------------------------------------------------------


def _notes(found: ReadAnswer, terms: AgreementTerms, public: _Public | None, columns: Columns) -> Iterator[Note]:
    epsilon, unit = terms.tariff.epsilon, _unit(terms)
    # Without a map, the ids of households are addresses.
    yield UnderAccount("households" if unit == "household" and not terms.mapped else "people", sized="size" in columns)
    yield Coverage("linked")
    if any(item.value is None for items in columns.values() for item in items):
        yield RatiosNotShown()
    if any(rate != 1 for rate in found.rates):
        yield DrawnAtRate(found.groups, found.rates)
    if found.asked.weight is not None:
        yield CappedWeights()
    if terms.linked_share is not None:
        yield LinkedInPart(terms.linked_share)
    if public is not None:
        yield KnownPopulation(public.share, public.people)
    yield LinkedProtection(unit, epsilon, 2 * epsilon, terms.closing_epsilon)
    yield NotProtected()
    yield BeliefTable(
        unit, tuple(BeliefRise(Decimal(prior), posterior(epsilon=epsilon, prior=prior)) for prior in PRIORS)
    )
    yield RegistryReceipt(found.answer.receipt)


def _mechanism(found: ReadAnswer, terms: AgreementTerms) -> MeasureNoise:
    answer, asked = found.answer, found.asked
    scale = answer.scale * asked.largest
    moved = answer.charge * answer.scale // terms.tariff.parts * asked.largest
    return MeasureNoise(
        asked.name,
        [
            Noise(
                DiscreteLaplace.name,
                {"scale": str(scale)},
                {"sensitivity": str(moved)},
                "what one member of a unit moves all cells together",
            )
        ],
        step="1" if asked.weight is None else text(asked.weight.step),
    )
