"""The SQL that a table tells its readers is read as the plan that was made without it, or refused like it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.sql.reader.questions import read_statement
from discreet.tables.formation import plan_table
from discreet.tables.request import TableRequest, table_request
from discreet.workspace.folder import Dataset
from tests.earlier.shelf import Shelf

SHELF: Final = Shelf()
NAME: Final = "d"
EDGES: Final[dict[str, list[Any]]] = {
    "age": [-10, 1, 50, 200],
    "height": ["1", "1.65", "2.5"],
    "change": [-50, -10, 0, 50],
    "tens": [0, 10, 50, 100],
    "group": [0, 2, 4],
}
CODES: Final = {
    "region": ["N", "S", "O'x"],
    "smokes": ["1", "2.0", "003"],
    "said": ["a", "x; DROP TABLE", 'say "hi"'],
    "Select": ["u", "v"],
    "grade": ["1", "3"],
}
KEYS: Final = (*EDGES, *CODES)
VALUES: Final = ("age", "height", "change", "tens", "group", "weight")

COMPARED = st.builds(
    "{} {} {}".format,
    st.sampled_from(["age", '"group"', "tens", "d.change", "height", "WEIGHT", "age - 2 * tens"]),
    st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]),
    st.sampled_from(["3", "-5", "1.65", "'40'", "grade", "100"]),
)
SAID = st.sampled_from(
    [
        "region = 'O''x'",
        "smokes NOT IN (1, '003')",
        "said <> 'x; DROP TABLE'",
        "\"Select\" = 'u' -- and no more",
        "town = ')'",
        "age BETWEEN 20 AND 60",
        "grade IS NULL",
        "height IS NOT NULL",
        "region = 'Q'",
        "CASE WHEN age < 18 THEN 'kid' ELSE 'old' END = 'old'",
    ]
)
WHERE = st.recursive(
    COMPARED | SAID,
    lambda below: (
        st.builds("{}\nAND {}".format, below, below)
        | st.builds("{}\nOR {}".format, below, below)
        | st.builds("({}\n)".format, below)
        | st.builds("NOT {}".format, below)
    ),
    max_leaves=5,
)


@st.composite
def requests(draw: st.DrawFn) -> TableRequest:
    by = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    value = draw(st.none() | st.sampled_from(VALUES))
    mean = value is not None and draw(st.booleans())
    weighted = draw(st.booleans())
    edges = {name: EDGES[name] for name in by if name in EDGES and (name == "height" or draw(st.booleans()))}
    left = {name: draw(st.lists(st.sampled_from(CODES[name]), max_size=2)) for name in by if name in CODES}
    return table_request(
        NAME,
        by,
        value=value,
        mean=mean,
        weighted=weighted,
        where=draw(st.none() | WHERE),
        edges=edges,
        sampling=draw(st.sampled_from([None, "variance"])) if weighted and not mean else None,
        no_missing=draw(st.booleans()),
        leave_out={name: codes for name, codes in left.items() if codes},
    )


@given(requests())
def test_the_sql_of_a_table_is_read_as_its_plan(request: TableRequest) -> None:
    dataset = SHELF.find(NAME)
    assert isinstance(dataset, Dataset)
    sql = request.to_sql(dataset.card)
    try:
        made = plan_table(request, dataset.card)
    except DiscreetError as refusal:
        with pytest.raises(type(refusal)):
            read_statement(sql, SHELF)
        return
    read, _ = read_statement(sql, SHELF)
    assert [key.codes for key in made.keys] == [key.codes for key in read.keys]
    assert replace(made, keys=read.keys) == read
