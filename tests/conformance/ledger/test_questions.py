"""What was asked, as its analysts see it, on both stores: places among one's own, words kept once, no answer read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from discreet.ledger import Ledger, LedgerConfig, PastQuestion, SpendRequest, workspace_ledger
from discreet.ledger.chain_stores.store import AnswerRow, Transaction
from discreet.ledger.events import Event
from tests.conformance.ledger.conftest import Vandal

MakeRequest = Callable[..., SpendRequest]
Words = Mapping[str, object] | None
WORDS: Mapping[str, object] = {"kind": "query", "sql": "SELECT COUNT(*) AS n FROM survey", "versions": {"survey": 1}}


def ask(ledger: Ledger, make: MakeRequest, key: str, analyst: str = "ada", words: Words = WORDS) -> None:
    request = replace(make(key, analyst=analyst), question=words)
    ledger.commit_answer(ledger.spend(request), f"noisy {key}".encode())


def again(ledger: Ledger, make: MakeRequest, key: str, of: str, *, analyst: str, words: Words = WORDS) -> None:
    like = make(of)
    found = ledger.find_answer(
        population=like.population,
        dataset=like.dataset,
        version=like.version,
        plan_hash=like.plan_hash,
        at_least=like.guarantee,
        analyst=analyst,
    )
    assert found is not None
    ledger.replay(found, analyst=analyst, request_id=key, question=words)


def told(questions: list[PastQuestion]) -> list[tuple[str, str, int]]:
    return [(question.analyst, question.request_id, question.ordinal) for question in questions]


def test_places_are_counted_for_each_analyst(ledger: Ledger, make_request: MakeRequest) -> None:
    for number in range(3):
        ask(ledger, make_request, f"a{number}")
        ask(ledger, make_request, f"b{number}", "ben")
        ledger.record_view("something", who="ana")
    expected = [(name, f"{name[0]}{number}", number + 1) for number in (2, 1, 0) for name in ("ben", "ada")]
    assert told(ledger.questions()) == expected
    assert told(ledger.questions(limit=3)) == expected[:3]
    assert told(ledger.questions(analyst="ada", limit=2)) == [("ada", "a2", 3), ("ada", "a1", 2)]
    for name, key, place in expected:
        for found in (
            ledger.question(analyst=name, request_id=key),
            ledger.question(analyst=name, ordinal=place),
        ):
            assert found is not None
            assert told([found]) == [(name, key, place)]
    assert ledger.question(analyst="ada", ordinal=4) is None
    assert ledger.question(analyst="nobody", ordinal=1) is None


def test_a_long_history_is_counted_once_and_read_in_turns(
    ledger: Ledger, make_request: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        ask(ledger, make_request, f"a{number}")
    counted, read = [], []
    place, answer = Transaction.place_asked, Transaction.answer

    def count(transaction: Transaction, event: Event) -> int:
        counted.append(event)
        return place(transaction, event)

    def look(transaction: Transaction, number: int) -> AnswerRow | None:
        read.append(number)
        return answer(transaction, number)

    monkeypatch.setattr(Transaction, "place_asked", count)
    monkeypatch.setattr(Transaction, "answer", look)
    monkeypatch.setattr(workspace_ledger, "_TURN", 2)
    questions = ledger.questions(analyst="ada")
    assert told(questions) == [("ada", f"a{number}", number + 1) for number in range(6, -1, -1)]
    assert all(question.answered for question in questions)
    assert len(counted) == 1
    assert read == []


def test_one_that_was_charged_and_not_answered_is_told(ledger: Ledger, make_request: MakeRequest) -> None:
    ledger.spend(make_request("a0"))
    [found] = ledger.questions()
    assert not found.answered


def test_words_of_a_charge_are_not_written_again(ledger: Ledger, make_request: MakeRequest, vandal: Vandal) -> None:
    ask(ledger, make_request, "a0")
    own = {**WORDS, "sql": "SELECT COUNT(*) AS others_word FROM survey"}
    again(ledger, make_request, "a1", "a0", analyst="ada")
    again(ledger, make_request, "b0", "a0", analyst="ben", words=own)
    again(ledger, make_request, "b1", "a0", analyst="ben", words=None)
    found = {question.request_id: question.words for question in ledger.questions()}
    assert found == {"a0": WORDS, "a1": WORDS, "b0": own, "b1": None}
    bodies = [str(body) for (body,) in vandal.query("SELECT body FROM events ORDER BY sequence")]
    assert sum(json.dumps(WORDS["sql"]) in body for body in bodies) == 1


def test_an_analysts_questions_are_found_by_an_index(ledger: Ledger, config: LedgerConfig, vandal: Vandal) -> None:
    asked = "SELECT COUNT(*) FROM events WHERE kind IN ('charge', 'replay') AND analyst = 'ada' AND sequence <= 9"
    if config.store == "sqlite":
        assert "INDEX asked" in str(vandal.query(f"EXPLAIN QUERY PLAN {asked}"))
    else:  # where few rows are, PostgreSQL reads them all
        assert vandal.query("SELECT to_regclass('asked')::text") == [("asked",)]
