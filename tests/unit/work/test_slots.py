"""Slots: whatever leaves does so at times that follow from when it was asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from discreet.work import next_slot

ASKED = datetime(2026, 3, 1, 12, tzinfo=UTC)


@given(st.integers(0, 10**9), st.integers(0, 10**6))
def test_slots_double_from_a_quarter_of_a_second_and_do_not_depend_on_when_it_was_ready(taken: int, more: int) -> None:
    ready = ASKED + timedelta(milliseconds=taken)
    slot = next_slot(ASKED, ready)
    after = (slot - ASKED) / timedelta(milliseconds=250)
    assert slot >= ready
    assert after == int(after)
    assert int(after).bit_count() == 1 or int(after) % 2**14 == 0
    assert slot - ASKED <= max(2 * (ready - ASKED), timedelta(milliseconds=250))
    assert next_slot(ASKED, slot) == slot
    assert next_slot(ASKED, ready + timedelta(milliseconds=more)) >= slot


def test_what_took_days_does_not_wait_for_days() -> None:
    assert next_slot(ASKED, ASKED + timedelta(days=3)) - ASKED - timedelta(days=3) <= timedelta(hours=1.2)


def test_a_request_of_a_clock_that_is_ahead_waits_for_it() -> None:
    assert next_slot(ASKED, ASKED - timedelta(minutes=5)) == ASKED + timedelta(milliseconds=250)
