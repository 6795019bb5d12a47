"""The tree of refusals: what a script can tell from the exit code, and what a machine reads of an error."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest

from discreet import errors
from discreet.errors import (
    LONGEST_LINE,
    MOST_LINES,
    CardInvalid,
    ChargedNotAnswered,
    DiscreetError,
    ParameterInvalid,
    Refused,
    UnknownName,
    UsageError,
    legible,
    nearest,
)


def tree(kind: type[DiscreetError]) -> Iterator[type[DiscreetError]]:
    for below in kind.__subclasses__():
        yield below
        yield from tree(below)


def test_the_exit_code_tells_whether_something_was_charged() -> None:
    for code, kind in ((1, Refused), (2, UsageError), (3, ChargedNotAnswered)):
        assert {one.exit_code for one in (kind, *tree(kind))} == {code}
    assert set(DiscreetError.__subclasses__()) == {Refused, UsageError, ChargedNotAnswered}


def test_every_error_stands_in_the_drawing_of_the_tree() -> None:
    drawn = errors.__doc__ or ""
    kinds: list[type[DiscreetError]] = [DiscreetError, *tree(DiscreetError)]
    for kind in kinds:
        assert f"{kind.__name__} " in drawn or f"{kind.__name__}\n" in drawn
        assert kind.__name__ in errors.__all__


def test_machines_get_the_name_the_words_and_the_facts() -> None:
    told = UnknownName(sort="Column", name="aeg", where="'people'", known=["age", "town"]).to_dict()
    assert told == {
        "error": "UnknownName",
        "message": "Column 'aeg' is not in 'people'. Did you mean 'age'?",
        "fields": {"sort": "Column", "unknown": "aeg", "nearest": "age"},
    }


@pytest.mark.parametrize("kind", [CardInvalid, *tree(CardInvalid)], ids=lambda kind: kind.__name__)
def test_every_problem_of_a_file_is_told_to_machines_too(kind: type[CardInvalid]) -> None:
    problems = ["a.yaml:2: no unit", "a.yaml:7: no bounds"]
    told = kind(file="a.yaml", problems=problems).to_dict()
    assert told["problems"] == problems
    assert told["message"] == "\n".join(problems)


def test_a_charge_without_an_answer_is_told_in_one_of_two_sentences() -> None:
    lost = ChargedNotAnswered(dataset="people", request_id="r7", suspended=False)
    assert lost.message == (
        "the question was charged, but its answer was not given. Ask again with --request-id r7, once the ledger can "
        "be written: it costs nothing more."
    )
    failed = ChargedNotAnswered(dataset="people", request_id="r7", suspended=True)
    assert failed.message == (
        "the question was charged but could not be answered, and 'people' is suspended. Ask the custodian; nothing "
        "more can be said here."
    )
    assert lost.fields == failed.fields == {"dataset": "people", "request_id": "r7"}


def test_only_a_slip_of_the_pen_is_guessed() -> None:
    assert nearest("provinse", ["age", "province"]) == "province"
    assert nearest("cod", ["age", "province"]) is None


HOSTILE = {
    "a colour": "\x1b[31mred\x1b[0m",
    "a title": "\x1b]0;owned\x07",
    "an eight-bit escape": "\x9b31m",
    "a second line": "x\nBudgetExceeded: nothing remains",
    "a return": "good\rbad",
    "a null": "a\0b",
    "right to left": "abc\u202edcba\u2066",
    "no width": "pay\u200bpal\ufeff\u2060\u00ad",
    "line ends of others": "a\u2028b\u2029c\x85d",
    "half a character": "a\udcffb\ud800",
    "a tag": "x\U000e0041\U000e0042",
    "private use": "\ue000\U0010ffff",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_steers_a_terminal_is_escaped(text: str) -> None:
    told = legible(text)
    assert not [one for one in told if unicodedata.category(one)[0] == "C" or unicodedata.category(one) in {"Zl", "Zp"}]
    assert told.encode()
    assert legible(told) == told


def test_what_people_write_stays_as_it_is() -> None:
    for text in (
        "Île-du-Prince-Édouard",
        "de 1\u202f000 à 2\u00a0000 €",
        "東京 · ελληνικά",
        "e\u0301",
        r"C:\new 'a\b'",
    ):
        assert legible(text) == text


@pytest.mark.parametrize("text", ["x" * 10**6, "ab " * 10**6, "\x1b" * 10**6, "é\u200b" * 10**6])
def test_long_texts_lose_their_middle(text: str) -> None:
    told = legible(f"'{text}' is not a column. Name one of the card.")
    assert len(told) <= LONGEST_LINE
    assert told.startswith("'" + (r"\x1b" if text[0] == "\x1b" else text[0]))
    assert told.endswith("Name one of the card.")
    assert "…" in told


def test_a_long_word_is_cut_where_it_stands() -> None:
    told = legible(f"column '{'x' * 700}' is not in 'people'. List them with: discreet show people")
    assert len(told) < 400
    assert told.startswith("column 'xxx")
    assert told.endswith("xxx' is not in 'people'. List them with: discreet show people")


def test_every_refusal_is_legible_and_so_are_its_facts() -> None:
    hostile = "\x1b[2J" + "long" * 1_000 + "\n"
    told = [
        Refused(f"'{hostile}' is no name.", name=hostile, count=7),
        ParameterInvalid(parameter="level", rule="must be a number", given=hostile),
        UnknownName(sort="Column", name=hostile, where="the card", known=[hostile[:-1]]),
        ChargedNotAnswered(dataset=hostile, request_id=hostile, suspended=False),
        CardInvalid(file=hostile, problems=[f"{hostile}:1: {hostile}", "a.yaml:2: no unit"]),
    ]
    for error in told:
        texts = [error.message, str(error), *(fact for fact in error.fields.values() if isinstance(fact, str))]
        for text in texts:
            assert "\x1b" not in text
            assert max(map(len, text.split("\n"))) <= LONGEST_LINE
        assert error.message.count("\n") == (1 if isinstance(error, CardInvalid) else 0)
    assert told[0].fields["count"] == 7


def test_of_very_many_problems_the_first_are_told() -> None:
    told = CardInvalid(file="a.yaml", problems=[f"a.yaml:{line}: no unit" for line in range(1, 5_001)])
    assert told.message.count("\n") == MOST_LINES
    assert told.message.endswith("a.yaml:100: no unit\n… and 4,900 more")
    assert len(told.problems) == 5_000
