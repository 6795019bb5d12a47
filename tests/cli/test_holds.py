"""A question that was approved: its hold is used by the way through which every question goes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import discreet
from discreet.ledger import LogFilter, SpendRequest
from discreet.ledger.events import EventKind, decode_guarantee
from discreet.session import Session
from tests.cli.clinic import Run

ASKED = ("query", "-w", "w", "SELECT COUNT(*) FROM clinic", "--epsilon", "0.3", "--format", "json")


def last_charge(session: Session) -> SpendRequest:
    [event] = session.ledger.log(LogFilter(kinds=frozenset({EventKind.CHARGE}), limit=1))
    payload = event.payload
    names = ("analyst", "dataset", "version", "request_id", "plan_hash")
    return SpendRequest(
        population=event.population,
        mechanisms=(),
        guarantee=decode_guarantee(payload["guarantee"]),
        **{name: payload[name] for name in names},
    )


def kinds(session: Session, first: int) -> list[str]:
    return [event.kind.value for event in session.ledger.log() if event.sequence > first]


def test_an_approved_question_is_charged_in_the_place_of_its_hold(clinic: Path, run: Run) -> None:
    run(*ASKED)
    with discreet.open(clinic) as session:
        hold = session.ledger.hold(replace(last_charge(session), request_id="approved"), who="rita")
        conflict = run(*ASKED[:-4], "--epsilon", "0.2", "--request-id", "approved", "--fresh", code=1)
        assert conflict.err.startswith("RequestConflict")
        answer = run(*ASKED, "--request-id", "approved", "--fresh").json()
        assert answer["replayed"] is False
        assert answer["remaining"]["population"]["epsilon"] == "2.4"
        assert kinds(session, hold.sequence) == ["charge", "answer"]
        again = run(*ASKED, "--request-id", "approved", "--fresh").json()
        assert again["rows"] == answer["rows"]
        assert kinds(session, hold.sequence) == ["charge", "answer"]
        session.verify()


def test_a_stored_answer_gives_back_what_was_held(clinic: Path, run: Run) -> None:
    first = run(*ASKED).json()
    with discreet.open(clinic) as session:
        hold = session.ledger.hold(replace(last_charge(session), request_id="approved"), who="rita")
        answer = run(*ASKED, "--request-id", "approved").json()
        assert (answer["replayed"], answer["rows"]) == (True, first["rows"])
        assert kinds(session, hold.sequence) == ["hold-released", "replay"]
        assert session.budget("patients").holds == ()
        session.verify()
