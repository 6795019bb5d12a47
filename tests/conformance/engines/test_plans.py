"""Plans on every engine equal the slow interpreter, integer for integer; a wrong template does not.

Cases are named by seeds, so they are the same in every run. Spark runs in the long tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import sample
from typing import Any

import pytest

from discreet.engines.engine import Measured
from discreet.sql.algebra import walk
from tests.algebra.generator import EVERY_NODE, random_example
from tests.algebra.interpreter import measure
from tests.conformance.engines.operators import CARDS, QUESTIONS, TABLES, Question
from tests.conformance.engines.plans import (
    FAULTS,
    DuckDBHouse,
    House,
    SparkHouse,
    agrees,
    answer,
    plain,
    planted,
    postgres_house,
)

PLANS = 200


@pytest.fixture(params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.long)])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    if request.param == "duckdb":
        yield DuckDBHouse(tmp_path)
    elif request.param == "postgres":
        with postgres_house(request.getfixturevalue("postgres_dsn")) as found:
            yield found
    else:
        # Workers of the cluster may run as another user.
        tmp_path.chmod(0o755)
        yield SparkHouse(tmp_path, request.getfixturevalue("spark_session"))


@pytest.fixture(scope="session")
def spark_session(spark_master: str) -> Any:
    from discreet.engines.in_place.spark_sessions import shared_session

    return shared_session(spark_master)


def truth_of(question: Question) -> Measured:
    return Measured(question.columns, question.keys)


def test_random_plans_cover_every_operator() -> None:
    covered = {type(node).__name__ for seed in range(PLANS) for node in walk(random_example(seed).plan)}
    assert covered >= EVERY_NODE


def test_every_operator_gives_the_numbers_worked_out_by_hand(house: House) -> None:
    for question in QUESTIONS:
        found = answer(house, CARDS, TABLES, question.plan, house.dialect)
        assert plain(found) == plain(truth_of(question)), question.name


def test_random_plans_equal_the_interpreter(house: House) -> None:
    # Spark takes most of a second for each: half of them, others in every run.
    for seed in sample(range(PLANS), PLANS // 2) if house.dialect.engine == "spark" else range(PLANS):
        example = random_example(seed)
        found = answer(house, example.cards, example.tables, example.plan, house.dialect)
        assert plain(found) == plain(measure(example.plan, example.tables, example.cards)), seed


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_template_is_found(house: House, fault: type) -> None:
    spoilt = planted(fault, house.dialect)
    untouched = next(question for question in QUESTIONS if question.name == "or_none")
    assert agrees(house, CARDS, TABLES, untouched.plan, truth_of(untouched), spoilt), "the engine itself fails"
    assert not all(agrees(house, CARDS, TABLES, question.plan, truth_of(question), spoilt) for question in QUESTIONS), (
        "the questions do not see this fault"
    )


def test_the_interpreter_agrees_with_the_numbers_worked_out_by_hand() -> None:
    for question in QUESTIONS:
        if question.name == "keys_partly":
            continue  # the interpreter holds plans to list every key
        assert plain(measure(question.plan, TABLES, CARDS)) == plain(truth_of(question)), question.name
