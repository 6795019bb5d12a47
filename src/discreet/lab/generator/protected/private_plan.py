"""What private training will do and cost, fixed from the card before a row is read.

The parts never cost more than the rho that was asked for; `PrivatePlan.guarantee` is what to charge. Needs no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Final

from discreet.cards import ColumnKind
from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, Refused
from discreet.guarantees import ZCDP, ExactLike, Neighbours, exact, floor_to_grid, text
from discreet.lab.generator.generator_rows import Shape, shape_of
from discreet.lab.generator.protected.contribution import MOST_ENTRIES, WHOLE, WIDEST
from discreet.lab.generator.protected.public_coding import public_coding
from discreet.mechanisms import DiscreteGaussian

if TYPE_CHECKING:
    from discreet.cards import Card
    from discreet.lab.generator.coding import Coding

__all__ = ["PrivatePlan", "PrivateSettings", "plan_private"]

_BOUND: Final = 1 << 12  # how long a unit's gradient may be, in whole steps
_LEFT_OUT: Final = {ColumnKind.ID, ColumnKind.TEXT}
_LIMITS: Final = {
    "epochs": 10_000,
    "batches": 10_000,
    "cells": 100,
    "critic": 256,
    "hidden": 1024,
    "noise": 1024,
    "fakes": 10_000,
    "generator_steps": 100,
}

# A shorter clip would be less than the steps that gradients are counted in.
_LEAST: Final = {"clip": 0.001, "hold": 1e-9, "critic_rate": 1e-9, "generator_rate": 1e-9}
_MOST: Final = 8


@dataclass(frozen=True, slots=True)
class PrivateSettings:
    """How to train. Nothing here may be chosen by looking at the rows.

    Each epoch shows the discriminator every unit once, in `batches` steps; one batch is best, more are quicker on many
    rows. Numbers fall into so many equal `cells` of their range. `critic` and `hidden` are the widths of the
    discriminator and the generator; `clip` the length from which a unit's gradient is cut; `marginal_share` the part of
    rho that goes to the shares of single columns, and `hold` how firmly the generator keeps to those.
    """

    epochs: int = 60
    batches: int = 1
    cells: int = 16
    critic: int = 16
    hidden: int = 64
    noise: int = 32
    fakes: int = 256
    generator_steps: int = 2
    clip: float = 1.0
    hold: float = 1.0
    critic_rate: float = 3e-3
    generator_rate: float = 1e-3
    marginal_share: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        for name, largest in _LIMITS.items():
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= largest:
                raise ParameterInvalid(
                    parameter=name.replace("_", " "),
                    rule=say("must lie between 1 and {largest}", largest=largest),
                    given=str(value),
                )
        for name, least in _LEAST.items():
            if not least <= getattr(self, name) <= _MOST:
                raise ParameterInvalid(
                    parameter=name.replace("_", " "),
                    rule=say("must lie between {least} and {most}", least=least, most=_MOST),
                    given=str(getattr(self, name)),
                )
        if not 0 < self.marginal_share < 1:
            raise ParameterInvalid(
                parameter=Phrase("marginal share"), rule=say("must lie between 0 and 1"), given=str(self.marginal_share)
            )


@dataclass(frozen=True)
class PrivatePlan:
    """Training as it will run: noise of `marginals` once, and of `step` for each batch of each epoch.

    `bound` is the length of a unit's gradient in whole steps.
    """

    shapes: tuple[Shape, ...]
    settings: PrivateSettings
    neighbours: Neighbours
    bound: int
    marginals: DiscreteGaussian
    step: DiscreteGaussian

    @cached_property
    def coding(self) -> Coding:
        return public_coding(self.shapes, cells=self.settings.cells)

    @property
    def rho_marginals(self) -> Decimal:
        squared = _squared_marginals(len(self.shapes), self.neighbours)
        return self.marginals.guarantee(squared_sensitivity=squared).rho

    @property
    def rho_step(self) -> Decimal:
        """What one epoch costs: a unit is in one batch of it, or a replaced one in two."""
        return self.step.guarantee(squared_sensitivity=_squared_step(self.bound, self.neighbours)).rho

    @property
    def guarantee(self) -> ZCDP:
        """What training costs each unit, all its rows together."""
        return ZCDP(rho=self.rho_marginals + self.settings.epochs * self.rho_step)

    def facts(self) -> dict[str, str]:
        """The exact figures as text, for the model and the ledger."""
        return {
            "rho": text(self.guarantee.rho),
            "rho_marginals": text(self.rho_marginals),
            "rho_step": text(self.rho_step),
            "neighbours": str(self.neighbours),
            "epochs": str(self.settings.epochs),
            "batches": str(self.settings.batches),
            "clip": str(self.settings.clip),
            "bound": str(self.bound),
            "marginals_scale": str(self.marginals.scale),
            "step_scale": str(self.step.scale),
            "noise": DiscreteGaussian.name,
        }


def plan_private(card: Card, settings: PrivateSettings, *, rho: ExactLike) -> PrivatePlan:
    """The plan for a dataset's card that costs at most `rho`; refused where the card does not say enough."""
    shapes = tuple(shape_of(column) for column in card.columns if column.kind not in _LEFT_OUT)
    if not shapes:
        raise Refused(
            say(
                "'{dataset}' has no category, integer or number column: there is nothing to generate.",
                dataset=card.dataset,
            )
        )
    return plan_for(shapes, settings, neighbours=card.neighbours, rho=rho)


