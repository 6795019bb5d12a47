"""Private bounds through SQL: one charge before the first draw, bounds kept with the answer, and nothing that fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from secrets import randbits
from typing import Any

import pytest

from discreet.cards.card import Card
from discreet.engines.engine import Engine, Measured
from discreet.errors import ChargedNotAnswered, ParameterInvalid, QueryRefused
from discreet.ledger import Ledger
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.present.messages import say_message
from discreet.release.measurement import pricing
from discreet.release.measurement.noisy_measures import Noisy, SearchedBounds
from discreet.release.measurement.pricing import price
from discreet.release.measurement.private_bounds import rows_needed
from discreet.release.measurement.searched_bounds import price_searching
from discreet.release.workloads.workload import Workload, WorkloadQuestion
from discreet.results.notes import BoundsUsed
from discreet.session import Session
from discreet.sql.algebra import Clamp, Field, Plan, Rows, Total, walk
from discreet.sql.bounds import bound_statement
from discreet.sql.calculus import SEARCHED
from discreet.sql.reader.measures import Found
from discreet.sql.reader.questions import read_statement
from discreet.sql.sensitivity import sensitivities
from discreet.sql.serialisation import plan_hash
from discreet.sql.statement import Statement
from tests.unit.release.conftest import Fixed, Given, House, make_house
from tests.unit.sql.catalogue import shelf

pytestmark = pytest.mark.slow

CARD = """
dataset: t
population: people
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 1000}
weight: {column: w, cap: 10}
columns:
  pid: {kind: id, type: integer}
  group: {kind: category, categories: {1: One, 2: Two}}
  far: {kind: integer, bounds: [0, 4000000]}
  x: {kind: integer, bounds: private}
  y: {kind: number, bounds: private, step: 0.5}
  w: {kind: number, bounds: [0, 20], step: 0.5}
  town: {kind: text}
"""
VISITS = """
dataset: visits
population: people
unit: {column: pid, rows: 40}
neighbours: add-remove
budget: {epsilon: 1000}
columns:
  pid: {kind: id, type: integer}
  x: {kind: integer, bounds: private}
