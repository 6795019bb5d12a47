"""The fold: every kind of event ever written, what each may not be, and bytes that stay as they were."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from discreet.errors import ParameterInvalid
from discreet.ledger.events import GENESIS, REQUIRED, Event, EventKind, canonical_json
from discreet.ledger.holds import Hold
from discreet.ledger.standing import Standing, fold
from tests.places import TESTS

GOLDEN: Final[list[dict[str, str]]] = json.loads((TESTS / "golden/ledger/events.json").read_text("ascii"))
"""A chain with every kind, as it was written. Lines are added when kinds or fields are; none is ever changed."""

EVENTS: Final = tuple(Event.from_body(row["body"]) for row in GOLDEN)
NOT_ADMITTED: Final = (ValueError, KeyError, TypeError, ParameterInvalid)


def folded(events: tuple[Event, ...]) -> Standing:
    standing = Standing()
    for event in events:
        standing = fold(standing, event)
    return standing


def before(kind: EventKind, *, nth: int = 0) -> tuple[Standing, Event]:
    """The standing that the nth event of a kind met, and the event."""
    place = [number for number, event in enumerate(EVENTS) if event.kind is kind][nth]
    return folded(EVENTS[:place]), EVENTS[place]


def with_payload(event: Event, **fields: object) -> Event:
    return replace(event, payload={**event.payload, **fields})


def test_every_kind_ever_written_still_reads() -> None:
    previous = GENESIS
    for row, event in zip(GOLDEN, EVENTS, strict=True):
        assert (event.body, event.hash, event.previous) == (row["body"], row["hash"], previous)
        previous = event.hash
    assert {event.kind for event in EVENTS} == set(EventKind) == set(REQUIRED)
    population = folded(EVENTS).populations["cchs"]
    assert (population.totals.epsilon, population.analyst("ada").epsilon, population.markers) == (
        2_636_294_361,
        750_000_000,
        1,
    )
    assert population.holds == {}
    assert {name: one.closed for name, one in population.reservations.items()} == {"language": True, "wave-3": False}


def test_a_free_replay_debits_nobody_and_says_so_plainly() -> None:
    standing, event = before(EventKind.REPLAY, nth=1)
    assert event.payload["free"] is True
    assert fold(standing, event) == standing
    for word in ("yes", 1, None):
        with pytest.raises(NOT_ADMITTED):
            fold(standing, replace(event, payload={**event.payload, "free": word}))
    charged = {name: value for name, value in event.payload.items() if name != "free"}
    after = fold(standing, replace(event, payload=charged)).populations["cchs"]
    assert after.analyst("ben").epsilon == 2 * standing.populations["cchs"].analyst("ben").epsilon


def test_the_texts_of_a_standing_are_canonical_and_its_own() -> None:
    standing = Standing()
    for event in EVENTS:
        before, standing = standing, fold(standing, event)
        fields = json.loads(standing.text)
        assert canonical_json(fields) == standing.text
        assert canonical_json(fields["populations"]) == standing.spent
        assert Standing.from_text(standing.text) == standing
        assert (standing.text == before.text) == (standing == before)


def test_fields_that_are_not_known_break_nothing() -> None:
    told = tuple(with_payload(event, since_2031={"a": [1, "b"]}) for event in EVENTS)
    assert folded(told) == folded(EVENTS)
    assert all(Event.from_body(event.body) == event for event in told)


@pytest.mark.parametrize("kind", [kind for kind in EventKind if REQUIRED[kind]])
def test_a_payload_lacks_nothing_of_its_kind(kind: EventKind) -> None:
    standing, event = before(kind)
    for name in REQUIRED[kind]:
        short = replace(event, payload={key: value for key, value in event.payload.items() if key != name})
        with pytest.raises(ValueError, match=f"lacks {name}"):
            fold(standing, short)


def test_the_page_names_every_kind_and_what_it_must_hold() -> None:
    page = (TESTS.parent / "docs" / "ledger.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \| .*\|$", page, re.MULTILINE))
    assert {kind.value for kind in EventKind} <= set(rows)
    for kind, names in REQUIRED.items():
        assert [name for name in names if f"`{name}`" not in rows[kind.value]] == []


def test_a_standing_without_holds_has_the_bytes_it_always_had() -> None:
    dump = (TESTS / "earlier/workspace/ledger.sql").read_text("ascii")
    [told] = re.findall(r"""^INSERT INTO "head" VALUES\(1,1,93,'[0-9a-f]{64}','(\{.*\})',""", dump, re.MULTILINE)
    assert set(json.loads(Standing.from_text(told).text)["populations"]["town"]) == {
        "analysts",
        "markers",
        "terms",
        "totals",
    }
    assert Standing.from_text(told).text == told
    _, hold = before(EventKind.HOLD)
    assert "hold" not in folded(EVENTS[: hold.sequence - 1]).text


def test_a_standing_with_holds_and_reservations_is_read_back() -> None:
    for place in range(len(EVENTS) + 1):
        standing = folded(EVENTS[:place])
        assert Standing.from_text(standing.text) == standing
    standing, _ = before(EventKind.HOLD_RELEASED)
    assert [hold.request_id for hold in standing.populations["cchs"].holds.values()] == ["r3", "r4", "r5"]


@pytest.mark.parametrize(
    ("kind", "nth", "fields"),
    [
        (EventKind.HOLD, 1, {"request_id": "r3", "analyst": "ada"}),
        (EventKind.HOLD, 0, {"guarantee": {"type": "PureDP", "epsilon": "0.6"}}),
        (EventKind.HOLD, 0, {"guarantee": {"type": "Unproven", "reason": "x"}}),
        (EventKind.HOLD, 0, {"guarantee": {"type": "ZCDP", "rho": "0.01", "delta": "0"}}),
        (EventKind.HOLD, 0, {"expires": "tomorrow"}),
        (EventKind.HOLD, 0, {"expires": "2026-12-17"}),
        (EventKind.HOLD_RELEASED, 0, {"hold": 1}),
        (EventKind.HOLD_RELEASED, 0, {"hold": [1]}),
        (EventKind.HOLD_EXPIRED, 0, {"hold": 17}),
        (EventKind.CHARGE, 1, {"hold": None}),
        (EventKind.CHARGE, 1, {"hold": 18}),
        (EventKind.CHARGE, 1, {"hold": 17}),
        (EventKind.CHARGE, 1, {"request_id": "r9"}),
        (EventKind.CHARGE, 1, {"analyst": "ben"}),
        (EventKind.CHARGE, 1, {"plan_hash": "00" * 32}),
        (EventKind.CHARGE, 1, {"version": 2}),
        (EventKind.CHARGE, 1, {"guarantee": {"type": "PureDP", "epsilon": "0.2"}}),
        (EventKind.CHARGE, 0, {"hold": 3}),
        (EventKind.RESERVED, 0, {"purpose": "else"}),
        (EventKind.RESERVED, 0, {"guarantee": {"type": "PureDP", "epsilon": "2.3"}}),
        (EventKind.RESERVED, 0, {"guarantee": {"type": "ApproxDP", "epsilon": "0.1", "delta": "0.000001"}}),
        (EventKind.RESERVED, 0, {"before": {}}),
        (EventKind.RESERVED, 1, {"reservation": "language"}),
        (EventKind.LINKED, 0, {"reservation": "income"}),
        (EventKind.RESERVATION_CLOSED, 0, {"reservation": "income"}),
    ],
)
def test_what_could_not_have_been_admitted_is_found(kind: EventKind, nth: int, fields: Mapping[str, Any]) -> None:
    standing, event = before(kind, nth=nth)
    fold(standing, event)
    with pytest.raises(NOT_ADMITTED):
        fold(standing, with_payload(event, **fields))


@pytest.mark.parametrize("kind", [EventKind.HOLD_RELEASED, EventKind.HOLD_EXPIRED, EventKind.RESERVATION_CLOSED])
def test_nothing_ends_twice(kind: EventKind) -> None:
    standing, event = before(kind)
    with pytest.raises(NOT_ADMITTED):
        fold(fold(standing, event), event)


def test_nothing_is_linked_under_a_closed_reservation() -> None:
    _, linked = before(EventKind.LINKED)
    standing, closed = before(EventKind.RESERVATION_CLOSED)
    with pytest.raises(ValueError, match="no such reservation is open"):
        fold(fold(standing, closed), linked)


def test_a_reservation_stands_under_a_pure_budget() -> None:
    standing, reserved = before(EventKind.RESERVED)
    _, changed = before(EventKind.CHANGED)
    loose = with_payload(
        changed, terms={**changed.payload["terms"], "delta": "0.000001", "per_analyst_delta": "0.000001"}
    )
    for events in ((loose, reserved), (reserved, loose)):
        with pytest.raises(ValueError, match="pure budget"):
            fold(fold(standing, events[0]), events[1])


@pytest.mark.parametrize("kind", [EventKind.REQUESTED, EventKind.DECIDED, EventKind.PUBLISHED, EventKind.WITHDRAWN])
def test_records_are_about_a_population_and_change_nothing(kind: EventKind) -> None:
    standing, event = before(kind)
    assert fold(standing, event) == standing
    with pytest.raises(ValueError, match="about a population"):
        fold(standing, replace(event, population="other"))


def test_a_withdrawal_says_what_is_withdrawn() -> None:
    standing, event = before(EventKind.WITHDRAWN)
    fold(standing, replace(event, payload={"request": "r3"}))
    with pytest.raises(ValueError, match="a request or a release is withdrawn"):
        fold(standing, replace(event, payload={"reason": "none"}))


def test_what_is_held_counts_in_its_own_caps_alone() -> None:
    standing, _ = before(EventKind.HOLD_RELEASED)
    population = standing.populations["cchs"]
    assert (population.held().epsilon, population.held("ada").epsilon, population.held("eve").epsilon) == (
        450_000_000,
        250_000_000,
        0,
    )
    assert isinstance(population.hold_for("ben", "r4"), Hold)
    assert population.hold_for("ada", "r4") is None
