"""Random SQL text with hostile names: what is answered is what was asked, and nobody moves it further than is derived.

Statements are named by seeds; `tests.sql_text` says how they are made and judged. Those of the quick run are the same
in every run, those of the long run new in each: what was looked at once needs no second look.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from secrets import randbits
from typing import Any

import pytest

from discreet.engines.dialects import DUCKDB
from discreet.sql import key_cells, sensitivity
from discreet.sql.algebra import Field
from tests.conformance.engines.plans import NullBecomesBound, planted
from tests.sql_text.fuzz import Engines, embedded, read_only, run
from tests.sql_text.statements import EVERY_OPERATOR

BLOCK = 150
QUICK = 20
LONG_BLOCK = 600


def seeds(block: int) -> range:
    return range(block * BLOCK, (block + 1) * BLOCK)


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Engines:
    """One engine for each population, whatever is asked of it."""
    return embedded(tmp_path_factory.mktemp("populations"))


@pytest.mark.parametrize("block", range(QUICK))
def test_statements_are_answered_as_they_read(block: int, engines: Engines) -> None:
    result = run(seeds(block), engines, attacked=1)
    assert not result.violations, str(result)


@pytest.mark.long
def test_most_statements_are_answered_and_every_operator_is_among_them() -> None:
    """A third of the statements of the quick run must do, for all 50 times: reading takes time too.

    Long, for seeds are fixed: what is answered changes with the generator and the reader, not from run to run.
    """
    result = read_only(range(QUICK * BLOCK // 3))
    assert not result.violations, str(result)
    assert result.share >= 0.6, str(result)
    rare = {name: result.operators[name] for name in EVERY_OPERATOR if result.operators[name] < 50}
    assert not rare, str(result)


@pytest.mark.long
@pytest.mark.parametrize("block", range(16))
def test_statements_are_answered_as_they_read_at_length(block: int, engines: Engines) -> None:
    start = randbits(48)
    result = run(range(start, start + LONG_BLOCK), engines)
    assert not result.violations, str(result)


# --- planted faults ---------------------------------------------------------------------------------------------------


def test_half_a_bound_is_found(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    derived = sensitivity._moved

    def halved(*given: Any) -> sensitivity.Sensitivity:
        found = derived(*given)
        return replace(found, l1=found.l1 / 2, squared_l2=found.squared_l2 / 4)

    monkeypatch.setattr(sensitivity, "_moved", halved)
    result = run(seeds(0), engines, wild=0, until=3)
    assert ["of the bound" in found.what for found in result.violations] == [True] * 3, str(result)


def test_a_score_that_moves_further_is_found(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    derived = sensitivity._score

    def lowered(step: Fraction, *given: Any) -> sensitivity.Sensitivity:
        return derived(step / 2, *given)

    monkeypatch.setattr(sensitivity, "_score", lowered)
    result = run(seeds(0), engines, wild=0, until=3)
    assert ["of the bound" in found.what for found in result.violations] == [True] * 3, str(result)


def test_a_wrong_template_of_an_engine_is_found(tmp_path: Path) -> None:
    spoilt = planted(NullBecomesBound, DUCKDB)
    result = run(seeds(0), embedded(tmp_path, spoilt), wild=0, until=3)
    assert len(result.violations) == 3, str(result)


def test_keys_that_lose_people_are_found(engines: Engines, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every NULL key filtered out, as if all that a key can be made of were complete."""
    absent = key_cells._absent

    def trusted(*given: Any, trusting: bool) -> list[Field]:
        return [] if trusting else absent(*given, trusting=False)

    monkeypatch.setattr(key_cells, "_absent", trusted)
    result = run(seeds(0), engines, wild=0, until=3)
    assert [found.what.startswith("rows are left out") for found in result.violations] == [True] * 3, str(result)
