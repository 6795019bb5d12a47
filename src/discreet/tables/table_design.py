"""What is measured of a table: the strategy of each of its measures, and the statement that the ledger charges.

Decided from the request, the cards and the budget's terms alone, before anything is charged. Where the cells alone are
measured, the statement is that of the same question in SQL, and either may replay the other's answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees import Budget, floor_to_grid, from_units, text, to_units
from discreet.ledger import RHO_UNIT, caps, rho_cap
from discreet.release import NoisyMeasure, Pricing, price, price_gaussian
from discreet.sql import TOTAL_OF_MEAN, Marginal, Measure, MeasureFace, Residual, Rows, Statement, Total, sensitivities
from discreet.tables.formation import Formed
from discreet.tables.linear.layout import Layout, Margin
from discreet.tables.linear.margin_strategies import MarginStrategy, MeasuredShare, choose_strategy, list_strategies

__all__ = [
    "NOISES",
    "Component",
    "Design",
    "NoiseChoice",
    "as_drawn",
    "design_table",
    "gaussian_weight",
    "widened",
    "with_laplace",
]

NoiseChoice = Literal["auto", "laplace", "gaussian"]
NOISES: Final[tuple[NoiseChoice, ...]] = ("auto", "laplace", "gaussian")

# The variance that sampling adds only grades the figure beside it.
_GRADED: Final = Fraction(4, 5)


@dataclass(frozen=True)
class Component:
    """One measure of the cells, the part of the budget it gets, and every strategy there was for it."""

    measure: Rows | Total
    face: MeasureFace
    part: Fraction
    layout: Layout
    strategies: tuple[MarginStrategy, ...]
    chosen: MarginStrategy

    def measures(self) -> tuple[Measure, ...]:
        """What the chosen strategy measures, in its order."""
        return tuple(_measure(self.measure, self.layout, item) for item in self.chosen.measured)


@dataclass(frozen=True)
class Design:
    """A table ready to be asked: the statement with all that is measured, and how the budget is split over it."""

    formed: Formed
    components: tuple[Component, ...]
    statement: Statement
    epsilon: Decimal
    rho: Decimal | None
    shares: tuple[Decimal, ...]

    def price(self) -> Pricing:
        """What is charged, and every mechanism."""
        cards = self.formed.cards
        if self.rho is not None:
            return price_gaussian(self.statement, cards, rho=self.rho, shares=self.shares)
        return price(self.statement, cards, epsilon=self.epsilon, shares=self.shares)


def design_table(formed: Formed, *, epsilon: Decimal, budget: Budget, noise: NoiseChoice = "auto") -> Design:
    """The best strategy for every measure by its expected error; all of them with one kind of noise.

    Under an (epsilon, delta) budget Gaussian noise is offered too, for no more of the budget than a pure answer at
    epsilon takes, however that is accounted: rho is at most epsilon²/2, which is what it weighs, and at most that part
    of the budget's rho which epsilon is of its epsilon.
    """
    _require_noise(formed, epsilon)
    rho = gaussian_weight(epsilon, budget, noise)
    parts = _parts(formed)
    offers = [_offer(formed, index, part, epsilon, rho) for index, part in enumerate(parts)]
    return _choose(formed, parts, offers, epsilon=epsilon, rho=rho, kinds=NOISES[1:] if noise == "auto" else (noise,))


def with_laplace(design: Design) -> Design:
    """The same table with Laplace noise: for an account that has no room for Gaussian noise, but for this."""
    parts, offers = [item.part for item in design.components], [item.strategies for item in design.components]
    return _choose(design.formed, parts, offers, epsilon=design.epsilon, rho=None, kinds=("laplace",))


def widened(design: Design) -> Design:
    """The design with every cell of the keys' domains: for answers drawn before conditions took cells away."""
    formed = design.formed.widened
    components = tuple(
        replace(component, layout=_layout(formed, index)) for index, component in enumerate(design.components)
    )
    return replace(design, formed=formed, components=components, statement=design.statement.widened)


def as_drawn(design: Design, drawn: Sequence[NoisyMeasure]) -> Design:
    """The design with the shares of a stored answer: another statement may have split its budget in another way."""
    left = [Fraction(item.rho or item.epsilon) for item in drawn]
    whole, components = sum(left, Fraction(0)), []
    for component in design.components:
        own = [left.pop(0) for _ in component.chosen.measured]
        part = sum(own, Fraction(0))
        measured = tuple(
            replace(item, share=share / part) for item, share in zip(component.chosen.measured, own, strict=True)
        )
        chosen = replace(component.chosen, measured=measured)
        components.append(replace(component, part=part / whole, chosen=chosen))
    return replace(design, components=tuple(components))


def _choose(
    formed: Formed,
    parts: Sequence[Fraction],
    offers: Sequence[tuple[MarginStrategy, ...]],
    *,
    epsilon: Decimal,
    rho: Decimal | None,
    kinds: Sequence[str],
) -> Design:
    """The kind of noise that errs least, and the best strategy with it for every measure."""
    suited = [[[item for item in offer if item.noise == kind] for offer in offers] for kind in kinds]
    picked = [[choose_strategy(found) for found in every] for every in suited if all(every)]
    if not picked:
        raise QueryRefused(
            say(
                "epsilon {epsilon} is too small for a table: each of its measurements needs a share of at least "
                "1e-9. Ask with a larger epsilon, or for fewer margins.",
                epsilon=text(epsilon),
            ),
            part="epsilon",
        )
    chosen = min(picked, key=lambda strategies: sum(item.mean for item in strategies))
    components = tuple(
        Component(_of(formed, index), formed.statement.measures[index], part, _layout(formed, index), offer, strategy)
        for index, (part, offer, strategy) in enumerate(zip(parts, offers, chosen, strict=True))
    )
    gaussian = chosen[0].noise == "gaussian"
    whole = rho if gaussian else epsilon
    assert whole is not None
    return Design(
        formed=formed,
        components=components,
        statement=_widened(formed, components),
        epsilon=epsilon,
        rho=rho if gaussian else None,
        shares=_split(whole, [item.part * measured.share for item in components for measured in item.chosen.measured]),
    )


