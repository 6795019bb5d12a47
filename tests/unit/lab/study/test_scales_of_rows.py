"""Strategies whose scale follows the rows: everything for custodians, nothing for analysts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.lab.strategies.strategy_comparison import compare_query
from discreet.session import Session

HEAD = """\
population: people
neighbours: add-remove
budget: {epsilon: 3, delta: 1e-6}
"""
VISITS = f"""{HEAD}
dataset: visits
unit: {{column: pid, rows: 2}}
columns:
  pid: {{kind: id, type: integer}}
  clinic_id: {{kind: integer, bounds: [1, 999], references: clinics.clinic_id}}
  cost: {{kind: integer, bounds: [0, 1000]}}
"""
CLINICS = f"""{HEAD}
dataset: clinics
unit: {{column: pid, rows: 1}}
columns:
  pid: {{kind: id, type: integer}}
  clinic_id: {{kind: integer, bounds: [1, 999]}}
"""
MANY = {
    "visits": "".join(f"{pid},{1 + pid % 3},{pid}\n{pid},7,{pid}\n" for pid in range(1, 301)),
    "clinics": "".join(f"{pid},{pid}\n" for pid in range(1, 21)),
}
NONE = {"visits": "1,,\n", "clinics": "2,\n"}
PAIRS = "SELECT COUNT(*) FROM visits JOIN clinics ON visits.clinic_id = clinics.clinic_id"
ASKED = [
    ("SELECT MEDIAN(cost) FROM visits", "smooth", 150.0),
    ("SELECT MAX(cost) FROM visits", "smooth", 300.0),
    ("SELECT TRIMMED_AVG(cost, 0.1) FROM visits", "smooth", 150.5),
    (PAIRS, "elastic", 600.0),
]


def fill(folder: Path, rows: dict[str, str]) -> Session:
    folder.mkdir()
    session = Session.create(folder / "w")
    for name, head, card in (("visits", "pid,clinic_id,cost\n", VISITS), ("clinics", "pid,clinic_id\n", CLINICS)):
        (folder / f"{name}.csv").write_text(head + rows[name], encoding="utf-8")
        (folder / f"{name}.yaml").write_text(card, encoding="utf-8")
        session.add(folder / f"{name}.csv", confirm=lambda _: True)
    return session


def shown(session: Session, sql: str, **more: Any) -> dict[str, Any]:
    return dict(compare_query(sql, session.workspace, session.ledger, epsilon="1", **more).to_dict())


@pytest.mark.slow
def test_analysts_see_the_same_whatever_the_rows_and_custodians_see_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_ANALYST", "ana")
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    with fill(tmp_path / "many", MANY) as many, fill(tmp_path / "none", NONE) as none:
        for sql, strategy, truth in ASKED:
            assert json.dumps(shown(many, sql)) == json.dumps(shown(none, sql))
            told = shown(many, sql, custodian=True, runs=5, strategies=[strategy])
            [line] = told["strategies"]
            assert told["exact_for_the_custodian"] == truth
            assert line["guarantee"] == "approximate DP, epsilon = 1, delta = 0.000001"
            assert line["expected_error"] is None
            assert line["custodian"]["runs"] == 5
            assert line["custodian"]["sensitivity"]["mean"] > 0
        # No key on either side: noise is drawn all the same, for the frequencies that could be there.
        [line] = shown(none, PAIRS, custodian=True, runs=5, strategies=["elastic"])["strategies"]
        assert line["custodian"]["sensitivity"]["mean"] > 0
