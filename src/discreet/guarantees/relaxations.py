"""Where each guarantee stands between differential privacy and none, by the founding paper's classification.

Differential privacy bounds how much likelier an output becomes (the bound), between all neighbouring data sets (the
scope), over the coins of the mechanism alone (the distribution). A relaxation weakens one of the three [P, Section 6].
docs/relaxations.md says what each means for whoever relies on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from discreet.guarantees.types import (
    ZCDP,
    ApproxDP,
    BootstrapDP,
    Guarantee,
    LocalDP,
    PureDP,
    ShuffleDP,
    Unproven,
)

__all__ = ["RELAXATIONS", "Classified", "Relaxation"]


class Relaxation(StrEnum):
    """What is weaker than in pure differential privacy."""

    NONE = "none"
    BOUND = "bound"
    SCOPE = "scope"
    DISTRIBUTION = "distribution"
    UNPROVEN = "no condition is proven"


@dataclass(frozen=True, slots=True)
class Classified:
    """A kind of relaxation and what exactly is weaker, in one sentence."""

    kind: Relaxation
    words: str


RELAXATIONS: Final[Mapping[type[Guarantee], Classified]] = {
    PureDP: Classified(Relaxation.NONE, "The condition itself: e^ε for every output and all neighbours."),
    ApproxDP: Classified(Relaxation.BOUND, "Outputs of total probability δ at most may break e^ε."),
    ZCDP: Classified(Relaxation.BOUND, "Moments of the loss are bounded instead of its maximum; (ε, δ) for every δ."),
    LocalDP: Classified(Relaxation.NONE, "The condition asked of each report: stronger, since no receiver is trusted."),
    ShuffleDP: Classified(Relaxation.BOUND, "(ε, δ) for what is seen after mixing; without a shuffler ε0 or nothing."),
    BootstrapDP: Classified(Relaxation.SCOPE, "Only neighbours whose rows come from the data or a declared pool."),
    Unproven: Classified(Relaxation.UNPROVEN, "Noise was added; nobody has shown what it hides."),
}
