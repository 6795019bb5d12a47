"""Noise, number of requests and belief for a service of linked counts, and what accounts make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from discreet.catalogue import Phrase, numeral, say
from discreet.errors import ParameterInvalid
from discreet.guarantees import BeliefSolution, ExactLike, solve
from discreet.linkage.exhaustion import Exhaustion, forecast_exhaustion
from discreet.linkage.repeated_requests import DifferencingAttack, attack_once_more

__all__ = ["ATTACKS", "HOUSEHOLDS", "MOST_QUERIES", "Tradeoff", "weigh"]

ATTACKS: Final = (1, 41, 42, 200, 1_000, 3_000)
HOUSEHOLDS: Final = (1, 2, 3, 4, 5)
MOST_QUERIES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """What fits together, from the one person in every sample to samples spread over all.

    `households` are requests until the account of one is used up whose members are in every sample. `attacks` stand
    beside each other: without accounts, with them.
    """

    solution: BeliefSolution
    households: tuple[tuple[int, int], ...]
    exhaustion: Exhaustion
    attacks: tuple[tuple[DifferencingAttack, DifferencingAttack], ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "tradeoff": self.solution.to_dict(),
            "households": [{"members": members, "requests": requests} for members, requests in self.households],
            "exhaustion": self.exhaustion.to_dict(),
            "attack": [
                {"without_accounts": bare.to_dict(), "with_accounts": held.to_dict()} for bare, held in self.attacks
            ],
        }


def weigh(
    *,
    prior: ExactLike,
    people: int,
    sample: int,
    belief: ExactLike | None = None,
    epsilon: ExactLike | None = None,
    scale: ExactLike | None = None,
    queries: int | None = None,
) -> Tradeoff:
    """Give two of belief (or epsilon), scale and queries: the third follows, and what it means for the service."""
    found = solve(prior=prior, belief=belief, epsilon=epsilon, scale=scale, queries=queries)
    if found.scale is None or found.queries is None:
        raise ParameterInvalid(
            parameter=Phrase("two of belief (or epsilon), scale and queries"),
            rule=say("must be given, and the third left out"),
            given=say("belief (or epsilon)"),
        )
    if found.queries > MOST_QUERIES:
        raise ParameterInvalid(
            parameter="queries",
            rule=say(
                "must be at most {most:,} for one person (give less noise, or a lower belief)",
                most=MOST_QUERIES,
            ),
            given=numeral(found.queries),
        )
    noise, allowed = float(found.scale), found.queries
    return Tradeoff(
        found,
        tuple((members, allowed // members) for members in HOUSEHOLDS),
        forecast_exhaustion(people=people, sample=sample, allowed=allowed),
        tuple(
            (attack_once_more(asked, scale=noise), attack_once_more(asked, scale=noise, allowed=allowed))
            for asked in sorted({*ATTACKS, max(allowed, 1), allowed + 1})
        ),
    )
