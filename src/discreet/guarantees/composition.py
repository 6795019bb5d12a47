"""What several releases promise together, and what one release promises to a group.

Guarantee: the result holds for the joint release. Sums are exact; what must be rounded is rounded up.
Requires:  all guarantees speak of the same unit and the same neighbours. Later mechanisms may be chosen after
           looking at earlier answers; for parameters chosen so, the ledger's filter decides
           (docs/proofs/composition.md).
Proof:     docs/proofs/composition.md
Refs:      [DR14] Theorems 2.2 and 3.16, Proposition 2.1; [BS16] Lemma 1.7, Proposition 1.9, Section 8;
           [RRUV16].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, overload

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees.enclosures import exp_down, exp_up
from discreet.guarantees.implications import approx_to_zcdp, local_to_pure, pure_to_approx, pure_to_zcdp
from discreet.guarantees.numbers import LARGEST, ceil_to_grid, from_units, shown, text, to_units
from discreet.guarantees.types import (
    ZCDP,
    ApproxDP,
    BootstrapDP,
    CentralGuarantee,
    Guarantee,
    LocalDP,
    PureDP,
    ShuffleDP,
    Unproven,
)

__all__ = ["compose", "group"]

_PARTLY: Final = "a part of what was released is not differentially private: "


@overload
def compose(*guarantees: PureDP) -> PureDP: ...
@overload
def compose(*guarantees: CentralGuarantee) -> CentralGuarantee: ...
@overload
def compose(*guarantees: Guarantee) -> Guarantee: ...
def compose(*guarantees: Guarantee) -> Guarantee:
    """The guarantee of all releases together: parameters of one kind add up.

    Different kinds first go to the weakest kind among them, PureDP → ApproxDP → ZCDP, each implying the next
    without a further parameter. So compose everything at once: composing in steps may convert a sum (squared
    in ρ) where the terms would have been cheaper. LocalDP adds up per respondent and joins central kinds as
    PureDP; ShuffleDP keeps its local side (none, if one part has none) while joined with its own kind and LocalDP
    only. Anything with a release that is not differentially private is Unproven.
    """
    if not guarantees:
        raise ParameterInvalid(parameter="guarantees", rule=say("must be at least one"), given=say("none"))
    if len(guarantees) == 1:
        return guarantees[0]
    outside = [guarantee for guarantee in guarantees if not guarantee.differentially_private]
    if outside:
        reasons = sorted({reason for guarantee in outside for reason in _reasons(guarantee)})
        return Unproven(_PARTLY + "; ".join(reasons))
    local = [guarantee for guarantee in guarantees if isinstance(guarantee, LocalDP)]
    if len(local) == len(guarantees):
        return LocalDP(epsilon=_total(guarantee.epsilon for guarantee in local))
    shuffled = [guarantee for guarantee in guarantees if isinstance(guarantee, ShuffleDP)]
    if len(local) + len(shuffled) == len(guarantees):
        return _join_shuffled(local, shuffled)
    return _join_central([_central(guarantee) for guarantee in guarantees])


def group(guarantee: Guarantee, size: int) -> Guarantee:
    """What is promised to any `size` units together.

    PureDP and LocalDP: k·ε. ZCDP with δ = 0: k²·ρ. ApproxDP: k·ε and δ·(1 + e^ε + … + e^((k−1)ε)), which is
    never above k·δ·e^((k−1)ε). Refused when δ would reach 1, or for δ-approximate zCDP, where no such bound
    is proved.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LARGEST:
        rule = say("must be a whole number of units between 1 and {largest}", largest=LARGEST)
        raise ParameterInvalid(parameter="size", rule=rule, given=shown(size))
    if size == 1 or isinstance(guarantee, Unproven):
        return guarantee
    match guarantee:
        case PureDP():
            return PureDP(epsilon=_times(guarantee.epsilon, size))
        case LocalDP():
            return LocalDP(epsilon=_times(guarantee.epsilon, size))
        case ZCDP():
            if guarantee.delta:
                raise ParameterInvalid(
                    parameter="delta",
                    rule=say("must be 0 for the zCDP of a group; convert to approximate DP first"),
                    given=text(guarantee.delta),
                )
            return ZCDP(rho=_times(guarantee.rho, size**2))
        case ApproxDP():
            epsilon = _times(guarantee.epsilon, size)
            return ApproxDP(epsilon=epsilon, delta=_group_delta(guarantee.epsilon, guarantee.delta, size))
        case ShuffleDP():
            return ShuffleDP(
                epsilon=_times(guarantee.epsilon, size),
                delta=_group_delta(guarantee.epsilon, guarantee.delta, size),
                local_epsilon=None if guarantee.local_epsilon is None else _times(guarantee.local_epsilon, size),
                anonymity=guarantee.anonymity,
            )
        case BootstrapDP():
            return Unproven("bootstrap DP makes no promise to groups")


