"""What goes into the ledger and what comes back, as frozen records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from discreet.catalogue import say
from discreet.errors import QueryRefused
from discreet.guarantees import ZCDP, ApproxDP, CentralGuarantee, PopulationTerms, PureDP, check_name, name_request
from discreet.ledger.accounting import Balance, Cap, ChargeTotals, how_many, weigh
from discreet.ledger.events import encode_guarantee, encode_terms, require_name
from discreet.ledger.holds import Hold, balance_beside
from discreet.present import ListedBudget

__all__ = [
    "BudgetState",
    "Marker",
    "Receipt",
    "SpendRequest",
    "StoredAnswer",
    "Verification",
    "check_name",
    "name_request",
    "warn_of_markers",
]

_HASH: Final = re.compile(r"[0-9a-f]{16,128}")


@dataclass(frozen=True, slots=True)
class SpendRequest:
    """A charge to be made: who asks what of which version of which dataset, and what it costs.

    `mechanisms` are the exact parameters as text, one mapping per mechanism that will run. `question` is what was
    asked, in the analyst's words: whoever has the charge can ask the same again.
    """

    population: str
    dataset: str
    version: int
    analyst: str
    request_id: str
    plan_hash: str
    mechanisms: tuple[Mapping[str, str], ...]
    guarantee: CentralGuarantee
    question: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        for what in ("population", "dataset", "analyst", "request_id"):
            require_name(getattr(self, what), what=what)
        require_version(self.version)
        require_plan_hash(self.plan_hash)
        require_central(self.guarantee)
        for mechanism in self.mechanisms:
            if not all(isinstance(part, str) for item in mechanism.items() for part in item):
                raise ValueError("mechanisms are recorded as exact text")

    def to_payload(self) -> dict[str, object]:
        return {
            "analyst": self.analyst,
            "dataset": self.dataset,
            "guarantee": encode_guarantee(self.guarantee),
            "mechanisms": [dict(mechanism) for mechanism in self.mechanisms],
            "plan_hash": self.plan_hash,
            "request_id": self.request_id,
            "version": self.version,
            **({} if self.question is None else {"asked": dict(self.question)}),
        }


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof of a durable charge: no noise may be drawn without one.

    `sequence` and `event_hash` name the charge (for a replay, the charge that first paid). `replayed` says
    that nothing was charged to the population by this call; `answer` is then the committed answer, or None
    when the first attempt died before committing one and the caller must draw. The balances are as they stood
    at the charge; what was held for others then is not in what remained.
    """

    sequence: int
    event_hash: str
    population: str
    analyst: str
    charge: CentralGuarantee
    replayed: bool
    answer: bytes | None
    population_cap: Cap
    analyst_cap: Cap
    population_totals: ChargeTotals
    analyst_totals: ChargeTotals
    debited_population: bool
    debited_analyst: bool
    population_held: ChargeTotals = field(default_factory=ChargeTotals)
    analyst_held: ChargeTotals = field(default_factory=ChargeTotals)

    @property
    def population_before(self) -> Balance:
        return balance_beside(self.population_cap, self.population_totals, self.population_held)

    @property
    def population_after(self) -> Balance:
        after = self._after(self.population_totals, self.debited_population)
        return balance_beside(self.population_cap, after, self.population_held)

    @property
    def analyst_after(self) -> Balance:
        after = self._after(self.analyst_totals, self.debited_analyst)
        return balance_beside(self.analyst_cap, after, self.analyst_held)

    @property
    def more_like_this(self) -> int:
        """How many more charges of this size would be admitted now."""
        cost = weigh(self.charge)
        return min(
            how_many(cap, self._after(totals, debited) + held, cost)
            for cap, totals, debited, held in (
                (self.population_cap, self.population_totals, self.debited_population, self.population_held),
                (self.analyst_cap, self.analyst_totals, self.debited_analyst, self.analyst_held),
            )
        )

    def _after(self, totals: ChargeTotals, debited: bool) -> ChargeTotals:
        return totals + weigh(self.charge) if debited else totals


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A committed answer that may be replayed: the charge that paid for it, and its bytes.

    `free` says that the analyst it was looked up for may have it again for nothing.
    """

    sequence: int
    event_hash: str
    population: str
    dataset: str
    version: int
    plan_hash: str
    analyst: str
    charge: CentralGuarantee
    answer: bytes = field(repr=False)
    free: bool = False


@dataclass(frozen=True, slots=True)
class Marker:
    """A release that was not differentially private, kept for good."""

    sequence: int
    when: str
    analyst: str
    dataset: str
    version: int
    plan_hash: str
    guarantee: Mapping[str, str]


def warn_of_markers(population: str, markers: int) -> tuple[str, ...]:
    """What must be said of a population with so many markers."""
    if not markers:
        return ()
    return (
        say(
            "Releases without a proof were made about '{population}' ({markers} so far): its epsilon no longer bounds "
            "everything disclosed.",
            population=population,
            markers=markers,
        ),
    )


@dataclass(frozen=True, slots=True, repr=False)
class BudgetState(ListedBudget):
    """Where a population stands; what is held is not in what remains.

    With a marker, its epsilon no longer bounds everything disclosed about it.
    """

    terms: PopulationTerms
    population: Balance
    analysts: Mapping[str, Balance]
    markers: tuple[Marker, ...]
    holds: tuple[Hold, ...] = ()
    lost_markers: int = 0
    others_markers: int = 0
    """Those that are counted and not shown: what they are about is somebody else's."""

    @property
    def bounds_everything(self) -> bool:
        """Whether the budget bounds all that was disclosed: no marker stands, nor was one lost with later events."""
        return not self._marked

    @property
    def _marked(self) -> int:
        return len(self.markers) + self.lost_markers + self.others_markers

    def share_of(self, analyst: str | None) -> BudgetState:
        """As one analyst may see it: the population, and of the others neither names nor shares nor questions."""
        own = tuple(marker for marker in self.markers if marker.analyst == analyst)
        return replace(
            self,
            analysts={name: share for name, share in self.analysts.items() if name == analyst},
            markers=own,
            others_markers=self.others_markers + len(self.markers) - len(own),
            holds=tuple(hold for hold in self.holds if hold.analyst == analyst),
        )

    def warnings(self) -> tuple[str, ...]:
        """What every release and every view of the budget must say."""
        return warn_of_markers(self.terms.population, self._marked)

    def to_dict(self) -> dict[str, object]:
        """Plain values with exact decimal text."""
        return {
            "terms": encode_terms(self.terms),
            "population": self.population.to_dict(),
            "analysts": {name: share.to_dict() for name, share in self.analysts.items()},
            "markers": [
                {
                    "sequence": marker.sequence,
                    "when": marker.when,
                    "analyst": marker.analyst,
                    "dataset": marker.dataset,
                    "version": marker.version,
                    "plan_hash": marker.plan_hash,
                    "guarantee": dict(marker.guarantee),
                }
                for marker in self.markers
            ],
            "holds": [hold.to_dict() for hold in self.holds],
            "charges": self.charges,
            "bounds_everything": self.bounds_everything,
            "warnings": list(self.warnings()),
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """A whole walk that found nothing wrong."""

    events: int
    head: str
    charges: int
    answers: int
    anchors: tuple[int, ...]
    anchored: int = 0

    def to_dict(self) -> dict[str, object]:
        """`anchors` are the newest head of the anchor and the one noted down; `anchored` counts all its heads."""
        return {
            "events": self.events,
            "head": self.head,
            "charges": self.charges,
            "answers": self.answers,
            "anchors": list(self.anchors),
            "anchored": self.anchored,
        }


def require_central(guarantee: object) -> None:
    """Only what composes in the population's budget is charged to it."""
    if not isinstance(guarantee, PureDP | ZCDP | ApproxDP):
        raise QueryRefused(
            say(
                "Only PureDP, ZCDP and ApproxDP can be charged to a budget; received {name}. A release that is "
                "not differentially private leaves a marker instead.",
                name=type(guarantee).__name__,
            ),
            guarantee=type(guarantee).__name__,
        )


def require_version(version: int) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ValueError("versions are counted from 1")


def require_plan_hash(plan_hash: str) -> None:
    if not isinstance(plan_hash, str) or not _HASH.fullmatch(plan_hash):
        raise ValueError("a plan's hash is 16 to 128 hexadecimal digits")