def plan_for(
    shapes: tuple[Shape, ...], settings: PrivateSettings, *, neighbours: Neighbours, rho: ExactLike
) -> PrivatePlan:
    """The same from the shapes of the columns."""
    whole = Fraction(exact(rho, parameter="rho"))
    _check_size(public_coding(shapes, cells=settings.cells).width, settings)
    for_marginals = floor_to_grid(whole * settings.marginal_share)
    for_step = floor_to_grid((whole - Fraction(for_marginals)) / settings.epochs)
    if not for_marginals or not for_step:
        raise _too_small(rho)
    squared = _squared_marginals(len(shapes), neighbours)
    marginals = DiscreteGaussian.calibrate(squared_sensitivity=squared, rho=for_marginals)
    step = DiscreteGaussian.calibrate(squared_sensitivity=_squared_step(_BOUND, neighbours), rho=for_step)
    return PrivatePlan(shapes, settings, neighbours, _BOUND, marginals, step)


def _squared_marginals(columns: int, neighbours: Neighbours) -> int:
    """In each column a unit has parts that sum to WHOLE at most; a replaced one loses some and gains others."""
    return columns * WHOLE * WHOLE * (1 if neighbours is Neighbours.ADD_REMOVE else 2)


def _squared_step(bound: int, neighbours: Neighbours) -> int:
    """A gradient comes or goes; a replaced one turns round at worst, which is twice its length."""
    return bound * bound * (1 if neighbours is Neighbours.ADD_REMOVE else 4)


def _check_size(width: int, settings: PrivateSettings) -> None:
    entries = settings.critic * (width + settings.critic + 3) + 1
    if width > WIDEST or entries > MOST_ENTRIES:
        raise Refused(
            say(
                "the columns of the card have {width} slots in all, too many for private training with a "
                "discriminator of width {critic}: there may be {widest} slots and {most_entries} weights. Group "
                "categories, or declare columns as text, which are left out.",
                width=width,
                critic=settings.critic,
                widest=WIDEST,
                most_entries=MOST_ENTRIES,
            ),
            slots=width,
        )


def _too_small(rho: ExactLike) -> ParameterInvalid:
    return ParameterInvalid(
        parameter="rho", rule=say("is too small for so many epochs (train for fewer, or spend more)"), given=str(rho)
    )
