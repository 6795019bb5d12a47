"""The tree of refusals: what a script can tell from the exit code, and what a machine reads of an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet import errors
from discreet.errors import CardInvalid, ChargedNotAnswered, DiscreetError, Refused, UnknownName, UsageError, nearest


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
        "the question was charged, but no answer left. Ask again with --request-id r7, once the ledger can be written: "
        "it costs nothing more."
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
