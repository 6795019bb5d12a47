"""The attack of Figure 2 [L], run many times on the accounts and the noise that count, and what its answers show.

Attackers who know everybody but one woman ask again and again for a sample with her. Each run has an account of its
own, and every answer is her bit, if the account has room, with noise of the sampler that answers. Two worlds are set
side by side, in which she has the property and has not; both see the same noise, which the limits allow, because each
of them is of one world alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.catalogue import numeral, say
from discreet.errors import ParameterInvalid
from discreet.guarantees import ExactLike
from discreet.linkage.accounts import Accounts
from discreet.linkage.tariff import LinkedKind, Tariff
from discreet.noise import SystemEntropy, discrete_laplace_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["AttackAudit", "AuditedAttack", "audit_attack"]

MOST_QUERIES: Final = 10_000
RUNS: Final = (200, 1_000_000)
_DRAWN: Final = 1 << 20
_PRIOR: Final = "0.5"


@dataclass(frozen=True, slots=True)
class AuditedAttack:
    """What attackers who asked so often have shown: `bound` is an epsilon that they cannot have lost less than."""

    queries: int
    right: float
    belief: float
    bound: float

    def to_dict(self) -> dict[str, object]:
        return {"right_guesses": self.right, "highest_belief": self.belief, "audited_epsilon_at_least": self.bound}


@dataclass(frozen=True, slots=True)
class AttackAudit:
    """Attacks without accounts and with them, by the number of queries; `epsilon` is what accounts promise."""

    epsilon: Decimal
    scale: int
    allowed: int
    runs: int
    alpha: float
    attacks: tuple[tuple[AuditedAttack, AuditedAttack], ...]

    @property
    def refuted(self) -> bool:
        """Whether runs alone show that accounts do not keep their promise."""
        return any(held.bound > self.epsilon for _, held in self.attacks)

    def to_dict(self) -> dict[str, object]:
        return {
            "epsilon": str(self.epsilon),
            "scale": self.scale,
            "queries_allowed": self.allowed,
            "runs": self.runs,
            "alpha": self.alpha,
            "refuted": self.refuted,
            "attacks": [
                {"queries": bare.queries, "without_accounts": bare.to_dict(), "with_accounts": held.to_dict()}
                for bare, held in self.attacks
            ],
        }


def audit_attack(
    queries: Sequence[int],
    *,
    scale: int,
    belief: ExactLike,
    runs: int,
    seed: int | None = None,
    alpha: float = 0.001,
) -> AttackAudit:
    """Attack so often in each of two worlds, and audit it; a seed repeats the runs."""
    from discreet.lab import SeededEntropy, require_limits

    if not queries or any(not 1 <= asked <= MOST_QUERIES for asked in queries):
        raise ParameterInvalid(
            parameter="queries",
            rule=say("must be between 1 and {most:,}", most=MOST_QUERIES),
            given=", ".join(map(str, queries)),
        )
    if not RUNS[0] <= runs <= RUNS[1]:
        raise ParameterInvalid(
            parameter="runs",
            rule=say("must be {least:,} to {most:,}", least=RUNS[0], most=RUNS[1]),
            given=numeral(runs),
        )
    if seed is not None and seed < 0:
        raise ParameterInvalid(parameter="seed", rule=say("must be 0 or more"), given=str(seed))
    require_limits(say("An audit"), extra="study")
    tariff = Tariff.of(scales=(scale,), prior=_PRIOR, belief=belief)
    allowed = tariff.allowed(scale)
    asked = sorted(set(queries))
    looks = sorted({*asked, *(min(number, allowed) for number in asked)})
    entropy = SystemEntropy() if seed is None else SeededEntropy(seed)
    seen = _attack(tariff, scale, looks, runs, entropy)
    claimed = float(tariff.epsilon)

    def look(number: int, *, held: bool) -> AuditedAttack:
        telling = min(number, allowed) if held else number
        # She may be in answers that should be without her: all of them are looked at too.
        views = [seen[at][held] for at in sorted({telling, number})]
        bound = max(_bound(view, claimed, alpha / len(views)) for view in views)
        return _judge(number, telling, scale, views[0], bound)

    return AttackAudit(
        tariff.epsilon,
        scale,
        allowed,
        runs,
        alpha,
        tuple((look(number, held=False), look(number, held=True)) for number in asked),
    )


_Worlds = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def _attack(
    tariff: Tariff, scale: int, looks: Sequence[int], runs: int, entropy: Entropy
) -> dict[int, tuple[_Worlds, _Worlds]]:
    """For each number of queries how many answers lay above the count of the others: by accounts, world and run."""
    accounts, charge = Accounts(runs, cap=tariff.cap), tariff.charge(LinkedKind.COUNT, scale)
    everybody, never = np.arange(runs), np.zeros(runs, dtype=np.int64)
    above = [[never.copy(), never.copy()], [never.copy(), never.copy()]]
    found: dict[int, tuple[_Worlds, _Worlds]] = {}
    step = 0
    while step < looks[-1]:
        block = min(max(_DRAWN // runs, 1), looks[-1] - step)
        drawn = discrete_laplace_array(entropy, scale=Fraction(scale), count=block * runs).reshape(block, runs)
        for noise in drawn:
            step += 1
            room = accounts.charge(everybody, charge).astype(np.int64)
            for worlds, hers in zip(above, (np.ones_like(room), room), strict=True):
                worlds[0] += noise > 0
                worlds[1] += noise + hers > 0
            if step in looks:
                bare, kept = ((world[0].copy(), world[1].copy()) for world in above)
                found[step] = bare, kept
    return found


def _bound(worlds: _Worlds, claimed: float, alpha: float) -> float:
    from discreet.lab import audit_loss

    return audit_loss(*worlds, claimed=claimed, alpha=alpha).lower_bound


def _judge(queries: int, telling: int, scale: int, worlds: _Worlds, bound: float) -> AuditedAttack:
    """Guesses by majority and beliefs by Bayes, from even odds: docs/proofs/linked.md, the attack of Figure 2."""
    ahead = [2 * world - telling for world in worlds]
    right = [
        np.count_nonzero(side * lead > 0) + np.count_nonzero(lead == 0) / 2
        for side, lead in zip((-1, 1), ahead, strict=True)
    ]
    furthest = max(int(np.abs(lead).max()) for lead in ahead)
    return AuditedAttack(queries, sum(right) / (2 * len(worlds[0])), 1 / (1 + math.exp(-furthest / scale)), bound)
