"""What earlier releases understood is still understood, and said to be old."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from discreet.cli.old_spellings import translate
from discreet.errors import UsageError
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
    "table t --heat-map m.svg --bars=b.svg": "table t --out heat-map=m.svg --out bars=b.svg",
    'query "SELECT 1" --strategy local': 'lab ask "SELECT 1" --strategy local',
    'query "SELECT 1" --strategy=generated --model m': 'lab ask "SELECT 1" --strategy generated --model m',
    'query "SELECT 1" --strategy public': 'query "SELECT 1"',
    "table t --by a --method bootstrap --bootstrap-method=pair": "lab bootstrap t --by a --method pair",
    "table --margins t --by a --epsilon 1": "table t --by a --epsilon 1",
    "table -w w --margins t": "table -w w t",
    "table t --by=a --explain --yes --request-id z --out x.csv --format csv": "table explain t --by a",
    "table t --by a --explain --format json -y": "table explain t --by a --format json",
    "table t --by a --compare --custodian --yes --level 0.9 --lang fr --explain": "lab compare t --by a --custodian",
    "table t --by a --examine --bootstrap-method ii --lang fr --out x.csv": "lab examine t --by a",
    "table t --by a --examine --method bootstrap --bootstrap-method pair": "lab examine t --by a",
    "table t --by a --method bootstrap --level 0.9": "lab bootstrap t --by a",
    "table t --by a --bootstrap-method i --pool-kind synthetic --custodian": "table t --by a",
    "table -ww --by a --no-margins -- t": "table -ww --by a --margins none -- t",
}
REFUSED = [
    "table t --by a --explain --method bootstrap",
    "table t --by a --method bootstrap --explain",
    "table t --by a --bootstrap-method pair",
]
TODAY = [
    "table t --by a --epsilon 1",
    "table explain t --by a",
    "table t --by a --margins none",
    "table t --by a --margins total --margins b",
    "table t --by a --margins b",
    "table --margins b t --by a",
    "table t --where a=1 --out bars=b.svg",
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


@pytest.mark.parametrize("old", REFUSED)
def test_what_was_refused_is_refused(old: str) -> None:
    with pytest.raises(UsageError, match="does not go with --method"):
        translate(shlex.split(old))


@pytest.mark.parametrize("old", SPELT)
def test_what_is_written_today_is_understood(old: str, run: Run) -> None:
    """No word of it is unknown to its command, though a workspace or an option may be missing."""
    shown = run(*shlex.split(SPELT[old]), code=None).err
    assert "No such" not in shown
    assert "unexpected" not in shown


@pytest.mark.parametrize("words", TODAY)
def test_what_is_written_as_today_is_left_alone(words: str) -> None:
    assert translate(shlex.split(words)) == (shlex.split(words), None)


def test_people_are_told_and_machines_read_json(run: Run, clinic: Path) -> None:
    table = ("table", "-w", "w", "clinic", "--by", "town", "--epsilon", "1", "--no-margins")
    today = "discreet table -w w clinic --by town --epsilon 1 --margins none"
    assert f"'discreet table --no-margins' is an old spelling. Today it is: {today}" in run(*table).err
    assert run(*table, "--format", "json").err == ""
