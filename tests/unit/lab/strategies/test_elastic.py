"""Elastic sensitivity from a statement to a draw: each side is counted by its key, and only the counts are joined."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.cards.card import parse_card
from discreet.engines.embedded import EmbeddedEngine
from discreet.errors import ParameterInvalid, QueryRefused
from discreet.guarantees.types import ApproxDP
from discreet.lab.strategies.elastic_strategy import (
    Elastic,
    JoinHeld,
    JoinSubject,
    elastic_sensitivity,
    hold_join,
    join_subject,
    smooth_bound,
)
from discreet.lab.strategies.smooth_noise import SmoothNoise
from discreet.lab.strategies.subject import SensitivityStrategy
from discreet.mechanisms.scale import LARGEST_SCALE
from discreet.sql.algebra import KeyJoin
from discreet.sql.reader.questions import read_statement
from tests.algebra.columns import field, scan
from tests.algebra.interpreter import rows_of
from tests.conformance.engines.plans import write_prepared
from tests.unit.sql.catalogue import shelf

HEAD = """
population: people
neighbours: replace-one
budget: {epsilon: 3, delta: 1e-6}
"""
VISITS = f"""{HEAD}
dataset: visits
unit: {{column: pid, rows: 2}}
columns:
  pid: {{kind: id, type: integer}}
  clinic: {{kind: text, references: clinics.name}}
  ward: {{kind: category, categories: [a, b], references: clinics.wing}}
  floor: {{kind: integer, bounds: [-5, 5], references: clinics.level}}
  day: {{kind: integer, bounds: [1, 9]}}
"""
CLINICS = f"""{HEAD}
dataset: clinics
unit: {{column: pid, rows: 1}}
columns:
  pid: {{kind: id, type: integer}}
  name: {{kind: text}}
  wing: {{kind: category, categories: [a, b]}}
  level: {{kind: integer, bounds: [-5, 5]}}
  beds: {{kind: integer, bounds: [0, 99]}}
