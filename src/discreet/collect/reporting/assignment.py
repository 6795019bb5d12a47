"""Which randomiser a question of a manifest has: chosen by expected variance, or named by the author and checked.

A name says all that is needed to build the randomiser again: `split 0.3 piecewise` gives 0.3 of the question's epsilon
to whether there is a number at all, and the rest to the number.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

from discreet.cards import CardFault, Column
from discreet.catalogue import say
from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES, choose_oracle, frequency_oracle
from discreet.collect.randomisers.missing_numbers import (
    NumberOrMissing,
    SplitNumber,
    TernaryNumber,
    choose_with_missing,
)
from discreet.collect.randomisers.number_choice import NUMBER_RANDOMISERS, choose_number, number_randomiser
from discreet.collect.randomisers.randomiser import Randomiser
from discreet.collect.reporting.manifest import Missing, SurveyQuestion
from discreet.errors import ParameterInvalid, nearest
from discreet.guarantees import text as plain_text

__all__ = ["AUTOMATIC", "RANDOMISER_NAMES", "choose_randomiser", "randomiser_for"]

AUTOMATIC: Final = "automatic"

_COLLECTING: Final = tuple(name for name, kind in NUMBER_RANDOMISERS.items() if not kind.comparison_only)
RANDOMISER_NAMES: Final = (*FREQUENCY_ORACLES, *_COLLECTING, TernaryNumber.name)
"""Those that may collect answers, of categories and of numbers; a split names its own share."""
_SPLIT: Final = re.compile(rf"{SplitNumber.name} (\d{{1,6}}(?:\.\d{{1,9}})?) ({'|'.join(_COLLECTING)})", re.ASCII)


def choose_randomiser(column: Column, missing: Missing, *, epsilon: Decimal, name: str) -> str:
    """The full name of the randomiser, or CardFault when the one named does not suit the question."""
    allowed = _allowed(column, missing)
    if name not in (AUTOMATIC, *allowed) and not (column.numeric and _is_split(name, missing)):
        guess = nearest(name, allowed)
        fault = say(
            "randomiser '{name}' is not one for a question of kind {kind} with missing: {missing}: {allowed}",
            name=name[:40],
            kind=column.kind,
            missing=missing,
            allowed=", ".join((AUTOMATIC, *allowed)),
        )
        if guess:
            fault = say("{fault}; did you mean '{guess}'?", fault=fault, guess=guess)
        raise CardFault([("randomiser", fault)])
    try:
        return _name_of(_build(column, missing, epsilon=epsilon, name=name))
    except ParameterInvalid as error:
        raise CardFault(
            [("epsilon", say("question '{name}': {fault}", name=column.name, fault=error.message))]
        ) from None


@lru_cache(maxsize=1024)
def randomiser_for(question: SurveyQuestion) -> Randomiser:
    """The randomiser itself."""
    return _build(question.column, question.missing, epsilon=question.epsilon, name=question.randomiser)


def _allowed(column: Column, missing: Missing) -> tuple[str, ...]:
    """Those that may collect answers; randomisers that exist for comparison only are not among them."""
    if not column.numeric:
        return tuple(FREQUENCY_ORACLES)
    return _COLLECTING if missing is Missing.PUBLIC else (TernaryNumber.name,)


def _is_split(name: str, missing: Missing) -> bool:
    return missing is Missing.CATEGORY and _SPLIT.fullmatch(name) is not None


def _name_of(randomiser: Randomiser) -> str:
    if isinstance(randomiser, SplitNumber):
        return f"{randomiser.name} {plain_text(randomiser.missing_epsilon)} {randomiser.number.name}"
    return randomiser.name


def _build(column: Column, missing: Missing, *, epsilon: Decimal, name: str) -> Randomiser:
    if column.numeric:
        grid = column.high_units - column.low_units
        if missing is Missing.CATEGORY:
            return _build_with_missing(epsilon=epsilon, grid=grid, name=name)
        if name == AUTOMATIC:
            return choose_number(epsilon=epsilon, grid=grid)
        return number_randomiser(name, epsilon=epsilon, grid=grid)
    categories = len(column.categories) + (missing is Missing.CATEGORY)
    if name == AUTOMATIC:
        return choose_oracle(epsilon=epsilon, categories=categories)
    return frequency_oracle(name, epsilon=epsilon, categories=categories)


def _build_with_missing(*, epsilon: Decimal, grid: int, name: str) -> NumberOrMissing:
    if name == AUTOMATIC:
        return choose_with_missing(epsilon=epsilon, grid=grid)
    split = _SPLIT.fullmatch(name)
    if split is None:
        return TernaryNumber(epsilon=epsilon, grid=grid)
    return SplitNumber(epsilon=epsilon, grid=grid, missing_epsilon=split[1], randomiser=split[2])
