"""What earlier releases understood is still understood, and said to be old."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from discreet.cli.old_spellings import translate
from tests.cli.clinic import Run

SPELT = {
    "table t --by a --compare --custodian": "lab compare t --by a --custodian",
    "table t --by a --examine --gamma 0.1": "lab examine t --by a --gamma 0.1",
    "table t --by a --method bootstrap --bootstrap-method pair": "lab bootstrap t --by a --method pair",
    "table t --by a --method=bootstrap --examine": "lab examine t --by a",
    "table t --examine --by a --method bootstrap": "lab examine t --by a",
    "table t --by a --method dp --epsilon 1": "table t --by a --epsilon 1",
    "table t --by a --explain": "table explain t --by a",
    "table t --by a --no-margins": "table t --by a --margins none",
    "table t --by a --margins --epsilon 1": "table t --by a --epsilon 1",
    "table t --by a --margin b --margin=total": "table t --by a --margins b --margins total",
    "table t --by a --no-missing": "table t --by a --leave-out missing",
    "table t --heat-map m.svg --bars=b.svg": "table t --draw heat-map=m.svg --draw bars=b.svg",
    'query "SELECT 1" --strategy local': 'lab ask "SELECT 1" --strategy local',
    'query "SELECT 1" --strategy=generated --model m': 'lab ask "SELECT 1" --strategy generated --model m',
    'query "SELECT 1" --strategy public': 'query "SELECT 1"',
}
TODAY = [
    "table t --by a --epsilon 1",
    "table explain t --by a",
    "table t --by a --margins none",
    "table t --by a --margins total --margins b",
    "table -- --compare",
    'query "SELECT 1" --explain',
    'query -- "--strategy" local',
    "lab compare t --by a",
    "budget",
    "",
]


@pytest.mark.parametrize("old", SPELT)
def test_an_old_spelling_is_translated_and_told(old: str) -> None:
    words, remark = translate(shlex.split(old))
    assert words == shlex.split(SPELT[old])
    assert remark is not None
    assert remark.endswith(f" is an old spelling. Today it is: discreet {SPELT[old]}".replace('"', "'"))


@pytest.mark.parametrize("words", TODAY)
def test_what_is_written_as_today_is_left_alone(words: str) -> None:
    assert translate(shlex.split(words)) == (shlex.split(words), None)


def test_people_are_told_and_machines_read_json(run: Run, clinic: Path) -> None:
    table = ("table", "-w", "w", "clinic", "--by", "town", "--epsilon", "1", "--no-margins")
    today = "discreet table -w w clinic --by town --epsilon 1 --margins none"
    assert f"'discreet table --no-margins' is an old spelling. Today it is: {today}" in run(*table).err
    assert run(*table, "--format", "json").err == ""
