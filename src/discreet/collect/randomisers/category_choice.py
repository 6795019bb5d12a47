"""The randomisers of categories by name, and which of them errs least for a question."""

from __future__ import annotations

from typing import Final

from discreet.catalogue import Phrase, say
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.hadamard import HadamardResponse
from discreet.collect.randomisers.hashing import LocalHashing
from discreet.collect.randomisers.oracle import CategoryOracle
from discreet.collect.randomisers.subset_selection import SubsetSelection
from discreet.collect.randomisers.unary_encoding import OptimisedUnary, SymmetricUnary
from discreet.errors import ParameterInvalid, UnknownName
from discreet.guarantees import ExactLike, exact, shown, text

__all__ = ["FREQUENCY_ORACLES", "choose_oracle", "frequency_oracle"]

# From the simplest to explain on: ties go to the earlier one.
_PREFERRED: Final[tuple[type[CategoryOracle], ...]] = (
    GeneralisedResponse,
    SubsetSelection,
    OptimisedUnary,
    LocalHashing,
    HadamardResponse,
)
FREQUENCY_ORACLES: Final[dict[str, type[CategoryOracle]]] = {
    **{oracle.name: oracle for oracle in _PREFERRED},
    SymmetricUnary.name: SymmetricUnary,
}
_TIE: Final = 1 + 1e-9


def frequency_oracle(name: str, *, epsilon: ExactLike, categories: int) -> CategoryOracle:
    """The randomiser of this name, or UnknownName; ParameterInvalid when it does not support the question."""
    if name not in FREQUENCY_ORACLES:
        raise UnknownName(
            sort=Phrase("randomiser"), name=name, where=say("the randomisers of categories"), known=FREQUENCY_ORACLES
        )
    return FREQUENCY_ORACLES[name](epsilon=epsilon, categories=categories)


def choose_oracle(*, epsilon: ExactLike, categories: int) -> CategoryOracle:
    """The randomiser with the smallest expected variance for this question; ties go to the simplest.

    The variance of a count is linear in its category's share, and the shares add up to 1: so the variance at the
    share 1/categories is the mean over all categories, whatever the answers are. RAPPOR's is never the smallest.
    """
    chosen = exact(epsilon, parameter="epsilon")
    able = [
        oracle(epsilon=chosen, categories=categories)
        for oracle in _PREFERRED
        if oracle.supports(epsilon=chosen, categories=categories)
    ]
    if not able:
        rule = say(
            "must suit a randomiser of categories (epsilon at most {epsilon}, from 2 to {categories:,} categories)",
            epsilon=CategoryOracle.largest_epsilon,
            categories=CategoryOracle.largest_categories,
        )
        given = say(
            "epsilon {epsilon} with {categories} categories", epsilon=text(chosen), categories=shown(categories)
        )
        raise ParameterInvalid(parameter=Phrase("a question"), rule=rule, given=given)
    variances = [oracle.expected_variance(share=1 / categories) for oracle in able]
    best = min(variances)
    return next(oracle for oracle, variance in zip(able, variances, strict=True) if variance <= best * _TIE)
