"""What a statement costs and how its noise is calibrated: decided before the charge, from text and cards alone.

Guarantee: epsilon = the sum of the shares of the measures; with open keys also delta, for the threshold on units.
           With Gaussian noise rho = the sum of the shares.
Requires:  the sensitivities of `plan.calculus`; noise and choices drawn independently, measure by measure.
Proof:     docs/proofs/open-keys.md, docs/proofs/quantiles.md; shares add up by docs/proofs/composition.md;
           docs/proofs/mean.md for the parts of a mean
Refs:      [KKMN09] for the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from discreet.cards import Card
from discreet.catalogue import say
from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees import ZCDP, ApproxDP, CentralGuarantee, PureDP, exact, from_units, text, to_units
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, NoisyMax
from discreet.noise import laplace_threshold
from discreet.sql import (
    TOTAL_OF_MEAN,
    Extreme,
    Facts,
    KeyShown,
    Mean,
    Measure,
    Plan,
    Quantile,
    Sensitivities,
    Sensitivity,
    Statement,
    Total,
    Units,
    facts_of,
    fields_in,
    sensitivities,
)

__all__ = [
    "MeasurePrice",
    "Pricing",
    "Threshold",
    "UsedMechanism",
    "candidates_of",
    "moves_of",
    "price",
    "price_gaussian",
    "require_bounds",
    "require_drawable",
    "split_units",
]

UsedMechanism = DiscreteLaplace | DiscreteGaussian | NoisyMax


@dataclass(frozen=True, slots=True)
class MeasurePrice:
    """One measure: its share of epsilon (of rho, for Gaussian noise), and a mechanism for each of its sensitivities.

    A mechanism is None where nobody can move the value: it is then given exactly. `candidates` are the first and the
    last whole step among which a quantile or an extreme is chosen.
    """

    epsilon: Decimal
    sensitivities: Sensitivities
    mechanisms: tuple[UsedMechanism | None, ...]
    candidates: tuple[int, int] | None = None
    rho: Decimal = Decimal(0)

    @property
    def candidate_count(self) -> int:
        return 0 if self.candidates is None else self.candidates[1] - self.candidates[0] + 1


@dataclass(frozen=True, slots=True)
class Threshold:
    """Open keys: a key is shown when the noisy count of its units is at least `least`.

    `keys` is the number of keys that one unit can make come or go; each of them has a part delta / keys.
    """

    least: int
    keys: int
    delta: Decimal


@dataclass(frozen=True, slots=True)
class Pricing:
    """What is charged, and the mechanisms in the order of the plan's measures."""

    guarantee: CentralGuarantee
    measures: tuple[MeasurePrice, ...]
    threshold: Threshold | None = None


def price(
    statement: Statement,
    cards: Mapping[str, Card],
    *,
    epsilon: Decimal,
    delta: Decimal = Decimal(0),
    shares: Sequence[Decimal] | None = None,
) -> Pricing:
    """The charge and the mechanisms of a statement, or QueryRefused.

    Epsilon is the total; `shares` say how it is split, else `split_units`. Delta is used, and charged, for open keys
    only.
    """
    plan = statement.plan
    require_bounds(statement)
    facts = facts_of(plan.source, cards)
    moved = [moves_of(statement, measure, cards, facts=facts) for measure in plan.measures]
    _require_noise(moved, cards)
    split = _split(statement, epsilon, moved) if shares is None else _checked_shares(shares, epsilon, moved)
    measures = tuple(
        _price_measure(measure, found, share, candidates_of(measure))
        for measure, found, share in zip(plan.measures, moved, split, strict=True)
    )
    if not plan.open or _units_price(plan, measures).mechanisms[0] is None:
        return Pricing(PureDP(epsilon=epsilon), measures)
    if not delta:
        raise QueryRefused(
            say(
                "these keys are not listed in the card, so which of them are shown depends on the rows: a "
                "threshold hides rare ones, and it needs a delta. Add --delta, such as --delta 1e-7; the "
                "population's budget must have a delta too. Or group by columns whose categories or bounds the "
                "card lists."
            ),
            part="delta",
        )
    return Pricing(ApproxDP(epsilon=epsilon, delta=delta), measures, _threshold(plan, measures, delta))


def require_drawable(statement: Statement, cards: Mapping[str, Card], *, share: Decimal) -> None:
    """Refuse, as `price` would, where noise cannot be drawn for some measure with this share of epsilon."""
    for measure in statement.plan.measures:
        candidates = candidates_of(measure)
        _price_measure(measure, moves_of(statement, measure, cards), share, candidates)


def moves_of(
    statement: Statement, measure: Measure, cards: Mapping[str, Card], *, facts: Facts | None = None
) -> Sensitivities:
    """How far one unit can move a measure of the statement; `facts` as for `sensitivities`.

    Bounds that were found in the rows may leave a sum nothing to move. It is noised as one step then: an exact answer
    or a refusal would come for some rows only.
    """
    moved = sensitivities(statement.plan, measure, cards, facts=facts)
    private = {column for column, _ in statement.private}
    if not isinstance(measure, Total) or private.isdisjoint(fields_in(measure)):
        return moved
    why = say("nobody moves it within the bounds found; it is noised as if by one step")
    one_step = Sensitivity(Fraction(1), Fraction(1), why)
    return replace(moved, each=tuple(item if item.l1 else one_step for item in moved.each))