"""
CARDS = {card.dataset: card for card in (parse_card(text, file="card.yaml") for text in (VISITS, CLINICS))}
ORDER = {
    "visits": ("pid", "ord", "clinic", "ward", "floor", "day"),
    "clinics": ("pid", "ord", "name", "wing", "level", "beds"),
}
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "visits": [
        (1, 1, "north", 0, -5, 1),
        (1, 2, "north", 1, 0, 2),
        (1, 3, "north", 1, 0, 3),  # beyond the bound of its unit
        (2, 1, "south", None, None, 4),
        (3, 1, None, 1, 5, None),
        (4, 1, "Ödland", 1, 0, 9),
    ],
    "clinics": [
        (1, 1, "north", 1, 0, 10),
        (2, 1, "north", None, -5, 20),
        (3, 1, None, 0, None, 30),
        (5, 1, "Ödland", 1, 0, None),
        (6, 1, "elsewhere", 0, 4, 5),
    ],
}
TABLES: dict[str, list[dict[str, Any]]] = {
    name: [dict(zip(ORDER[name], row, strict=True)) for row in rows] for name, rows in ROWS.items()
}
NAMED = "SELECT COUNT(*) FROM visits v JOIN clinics c ON v.clinic = c.name"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    files = {
        name: (write_prepared(tmp_path / f"{name}.parquet", card, TABLES[name]), card) for name, card in CARDS.items()
    }
    made = EmbeddedEngine(files)
    yield made
    made.close()


def asked(sql: str) -> JoinSubject:
    return join_subject(*read_statement(sql, shelf(VISITS, CLINICS), admit=frozenset({"elastic"})))


@pytest.mark.parametrize(
    ("sql", "pairs"),
    [
        (NAMED, 5),
        ("SELECT COUNT(*) FROM clinics c JOIN visits v ON c.name = v.clinic", 5),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.ward = c.wing", 8),
        ("SELECT COUNT(*) FROM visits v JOIN clinics c ON v.floor = c.level", 5),
        (f"{NAMED} WHERE v.day > 1 AND c.beds >= 10", 2),
        ("SELECT COUNT(c.beds) FROM visits v JOIN clinics c ON v.clinic = c.name", 4),
        (f"{NAMED} WHERE c.beds > 98", 0),
    ],
)
def test_the_exact_count(sql: str, pairs: int, engine: EmbeddedEngine) -> None:
    subject = asked(sql)
    assert hold_join(subject, engine).pairs == pairs == len(rows_of(subject.join, TABLES, CARDS))


def test_the_subject_and_its_frequencies(engine: EmbeddedEngine) -> None:
    subject = asked(NAMED)
    assert (subject.left_rows, subject.right_rows) == (2, 1)
    held = hold_join(subject, engine)
    assert held.left == {"north": 2, "south": 1, "Ödland": 1}
    assert held.right == {"north": 2, "Ödland": 1, "elsewhere": 1}
    assert [elastic_sensitivity(subject, held, distance) for distance in (0, 1, 5)] == [8, 12, 28]


def test_a_statement_without_a_join_on_a_key_is_refused() -> None:
    with pytest.raises(QueryRefused, match="references"):
        asked("SELECT COUNT(*) FROM visits")


def subject_of_rows(left: int, right: int) -> JoinSubject:
    sides = scan(CARDS["visits"], left, prefix="left "), scan(CARDS["clinics"], right, prefix="right ")
    join = KeyJoin(*sides, field("left clinic"), field("right name"))
    return JoinSubject(join, left, right)


@pytest.mark.parametrize("rows", [(1, 1), (2, 3)], ids=str)
@pytest.mark.parametrize("most", [0, 3, 40, 5000])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "20"])
def test_the_maximum_over_all_distances(rows: tuple[int, int], most: int, epsilon: str) -> None:
    subject, held = subject_of_rows(*rows), JoinHeld({0: most}, {1: 2})
    noise = SmoothNoise.calibrate(epsilon=epsilon, delta="1e-6")
    found = smooth_bound(subject, held, noise)
    terms = [noise.decay(distance) * elastic_sensitivity(subject, held, distance) for distance in range(400)]
    assert found == max(terms)


def test_frequent_keys_need_no_smoothing_and_rare_ones_much() -> None:
    subject = subject_of_rows(1, 1)
    noise = SmoothNoise.calibrate(epsilon="0.1", delta="1e-6")
    assert smooth_bound(subject, JoinHeld({"a": 1000}, {"b": 1}), noise) == 1002
    assert 137 < smooth_bound(subject, JoinHeld({}, {}), noise) < 138


@pytest.mark.parametrize("rows", [(1, 1), (10**9, 10**9)], ids=str)
@pytest.mark.parametrize("held", [JoinHeld({}, {}), JoinHeld({0: 10**12}, {0: 10**12})], ids=["none", "many"])
def test_noise_can_be_drawn_whatever_the_rows(rows: tuple[int, int], held: JoinHeld) -> None:
    strategy = Elastic.calibrate(subject_of_rows(*rows), held, epsilon="1e-9", delta="1e-9")
    most = strategy.noise.largest_bound
    assert strategy.exact == min(held.pairs, most)
    assert strategy.sensitivity == most
    assert (most + 1) / strategy.noise.share > LARGEST_SCALE >= strategy.mechanism.scale
    assert isinstance(strategy.draw().result, float)


def test_draws() -> None:
    held = JoinHeld({"a": 400, "b": 2}, {"a": 3, "c": 9})
    strategy = Elastic.calibrate(subject_of_rows(1, 1), held, epsilon=Decimal(1), delta=Decimal("1e-6"))
    conforms: SensitivityStrategy = strategy
    assert (conforms.name, conforms.guarantee) == ("elastic", ApproxDP(epsilon=1, delta="1e-6"))
    assert strategy.exact == 1200
    assert strategy.sensitivity == 410
    assert strategy.mechanism.scale == Fraction(820)
    drawn = [strategy.draw() for _ in range(30)]
    assert len({one.result for one in drawn}) > 10  # 30 draws of scale 820 with 10 values or fewer: below 1e-40
    assert all(one.sensitivity == 410 and one.result == int(one.result) for one in drawn)


def test_nothing_confidential_is_shown() -> None:
    held = JoinHeld({"secret": 4711}, {"secret": 1})
    strategy = Elastic.calibrate(subject_of_rows(1, 1), held, epsilon=1, delta="1e-6")
    assert not any(word in repr(held) + repr(strategy) for word in ("secret", "4711", "4713"))


@pytest.mark.parametrize(("epsilon", "delta"), [(0, "1e-6"), (1, 0), (1, 1)])
def test_parameters(epsilon: int, delta: str | int) -> None:
    with pytest.raises(ParameterInvalid):
        Elastic.calibrate(subject_of_rows(1, 1), JoinHeld({}, {}), epsilon=epsilon, delta=delta)


def test_a_unit_has_rows() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        subject_of_rows(0, 1)
