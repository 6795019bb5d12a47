"""Sentences with facts, in the language of the moment or in one that is named."""

from __future__ import annotations

import threading
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.catalogue import (
    Labels,
    Numeral,
    Phrase,
    choose_language,
    language,
    numeral,
    say,
    say_count,
    say_list,
    speak,
    speaking,
)
from discreet.guarantees import text

THIN, FIXED = "\u202f", "\u00a0"


def test_english_is_spoken_unasked() -> None:
    assert language() == "en"
    assert say("{low} to {high}", low=1, high=2) == "1 to 2"


def test_french_is_spoken_while_asked_for() -> None:
    with speaking("fr"):
        assert language() == "fr"
        assert say("{low} to {high}", low=1, high=2) == "1 à 2"
    assert say("{low} to {high}", low=1, high=2) == "1 to 2"


def test_a_language_nobody_speaks_is_english() -> None:
    with speaking("de"):
        assert language() == "en"
        speak("xx")
        assert language() == "en"


def test_a_sentence_without_a_translation_is_said_in_english() -> None:
    with speaking("fr"):
        assert say("a sentence that stands in no catalogue: {x}", x="y") == "a sentence that stands in no catalogue: y"


def test_each_thread_speaks_its_own_language() -> None:
    heard = []
    with speaking("fr"):
        thread = threading.Thread(target=lambda: heard.append(say("{low} to {high}", low=1, high=2)))
        thread.start()
        thread.join()
    assert heard == ["1 to 2"]


@pytest.mark.parametrize(
    ("fact", "form", "english", "french"),
    [
        (99_165, ",", "99,165", f"99{THIN}165"),
        (99_165, "", "99165", "99165"),
        (0.95, ".0%", "95%", f"95{FIXED}%"),
        (Decimal("1234.50"), ",", "1,234.50", f"1{THIN}234,50"),
        (Decimal("0.5"), "", "0.5", "0,5"),
        (2.5, ".2f", "2.50", "2,50"),
        (text(Decimal("0.10")), "", "0.1", "0,1"),
        (Numeral("1,000"), "", "1,000", f"1{THIN}000"),
        ("1.5", "", "1.5", "1.5"),
        (True, "", "True", "True"),
        (Fraction(1, 3), "", "1/3", "1/3"),
    ],
)
def test_numbers_are_written_as_the_language_does(fact: object, form: str, english: str, french: str) -> None:
    phrase = Phrase(f"{{fact:{form}}}" if form else "{fact}", fact=fact)
    assert (phrase.en, phrase.fr) == (english, french)


def test_a_number_by_itself() -> None:
    assert numeral(1_234) == "1,234"
    with speaking("fr"):
        assert numeral(1_234) == f"1{THIN}234"
        assert numeral(0.125, ".1%") == f"12,5{FIXED}%"


def test_a_phrase_is_said_later() -> None:
    phrase = Phrase("{low} to {high}", low=1, high=2)
    assert str(phrase) == "1 to 2"
    with speaking("fr"):
        assert str(phrase) == f"{phrase}" == "1 à 2"
    assert (phrase.en, phrase.fr, phrase.text("fr")) == ("1 to 2", "1 à 2", "1 à 2")


def test_a_phrase_goes_where_labels_go() -> None:
    phrase = Phrase("{low} to {high}", low=1, high=2)
    assert isinstance(phrase, Labels)
    assert phrase == Labels("1 to 2", "1 à 2")
    assert hash(phrase) == hash(Phrase("{low} to {high}", low=1, high=2))
    assert phrase != Labels("1 to 2", "1 bis 2")
    with pytest.raises(AttributeError):
        phrase.en = "x"  # type: ignore[misc]


def test_phrases_within_a_sentence_are_said_in_its_language() -> None:
    inner = Phrase("{low} to {high}", low=1, high=2)
    assert Phrase("[{inner}] {own}", inner=inner, own=Labels("a", "b")).fr == "[1 à 2] b"


def test_facts_are_never_read_as_templates() -> None:
    assert say("'{name}' is there", name="{0.__class__} {x}") == "'{0.__class__} {x}' is there"


def test_braces_stand_for_themselves_when_doubled() -> None:
    assert say("{{a}} and") == "{a} and"
    assert say("no braces") == "no braces"


def test_counts_have_forms() -> None:
    assert [say_count("{count} thing", "{count:,} things", n) for n in (0, 1, 2_000)] == [
        "0 things",
        "1 thing",
        "2,000 things",
    ]


def test_lists_end_with_a_word() -> None:
    assert say_list(["a"]) == "a"
    assert say_list(["a", "b", "c"]) == "a, b and c"
    assert say_list(["a", "b"], either=True) == "a or b"
    with speaking("fr"):
        assert say_list(["a", "b", "c"]) == "a, b et c"
        assert say_list(["a", "b"], either=True) == "a ou b"


@pytest.mark.parametrize(
    ("words", "environment", "chosen"),
    [
        ("query --lang fr", {}, "fr"),
        ("--lang=fr query", {}, "fr"),
        ("query", {"DISCREET_LANG": "fr"}, "fr"),
        ("query --lang en", {"DISCREET_LANG": "fr"}, "en"),
        ("query", {"LANG": "fr_CA.UTF-8"}, "fr"),
        ("query", {"LC_ALL": "en_CA.UTF-8", "LANG": "fr_CA.UTF-8"}, "en"),
        ("query", {"LC_MESSAGES": "fr_FR.UTF-8", "LANG": "de_DE"}, "fr"),
        ("query", {"DISCREET_LANG": "en", "LANG": "fr_FR"}, "en"),
        ("query", {"LANG": "C.UTF-8"}, "en"),
        ("query -- --lang fr", {}, "en"),
        ("query --lang", {"LANG": "fr_FR"}, "fr"),
        ("query --lang de", {"LANG": "fr_FR"}, "en"),
        ("", {}, "en"),
    ],
)
def test_the_language_that_is_asked_for(words: str, environment: dict[str, str], chosen: str) -> None:
    assert choose_language(words.split(), environment) == chosen
