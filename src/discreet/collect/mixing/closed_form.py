"""A formula for what the shuffle gains, where nothing numeric can be computed.

Guarantee: n shuffled ε0-local reports are (ε, δ)-DP, replace-one, inside the formula's own domain only.
Requires:  ε0 ≤ ln(n / (16·ln(2/δ))). Outside there is no claim, and `closed_epsilon` says None.
Proof:     docs/proofs/shuffle-amplification.md
Refs:      [FMT21] Theorem 3.1.
"""

from __future__ import annotations

import math
from typing import Final

__all__ = ["closed_epsilon", "largest_closed_domain"]

_SLACK: Final = 1e-12


def largest_closed_domain(*, anonymity: int, delta: float) -> float:
    """The largest ε0 of which the formula speaks; negative when it speaks of none."""
    return math.log(anonymity / (16 * math.log(2 / delta))) - _SLACK


def closed_epsilon(*, local_epsilon: float, anonymity: int, delta: float) -> float | None:
    """An ε, rounded up, for which the shuffled reports are (ε, δ)-DP; None outside the domain."""
    if local_epsilon > largest_closed_domain(anonymity=anonymity, delta=delta):
        return None
    growth = math.exp(local_epsilon)
    reach = 8 * math.sqrt(growth * math.log(4 / delta) / anonymity) + 8 * growth / anonymity
    return math.log1p(math.expm1(local_epsilon) / (growth + 1) * reach) * (1 + _SLACK)
