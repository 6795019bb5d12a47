"""Wrong arguments, method by method: refused in our words, with nothing charged and no trace of Python's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import DiscreetError, ParameterInvalid
from discreet.session import Session
from discreet.tables.desk import TableDesk
from discreet.tables.request import TableRequest

CARD = """
dataset: people
population: all
unit: {column: pid, rows: 1}
neighbours: add-remove
budget: {epsilon: 100000}
allow: [bootstrap, generated]
columns:
  pid: {kind: id, type: integer}
  age: {kind: integer, bounds: [0, 100]}
"""
COUNT = "SELECT COUNT(*) AS n, AVG(age) AS age FROM people"
WORK = "epsilon: 1\nquestions:\n  - {name: one, sql: SELECT COUNT(*) FROM people}\n"
TOWNS = "town,name\n1,N\n"

Values = list[object]
NOTHING: Values = [None]
NOT_TEXT: Values = [5, 2.5, True, b"bytes", ["list"], {"a": 1}, object()]
NOT_A_TRUTH: Values = [None, 0, 1, "yes", "no", []]
NOT_A_NUMBER: Values = [True, "", "x", "nan", float("nan"), float("inf"), Decimal("NaN"), -1, "1e999", [], {}, b"1"]
NOT_A_NAME: Values = [*NOT_TEXT, "", " ", "a b", "é", "x" * 64, "\x1b[31m", "-dash"]
NOT_A_PATH: Values = [5, 2.5, True, b"bytes", [], "", "a\0b"]
NOT_A_FUNCTION: Values = [5, "yes", True, []]
NOT_AMOUNTS: Values = [
    *("n=-5", "n=0", "n=nan", "-5", "0", "weights=0", "n" * 9_000, b"n=5"),
    *(-5, 0, True, 2.5, [], {"n": -1}, {"n": float("nan")}, {"n": None}),
    *({"n": "1e999999999"}, {"n": Decimal("1e999999")}, {"n": 10**5_000}),
]
ASKER: dict[str, Values] = {"analyst": NOT_A_NAME}
ID: dict[str, Values] = {"request_id": NOT_A_NAME}

METHODS: dict[str, tuple[dict[str, Any], dict[str, Values]]] = {
    "create": (
        {"path": "new"},
        {"path": [*NOTHING, *NOT_A_PATH], "key": NOT_A_PATH, "anchor": NOT_A_PATH, "ledger_dsn_env": NOT_TEXT},
    ),
    "add": (
        {"file": "people.csv", "replace": True},
        {
            "file": [*NOTHING, *NOT_A_PATH, "absent.csv"],
            "card": NOT_A_PATH,
            "replace": NOT_A_TRUTH,
            "confirm": NOT_A_FUNCTION,
            "encoding": [*NOT_TEXT, "klingon"],
            "delimiter": [*NOT_TEXT, "x"],
            "progress": NOT_A_FUNCTION,
        },
    ),
    "add_table": (
        {"source": "people", "card": "people.yaml", "replace": True},
        {"source": [*NOTHING, *NOT_TEXT, "people"], "card": NOT_A_PATH, "replace": NOT_A_TRUTH},
    ),
    "add_public_table": (
        {"file": "towns.csv", "key": "town", "name": "other"},
        {
            "file": [*NOTHING, *NOT_A_PATH],
            "key": [*NOTHING, *NOT_TEXT],
            "name": [*NOT_TEXT, "A b"],
            "replace": NOT_A_TRUTH,
            "encoding": NOT_TEXT,
            "delimiter": NOT_TEXT,
        },
    ),
    "add_analyst": ({"name": "bob"}, {"name": [*NOTHING, *NOT_A_NAME]}),
    "change_population": ({"card": "people.yaml", "custodian": True}, {"card": NOT_A_PATH, "custodian": NOT_A_TRUTH}),
    "resume": ({"dataset": "people", "custodian": True}, {"dataset": [*NOT_TEXT, "", "x"], "custodian": NOT_A_TRUTH}),
    "incomplete": (
        {"dataset": "people", "custodian": True},
        {"dataset": [*NOT_TEXT, "", "x"], "custodian": NOT_A_TRUTH},
    ),
    "refresh": ({"dataset": "people", "whole": False}, {"dataset": [*NOT_TEXT, "", "x"], "whole": NOT_A_TRUTH}),
    "report": ({"dataset": "people", "custodian": True}, {"dataset": [*NOT_TEXT, "", "x"], "custodian": NOT_A_TRUTH}),
    "verify": ({}, {"anchor": [*NOT_TEXT, "", "x"]}),
    "query": (
        {"sql": COUNT, "epsilon": "1"},
        {
            "sql": [*NOTHING, *NOT_TEXT, "", ";", "x" * 10**5],
            "epsilon": [*NOTHING, 0, *NOT_A_NUMBER],
            "delta": [*NOTHING, 1, *NOT_A_NUMBER],
            "within": [*NOT_A_NUMBER, {"n": 5}],
            "assume": NOT_AMOUNTS,
            "level": [*NOTHING, 0, 1, *NOT_A_NUMBER],
            "fresh": NOT_A_TRUTH,
            "confirm": NOT_A_FUNCTION,
            **ASKER,
            **ID,
        },
    ),
    "hold": (
        {"sql": COUNT, "epsilon": "1", "request_id": "held", "custodian": True},
        {
            "sql": [*NOTHING, *NOT_TEXT, ""],
            "epsilon": [*NOTHING, 0, *NOT_A_NUMBER],
            "delta": [*NOTHING, 1, *NOT_A_NUMBER],
            "custodian": NOT_A_TRUTH,
            "expires": ["tomorrow", 5],
            **ASKER,
            **ID,
        },
    ),
    "explain": (
        {"sql": COUNT, "epsilon": "1"},
        {
            "sql": [*NOTHING, *NOT_TEXT],
            "epsilon": [*NOTHING, *NOT_A_NUMBER],
            "assume": [*NOT_AMOUNTS, "COUNT(*)=-5"],
            **ASKER,
        },
    ),
    "plan": ({"workload": "work.yaml"}, {"workload": [*NOTHING, *NOT_A_PATH], "epsilon": NOT_A_NUMBER, **ASKER}),
    "run": (
        {"workload": "work.yaml"},
        {"workload": [*NOTHING, *NOT_A_PATH], "epsilon": NOT_A_NUMBER, "confirm": NOT_A_FUNCTION, **ASKER, **ID},
    ),
    "table": (
        {"dataset": "people", "by": ["age"], "epsilon": "1", "edges": {"age": [0, 50, 100]}},
        {
            "dataset": [*NOTHING, *NOT_TEXT, ""],
            "by": [*NOTHING, 5, True, "", [], [5], "salary", b"age"],
            "epsilon": [*NOTHING, *NOT_A_NUMBER],
            "value": [*NOT_TEXT, "salary"],
            "mean": NOT_A_TRUTH,
            "weighted": NOT_A_TRUTH,
            "where": [*NOT_TEXT, ")"],
            "edges": [5, "age", [1], {"age": 5}, {"age": ["x"]}, {"salary": [1, 2]}, {5: [1, 2]}],
            "margins": [None, 5, "age", [5], ["salary"]],
            "no_missing": NOT_A_TRUTH,
            "leave_out": [
                5,
                "age=1",
                ["age"],
                {"age": 5},
                {"age": ["x"]},
                {"age": [None]},
                {"salary": ["1"]},
                {5: ["1"]},
            ],
            "level": [*NOTHING, *NOT_A_NUMBER],
            "fresh": NOT_A_TRUTH,
            **ASKER,
            **ID,
        },
    ),
    "public_table": ({"name": "towns"}, {"name": [*NOTHING, *NOT_TEXT, ""]}),
    "describe": (
        {"dataset": "people"},
        {"dataset": [*NOTHING, *NOT_TEXT, ""], "language": [*NOTHING, *NOT_TEXT, "", "de", "FR"]},
    ),
    "budget": ({"population": "all"}, {"population": [*NOTHING, *NOT_TEXT, ""]}),
    "acting_for": ({"who": "ana"}, {"who": [*NOTHING, *NOT_A_NAME], "datasets": [5, True, "people", [5]]}),
    "history": ({}, {"limit": [0, -1, "x", 2.5, True], **ASKER}),
    "recall": ({"number": 1}, {"number": [*NOTHING, 0, -1, "x", 2.5, True, 10**30], **ASKER}),
    "read_table": (
        {"words": {"dataset": "people", "by": ["age"], "epsilon": "1"}},
        {"words": [*NOTHING, 5, "people", {}, {"dataset": "people"}, {"by": ["age"], "colour": "red"}], **ASKER},
    ),
}
TAKE_NOTHING = {
    *("close", "who", "open_engine", "workspace", "ledger", "tables", "datasets", "public_tables", "populations"),
}
CASES = [(method, name) for method, (_, wrong) in METHODS.items() for name in wrong]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("house")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_ANALYST", "ana")
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.chdir(folder)
        rows = "".join(f"{pid},{pid % 7}\n" for pid in range(50))
        texts = {
            "people.yaml": CARD,
            "people.csv": f"pid,age\n{rows}",
            "towns.csv": "town,name\n1,N\n",
            "work.yaml": WORK,
        }
        for name, text in texts.items():
            Path(name).write_text(text, encoding="utf-8")
        with Session.create(folder / "w") as made:
            made.add(folder / "people.csv", confirm=lambda _: True)
            made.add_public_table(folder / "towns.csv", key="town")
        with discreet.open(folder / "w") as session:
            yield session


def test_every_public_method_is_tried() -> None:
    public = {name for name, _ in inspect.getmembers(Session) if not name.startswith("_")}
    assert public == METHODS.keys() | TAKE_NOTHING


def refused(call: Callable[..., object], words: dict[str, Any]) -> Exception | None:
    try:
        call(**words)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize(("method", "name"), CASES)
def test_a_wrong_argument_is_refused_in_our_words(house: Session, method: str, name: str) -> None:
    right, wrong = METHODS[method]
    before = house.budget("all").population.charges
    for value in wrong[name]:
        refusal = refused(getattr(house, method), {**right, name: value})
        assert isinstance(refusal, DiscreetError), f"{value!r:.60}: {refusal!r}"
        assert len(refusal.message) > 15, value
        if isinstance(refusal, ParameterInvalid):
            assert all(refusal.fields[part] for part in ("parameter", "rule", "given", "came")), value
    assert house.budget("all").population.charges == before


@pytest.mark.parametrize("given", [5, [], b"x", "", "a\0b"])
def test_a_workspace_is_named_by_a_path(given: Any) -> None:
    with pytest.raises(ParameterInvalid):
        discreet.open(given)


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("release", {"fresh": "yes"}),
        ("release", {"epsilon": None}),
        ("release", {"confirm": 5}),
        ("release", {"request_id": 5}),
        ("release", {"analyst": ""}),
        ("read", {"noise": "loud"}),
        ("read", {"noise": None}),
    ],
)
def test_the_desk_of_tables_takes_no_other_sort(house: Session, method: str, wrong: dict[str, Any]) -> None:
    desk: TableDesk = house.tables
    call: Callable[..., object] = getattr(desk, method)
    with pytest.raises(DiscreetError):
        call(TableRequest("people", ("age",)), **{"epsilon": "1", **wrong})


def test_a_path_may_come_as_text(house: Session) -> None:
    assert house.plan("work.yaml") is not None
    assert house.query(COUNT, epsilon="1", request_id="r1", fresh=True).request_id == "r1"


def test_what_is_not_given_is_told_by_python(house: Session) -> None:
    with pytest.raises(TypeError, match=r"query\(\): missing a required argument: 'sql'"):
        house.query()  # type: ignore[call-arg]
