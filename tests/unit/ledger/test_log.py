"""How an event is told, and how a day or time is read."""

from __future__ import annotations

import json

import pytest

from discreet.errors import ParameterInvalid
from discreet.ledger.event_log import LogFilter, describe_event, read_moment
from discreet.ledger.events import Event, EventKind
from tests.places import TESTS

GOLDEN = TESTS / "golden/ledger/events.json"
EVENTS = [Event.from_body(row["body"]) for row in json.loads(GOLDEN.read_text("ascii"))]


def told(kind: EventKind, *, reasons: bool = False) -> dict[str, object]:
    event = next(event for event in EVENTS if event.kind is kind)
    return describe_event(event, reasons=reasons).to_dict()


def test_every_kind_can_be_told() -> None:
    for event in EVENTS:
        entry = describe_event(event, reasons=False)
        assert json.loads(json.dumps(entry.to_dict()))["kind"] == event.kind.value
        assert entry.what.isprintable()


def test_what_it_cost_and_to_whom() -> None:
    charge = told(EventKind.CHARGE)
    assert (charge["cost"], charge["cost_text"]) == ({"type": "PureDP", "epsilon": "0.5"}, "epsilon 0.5")
    assert (charge["who"], charge["dataset"], charge["request_id"]) == ("ada", "survey", "r1")
    assert charge["what"] == "plan abababababab"
    assert told(EventKind.REPLAY)["cost_text"] == "epsilon 0.5 (analyst's cap only)"
    assert told(EventKind.HOLD)["cost_text"] == "epsilon 0.25 (held)"
    assert told(EventKind.HOLD)["what"] == "for ada; plan abababababab; expires 2026-12-17T00:00:00.000000+00:00"
    assert told(EventKind.RESERVED)["cost_text"] == "epsilon 1.386294361 (reserved)"
    assert told(EventKind.MARKER)["cost"] is None
    assert "not differentially private: no proof" in str(told(EventKind.MARKER)["what"])


def test_why_a_dataset_was_suspended_is_for_custodians() -> None:
    assert told(EventKind.SUSPENDED)["what"] == ""
    assert told(EventKind.SUSPENDED, reasons=True)["what"] == "reason the engine failed"


def test_nothing_that_a_terminal_obeys_is_shown() -> None:
    view = next(event for event in EVENTS if event.kind is EventKind.VIEW)
    hostile = Event.from_body(view.body.replace("ingest report", r"\u001b[2J\n" + "x" * 900))
    shown = describe_event(hostile, reasons=False).what
    assert shown.isprintable()
    assert len(shown) <= 200


def test_a_day_is_meant_whole() -> None:
    assert read_moment(None, parameter="since") is None
    assert read_moment("2026-11-17", parameter="since") == "2026-11-17T00:00:00.000000+00:00"
    assert read_moment("2026-11-17", parameter="until", end=True) == "2026-11-18T00:00:00.000000+00:00"
    assert read_moment("2026-11-17T09:30", parameter="until", end=True) == "2026-11-17T09:30:00.000000+00:00"
    assert read_moment("2026-11-17T09:30+02:00", parameter="since") == "2026-11-17T07:30:00.000000+00:00"


@pytest.mark.parametrize("given", ["", "tomorrow", "2026-13-01", "9999-12-31", "2026-11-17T25:00", "\x1b"])
def test_other_words_are_no_time(given: str) -> None:
    with pytest.raises(ParameterInvalid, match="must be a day or a time"):
        read_moment(given, parameter="until", end=True)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_a_count(limit: int) -> None:
    with pytest.raises(ParameterInvalid, match="must be 1 or more"):
        LogFilter(limit=limit)
