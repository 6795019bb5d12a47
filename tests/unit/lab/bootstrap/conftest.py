"""The nine cells of the rice farms as the paper's Table 1 has them, its misprint corrected; and a small house."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.engine import Engine
from discreet.engines.engine_choice import engine_for
from discreet.lab.bootstrap.bootstrap_release import release_bootstrap
from discreet.lab.bootstrap.bootstrap_sensitivity import CellSummary
from discreet.results import Release
from discreet.session import Session
from discreet.tables.formation import Formed, form_table
from discreet.tables.request import TableRequest
from tests.unit.release.conftest import make_house

FarmCells = dict[tuple[str, str], CellSummary]


@pytest.fixture
def farms() -> FarmCells:
    return {
        ("mixed", "high"): CellSummary(33, 56965, 234, 9000),
        ("mixed", "mixed"): CellSummary(7, 11187, 800, 3400),
        ("mixed", "trad"): CellSummary(171, 189528, 180, 3200),
        ("owner", "high"): CellSummary(227, 416820, 82, 17610),
        ("owner", "mixed"): CellSummary(41, 76917, 200, 12000),
        ("owner", "trad"): CellSummary(468, 436757, 42, 8100),
        ("share", "high"): CellSummary(34, 58669, 184, 14520),
        ("share", "mixed"): CellSummary(2, 1105, 400, 705),
        ("share", "trad"): CellSummary(43, 25236, 100, 2000),
    }


CARD = """
dataset: farms
population: farms
unit: {column: farm, rows: ROWS}
neighbours: replace-one
budget: {epsilon: 3}
ALLOW
columns:
  farm: {kind: id, type: integer}
  status: {kind: category, categories: [owner, share], PUBLIC}
  variety: {kind: category, categories: [high, trad], PUBLIC}
  output: {kind: integer, bounds: [-1000, HIGH]}
"""

HEADER = "farm,status,variety,output"
FARMS = (
    *(f"{farm},owner,high,{100 * farm}" for farm in range(1, 21)),
    *(f"{farm},owner,trad,500" for farm in range(21, 31)),
    "31,share,high,9000",
    "32,,high,70",
    "33,owner,high,",
)
"""Twenty farms of different output, ten of one output, one alone, one without status, one without output."""


@dataclass(frozen=True)
class House:
    """A session over the farms, and the ways bootstrap is asked of it."""

    session: Session
    folder: Path

    def form(self, *by: str, value: str | None = "output", where: str | None = None, mean: bool = False) -> Formed:
        request = TableRequest("farms", by or ("status", "variety"), value=value, where=where, mean=mean)
        return form_table(request, self.session.workspace)

    def engine(self, formed: Formed) -> Engine:
        return engine_for(formed.datasets, salt=self.session.workspace.salt)

    def release(self, formed: Formed | None = None, *, engine: Engine | None = None, **given: Any) -> Release:
        formed = formed or self.form()
        own = engine or self.engine(formed)
        asked = {"epsilon": "1", "analyst": "ann", "request_id": f"r{next(_NUMBERS)}", **given}
        try:
            return release_bootstrap(formed, lambda _: own, self.session.ledger, self.session.workspace, **asked)
        finally:
            own.close()

    def markers(self) -> int:
        return len(self.session.ledger.state("farms").markers)


_NUMBERS = count()


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., House]]:
    """Makes a house by what its card permits."""
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("DISCREET_ANALYST", "ann")
    opened: list[Session] = []

    def make(
        *, allow: bool = True, rows: int = 1, public: bool = False, high: int = 20_000, complete: bool = False
    ) -> House:
        folder = tmp_path / f"house{len(opened)}"
        card = (
            CARD.replace("ALLOW", "allow: [bootstrap]" if allow else "")
            .replace("ROWS", str(rows))
            .replace("HIGH", str(high))
        )
        card = card.replace("PUBLIC", f"public: {str(public).lower()}, complete: {str(complete).lower()}")
        session = make_house(folder, {"farms": ("\n".join([HEADER, *FARMS, ""]), card)})
        opened.append(session)
        return House(session, folder)

    yield make
    for session in opened:
        session.close()
