"""An engine over tables that stay elsewhere: a connection for each question, also when threads share it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from discreet.cards.card import parse_card
from discreet.engines.in_place.postgres_dialect import POSTGRES
from discreet.engines.in_place.tabular_engine import TabularEngine
from discreet.sql.algebra import Plan, Rows
from tests.algebra.columns import scan
from tests.conformance.engines.plans import Reader, as_rows

CARD = parse_card(
    "dataset: t\nunit: {column: u, rows: 1}\nneighbours: add-remove\nbudget: {epsilon: 1}\n"
    "columns: {u: {kind: id, type: integer}}\n",
    file="t.yaml",
)
PLAN = Plan(scan(CARD), (), (Rows(None),))


class CountingReader(Reader):
    """Counts to its own number; says when it was closed."""

    def __init__(self, number: int) -> None:
        super().__init__(self._count)
        self.number = number
        self.open = True

    def _count(self, sql: str) -> pa.Table:
        assert self.open
        return pa.table({"n": [self.number]})

    def close(self) -> None:
        self.open = False


def test_what_one_thread_prepared_no_other_takes_or_closes() -> None:
    readers: list[CountingReader] = []

    def connect() -> CountingReader:
        readers.append(CountingReader(len(readers) + 1))
        return readers[-1]

    engine = TabularEngine({"t": as_rows("t", CARD)}, dialect=POSTGRES, connect=connect)
    with ThreadPoolExecutor(1) as other:
        engine.prepare(PLAN)
        other.submit(engine.prepare, PLAN).result()
        assert engine.measure(PLAN).columns == ([1],)
        assert other.submit(engine.measure, PLAN).result().columns == ([2],)
        assert [reader.open for reader in readers] == [False, False]
        assert engine.measure(PLAN).columns == ([3],)
    engine.prepare(PLAN)
    engine.close()
    assert not readers[-1].open
