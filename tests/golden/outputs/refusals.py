"""Every sort of refusal, for people and for machines; errors that no scene can bring about are made as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from discreet.errors import ChargedNotAnswered, DiscreetError, ExtraMissing
from tests.golden.outputs import troubles
from tests.golden.outputs.files import show_json
from tests.golden.outputs.linked_steps import make_offices
from tests.golden.outputs.people_scenes import TWO, propose
from tests.golden.outputs.recording import Scene

__all__ = ["LEFT_OUT_ERRORS", "REFUSALS"]

LEFT_OUT_ERRORS: Final[Mapping[str, str]] = {
    "DiscreetError": "the root, never raised itself",
    "NotSignedIn": "of a server; tests/unit/server/test_signing_in.py",
    "RequestInvalid": "of a server; tests/unit/server/test_problems.py",
    "TooManyRequests": "of a server; tests/conformance/people/test_limits.py",
    "LedgerUnanchored": "has the message of the LedgerUnavailable that it follows from; tests/conformance/ledger",
}

COUNT: Final = "SELECT COUNT(*) AS n FROM clinic"
ASKED: Final = f'query -w w "{COUNT}" --epsilon 1 --request-id mine'


def refusal(
    name: str, *commands: str, before: Sequence[str] = (), prepare: Callable[[Path], None] | None = None
) -> Scene:
    shown = [told for command in commands for told in (command, f"{command} --format json")]
    return Scene(f"error-{name}", shown, before=before, prepare=prepare)


def _made(_: Path) -> str:
    errors: Sequence[DiscreetError] = (
        ExtraMissing(needed_for="the format xlsx", extra="tables"),
        ChargedNotAnswered(dataset="clinic", request_id="mine", suspended=False),
    )
    return "".join(f"{error.name}: {error.message}\n{show_json(json.dumps(error.to_dict()))}" for error in errors)


REFUSALS: Final[Sequence[Scene]] = (
    Scene(
        "error-misuse",
        [
            "query -w w",
            "nothing",
            "table -w w clinic --nothing",
            "table -w w clinic --by town --epsilon 1 --format docx",
            "local show survey.json --respondents 60 --level 0,95",
        ],
    ),
    refusal(
        "UsageError",
        "table -w w clinic --by town --epsilon 1 --out pie=p.svg",
        "lab ask -w w 'SELECT COUNT(*) FROM farms' --strategy local --epsilon 1 --model m",
    ),
    refusal(
        "ParameterInvalid",
        f'query -w w "{COUNT}" --epsilon 0',
        f'query -w w "{COUNT}" --epsilon 0,5',
        f'query -w w "{COUNT}" --epsilon 1 --level 1',
        "table -w w clinic --by age --edges age=0,50 --epsilon 1",
        "table -w w clinic --by town --mean --epsilon 1",
    ),
    refusal("PathInvalid", "plan -w w nowhere.yaml", "table -w w clinic --by town --epsilon 1 --out none/t.csv"),
    refusal("WorkspaceMissing", "budget -w nowhere"),
    refusal(
        "Refused",
        "lab bootstrap -w w clinic --by town --epsilon 1",
        "public add -w w towns.csv --key town",
    ),
    refusal("CardInvalid", "card check clinic.yaml", prepare=troubles.spoil_files),
    refusal("CardUndecided", "card check draft.yaml", prepare=troubles.spoil_files),
    refusal("WorkloadInvalid", "plan -w w work.yaml", prepare=troubles.spoil_files),
    refusal("StudyInvalid", "study run study.yaml --out out", prepare=troubles.spoil_files),
    refusal("ManifestInvalid", "local sign survey.yaml --out s.json", prepare=troubles.spoil_files),
    Scene(
        "error-AgreementInvalid",
        [f"linked agree wrong.yaml researcher holder registry --out a.json{more}" for more in ("", " --format json")],
        prepare=make_offices,
        empty=True,
    ),
    refusal("SignatureInvalid", "local estimate survey.json reports.jsonl", prepare=troubles.alter_manifest),
    Scene("error-FileRefused", ["add -w w visits.csv --replace"], prepare=troubles.spoil_files),
    Scene(
        "error-PopulationConflict",
        ["add -w w other.csv", "add -w w clinic.csv --replace"],
        prepare=troubles.change_terms,
    ),
    refusal(
        "UnknownName",
        'query -w w "SELECT COUNT(*) FROM klinic" --epsilon 1',
        'query -w w "SELECT COUNT(*) FROM clinic WHERE twon = 1" --epsilon 1',
        "query -w w \"SELECT COUNT(*) FROM clinic WHERE town = 'M'\" --epsilon 1",
        f"{ASKED} --analyst nobody",
        "budget -w w --population nobody",
        "lab ask -w w 'SELECT COUNT(*) AS n FROM farms' --strategy replace",
    ),
    refusal(
        "QueryRefused",
        'query -w w "SELECT age FROM clinic" --epsilon 1',
        'query -w w "SELECT AVG(note) FROM clinic" --epsilon 1',
        'query -w w "SELECT note, COUNT(*) FROM clinic GROUP BY note" --epsilon 1',
        'query -w w "SELEKT 1" --epsilon 1',
        f'query -w w "{COUNT}" --within n=0.5',
        "caps -w w farms --epsilon 1",
        "table -w w farms --by status --weighted --epsilon 1",
    ),
    refusal("CustodianOnly", "lab compare -w w clinic --by town", "table -w w farms --by status --examine"),
    refusal(
        "BudgetExceeded",
        f'query -w w "{COUNT}" --epsilon 9',
        f'query -w w "{COUNT}" --epsilon 4.5',
        "table -w w clinic --by town --epsilon 4.5",
        "plan -w w shared.yaml --run --epsilon 4.5",
    ),
    refusal("RequestConflict", f"{ASKED} --fresh".replace("COUNT", "SUM").replace("*", "age"), before=[ASKED]),
    Scene(
        "error-EngineUnavailable",
        ["add -w w --engine postgres --table t --dsn-env NO_SUCH_VARIABLE --card clinic.yaml --replace"],
    ),
    refusal("DatasetSuspended", ASKED, "table -w w clinic --by town --epsilon 1", prepare=troubles.suspend),
    refusal("LedgerUnavailable", ASKED, "budget -w w", prepare=troubles.lose_ledger),
    refusal("LedgerDamaged", ASKED, "ledger verify -w w", prepare=troubles.damage_ledger),
    refusal("ChargedNotAnswered", ASKED, "table -w w clinic --by town --epsilon 1", prepare=troubles.lose_rows),
    refusal("NotAllowed", "person confirm -w w 14", before=TWO, prepare=propose),
    refusal("RecordsUnavailable", "token list -w w", before=TWO, prepare=troubles.lose_records),
    Scene("error-made", python=_made),
)
