"""What a custodian goes through before a bootstrap release: the founding paper's guidance, as questions to a table.

Refs: [P] Sections 4.2 and 4.3. What rows and card tell is told beside each question; who decides is the custodian. For
the custodian alone, as the examination is: most of what is told here follows from the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeVar

from discreet.catalogue import Phrase, say
from discreet.guarantees import text
from discreet.lab.bootstrap.bootstrap_sensitivity import CellSummary, PublicBounds, TableKind
from discreet.lab.bootstrap.leaks import Leak, LeakKind

__all__ = ["CheckItem", "ExaminedOutlook", "Speaks", "check_table"]

CellName = TypeVar("CellName")

_MUCH: Final = 2
_DOMINANT: Final = 0.5
_SMALL_EPSILON: Final = Decimal(1)
_ALWAYS: Final = frozenset({LeakKind.SCALE, LeakKind.OUTSIDERS})


class Speaks(StrEnum):
    """What an answer says about a bootstrap release."""

    FOR = "for"
    AGAINST = "against"
    ASK = "decide"


_SIDES: Final = {
    Speaks.FOR: Phrase("[for]"),
    Speaks.AGAINST: Phrase("[against]"),
    Speaks.ASK: Phrase("[decide]"),
}


@dataclass(frozen=True, slots=True)
class CheckItem:
    """A question, what is known, and whether that speaks for a bootstrap release or is left to the custodian."""

    question: str
    told: str
    speaks: Speaks

    def to_dict(self) -> dict[str, str]:
        return {"question": self.question, "told": self.told, "speaks": str(self.speaks)}

    def line(self) -> str:
        return f"{_SIDES[self.speaks]} {self.question} {self.told}".rstrip()


@dataclass(frozen=True, slots=True)
class ExaminedOutlook:
    """What the examination found of the whole table."""

    statistic: TableKind
    bounds: PublicBounds
    gain: float | None
    epsilon: Decimal
    gamma: Decimal
    error_bound: int


def check_table(
    cells: Mapping[CellName, CellSummary], outlook: ExaminedOutlook, leaks: Sequence[Leak]
) -> tuple[CheckItem, ...]:
    """The whole list, in the paper's order: when bootstrap may be useful, then what is checked in any case."""
    return (
        _usefulness(outlook),
        CheckItem(
            say("Do other protections stand around the figures: a secure room, registered users, a contract?"),
            say("A published table has none."),
            Speaks.ASK,
        ),
        CheckItem(
            say("Is it fixed who is in the data, now and later?"),
            say("Nobody who joins is protected, and whoever compares releases sees the change."),
            Speaks.ASK,
        ),
        _outliers(cells, outlook),
        _worst_case(cells, outlook),
        _knowledge(outlook),
        CheckItem(
            say("Is the sensitivity beyond calculation?"),
            say("No: of counts and totals it follows from the card."),
            Speaks.AGAINST,
        ),
        CheckItem(
            say("Will nobody ask how the noise was made?"),
            say("It cannot be told: no scale, interval or quality goes with the table."),
            Speaks.ASK,
        ),
        CheckItem(
            say("Are figures this far from the truth good enough?"),
            say(
                "With probability {probability} none is off by more than {steps:,} steps.",
                probability=text(1 - outlook.gamma),
                steps=outlook.error_bound,
            ),
            Speaks.ASK,
        ),
        _epsilon(outlook),
        _leaks(leaks),
    )


def _usefulness(outlook: ExaminedOutlook) -> CheckItem:
    question = say("Is the accuracy gained worth a weaker promise?")
    if outlook.gain is None:
        return CheckItem(
            question, say("No row moves the table: public bounds decide, and nothing is gained."), Speaks.AGAINST
        )
    if outlook.statistic is TableKind.COUNT or outlook.gain <= 1:
        return CheckItem(question, say("Nothing is gained: differential privacy needs no more noise."), Speaks.AGAINST)
    phrase = say("The noise is {times:,.3g} times smaller than by the card's bounds.", times=outlook.gain)
    return CheckItem(question, phrase, Speaks.FOR if outlook.gain >= _MUCH else Speaks.AGAINST)


def _outliers(cells: Mapping[CellName, CellSummary], outlook: ExaminedOutlook) -> CheckItem:
    question = say("Are the rows alike, with few or no outliers?")
    if outlook.statistic is TableKind.COUNT:
        return CheckItem(question, say("Every row counts one."), Speaks.FOR)
    filled = [summary for summary in cells.values() if summary.n and summary.total]
    led = sum(summary.reach > _DOMINANT * abs(summary.total) for summary in filled)
    phrase = say("In {led:,} of {cells:,} cells one row is more than half of the total.", led=led, cells=len(filled))
    return CheckItem(question, phrase, Speaks.AGAINST if led else Speaks.FOR)


def _worst_case(cells: Mapping[CellName, CellSummary], outlook: ExaminedOutlook) -> CheckItem:
    question = say("Is the worst case that the card allows extremely rare?")
    if outlook.statistic is TableKind.COUNT:
        return CheckItem(question, say("Any row that changes its cell is the worst case."), Speaks.AGAINST)
    largest = max((summary.reach for summary in cells.values()), default=0)
    bound = max(abs(outlook.bounds.low), abs(outlook.bounds.high))
    share = largest / bound if bound else 0
    return CheckItem(
        question,
        say(
            "The largest row reaches {share:.0%} of the bound. A bound that is known to be lower gives the same noise, "
            "with a proof.",
            share=share,
        ),
        Speaks.ASK,
    )


def _knowledge(outlook: ExaminedOutlook) -> CheckItem:
    return CheckItem(
        say("Is very little known about what a row could hold?"),
        say(
            "The card says: {low:,} to {high:,} steps. Where bounds are known, differential privacy is at hand.",
            low=outlook.bounds.low,
            high=outlook.bounds.high,
        ),
        Speaks.AGAINST,
    )


def _epsilon(outlook: ExaminedOutlook) -> CheckItem:
    small = outlook.epsilon <= _SMALL_EPSILON
    phrase = say(
        "The nominal epsilon is {epsilon}; those of several releases add up for the people in the data.",
        epsilon=text(outlook.epsilon),
    )
    return CheckItem(say("Is epsilon small enough to mean something?"), phrase, Speaks.ASK if small else Speaks.AGAINST)


def _leaks(leaks: Sequence[Leak]) -> CheckItem:
    named = [leak.name for leak in leaks if leak.kind not in _ALWAYS]
    if named:
        phrase = say("Found in this table: {leaks}.", leaks=", ".join(named))
    else:
        phrase = say("Nothing beyond what any such release leaks.")
    return CheckItem(say("Is what leaks beyond epsilon acceptable?"), phrase, Speaks.AGAINST if named else Speaks.ASK)