def _join_shuffled(local: Sequence[LocalDP], shuffled: Sequence[ShuffleDP]) -> ShuffleDP:
    clear = [guarantee.epsilon for guarantee in local]
    alone = [guarantee.local_epsilon for guarantee in shuffled if guarantee.local_epsilon is not None]
    return ShuffleDP(
        epsilon=_total([*clear, *(guarantee.epsilon for guarantee in shuffled)]),
        delta=_total(guarantee.delta for guarantee in shuffled),
        local_epsilon=_total([*clear, *alone]) if len(alone) == len(shuffled) else None,
        anonymity=min(guarantee.anonymity for guarantee in shuffled),
    )


def _join_central(guarantees: Sequence[CentralGuarantee]) -> CentralGuarantee:
    if any(isinstance(guarantee, ZCDP) for guarantee in guarantees):
        concentrated = [_as_zcdp(guarantee) for guarantee in guarantees]
        rho = _total(guarantee.rho for guarantee in concentrated)
        return ZCDP(rho=rho, delta=_total(guarantee.delta for guarantee in concentrated))
    if any(isinstance(guarantee, ApproxDP) for guarantee in guarantees):
        approximate = [_as_approx(guarantee) for guarantee in guarantees]
        epsilon = _total(guarantee.epsilon for guarantee in approximate)
        return ApproxDP(epsilon=epsilon, delta=_total(guarantee.delta for guarantee in approximate))
    return PureDP(epsilon=_total(guarantee.epsilon for guarantee in guarantees if isinstance(guarantee, PureDP)))


def _central(guarantee: Guarantee) -> CentralGuarantee:
    if isinstance(guarantee, LocalDP):
        return local_to_pure(guarantee)
    if isinstance(guarantee, ShuffleDP):
        return ApproxDP(epsilon=guarantee.epsilon, delta=guarantee.delta)
    assert isinstance(guarantee, PureDP | ApproxDP | ZCDP)
    return guarantee


def _as_approx(guarantee: CentralGuarantee) -> ApproxDP:
    if isinstance(guarantee, PureDP):
        return pure_to_approx(guarantee)
    assert isinstance(guarantee, ApproxDP)
    return guarantee


def _as_zcdp(guarantee: CentralGuarantee) -> ZCDP:
    if isinstance(guarantee, PureDP):
        return pure_to_zcdp(guarantee)
    return approx_to_zcdp(guarantee) if isinstance(guarantee, ApproxDP) else guarantee


def _total(values: Iterable[Decimal]) -> Decimal:
    # The default context rounds Decimal sums to 28 digits; whole units of the grid cannot be rounded.
    return from_units(sum(to_units(value) for value in values))


def _times(value: Decimal, factor: int) -> Decimal:
    return from_units(to_units(value) * factor)


def _group_delta(epsilon: Decimal, delta: Decimal, size: int) -> Decimal:
    if not delta:
        return delta
    exponent = Fraction(epsilon) * (size - 1)
    # delta is at least 1e-9, so an exponent above 21 already carries it past 1.
    if exponent <= 21:
        growth = (exp_up(Fraction(epsilon) * size) - 1) / (exp_down(Fraction(epsilon)) - 1)
        enlarged = ceil_to_grid(Fraction(delta) * growth)
        if enlarged < 1:
            return enlarged
    raise ParameterInvalid(
        parameter="size",
        rule=say("must keep the delta of the group below 1"),
        given=say("a group of {size}", size=size),
    )


def _reasons(guarantee: Guarantee) -> list[str]:
    # A reason that already lists parts is taken apart, so that composing in steps says the same as composing
    # at once.
    if isinstance(guarantee, Unproven):
        listed = guarantee.reason.removeprefix(_PARTLY)
        return [listed] if listed == guarantee.reason else listed.split("; ")
    return [str(guarantee).split(": ", 1)[-1]]
