"""Words fit where they are put, and numbers are written as each language writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.present.charts.lettering import clean, isolate, shorten, tell_compactly, tell_number, text_width, wrap


@pytest.mark.parametrize(
    ("value", "decimals", "english", "french"),
    [
        (0, 0, "0", "0"),
        (-1234567, 0, "−1,234,567", "−1\u202f234\u202f567"),
        (1234.5, 2, "1,234.50", "1\u202f234,50"),
        (-0.001, 2, "0.00", "0,00"),
        (10**30, 0, "1" + ",000" * 10, "1" + "\u202f000" * 10),
        (1.5e300, 0, "1.5×10³⁰⁰", "1,5×10³⁰⁰"),
        (float("-inf"), 0, "−∞", "−∞"),
    ],
)
def test_numbers(value: float, decimals: int, english: str, french: str) -> None:
    assert tell_number(value, "en", decimals=decimals) == english
    assert tell_number(value, "fr", decimals=decimals) == french


def test_the_ends_of_intervals_are_rounded_outwards() -> None:
    assert tell_number(-12.01, "en", toward=-1) == "−13"
    assert tell_number(12.01, "en", toward=1) == "13"
    assert tell_number(12.0, "en", toward=1) == "12"


def test_axes_have_short_numbers() -> None:
    assert tell_compactly(2_500_000, "fr") == "2,5\u00a0M"
    assert tell_compactly(-2e12, "en") == "−2×10¹²"
    assert tell_compactly(1e-7, "en") == "10⁻⁷"
    assert tell_compactly(999_999, "en") == "999,999"


@given(st.text(), st.floats(1, 500), st.integers(1, 4))
def test_lines_fit_and_lose_nothing_without_saying_so(text: str, width: float, lines: int) -> None:
    cleaned = clean(text)
    written = wrap(cleaned, width, 11, lines=lines)
    assert 1 <= len(written) <= lines
    ellipsis = text_width("…", 11)
    assert all(text_width(line, 11) <= max(width, ellipsis) + 1e-9 for line in written)
    if not any(line.endswith("…") for line in written):
        assert "".join(written).replace(" ", "") == cleaned.replace(" ", "")


def test_a_long_label_is_broken_at_spaces_and_hyphens() -> None:
    assert wrap("Terre-Neuve-et-Labrador", 60, 11, lines=4)[0] == "Terre-"
    assert shorten("Saskatchewan", 40, 11).endswith("…")
    assert shorten("e\u0301" * 40, 50, 11)[-2:] in ("\u0301…", "e…")


def test_room_that_was_made_for_a_text_holds_it() -> None:
    for text in ("everything else", "tout le reste", "Ontario", "a", "mélange (un message)"):
        room = text_width(text, 17.5) + 10.0 - 10.0
        assert wrap(text, room, 17.5, lines=1) == [text]
        assert shorten(text, room, 17.5) == text


def test_a_name_that_is_too_long_is_broken_after_its_last_hyphen_that_fits() -> None:
    width = text_width("Terre-Neuve-et-", 13)
    assert wrap("Terre-Neuve-et-Labrador", width, 13, lines=2) == ["Terre-Neuve-et-", "Labrador"]


def test_what_no_file_can_hold_is_replaced() -> None:
    assert clean("a\x00b\ud800\tc\r\nd\x1b") == "a\ufffdb\ufffd c d\ufffd"


def test_words_from_right_to_left_do_not_turn_their_sentence() -> None:
    assert isolate("שלום") == "\u2068שלום\u2069"
    assert isolate("Québec") == "Québec"
