"""Neighbours from a larger pool than the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from discreet.errors import FileRefused, PathInvalid
from discreet.lab.bootstrap.bootstrap_sensitivity import CellSummary, count_summary, table_sensitivity
from discreet.lab.bootstrap.observed_cells import Observed, outline
from discreet.lab.bootstrap.pools import Pool, PoolKind, read_pool
from discreet.release.journals.bootstrap_journal import bootstrap_log

Build = Callable[..., Any]


def pool_of(house: Any, *lines: str, kind: PoolKind = PoolKind.SYNTHETIC) -> Pool:
    file = house.folder / "pool.csv"
    file.write_text("\n".join(["farm,status,variety,output", *lines]) + "\n")
    formed = house.form()
    return read_pool(file, formed.card, outline(formed).plan, house.session.workspace, kind=kind)


def test_a_pool_is_prepared_by_the_card(build: Build) -> None:
    pool = pool_of(build(), "1,share,trad,999999", "2,share,trad,-5", "3,elsewhere,high,4")
    share_trad, none_high = pool.observed.cells[4], pool.observed.cells[6]
    assert (share_trad.n, share_trad.low, share_trad.high) == (2, -5, 20000)
    assert (none_high.n, none_high.total) == (1, 4)


def test_one_of_the_pool_who_lies_in_no_cell_may_enter_one() -> None:
    data = Observed((CellSummary(3, 900, 300, 300),), outside=False)
    pool = Observed((count_summary(0),), outside=True)
    for both in (data.joined(pool), pool.joined(data)):
        assert table_sensitivity(dict(enumerate(both.cells)), outside=both.outside) == 300


def test_individuals_have_ids_of_their_own(build: Build) -> None:
    house = build()
    for lines in (("1,share,trad,1", "1,share,trad,2"), (",share,trad,1", "2,share,trad,1")):
        with pytest.raises(FileRefused, match="its own 'farm'"):
            pool_of(house, *lines)


def test_a_pool_that_is_not_there(build: Build) -> None:
    house = build()
    formed = house.form()
    with pytest.raises(PathInvalid):
        read_pool(
            house.folder / "none.csv",
            formed.card,
            outline(formed).plan,
            house.session.workspace,
            kind=PoolKind.SYNTHETIC,
        )


def test_another_pool_is_another_question(build: Build) -> None:
    house = build()
    one = pool_of(house, "1,share,trad,1")
    two = pool_of(house, "1,share,trad,2", kind=PoolKind.SUB_POPULATION)
    tables = [house.release(pool=pool) for pool in (None, one, two, one)]
    assert [table.replayed for table in tables] == [False, False, False, True]
    assert [entry.pool.split(" ")[0] for entry in bootstrap_log(house.session.workspace)] == [
        "",
        "synthetic",
        "sub-population",
    ]
    assert "synthetic individuals" in tables[1].to_dict()["neighbours"]
