"""How charges and replays are written down, and the receipts and refusals they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from discreet.catalogue import say
from discreet.errors import PopulationConflict, RequestConflict
from discreet.guarantees import PopulationTerms
from discreet.ledger.accounting import ChargeTotals, caps
from discreet.ledger.committed_answers import suffices
from discreet.ledger.events import Event, EventKind, decode_guarantee, encode_terms
from discreet.ledger.holds import Hold
from discreet.ledger.records import Marker, Receipt, SpendRequest
from discreet.ledger.standing import PopulationStanding, decode_totals, encode_before, is_free_replay

__all__ = [
    "AS_CHARGED",
    "charge_payload",
    "make_receipt",
    "read_marker",
    "replay_payload",
    "request_conflict",
    "same_request",
    "terms_conflict",
]

AS_CHARGED: Final[Mapping[str, object]] = {}
"""In a replay: what was asked, where it was asked in the words of the charge. Asking again must not fill the ledger."""


def charge_payload(request: SpendRequest, standing: PopulationStanding, hold: Hold | None) -> dict[str, object]:
    """A charge, with what had been spent before it: a receipt can be written again from it.

    `standing` no longer counts the `hold` whose place the charge takes.
    """
    fields = {} if hold is None else {"hold": hold.sequence}
    return request.to_payload() | fields | {"before": encode_before(standing, request.analyst)}


def replay_payload(
    charge: Event,
    standing: PopulationStanding,
    *,
    analyst: str,
    request_id: str,
    free: bool,
    question: Mapping[str, object] | None,
) -> dict[str, object]:
    """A replay of `charge`; `free` for whoever paid for it or had it replayed before."""
    copied = {name: charge.payload[name] for name in ("dataset", "guarantee", "plan_hash", "version")}
    own = {"analyst": analyst, "before": encode_before(standing, analyst), "charge": charge.sequence}
    told: dict[str, object] = {}
    if question is not None:
        same = dict(question) == charge.payload.get("asked")
        told["asked"] = AS_CHARGED if same else dict(question)
    return copied | own | told | {"request_id": request_id} | ({"free": True} if free else {})


def same_request(held: Event, request: SpendRequest) -> bool:
    """Whether the event that holds a lease is this very request.

    A replay stands for the question it answered, and its answer may be more accurate than was asked for.
    """
    asked = request.to_payload()
    same = held.population == request.population and all(
        held.payload[name] == asked[name] for name in ("dataset", "plan_hash", "version")
    )
    if held.kind is EventKind.REPLAY:
        return same and suffices(decode_guarantee(held.payload["guarantee"]), request.guarantee)
    return same and held.payload["guarantee"] == asked["guarantee"]


def make_receipt(
    charge: Event,
    standing: PopulationStanding,
    *,
    lease: Event,
    replayed: bool,
    answer: bytes | None,
    analyst: str,
) -> Receipt:
    """`lease` is the charge or replay that holds the request; a free replay debits nobody."""
    whole, share = caps(standing.terms.budget)
    before: Mapping[str, Any] = lease.payload["before"]
    totals, own = decode_totals(before["population"]), decode_totals(before["analyst"])
    held = {name: decode_totals(item) for name, item in before.get("held", {}).items()}
    return Receipt(
        sequence=charge.sequence,
        event_hash=charge.hash,
        population=charge.population,
        analyst=analyst,
        charge=decode_guarantee(charge.payload["guarantee"]),
        replayed=replayed,
        answer=answer,
        population_cap=whole,
        analyst_cap=share,
        population_totals=totals,
        analyst_totals=own,
        population_held=held.get("population", ChargeTotals()),
        analyst_held=held.get("analyst", ChargeTotals()),
        debited_population=lease.kind is EventKind.CHARGE,
        debited_analyst=not is_free_replay(lease),
    )


def read_marker(event: Event) -> Marker:
    names = ("analyst", "dataset", "version", "plan_hash", "guarantee")
    return Marker(sequence=event.sequence, when=event.when, **{name: event.payload[name] for name in names})


def request_conflict(request_id: str) -> RequestConflict:
    return RequestConflict(
        say(
            "Request id '{request_id}' already stands for another question (another plan, dataset version or charge). "
            "Ask under a new request id. Nothing was released or charged.",
            request_id=request_id,
        ),
        request_id=request_id,
    )


def terms_conflict(known: PopulationTerms, given: PopulationTerms) -> PopulationConflict:
    old, new = encode_terms(known), encode_terms(given)
    differing = [name for name in old if old[name] != new[name]]
    shown = say("; ").join(
        say("{name} is {known}, the card says {given}", name=name, known=old[name], given=new[name])
        for name in differing
    )
    return PopulationConflict(
        say(
            "Population '{population}' has other terms: {differing}. Make the card agree, name another population, or "
            "let a custodian change the terms.",
            population=known.population,
            differing=shown,
        ),
        population=known.population,
        differing=", ".join(differing),
    )
