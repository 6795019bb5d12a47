"""The attack of Figure 2 of the paper on linked counts [L]: ask for a sample, and for it with one more person.

The attackers ask again and again. They know the count without her, so each answer tells one bit: it is above that count
or not. With discrete Laplace noise of scale b the bit is right with chance 1/(1 + e^(−1/b)), whatever the count:
randomised response. So what n answers teach is known exactly. Where she has an account, answers do not contain her once
it is exhausted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import numeral, say
from discreet.errors import ParameterInvalid
from discreet.linkage.exhaustion import binomial_chance

__all__ = ["RARE", "DifferencingAttack", "attack_once_more"]

RARE: Final = 1e-3
_MOST_REQUESTS: Final = 100_000


@dataclass(frozen=True, slots=True)
class DifferencingAttack:
    """What attackers who ask so often learn, from even odds. `telling` answers contain her.

    `right` is how often they guess rightly; `rare` the belief that one attack in a thousand reaches, if they are right
    to believe it; `most` the belief that none passes.
    """

    requests: int
    telling: int
    right: float
    rare: float
    most: float

    def to_dict(self) -> dict[str, object]:
        return {
            "requests": self.requests,
            "telling_answers": self.telling,
            "right_guesses": self.right,
            "belief_of_one_attack_in_1000": self.rare,
            "belief_at_most": self.most,
        }


def attack_once_more(requests: int, *, scale: float, allowed: int | None = None) -> DifferencingAttack:
    """The attack with an account that holds `allowed` requests, or without accounts."""
    if not 1 <= requests <= _MOST_REQUESTS:
        raise ParameterInvalid(
            parameter="requests",
            rule=say("must be between 1 and {most:,}", most=_MOST_REQUESTS),
            given=numeral(requests),
        )
    telling = requests if allowed is None else min(requests, allowed)
    chance = 1 / (1 + math.exp(-1 / scale))
    laws = [binomial_chance(telling, above, chance) for above in range(telling + 1)]
    ahead = math.fsum(law for above, law in enumerate(laws) if 2 * above > telling)
    level = laws[telling // 2] / 2 if telling % 2 == 0 else 0.0
    above, tail = telling, laws[telling]
    while above > 0 and tail < RARE:
        above -= 1
        tail += laws[above]
    return DifferencingAttack(
        requests, telling, ahead + level, _belief((2 * above - telling) / scale), _belief(telling / scale)
    )


def _belief(loss: float) -> float:
    return 1 / (1 + math.exp(-loss))
