"""What the single-message protocol asks: a category or a number, and which randomiser suits a batch of some size.

A batch of n people may use a larger local ε0 than the ε it must keep; how much larger depends on the randomiser, so
the two are chosen together. Nothing here looks at answers: variances are those of an assumed answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from discreet.catalogue import say
from discreet.collect.mixing.allowance import allow
from discreet.collect.randomisers.category_choice import choose_oracle
from discreet.collect.randomisers.duchi import Duchi
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.number_choice import choose_number, middle_half
from discreet.collect.randomisers.oracle import CategoryOracle
from discreet.collect.randomisers.randomiser import NumberRandomiser
from discreet.errors import ParameterInvalid
from discreet.guarantees import shown

__all__ = ["BatchQuestion", "CategoryQuestion", "NumberQuestion"]


class BatchQuestion(ABC):
    """One question of a survey, as far as it is public."""

    __slots__ = ()

    @abstractmethod
    def spread(self) -> float:
        """The assumed variance, from person to person, of what the weights multiply."""

    @abstractmethod
    def noise(self, *, epsilon: Decimal, delta: Decimal, people: int) -> float:
        """The assumed variance of one report's value in the best batch of this size; 1 person: local privacy."""


@dataclass(frozen=True, slots=True)
class CategoryQuestion(BatchQuestion):
    """One of `categories` answers; every one of their counts is wanted, and counts alike."""

    categories: int

    def __post_init__(self) -> None:
        if isinstance(self.categories, bool) or not isinstance(self.categories, int) or self.categories < 2:
            rule = say("must be a whole number of at least 2")
            raise ParameterInvalid(parameter="categories", rule=rule, given=shown(self.categories))

    def spread(self) -> float:
        """That of an indicator of share ½: the most it can be."""
        return 0.25

    def noise(self, *, epsilon: Decimal, delta: Decimal, people: int) -> float:
        """The mean over all categories, whatever the answers are."""
        return self.randomiser(epsilon=epsilon, delta=delta, people=people).expected_variance(share=1 / self.categories)

    def randomiser(self, *, epsilon: Decimal, delta: Decimal, people: int) -> CategoryOracle:
        """The randomiser with the smallest variance among those whose shuffled batch keeps (ε, δ)."""
        return _oracle(self.categories, epsilon, delta, people)


@dataclass(frozen=True, slots=True)
class NumberQuestion(BatchQuestion):
    """A number on the grid 0, …, `grid`, whose mean is wanted."""

    grid: int

    def __post_init__(self) -> None:
        if isinstance(self.grid, bool) or not isinstance(self.grid, int) or self.grid < 1:
            raise ParameterInvalid(parameter="grid", rule=say("must be a whole number above 0"), given=shown(self.grid))

    def spread(self) -> float:
        """That of answers whose standard deviation is an eighth of the range."""
        return self.grid**2 / 64

    def noise(self, *, epsilon: Decimal, delta: Decimal, people: int) -> float:
        """The mean over the middle half of the grid."""
        return _number_noise(self.grid, epsilon, delta, people)

    def randomiser(self, *, epsilon: Decimal, delta: Decimal, people: int) -> NumberRandomiser:
        """The randomiser with the smallest variance among those whose shuffled batch keeps (ε, δ)."""
        return _number(self.grid, epsilon, delta, people)


@lru_cache(maxsize=1 << 14)
def _oracle(categories: int, epsilon: Decimal, delta: Decimal, people: int) -> CategoryOracle:
    response = allow(epsilon=epsilon, delta=delta, people=people, categories=categories)
    own = choose_oracle(epsilon=response, categories=categories)
    if isinstance(own, GeneralisedResponse):
        return own  # the others have a looser account, so they would have to do with a smaller ε0
    best = choose_oracle(epsilon=allow(epsilon=epsilon, delta=delta, people=people), categories=categories)
    if GeneralisedResponse.objection(epsilon=response, categories=categories):
        return best
    plain = GeneralisedResponse(epsilon=response, categories=categories)
    share = 1 / categories
    return plain if plain.expected_variance(share=share) <= best.expected_variance(share=share) else best


@lru_cache(maxsize=1 << 14)
def _number(grid: int, epsilon: Decimal, delta: Decimal, people: int) -> NumberRandomiser:
    best = choose_number(epsilon=allow(epsilon=epsilon, delta=delta, people=people), grid=grid)
    places = middle_half(grid)
    least = best.variance(places).mean()
    if least <= (places * (grid - places)).mean():  # the variance of rounding to the ends, which Duchi never beats
        return best
    # Duchi's reports are binary randomised response of a rounded answer, so they have its tighter account.
    own = Duchi(epsilon=allow(epsilon=epsilon, delta=delta, people=people, categories=2), grid=grid)
    return own if own.variance(places).mean() < least else best


@lru_cache(maxsize=1 << 14)
def _number_noise(grid: int, epsilon: Decimal, delta: Decimal, people: int) -> float:
    randomiser = _number(grid, epsilon, delta, people)
    return float(randomiser.variance(middle_half(grid)).mean())