def _require_noise(formed: Formed, epsilon: Decimal) -> None:
    """What nobody can move is refused as in SQL; where the card lets it out exactly, SQL gives it too."""
    moved = [sensitivities(formed.plan, measure, formed.cards) for measure in formed.plan.measures]
    if all(item.l1 for found in moved for item in found.each):
        return
    price(formed.statement, formed.cards, epsilon=epsilon)
    raise QueryRefused(
        say(
            "this table is fixed by what is public, at least in part, and its card lets it be published "
            "exactly: ask for it with `discreet query`, which gives it without noise."
        ),
        part="by",
    )


def _parts(formed: Formed) -> tuple[Fraction, ...]:
    """How the budget is split over the measures of the cells: those of a mean as in SQL."""
    if len(formed.plan.measures) == 1:
        return (Fraction(1),)
    first = _GRADED if formed.mean is None else TOTAL_OF_MEAN
    return (first, 1 - first)


def gaussian_weight(epsilon: Decimal, budget: Budget, noise: NoiseChoice) -> Decimal | None:
    """The rho of Gaussian noise for no more of the budget than a pure answer at epsilon takes; None for Laplace noise.

    Refused where Gaussian noise was asked for and the budget or epsilon has no room for it.
    """
    if noise == "laplace":
        return None
    if budget.pure:
        if noise == "gaussian":
            raise ParameterInvalid(
                parameter="noise",
                rule=say("must be laplace under a pure budget: Gaussian noise has a delta, and this budget has none"),
                given="gaussian",
            )
        return None
    spent = Fraction(epsilon)
    # A unit of epsilon is 1e-9 of it: the part of a cap that a pure answer takes, taken of its rho.
    parts = [rho_cap(cap) * RHO_UNIT * spent / Fraction(cap.epsilon, 10**9) for cap in caps(budget)]
    rho = floor_to_grid(min(spent**2 / 2, *parts))
    if noise == "auto" and not rho:
        return None
    if not rho:
        raise ParameterInvalid(
            parameter="epsilon", rule=say("must be at least 0.0001 for Gaussian noise"), given=text(epsilon)
        )
    return rho


def _of(formed: Formed, index: int) -> Rows | Total:
    measure = formed.plan.measures[index]
    assert isinstance(measure, Rows | Total)
    return measure


def _layout(formed: Formed, index: int) -> Layout:
    return formed.layout(sensitivities(formed.plan, formed.plan.measures[index], formed.cards).key)


def _offer(
    formed: Formed, index: int, part: Fraction, epsilon: Decimal, rho: Decimal | None
) -> tuple[MarginStrategy, ...]:
    """Every strategy for one measure whose shares are on the grid, with its expected error in squared whole steps."""
    measure, layout = _of(formed, index), _layout(formed, index)

    def moved(kept: Margin, residual: bool) -> Sequence[tuple[Fraction, Fraction]]:
        asked = _measure(measure, layout, MeasuredShare(kept, residual, Fraction(1)))
        found = sensitivities(formed.plan, asked, formed.cards)
        if not layout.keeps_slices(kept):
            return [(found.largest.l1, found.largest.squared_l2)]
        each = found.each if found.key is not None else found.each * layout.slices
        return [(item.l1, item.squared_l2) for item in each]

    own = Decimal(part.numerator) / Decimal(part.denominator)
    found = list_strategies(layout, moved=moved, epsilon=epsilon * own, rho=None if rho is None else rho * own)
    wholes = {"laplace": epsilon, "gaussian": rho or Decimal(0)}
    return tuple(item for item in found if all(_units(wholes[item.noise], part * it.share) for it in item.measured))


def _measure(measure: Rows | Total, layout: Layout, item: MeasuredShare) -> Measure:
    if item.residual:
        whole = tuple(index for index in item.kept if index == layout.slicing)
        return Residual(measure, item.kept, whole)
    return measure if item.kept == layout.cells else Marginal(measure, item.kept)


def _widened(formed: Formed, components: Sequence[Component]) -> Statement:
    """The statement of the cells with every margin that is measured beside them, or instead of them."""
    measures = tuple(measure for component in components for measure in component.measures())
    faces = tuple(
        MeasureFace.of(_face(formed, component, item), component.face.step)
        for component in components
        for item in component.chosen.measured
    )
    statement = formed.statement
    return replace(statement, plan=replace(statement.plan, measures=measures), measures=faces)


def _face(formed: Formed, component: Component, item: MeasuredShare) -> str | Phrase:
    measure = component.face.words
    if item.kept == component.layout.cells and not item.residual:
        return measure
    names = ", ".join(formed.request.by[index] for index in item.kept) or Phrase("all")
    if item.residual:
        return Phrase("{measure} residual by {keys}", measure=measure, keys=names)
    return Phrase("{measure} by {keys}", measure=measure, keys=names)


def _split(whole: Decimal, shares: Sequence[Fraction]) -> tuple[Decimal, ...]:
    """Parts on the grid that add up to the whole; what rounding leaves goes to the largest."""
    units = [_units(whole, share) for share in shares]
    units[units.index(max(units))] += to_units(whole) - sum(units)
    return tuple(from_units(unit) for unit in units)


def _units(whole: Decimal, share: Fraction) -> int:
    """A share of the whole in 1e-9, rounded down; 0 where the whole is too small to be shared so."""
    return int(to_units(whole) * share)