"""
REPLACE = CARD.replace("add-remove", "replace-one")
PUBLIC = CARD.replace("add-remove", "replace-one\nsize: public")
EXACT = PUBLIC.replace("budget:", "exact_public: true\nbudget:")
MEAN = "SELECT AVG(x) AS m FROM t"
UNITS = 2000


def rows(count: int = UNITS, start: int = 500) -> str:
    lines = [f"{i},{1 + i % 2},{i % 100},{start + i % 300},{i % 40 / 2},{1 + i % 5},A" for i in range(count)]
    return "\n".join(["pid,group,far,x,y,w,town", *lines, ""])


def stays() -> str:
    return "\n".join(["pid,x", *(f"{i % UNITS},{i % 50}" for i in range(2 * UNITS)), ""])


@pytest.fixture
def private(tmp_path: Path) -> Iterator[House]:
    with make_house(tmp_path, {"t": (rows(), CARD), "visits": (stays(), VISITS)}) as session:
        yield House(session)


def read_within(sql: str, house: House, ends: tuple[int, int]) -> tuple[Statement, dict[str, Card]]:
    """The statement when a search has found these bounds for its one column with private ones."""
    statement, cards = read_statement(sql, house)
    [column] = statement.searched
    return bound_statement(statement, cards, {column: ends}), cards


def put(house: House, sql: str, *, engine: Engine | None = None, **options: Any) -> Given:
    return house.ask(sql, engine=engine, **options)


# --- what is charged ------------------------------------------------------------------------------------------------


def test_the_charge_is_the_whole_epsilon_and_its_parts_add_up(private: House, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    spend = Ledger.spend

    def noted(self: Ledger, request: Any, **named: Any) -> Any:
        seen.append(request)
        return spend(self, request, **named)

    monkeypatch.setattr(Ledger, "spend", noted)
    answer = put(private, "SELECT AVG(x) AS m, SUM(y) AS s FROM t", epsilon="0.500000001")
    assert dict(answer.charge) == {"epsilon": "0.500000001", "delta": "0"}
    assert str(private.spent) == "0.500000001"
    parts = [dict(one) for one in seen[0].mechanisms]
    assert sum(Decimal(part["epsilon"]) for part in parts) == Decimal("0.500000001")
    assert [part["measure"] for part in parts] == ["bounds of x", "bounds of y", *["answer within the bounds"] * 3]
    assert parts[0] == {
        "measure": "bounds of x",
        "epsilon": "0.125",
        "cells": "81",
        "name": "discrete-laplace",
        "scale": "8",
        "sensitivity": "1",
    }
    shares = [one.epsilon for one in answer.noisy.measures] + [one.epsilon for one in answer.noisy.bounds.values()]
    assert sum(shares) == Decimal("0.500000001")
    assert answer.noisy.charged == seen[0].guarantee


def test_the_charge_stands_before_anything_is_measured(private: House, monkeypatch: pytest.MonkeyPatch) -> None:
    charged: list[int] = []

    class Watching(Fixed):
        def measure(self, plan: Plan) -> Measured:
            charged.append(private.charges)
            return super().measure(plan)

    with pytest.raises(ChargedNotAnswered):
        put(private, MEAN, engine=Watching(ValueError("a row")))
    assert charged == [1]


@pytest.mark.parametrize("fails_at", [1, 2])
def test_an_engine_that_fails_in_the_search_or_after_it_leaves_the_charge(private: House, fails_at: int) -> None:
    class Failing(Fixed):
        def measure(self, plan: Plan) -> Measured:
            self.calls += 1
            if self.calls == fails_at:
                raise ValueError("the row of Ms Nemo")
            return Measured(([5] * plan.cell_count,))

    with pytest.raises(ChargedNotAnswered, match="suspended") as caught:
        put(private, MEAN, engine=Failing(Measured(())))
    assert "Nemo" not in str(caught.value.to_dict())
    assert (private.charges, private.session.ledger.suspended("t")) == (1, True)
    private.session.resume("t", custodian=True)
    again = put(private, MEAN)
    assert (again.charge["epsilon"], private.charges) == ("0", 1)
    assert again.to_dict()["bounds"]["x"]["found"]


def test_an_interrupt_between_charge_and_answer_is_healed_by_the_request_id(private: House) -> None:
    with pytest.raises(ChargedNotAnswered, match="--request-id one"):
        put(private, MEAN, engine=Fixed(KeyboardInterrupt()))
    answer = put(private, MEAN)
    assert (private.charges, answer.charge["epsilon"]) == (1, "0")


# --- what is kept ---------------------------------------------------------------------------------------------------


def test_the_answer_keeps_its_bounds_and_comes_back_bit_for_bit(private: House) -> None:
    first = put(private, MEAN, epsilon=2)
    assert Noisy.from_bytes(first.noisy.to_bytes()) == first.noisy
    again = put(private, MEAN, epsilon=1, request_id="two")
    assert again.replayed
    assert again.noisy.to_bytes() == first.noisy.to_bytes()
    assert (again.rows, again.bounds, again.intervals) == (first.rows, first.bounds, first.intervals)
    assert (
        again.to_dict()["plan_hash"]
        == first.to_dict()["plan_hash"]
        == private.session.explain(MEAN, epsilon=1).plan_hash
    )
    assert private.charges == 1


def test_another_analyst_gets_the_same_bits_and_pays_from_the_own_cap(private: House) -> None:
    private.session.add_analyst("ben")
    first = put(private, MEAN)
    again = put(private, MEAN, request_id="two", analyst="ben")
    assert again.replayed
    assert again.noisy.to_bytes() == first.noisy.to_bytes()
    assert str(private.spent) == "1"


def test_bounds_are_shown_in_the_units_of_what_was_clamped(private: House) -> None:
    derived = "(SELECT pid, SUM(y * 2) AS twice, SUM(x + y) AS both FROM t GROUP BY pid) q"
    answer = put(private, f"SELECT AVG(twice) AS a, AVG(both) AS b FROM {derived}", epsilon=50)
    told = answer.to_dict()["bounds"]
    assert isinstance(told, dict)
    assert told["twice"] == {"low": 0, "high": 63, "found": True, "epsilon": "12.5"}
    assert 256 <= told["both"]["low"] <= 500
    assert 800 <= told["both"]["high"] <= 1100
    assert "12.5 of the charge: 0 to 63; values outside were moved" in say_message(answer.bounds[0])[1].en
    assert list(told) == ["twice", "both"]


def test_where_nothing_stands_out_the_answer_says_so_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DiscreteLaplace, "release", lambda self, values: [0 for _ in values])  # no bin can stand out
    with make_house(tmp_path, {"t": (rows(2), CARD)}) as session:
        answer = put(House(session), MEAN, epsilon="0.01")
    assert answer.to_dict()["bounds"]["x"] == {"low": 0, "high": 1, "found": False, "epsilon": "0.005"}
    notice = answer.to_dict()["notice"]
    assert notice.startswith("No bounds stood out for x, looked for with epsilon 0.005")
    assert "larger epsilon" in notice
    assert next(iter(answer.to_dict().items())) == ("notice", notice)
    assert answer.warnings == [notice]
    header, *lines = answer.to_csv().splitlines()
    assert header.startswith("notice,")
    assert all(line.startswith('"No bounds stood out') for line in lines)
    assert not answer.bounds[0].found


def test_bounds_that_were_found_need_no_notice(private: House) -> None:
    answer = put(private, MEAN, epsilon=50)
    assert "notice" not in answer.to_dict()
    assert "notice" not in answer.to_dict()
    assert answer.warnings == []
    assert not answer.to_csv().startswith("notice")


def test_before_asking_it_is_told_how_many_rows_bounds_need(private: House) -> None:
    told = private.session.explain(MEAN, epsilon=1)
    near, far = rows_needed(DiscreteLaplace(scale=Fraction(str(told.measures[0].slices[0].scale))))
    assert f"unless one band holds about {near:,} rows ({far:,} for values farthest" in told.summary()[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT AVG(x) AS m FROM t", "SELECT AVG(x) AS m, SUM(x) AS s FROM t"),
        ("SELECT AVG(x) AS m FROM t", "SELECT SUM(x) AS s, COUNT(x) AS n FROM t"),
        (f"SELECT SUM(CLAMP(x, -{SEARCHED}, {SEARCHED})) AS s FROM t", "SELECT SUM(x) AS s FROM t"),
        (
            f"SELECT SUM(CLAMP(x, -{SEARCHED}, {SEARCHED})) AS s, AVG(x) AS m FROM t",
            "SELECT SUM(x) AS s, AVG(x) AS m FROM t",
        ),
    ],
)
def test_questions_that_bounds_tell_apart_never_stand_for_each_other(private: House, first: str, second: str) -> None:
    """Before the search their plans measure the same."""
    for one, two in ((first, second), (second, first)):
        put(private, one, request_id=f"{one}, then")
        assert put(private, two, request_id=f"{two}, after {one}", fresh=False).rows
    hashes = {read_statement(sql, private)[0].hash for sql in (first, second)}
    assert len(hashes) == 2


def test_the_order_of_columns_does_not_make_another_question(private: House) -> None:
    one, _ = read_statement("SELECT AVG(x), SUM(y) FROM t", private)
    two, _ = read_statement("SELECT SUM(y) AS s, AVG(x) AS m FROM t", private)
    assert one.hash == two.hash != plan_hash(one.plan)


# --- what is searched -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "searched"),
    [
        (MEAN, ("x",)),
        ("SELECT SUM(x), AVG(y), MEDIAN(x), MAX(y) FROM t", ("x", "y")),
        ("SELECT WAVG(x) FROM t", ("x",)),
        ('SELECT "group", MIN(x) FROM t GROUP BY "group"', ("x",)),
        ("SELECT AVG(x) FROM t WHERE x > 100", ("x",)),
        ("SELECT SUM(x) FROM t WHERE y BETWEEN 0 AND 5", ("x",)),
        ("SELECT AVG(s) FROM (SELECT pid, SUM(x) AS s FROM visits GROUP BY pid) q", ("s",)),
        ("SELECT SUM(t.x), SUM(visits.x) FROM t JOIN visits ON t.pid = visits.pid", ("x", "x")),
        ("SELECT SUM(x) FROM t WHERE x BETWEEN 0 AND 1000", ()),
        ("SELECT SUM(x) FROM t WHERE x >= 0 AND x < 1000", ()),
        ("SELECT AVG(CLAMP(x, 0, 100)), VAR(CLAMP(y, 0, 9)) FROM t", ()),
        ("SELECT COUNT(x), COUNT(*), SUM(far) FROM t WHERE x = 3", ()),
        ("SELECT SUM(CASE WHEN x > 10 THEN 1 ELSE 0 END) FROM t", ()),
    ],
)
def test_what_is_searched(private: House, sql: str, searched: tuple[str, ...]) -> None:
    statement, _ = read_statement(sql, private)
    assert tuple(statement.names[column] for column in statement.searched) == searched
    assert len(set(statement.searched)) == len(searched)


@pytest.mark.parametrize(
    "sums",
    ["SUM(t.x), SUM(visits.x)", "SUM(t.x), SUM(visits.x), SUM(t.x_2)", "SUM(t.x_2), SUM(t.x), SUM(visits.x)"],
)
def test_no_two_columns_are_told_under_one_name(sums: str) -> None:
    """Bounds are told by name: those of a column would be lost under that of another."""
    text = CARD.replace("  y: {kind: number, bounds: private, step: 0.5}", "  x_2: {kind: integer, bounds: private}")
    statement, _ = read_statement(f"SELECT {sums} FROM t JOIN visits ON t.pid = visits.pid", shelf(text, VISITS))
    told = [statement.called(column) for column in statement.searched]
    assert len(told) == sums.count("SUM")
    assert len(set(told)) == len(told)


def test_conditions_see_the_values_as_they_are(private: House) -> None:
    statement, _ = read_within("SELECT SUM(x) FROM t WHERE x > 100", private, (0, 127))
    [(x, _)] = statement.private
    clamped = [node for node in walk(statement.plan.source) if isinstance(node, Clamp)]
    assert clamped == []
    assert [node for node in walk(statement.plan.measures) if isinstance(node, Clamp)] == [Clamp(Field(x), 101, 127)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(x), AVG(x), MEDIAN(y), MIN(x), MAX(y) FROM t",
        'SELECT "group", WAVG(x), AVG(y) FROM t GROUP BY "group" HAVING COUNT(*) > 0 ORDER BY 1',
        "SELECT AVG(s) FROM (SELECT pid, SUM(x) AS s FROM visits GROUP BY pid) q",
        "SELECT SUM(t.x), SUM(visits.x) FROM t JOIN visits ON t.pid = visits.pid",
        "SELECT SUM(x) / COUNT(x) FROM t WHERE x > 100",
    ],
)
def test_what_is_answered(private: House, sql: str) -> None:
    answer = put(private, sql, epsilon=40)
    assert answer.rows
    statement, _ = read_statement(sql, private)
    assert [one.column for one in answer.bounds] == [statement.called(column) for column in statement.searched]
    assert len(answer.bounds) == len(statement.searched)
    json.dumps(answer.to_dict(), allow_nan=False)
    assert "interval_meaning" in answer.to_dict()


def test_a_mean_within_bounds_is_close(private: House) -> None:
    """At this epsilon a search that misses the bin of every row, or noise beyond 5, is rarer than 1e-9."""
    [row] = put(private, MEAN, epsilon=100).rows
    assert row["m"] == pytest.approx(sum(500 + i % 300 for i in range(UNITS)) / UNITS, abs=5)


# --- what is refused, before the charge -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT VAR(x) FROM t", r"VAR\(x\) squares its values, and the bounds of x are private.*CLAMP"),
        ("SELECT STDDEV(y) FROM t", "bounds of y are private"),
        ("SELECT town, AVG(x) FROM t GROUP BY town", "cannot also find its keys"),
        ("SELECT SUM(x * y) FROM t", "64-bit"),
        ("SELECT AVG(x * far) FROM t", "64-bit"),
        ("SELECT TRIMMED_AVG(x, 0.1) FROM t", "custodians' comparisons"),
    ],
)
def test_refusals_cost_nothing(private: House, sql: str, told: str) -> None:
    with pytest.raises(QueryRefused, match=told):
        put(private, sql)
    with pytest.raises(QueryRefused, match=told):
        private.session.explain(sql, epsilon=1)
    assert private.charges == 0


def test_tables_widths_and_workloads_say_why_they_do_not_search(private: House) -> None:
    told = "the bounds of 'x' are private, and only a single question"
    for mean in (False, True):
        with pytest.raises(QueryRefused, match=told):
            private.session.table("t", by="group", value="x", mean=mean, epsilon=1)
    with pytest.raises(QueryRefused, match=told):
        private.session.explain(MEAN, within="m=3")
    with pytest.raises(QueryRefused, match=told):
        private.session.plan(Workload((WorkloadQuestion("mean", MEAN),), epsilon=Decimal(1)))
    assert private.charges == 0


@pytest.mark.parametrize("epsilon", ["1e-9", "2e-9", "5e-9"])
def test_an_epsilon_too_small_to_share_is_refused(private: House, epsilon: str) -> None:
    with pytest.raises((QueryRefused, ParameterInvalid), match="epsilon"):
        put(private, MEAN, epsilon=epsilon)
    assert private.charges == 0


def test_a_small_epsilon_looks_less_far_instead_of_refusing(private: House) -> None:
    sql = "SELECT AVG(s) AS m FROM (SELECT pid, SUM(x) AS s FROM visits GROUP BY pid) q"
    statement, cards = read_statement(sql, private)
    usual, small = (price_searching(statement, cards, epsilon=Decimal(epsilon)).widest for epsilon in ("1", "0.000001"))
    assert usual == SEARCHED
    assert small < 1 << 36
    answer = put(private, sql, epsilon="0.000001")
    assert max(abs(one.low) for one in answer.noisy.bounds.values()) <= small


# --- nothing depends on the rows but noise --------------------------------------------------------------------------


def test_nothing_that_is_told_beforehand_depends_on_the_rows(tmp_path: Path) -> None:
    told = []
    for name, start in (("low", 0), ("high", 10**14)):
        (tmp_path / name).mkdir()
        with make_house(tmp_path / name, {"t": (rows(60, start), CARD)}) as session:
            explained = session.explain("SELECT AVG(x), MEDIAN(y) FROM t", epsilon=1)
            told.append(json.dumps(explained.to_dict()) + explained.to_text())
            House(session)
            answer = session.query("SELECT SUM(LEAST(x, 0)) AS s FROM t", epsilon=1)
            notes = [note for note in answer.notes if not isinstance(note, BoundsUsed)]  # which tell of noisy bounds
            told.append(str((dict(answer.charge), answer.to_dict()["remaining"], notes)))
    assert told[:2] == told[2:]


def test_an_explanation_opens_no_file(tmp_path: Path) -> None:
    with make_house(tmp_path, {"t": (rows(60), CARD)}) as session:
        for file in (tmp_path / "w").rglob("*.parquet"):
            file.unlink()
        explained = session.explain(MEAN, epsilon=1)
        found = explained.to_dict()
    assert [part["measure"] for part in found["measures"]] == [  # type: ignore[attr-defined]
        "bounds of x, looked for in 81 bands",
        "SUM(x − the middle of its bounds)",
        "COUNT(x)",
    ]
    assert found["charge"] == {"epsilon": "1", "delta": "0"}
    assert "scale by the bounds found" in explained.to_text()
    assert "follows from the bounds found" in explained.to_text()


HARD = [
    MEAN,
    "SELECT SUM(x) FROM t",
    "SELECT SUM(x), AVG(x), AVG(x + 5), SUM(x - 1) FROM t",
    "SELECT AVG(x) FROM t HAVING SUM(x) > 0 AND COUNT(*) > 3",
    "SELECT WAVG(x), SUM(w * x) FROM t",
    "SELECT SUM(LEAST(x, 0)), AVG(GREATEST(x, 5000)) FROM t",
    "SELECT MEDIAN(LEAST(x, 0)), MAX(GREATEST(x, 5000)), MIN(x) FROM t",
    "SELECT VAR(LEAST(GREATEST(x, 0), 1000)) FROM t",
    "SELECT AVG(x * 4000000) FROM t",
    "SELECT SUM(x) FROM t WHERE x > 1099511627775000",
    "SELECT SUM(LEAST(x, -100)) FROM t WHERE x > 3",
    'SELECT "group", AVG(ABS(x)), SUM(COALESCE(x, 3)) FROM t GROUP BY "group"',
    "SELECT SUM(CASE WHEN x > 3 THEN x ELSE 7 END), AVG(x - far) FROM t",
    "SELECT AVG(x), AVG(y), SUM(x + y) FROM t",
]


def found_bounds(random: Random, statement: Statement, widest: int) -> Found:
    """Any bounds that a search may give, and the ends more often than not."""

    def ends() -> tuple[int, int]:
        reach = [0, 1, 2, 7, 8, widest // 2, widest - 1, widest, random.randrange(widest + 1)]
        signed = sorted(
            {random.choice((-1, 1)) * random.choice(reach) for _ in range(2)} | {random.choice((0, widest))}
        )
        return (signed[0], signed[-1]) if signed[0] < signed[-1] else (0, 1)

    return {column: ends() for column in statement.searched}


@pytest.mark.parametrize("epsilon", ["1", "1e-7"])
@pytest.mark.parametrize(
    ("sql", "text"),
    [
        *((sql, text) for sql in HARD for text in (CARD, REPLACE, EXACT)),
        *((sql, PUBLIC) for sql in ("SELECT SUM(GREATEST(x, 5000)) FROM t", "SELECT SUM(LEAST(x, 0)), AVG(x) FROM t")),
    ],
)
def test_what_is_admitted_is_answered_within_any_bounds(sql: str, epsilon: str, text: str) -> None:
    statement, cards = read_statement(sql, shelf(text))
    searching = price_searching(statement, cards, epsilon=Decimal(epsilon))
    random = Random(randbits(48))
    for _ in range(3):  # new ones in every run
        found = found_bounds(random, statement, searching.widest)
        within = bound_statement(statement, cards, found)
        priced = price(within, cards, epsilon=searching.remaining)
        for measure, one in zip(within.plan.measures, priced.measures, strict=True):
            assert isinstance(measure, Rows) or None not in one.mechanisms, found
        spent = sum((one.epsilon for one in priced.measures), Decimal(0))
        assert spent == searching.remaining, found


def test_a_clamp_at_the_widest_bounds_is_refused_before_the_charge_or_answered() -> None:
    """Within them it is one with the column itself: of these two measures any other bounds make five."""
    admitted = []
    for power in range(24, 34):
        clamped = f"CLAMP(x, -{1 << power}, {1 << power})"
        statement, cards = read_statement(f"SELECT SUM(x), AVG(x), SUM({clamped}), AVG({clamped}) FROM t", shelf(CARD))
        try:
            searching = price_searching(statement, cards, epsilon=Decimal("1e-6"))
        except ParameterInvalid:
            continue
        admitted.append(power)
        for ends in ((1, searching.widest), (8, 64)):
            within = bound_statement(statement, cards, dict.fromkeys(statement.searched, ends))
            assert len(price(within, cards, epsilon=searching.remaining).measures) == 5
    assert admitted == [24, 25, 26, 27, 28]


def test_bounds_where_no_value_can_lie_reach_no_farther_than_the_widest(private: House) -> None:
    """Noise alone puts bounds below what the condition keeps: they move to its nearer end."""
    sql = "SELECT SUM(LEAST(x, -100)) FROM t WHERE x > 3"
    moved, _ = read_within(sql, private, (-(1 << 30), -(1 << 28)))
    [measure] = moved.plan.measures
    assert isinstance(measure, Total)
    [clamp] = [node for node in walk(measure) if isinstance(node, Clamp)]
    assert (clamp.low, clamp.high) == (4, 5)


def test_a_sum_that_bounds_leave_nothing_to_move_is_noised_all_the_same(private: House) -> None:
    statement, cards = read_within("SELECT SUM(LEAST(x, 0)) FROM t", private, (3, 9))
    [priced] = price(statement, cards, epsilon=Decimal(1)).measures
    assert priced.mechanisms[0] is not None
    assert priced.sensitivities.largest.l1 == Fraction(1)
    answer = put(private, "SELECT SUM(LEAST(x, 0)) AS s FROM t", epsilon=50)
    told = answer.to_dict()["mechanisms"]
    assert isinstance(told, list)
    assert told[0]["sensitivity"] == "1"
    assert "noised as if by one step" in told[0]["derivation"]


def test_without_that_noise_some_bounds_would_be_refused(private: House, monkeypatch: pytest.MonkeyPatch) -> None:
    statement, cards = read_within("SELECT SUM(LEAST(x, 0)) FROM t", private, (3, 9))
    plain = lambda asked, measure, known, facts: sensitivities(asked.plan, measure, known)  # noqa: E731
    monkeypatch.setattr(pricing, "moves_of", plain)
    with pytest.raises(QueryRefused, match="fixed by what is public"):
        price(statement, cards, epsilon=Decimal(1))


def test_stored_bounds_read_back() -> None:
    kept = SearchedBounds(-3, 9, found=True, epsilon=Decimal("0.25"))
    assert SearchedBounds.from_list(json.loads(json.dumps(kept.to_list()))) == kept


def test_a_session_asks_and_tells_the_bounds(private: House) -> None:
    session: Session = private.session
    answer = session.query(MEAN, epsilon=20)
    told = answer.to_dict()
    assert list(told["bounds"]) == ["x"]
    again = put(private, MEAN, epsilon=20)
    assert again.replayed
    assert told["plan_hash"] == again.source.plan_hash != plan_hash(again.plan)
    assert "bounds" not in session.query("SELECT COUNT(*) FROM t", epsilon=1).to_dict()
