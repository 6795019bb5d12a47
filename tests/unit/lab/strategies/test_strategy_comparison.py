"""Strategies compared on one query: what anyone may know never follows the rows; what the custodian sees is right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from discreet.engines.engine_choice import engine_for
from discreet.errors import DatasetSuspended, DiscreetError, ParameterInvalid, QueryRefused, UnknownName
from discreet.lab.strategies import strategy_comparison as comparing
from discreet.lab.strategies.contest import STRATEGIES, Contest, ContestLine, SeriesSpread, Trials, choose_strategies
from discreet.lab.strategies.strategy_comparison import compare_query
from discreet.ledger import Ledger
from discreet.session import Session
from tests.unit.release.conftest import make_house

pytestmark = pytest.mark.slow

CARD = """
dataset: people
population: all
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 10}
columns:
  pid: {kind: id, type: integer}
  age: {kind: integer, bounds: [0, 100]}
  pay: {kind: integer, bounds: private}
  clinic: {kind: integer, bounds: [0, 9], references: clinics.code}
"""
CLINICS = """
dataset: clinics
population: all
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 10}
columns:
  pid: {kind: id, type: integer}
  code: {kind: integer, bounds: [0, 9]}
"""
MEAN = "SELECT AVG(age) FROM people"
PAIRS = "SELECT COUNT(*) FROM people JOIN clinics ON people.clinic = clinics.code"
ALLOWED = CARD.replace("columns:", "allow: [generated]\ncolumns:", 1)


def make(folder: Path, *, card: str = CARD, start: int = 20, count: int = 120) -> Session:
    people = [f"{pid},{start + pid % 7},{1000 + pid},{pid % 10}" for pid in range(count)]
    clinics = [f"{10**6 + code},{code}" for code in range(10)]
    tables = {
        "people": ("\n".join(["pid,age,pay,clinic", *people, ""]), card),
        "clinics": ("\n".join(["pid,code", *clinics, ""]), CLINICS),
    }
    return make_house(folder, tables)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    monkeypatch.setenv("DISCREET_ANALYST", "ana")
    with make(tmp_path / "one") as made:
        yield made


@pytest.fixture
def allowing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    with make(tmp_path / "two", card=ALLOWED) as made:
        yield made


def compare(session: Session, sql: str, **more: Any) -> Contest:
    return compare_query(sql, session.workspace, session.ledger, who="ana", **more)


def lines(contest: Contest) -> dict[str, ContestLine]:
    return {line.strategy: line for line in contest.lines}


# --- what anyone may know -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql", [MEAN, "SELECT SUM(pay) FROM people", "SELECT MEDIAN(age) FROM people WHERE age > 22", PAIRS]
)
def test_what_analysts_get_is_the_same_whatever_the_rows_are(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_KEYS", str(tmp_path / "keys"))
    told = []
    for place, (start, count) in enumerate(((20, 120), (90, 3))):
        with make(tmp_path / str(place), start=start, count=count) as made:
            told.append(json.dumps(compare(made, sql, epsilon="0.5", assume="n=100").to_dict()))
    assert told[0] == told[1]


def test_no_file_is_opened_and_nothing_is_logged_for_an_analyst(session: Session) -> None:
    for file in session.workspace.path.rglob("*.parquet"):
        file.unlink()
    done = compare(session, MEAN, epsilon=1)
    assert done.truth is None
    assert all(line.trials is None for line in done.lines)
    assert "exact_for_the_custodian" not in done.to_dict()
    assert session.budget("all").population.charges == 0
    assert session.budget("all").markers == ()


def test_what_is_told_of_each_strategy(session: Session) -> None:
    found = lines(compare(session, MEAN, epsilon=1, assume="n=1000"))
    assert tuple(found) == STRATEGIES
    assert found["public"].expected == pytest.approx(0.26, abs=0.05)
    assert str(found["public"].guarantee) == "pure DP, epsilon = 1"
    assert str(found["private-bounds"].guarantee) == "pure DP, epsilon = 1"
    assert "bounds found" in found["private-bounds"].told
    assert found["smooth"].guarantee is None
    assert found["elastic"].guarantee is None
    for name in ("smooth", "elastic"):
        assert found[name].told
        assert found[name].expected is None
    for name in ("local", "generated", "replace"):
        assert not found[name].guarantee.differentially_private  # type: ignore[union-attr]
        assert "allow: [generated]" in found[name].told
        assert found[name].expected is None
    assert found["global-type"].expected == pytest.approx(2**32)


def test_a_strategy_whose_scale_follows_the_rows_shows_none_to_analysts(session: Session) -> None:
    median = lines(compare(session, "SELECT MEDIAN(age) FROM people", epsilon=1))
    assert median["smooth"].expected is None
    assert "custodians' comparisons" in median["smooth"].told
    assert "delta = 0.000001" in str(median["smooth"].guarantee)
    assert "rows of the rank" in median["public"].told


def test_private_bounds_in_the_card_leave_the_public_strategy_out(session: Session) -> None:
    found = lines(compare(session, "SELECT SUM(pay) FROM people", epsilon=1))
    assert found["public"].guarantee is None
    assert "private" in found["public"].told
    assert found["private-bounds"].guarantee is not None


def test_statements_for_one_strategy_alone(session: Session) -> None:
    pairs = lines(compare(session, PAIRS, epsilon=1))
    assert [name for name, line in pairs.items() if line.guarantee is not None] == ["elastic"]
    assert "`elastic` alone" in pairs["public"].told
    trimmed = lines(compare(session, "SELECT TRIMMED_AVG(age, 0.1) FROM people", epsilon=1))
    assert [name for name, line in trimmed.items() if line.guarantee is not None] == ["smooth"]
    assert "`smooth` alone" in trimmed["public"].told


def test_the_error_of_a_mean_is_bounded_by_the_card_and_needs_a_count(session: Session) -> None:
    done = compare(session, MEAN, epsilon="0.01", assume="n=1", strategies=["public"])
    assert done.lines[0].expected == 100
    json.dumps(done.to_dict(), allow_nan=False)
    bare = compare(session, MEAN, epsilon="0.01", strategies=["public"])
    assert bare.lines[0].expected is None
    assert "--assume n=" in bare.lines[0].told


def test_an_epsilon_too_small_for_one_strategy_leaves_the_others(session: Session) -> None:
    done = lines(compare(session, "SELECT SUM(age) FROM people", epsilon="1e-9", custodian=True, runs=2))
    assert done["private-bounds"].guarantee is None
    assert "2e-9" in done["private-bounds"].told
    assert done["public"].trials is not None
    assert "scale" in done["global-type"].told


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [0, -1, 100_001])
def test_runs_have_bounds(session: Session, runs: int) -> None:
    with pytest.raises(ParameterInvalid, match="runs"):
        compare(session, MEAN, epsilon=1, runs=runs)


def test_an_unknown_strategy_names_the_nearest(session: Session) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'private-bounds'"):
        compare(session, MEAN, epsilon=1, strategies=["private-bound"])
    assert choose_strategies(["elastic", "public"]) == ("public", "elastic")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(age), SUM(age) FROM people",
        "SELECT clinic, AVG(age) FROM people GROUP BY clinic",
        "SELECT AVG(age) FROM people HAVING COUNT(*) > 3",
        "SELECT SUM(age) / COUNT(*) FROM people",
    ],
)
def test_one_aggregate_without_groups_is_compared(session: Session, sql: str) -> None:
    with pytest.raises(QueryRefused, match="strategies are compared on"):
        compare(session, sql, epsilon=1)


def test_a_sample_without_rows_is_the_callers_mistake(allowing: Session) -> None:
    with pytest.raises(DiscreetError, match="sample"):
        compare(allowing, MEAN, epsilon=1, custodian=True, sample_size=0, strategies=["generated"])


@pytest.mark.parametrize(("epsilon", "delta"), [(0, "1e-6"), (-1, "1e-6"), (1, 0), (1, 1), ("nan", "1e-6")])
def test_parameters_are_checked(session: Session, epsilon: Any, delta: Any) -> None:
    with pytest.raises(ParameterInvalid):
        compare(session, MEAN, epsilon=epsilon, delta=delta)


def test_suspended_data_are_not_looked_at(session: Session) -> None:
    session.ledger.suspend("people", population="all", reason="a look", who="ana")
    with pytest.raises(DatasetSuspended):
        compare(session, MEAN, epsilon=1, custodian=True)


# --- what the custodian sees ----------------------------------------------------------------------------------------


def test_the_custodian_sees_truth_and_errors(session: Session) -> None:
    seen: list[tuple[str, int, int]] = []
    done = compare(
        session,
        "SELECT SUM(age) FROM people",
        epsilon=100,
        custodian=True,
        runs=4,
        progress=lambda *step: seen.append(step),
    )
    truth = sum(20 + pid % 7 for pid in range(120))
    assert done.truth == truth
    found = lines(done)
    public = found["public"].trials
    assert public is not None
    assert len(public.results) == 4
    assert public.errors == tuple(abs(result - truth) for result in public.results)
    assert set(public.sensitivities) == {100.0}
    assert max(public.errors) < 60  # noise of scale 1: a larger one has a chance below 1e-20
    assert all(seconds > 0 for seconds in public.seconds)
    bounds = found["private-bounds"].trials
    assert bounds is not None
    assert max(bounds.sensitivities) < 1_000
    assert seen[-1][1:] == (len([line for line in done.lines if line.trials]) * 4,) * 2
    json.dumps(done.to_dict(), allow_nan=False)


def test_a_look_is_written_down_before_a_row_is_read(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    view, engine = Ledger.record_view, engine_for

    def noted(self: Ledger, what: str, *, who: str) -> None:
        steps.append(f"{who}: {what}")
        view(self, what, who=who)

    def opened(datasets: Any, *, salt: str) -> Any:
        steps.append("engine")
        return engine(datasets, salt=salt)

    monkeypatch.setattr(Ledger, "record_view", noted)
    monkeypatch.setattr(comparing, "engine_for", opened)
    compare(session, MEAN, epsilon=1)
    assert steps == []
    compare(session, MEAN, epsilon=1, custodian=True, runs=1)
    assert steps[:2] == ["ana: strategies compared on people", "engine"]


def test_only_unproven_draws_leave_a_marker(session: Session, allowing: Session) -> None:
    compare(session, MEAN, epsilon=1, custodian=True, runs=2)
    assert session.budget("all").markers == ()
    assert lines(compare(session, MEAN, epsilon=1, custodian=True, runs=2))["local"].trials is None
    compare(allowing, MEAN, epsilon=1, custodian=True, runs=2, strategies=["public", "private-bounds"])
    assert allowing.budget("all").markers == ()
    done = lines(compare(allowing, MEAN, epsilon=1, custodian=True, runs=2))
    assert done["local"].trials is not None
    assert len(allowing.budget("all").markers) == 1
    assert allowing.budget("all").population.charges == 0
    assert session.ledger.verify() is not None


def test_without_a_model_the_generator_says_so_and_the_others_go_on(allowing: Session) -> None:
    done = lines(compare(allowing, MEAN, epsilon=1, custodian=True, runs=2))
    for name in ("generated", "replace"):
        assert done[name].trials is None
        assert "discreet gan train" in done[name].told
    assert done["global-type"].trials is not None


def test_joins_and_trimmed_means_are_drawn(session: Session) -> None:
    pairs = compare(session, PAIRS, epsilon=1, custodian=True, runs=3)
    assert pairs.truth == 120
    assert [line.strategy for line in pairs.lines if line.trials] == ["elastic"]
    trimmed = compare(session, "SELECT TRIMMED_AVG(age, 0.1) FROM people", epsilon=1, custodian=True, runs=3)
    ages = sorted(20 + pid % 7 for pid in range(120))[12:-12]
    assert trimmed.truth == pytest.approx(fmean(ages))
    assert [line.strategy for line in trimmed.lines if line.trials] == ["smooth"]


def test_where_nobody_has_a_value_nothing_is_drawn(session: Session) -> None:
    done = compare(session, "SELECT AVG(age) FROM people WHERE age > 99", epsilon=1, custodian=True, runs=2)
    assert done.truth is None
    assert all(line.trials is None for line in done.lines)
    assert done.notes == ("no row has a value, so nothing was drawn",)


# --- figures --------------------------------------------------------------------------------------------------------


def test_trials_tell_what_they_can() -> None:
    trials = Trials(10.0, (8.0, 13.0), (float("nan"), 4.0), (0.1, 0.3))
    assert trials.errors == (2.0, 3.0)
    assert trials.relative_errors == (0.2, 0.3)
    assert trials.known_sensitivities == (4.0,)
    told = trials.to_dict()
    assert told["runs"] == 2
    assert told["error"] == {"mean": 2.5, "median": 2.5, "min": 2.0, "max": 3.0}
    none = Trials(0.0, (1.0,), (float("nan"),), (0.1,)).to_dict()
    assert (none["relative_error"], none["sensitivity"]) == (None, None)
    assert SeriesSpread.of([1.0, 2.0, 6.0]).to_dict() == {"mean": 3.0, "median": 2.0, "min": 1.0, "max": 6.0}