def price_gaussian(
    statement: Statement, cards: Mapping[str, Card], *, rho: Decimal, shares: Sequence[Decimal]
) -> Pricing:
    """The charge and the mechanisms of counts and sums over listed keys, with Gaussian noise: rho is the total."""
    plan = statement.plan
    assert not plan.open, "a threshold on open keys needs the noise it was proved for"
    assert not any(isinstance(item, Quantile | Extreme) for item in plan.measures), (
        "a choice is not made by adding noise"
    )
    facts = facts_of(plan.source, cards)
    moved = [sensitivities(plan, measure, cards, facts=facts) for measure in plan.measures]
    _require_noise(moved, cards)
    split = _checked_shares(shares, rho, moved)
    measures = []
    for found, share in zip(moved, split, strict=True):
        mechanisms = tuple(
            DiscreteGaussian.calibrate(squared_sensitivity=item.squared_l2, rho=share) if item.squared_l2 else None
            for item in found.each
        )
        measures.append(MeasurePrice(Decimal(0), found, mechanisms, rho=share))
    return Pricing(ZCDP(rho=rho), tuple(measures))


def candidates_of(measure: Measure) -> tuple[int, int] | None:
    """The first and the last value that a quantile or an extreme can have, in whole steps; None for other measures."""
    if not isinstance(measure, Quantile | Extreme):
        return None
    assert measure.candidates is not None, "only custodians' comparisons read values as they are"
    return measure.candidates


def require_bounds(statement: Statement) -> None:
    """Whoever searches for private bounds prices the statement that they give."""
    if statement.searched:
        names = ", ".join(say("'{name}'", name=statement.called(column)) for column in statement.searched)
        raise QueryRefused(
            say(
                "the bounds of {names} are private, and only a single question, asked at an epsilon, searches "
                'for them. Write CLAMP(column, low, high) here, or ask with: discreet query "…" --epsilon E',
                names=names,
            ),
            part="bounds",
        )


def _require_noise(moved: Sequence[Sensitivities], cards: Mapping[str, Card]) -> None:
    fixed = any(item.l1 == 0 for found in moved for item in found.each)
    if fixed and not all(card.exact_public for card in cards.values()):
        raise QueryRefused(
            say(
                "this count is fixed by what is public, so noise would protect nobody and an exact answer is not "
                "given. If it may be published exactly, the card says `exact_public: true`."
            )
        )


def split_units(statement: Statement, noisy: Sequence[int], units: int) -> list[int]:
    """How so many 1e-9 of epsilon are split over the measures: nothing for those that need no noise.

    Equal parts, the remainder to the last; a statement that shows nothing but one mean gives its total three quarters.
    """
    split = [0] * len(statement.plan.measures)
    shown = [column.shows for column in statement.presentation.columns if not isinstance(column.shows, KeyShown)]
    mean = shown[0] if len(shown) == 1 else None
    if isinstance(mean, Mean) and {*noisy} == {mean.total, mean.size}:
        split[mean.size] = max(1, int(units * (1 - TOTAL_OF_MEAN)))
        split[mean.total] = units - split[mean.size]
        return split
    part, rest = divmod(units, len(noisy))
    for index in noisy:
        split[index] = part
    split[noisy[-1]] += rest
    return split


def _split(statement: Statement, epsilon: Decimal, moved: Sequence[Sensitivities]) -> list[Decimal]:
    noisy = [index for index, found in enumerate(moved) if found.largest.l1]
    if not noisy:
        return [Decimal(0)] * len(moved)
    split = split_units(statement, noisy, to_units(epsilon))
    if not all(split[index] for index in noisy):
        raise QueryRefused(
            say(
                "epsilon {epsilon} is shared by {count} measures, and a share is at least 1e-9. Ask with a "
                "larger epsilon, or for fewer outputs.",
                epsilon=text(epsilon),
                count=len(noisy),
            ),
            part="epsilon",
        )
    return [from_units(part) for part in split]


def _checked_shares(shares: Sequence[Decimal], whole: Decimal, moved: Sequence[Sensitivities]) -> list[Decimal]:
    given = [exact(share, parameter="share", zero=True) for share in shares]
    needs = [bool(found.largest.l1) for found in moved]
    if [bool(share) for share in given] != needs or (any(needs) and sum(given) != whole):
        raise ParameterInvalid(
            parameter="shares",
            rule=say("must give every measure that needs noise a part, and no other, and add up to the whole"),
            given=", ".join(text(share) for share in given),
        )
    return given


def _price_measure(
    measure: Measure, found: Sensitivities, share: Decimal, candidates: tuple[int, int] | None
) -> MeasurePrice:
    chosen = isinstance(measure, Quantile | Extreme)
    calibrate = NoisyMax.calibrate if chosen else DiscreteLaplace.calibrate
    mechanisms = tuple(calibrate(sensitivity=item.l1, epsilon=share) if item.l1 else None for item in found.each)
    return MeasurePrice(share, found, mechanisms, candidates)


def _units_price(plan: Plan, measures: Sequence[MeasurePrice]) -> MeasurePrice:
    """Every open plan counts units: who is behind a key decides whether it is shown."""
    return measures[plan.measures.index(Units())]


def _threshold(plan: Plan, measures: Sequence[MeasurePrice], delta: Decimal) -> Threshold:
    """A key held by one unit alone is shown with probability at most delta / keys.

    The sensitivity of the count of units is the number of keys that one unit can make come or go; where it is 0, the
    list of keys is public and needs no threshold. The proof asks for a delta below 1 - exp(-share), and
    share / (1 + share) lies below that.
    """
    units = _units_price(plan, measures)
    mechanism, keys, share = units.mechanisms[0], units.sensitivities.each[0].l1, Fraction(units.epsilon)
    assert isinstance(mechanism, DiscreteLaplace)
    probability = min(Fraction(delta), share / (1 + share)) / keys
    least = 1 + laplace_threshold(scale=mechanism.scale, probability=probability)
    return Threshold(least=least, keys=int(keys), delta=delta)
