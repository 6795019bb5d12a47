"""How many sensitivities come out too low: below the one that the thesis calls real, and below what a proof needs.

The thesis counts 3 of 2,600 below the real one and allows .575% (Sections 5.4 and 7.2 [T]). Its real one is a fact
about these rows. What holds for every neighbour follows from the public range, and most of what is used lies below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import erf, fsum, sqrt
from typing import Any, Final

from discreet.catalogue import Numeral, Phrase, numeral, say
from discreet_replications.thesis.foresight import Foresight
from discreet_replications.thesis.methods import ThesisMethod
from discreet_replications.thesis.run_records import Record, Records
from discreet_replications.wording import tell_printed

__all__ = ["ALLOWED", "PRINTED_GENERATED", "Shortfall", "chance_below", "judge_shortfalls"]

ALLOWED: Final = 0.00575
_PRINTED: Final = Phrase("printed in the thesis")
_PRINTED_LOW: Final = 3
_PRINTED_RUNS: Final = 2_600

# The mean sensitivity of generated rows for each query, as Table 22 prints it.
PRINTED_GENERATED: Final[Mapping[int, float]] = dict(
    enumerate(
        (0.2256, 66.1654, 0.1905, 391, 1.0250, 6.5, 0.0652, 4.6171e-4, 1.1616, 0.0944, 5.0801e-4, 0.1758, 0.4507,
         3.4308, 0.0813, 5417.9027, 4532.8456, 6.0025e-5, 1.4260e-4, 3.0488e-5, 0.0098, 1.9257e8, 25.9952, 100.1035,
         60.8049, 3.1026)
    )
)  # fmt: skip

_REAL_SHOWN: Final = 0.75  # how often the coin shows the real maximum, and not the estimate
_MARGIN: Final = (0.015, 0.06)
_STEPS: Final = 200


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Of `runs` sensitivities used, `below` are below the thesis' real one, and a share below what a proof needs.

    `expected` is the share below the real one that the listing itself gives for the same generated rows. Without a
    method these are the thesis' own.
    """

    method: ThesisMethod | None
    epsilon: str
    runs: int
    below: int
    expected: float
    unproven: float

    @property
    def share(self) -> float:
        return self.below / self.runs

    @property
    def label(self) -> str:
        """What readers see."""
        return str(_PRINTED) if self.method is None else self.method.label

    def tell(self) -> str:
        return say(
            "{strategy}, ε = {epsilon}: {below:,} of {runs:,} sensitivities used ({share:.3%}) are below the thesis' "
            "own, where its listing gives {expected:.3%}; {unproven:.0%} are below what a proof needs.",
            strategy=self.label,
            epsilon=Numeral(self.epsilon),
            below=self.below,
            runs=self.runs,
            share=self.share,
            expected=self.expected,
            unproven=self.unproven,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": _PRINTED.en if self.method is None else self.method.name,
            "epsilon": self.epsilon,
            "used": self.runs,
            "below_real": self.below,
            "share_below_real": self.share,
            "expected_share_below_real": self.expected,
            "allowed_in_the_thesis": ALLOWED,
            "share_below_what_a_proof_needs": self.unproven,
        }

    def cells(self) -> list[str]:
        """A row of the table."""
        below = f"{numeral(self.below)} ({numeral(self.share, '.3%')})"
        shares = (numeral(self.expected, ".3%"), numeral(self.unproven, ".0%"))
        return [self.label, tell_printed(self.epsilon), numeral(self.runs), below, *shares]


def judge_shortfalls(records: Records, foreseen: Iterable[Foresight]) -> tuple[Shortfall, ...]:
    """What the thesis counts, where all its queries could be asked, then each setting of `generated`."""
    needed = {item.query.number: item for item in foreseen}
    found = [_printed(needed)] if len(needed) == len(PRINTED_GENERATED) else []
    for method in records.methods:
        if method.strategy != "generated":
            continue
        for epsilon in records.epsilons:
            drawn = records.pick(method, epsilon)
            runs = sum(item.runs for item in drawn)
            below = sum(_count_below(item, item.real_sensitivity) for item in drawn)
            lacking = sum(_count_below(item, float(needed[item.query.number].sensitivity)) for item in drawn)
            chances = [_chance(item) for item in drawn]
            expected = fsum(chances) / len(chances)
            found.append(Shortfall(method, epsilon, runs, below, expected, lacking / runs))
    return tuple(found)


def _printed(needed: Mapping[int, Foresight]) -> Shortfall:
    """The thesis' own count, and what its listing gives for its own generated rows."""
    low, lacking = [], []
    for number, made in PRINTED_GENERATED.items():
        real = float(needed[number].query.sensitivity)
        low.append(chance_below(real, real=real, generated=made))
        lacking.append(chance_below(float(needed[number].sensitivity), real=real, generated=made))
    each = len(PRINTED_GENERATED)
    return Shortfall(None, "0.01", _PRINTED_RUNS, _PRINTED_LOW, fsum(low) / each, fsum(lacking) / each)


def _count_below(record: Record, bound: float) -> int:
    """Used sensitivities below a bound, by more than a float's last digits."""
    return sum(used < bound * (1 - 1e-9) for used in record.trials.sensitivities)


def _chance(record: Record) -> float:
    assert record.generated is not None, "every answer of this strategy looked at generated rows"
    return chance_below(record.real_sensitivity, real=record.real_sensitivity, generated=record.generated)


def chance_below(bound: float, *, real: float, generated: float) -> float:
    """With what chance the listing uses less than a bound.

    Three times in four the coin shows the real sensitivity, else generated + (normal + 3)·|real − generated|; a margin
    of 1.5 to 6% of the generated one is added to either, over which the chance is averaged.
    """
    difference = abs(real - generated)
    low, high = _MARGIN
    chances = []
    for index in range(_STEPS):
        added = generated * (low + (high - low) * (index + 0.5) / _STEPS)
        missing = bound - added - generated
        estimated = _normal(missing / difference - 3) if difference else float(missing > 0)
        chances.append(_REAL_SHOWN * (real + added < bound) + (1 - _REAL_SHOWN) * estimated)
    return fsum(chances) / _STEPS


def _normal(deviate: float) -> float:
    return (1 + erf(deviate / sqrt(2))) / 2
