"""What the chain says of people, on both stores: read on, read anew, and written only while nothing else was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from discreet.ledger import ChainMark, Ledger, LedgerConfig, people_log, replace_ledger_key


def acts(ledger: Ledger, after: ChainMark | None = None) -> list[str]:
    found = ledger.read_people() if after is None else ledger.read_people(after)
    return [str(event.payload["act"]) for event in found.events]


def test_only_what_is_new_is_read(ledger: Ledger) -> None:
    first = ledger.read_people()
    assert (first.events, first.whole, first.mark) == ((), True, ChainMark(*ledger.head()))
    made = ledger.record_people("one", "ada", who="ana", after=first.mark)
    assert made is not None
    assert made.payload == {"act": "one", "person": "ada"}
    second = ledger.read_people(first.mark)
    assert ([event.hash for event in second.events], second.whole) == ([made.hash], False)
    ledger.record_view("something", who="ana")
    assert acts(ledger, second.mark) == []
    assert acts(ledger) == ["one"]


def test_an_act_is_written_while_nothing_was_written_about_people(ledger: Ledger) -> None:
    mark = ledger.read_people().mark
    ledger.record_view("something", who="ana")
    assert ledger.record_people("one", "ada", who="ana", after=mark) is not None
    head = ledger.head()
    assert ledger.record_people("two", "ada", who="ana", after=mark) is None
    assert ledger.head() == head
    assert acts(ledger) == ["one"]


def test_a_mark_of_another_chain_is_no_mark(ledger: Ledger) -> None:
    sequence, hash = ledger.head()
    ledger.record_people("one", "ada", who="ana", after=ChainMark(sequence, hash))
    for mark in (ChainMark(sequence, "0" * 64), ChainMark(sequence + 9, hash), ChainMark(0, ""), ChainMark(-1, hash)):
        found = ledger.read_people(mark)
        assert (len(found.events), found.whole) == (1, True)
        assert ledger.record_people("two", "ada", who="ana", after=mark) is None


def test_a_long_list_is_read_whole(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_log, "_PAGE", 3)
    mark = ledger.read_people().mark
    for number in range(9):
        made = ledger.record_people(f"act {number}", "ada", who="ana", after=mark)
        assert made is not None
        ledger.record_view("something", who="ana")
        mark = ChainMark(made.sequence, made.hash)
    assert acts(ledger) == [f"act {number}" for number in range(9)]


def test_the_word_of_the_key_is_for_one_thing_and_one_ledger(
    ledger: Ledger, config: LedgerConfig, reopen: Callable[[], Ledger]
) -> None:
    word = ledger.attest("a", "b", 1)
    assert reopen().attest("a", "b", 1) == word
    others = [("a", "b", "1"), ("ab", 1), ("a", "b"), ("a", "b", 1, ""), ("b", "a", 1), ("\ud800", "b", 1)]
    assert len({word, *(ledger.attest(*parts) for parts in others)}) == 7
    replace_ledger_key(config, lost=False, who="ana")
    assert reopen().attest("a", "b", 1) != word
