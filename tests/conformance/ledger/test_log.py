"""The chain read as a log: filtered, in pages, oldest first; the same on every store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from discreet.errors import LedgerDamaged, UnknownName
from discreet.guarantees.budget import PopulationTerms
from discreet.guarantees.types import Unproven
from discreet.ledger import Ledger, LogFilter, SpendRequest
from discreet.ledger.events import EventKind

Request = Callable[..., SpendRequest]
Terms = Callable[..., PopulationTerms]


@pytest.fixture
def busy(ledger: Ledger, make_request: Request, make_terms: Terms) -> Ledger:
    """Two populations, two analysts, every sort of event that an analyst has."""
    ledger.register(make_terms(population="other"), who="carl")
    ledger.give_version("other", "theirs", above=0, who="carl")
    ledger.commit_answer(ledger.spend(make_request("r1")), b"noisy")
    ledger.spend(make_request("r1", analyst="ben", population="other", dataset="theirs", plan="b"))
    stored = ledger.find_answer(population="cchs", dataset="survey", version=1, plan_hash="a" * 64)
    assert stored is not None
    ledger.replay(stored, analyst="ben", request_id="r2")
    ledger.hold(make_request("r3", analyst="ben"), who="rita")
    ledger.mark("cchs", guarantee=Unproven("x"), analyst="ben", plan_hash="c" * 64, dataset="survey", version=1)
    ledger.change(make_terms(epsilon="2"), who="carl")
    return ledger


def kinds(ledger: Ledger, **wanted: Any) -> list[str]:
    return [event.kind.value for event in ledger.log(LogFilter(**wanted))]


def test_everything_is_told_oldest_first(busy: Ledger) -> None:
    events = list(busy.log())
    assert [event.sequence for event in events] == list(range(1, busy.head()[0] + 1))
    assert events[-1].hash == busy.head()[1]


def test_filters(busy: Ledger) -> None:
    assert kinds(busy, analyst="ben") == ["charge", "replay", "hold", "marker"]
    assert kinds(busy, analyst="ben", population="cchs") == ["replay", "hold", "marker"]
    assert kinds(busy, dataset="theirs") == ["dataset", "charge"]
    assert kinds(busy, kinds=frozenset({EventKind.CHARGE, EventKind.REPLAY})) == ["charge", "charge", "replay"]
    assert kinds(busy, kinds=frozenset({EventKind.MARKER}), population="cchs") == ["marker"]
    assert kinds(busy, kinds=frozenset({EventKind.SUSPENDED})) == []
    assert kinds(busy, limit=2) == ["marker", "changed"]
    assert kinds(busy, analyst="ben", limit=1) == ["marker"]
    assert kinds(busy, limit=10_000) == kinds(busy)
    for name in ("analyst", "population", "dataset"):
        with pytest.raises(UnknownName):
            kinds(busy, **{name: "nobody"})


def test_times(busy: Ledger) -> None:
    events = list(busy.log())
    middle = events[7].when
    told = kinds(busy, since=middle)
    assert told == [event.kind.value for event in events if event.when >= middle]
    assert kinds(busy, until=middle) + told == kinds(busy)


@pytest.mark.parametrize("limit", [None, 5, 100])
def test_pages_lose_and_repeat_nothing(busy: Ledger, monkeypatch: pytest.MonkeyPatch, limit: int | None) -> None:
    whole = kinds(busy, analyst="ben", limit=limit), kinds(busy, limit=limit)
    for size in (1, 2, 3, busy.head()[0]):
        monkeypatch.setattr("discreet.ledger.event_log.PAGE", size)
        assert (kinds(busy, analyst="ben", limit=limit), kinds(busy, limit=limit)) == whole


def test_the_ledger_can_be_used_while_its_log_is_read(busy: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.ledger.event_log.PAGE", 2)
    last, _ = busy.head()
    seen = 0
    for _ in busy.log():
        busy.add_analyst(f"new{seen}", who="carl")
        seen += 1
    assert seen == last


def test_an_edited_event_is_found_by_reading_it(busy: Ledger, vandal: Any) -> None:
    vandal.run("UPDATE events SET population = 'x' WHERE kind = 'marker'")
    with pytest.raises(LedgerDamaged):
        list(busy.log())


def test_the_history_of_a_budget(busy: Ledger, make_terms: Terms) -> None:
    first, second = busy.history("cchs")
    assert (first.before, first.after, second.before) == (None, make_terms(), make_terms())
    assert second.changed() == {"epsilon": ("1", "2"), "per_analyst": ("1", "2")}
    assert (second.who, second.sequence) == ("carl", busy.head()[0])
    assert len(busy.history("other")) == 1
