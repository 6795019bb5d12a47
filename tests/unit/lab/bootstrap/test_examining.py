"""The custodian's examination, and the leaks it warns of."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from discreet.engines.engine import Measured
from discreet.errors import Refused
from discreet.lab.bootstrap.bootstrap_accuracy import recommend
from discreet.lab.bootstrap.bootstrap_examination import Examination, examine
from discreet.lab.bootstrap.bootstrap_sensitivity import (
    CellSummary,
    PublicBounds,
    ScaleMethod,
    TableKind,
    count_summary,
    summarise,
)
from discreet.lab.bootstrap.checklist import ExaminedOutlook, check_table
from discreet.lab.bootstrap.leaks import LeakKind, find_leaks, require_silent
from discreet.lab.bootstrap.observed_cells import Observed
from discreet.lab.bootstrap.pools import Pool, PoolKind
from discreet.sql.algebra import Extreme, Plan

Build = Callable[..., Any]


class Still:
    """An engine without a row."""

    def measure(self, plan: Plan) -> Measured:
        cells = plan.cell_count
        return Measured(tuple([()] * cells if isinstance(one, Extreme) else [0] * cells for one in plan.measures))

    def close(self) -> None:
        pass


def look(house: Any, formed: Any = None, **given: Any) -> Examination:
    formed = formed or house.form()
    engine = house.engine(formed)
    try:
        return examine(formed, engine, house.session.ledger, who="ann", **given)
    finally:
        engine.close()


def test_an_examination_needs_no_opt_in_and_is_recorded(build: Build) -> None:
    house = build(allow=False)
    before = house.session.ledger.head()[0]
    found = look(house, epsilon="2")
    assert house.session.ledger.head()[0] == before + 1
    assert house.markers() == 0
    assert (found.table.printed, found.table.corrected, found.table.public) == (2000, 11000, 40000)
    assert found.table.gain == pytest.approx(40 / 11)
    cell = found.cells[3]
    assert (cell.codes, cell.printed, cell.corrected) == (("share", "high"), 0, 9000)
    assert (cell.scales[ScaleMethod.SPLIT], cell.scales[ScaleMethod.PAIR], cell.scales[ScaleMethod.MEMBERSHIP]) == (
        81000,
        18000,
        0,
    )
    shown = found.to_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert shown["custodian_only"] is True
    assert shown["leave_out"] == [{"status": "share", "variety": "high"}, {"status": None, "variety": "high"}]


def test_the_error_bound_is_that_of_a_release(build: Build) -> None:
    found = look(build(), epsilon="2", gamma="0.1").table
    assert found.error_bound == math.ceil(math.log(9 / 0.1) * 11000 / 2)
    assert found.gamma_accuracy == pytest.approx(1 / found.error_bound, rel=1e-3)


def test_where_nothing_moves_the_bound_is_that_of_public_bounds(build: Build) -> None:
    house = build()
    formed = house.form("status", value="output", where="output > 8000")
    assert look(house, formed).table.corrected == 9000
    engine = Still()
    found = examine(formed, engine, house.session.ledger, who="ann").table
    assert (found.corrected, found.gain) == (0, None)
    assert found.error_bound == math.ceil(math.log(3 / 0.05) * 40000)


def test_advice_names_what_nobody_moves() -> None:
    cells = summarise({"a": [4, 90], "b": [5, 6], "c": [], "d": [1, 2]})
    advice = recommend(cells, statistic=TableKind.TOTAL, public=PublicBounds(0, 500))
    assert advice.method is ScaleMethod.PAIR
    assert "No row of the data moves this cell" in advice.cells["c"]
    assert "No row" not in advice.cells["a"]


def test_an_examination_warns_of_leaks(build: Build) -> None:
    found = {leak.kind: leak.cells for leak in look(build()).leaks}
    assert found[LeakKind.ONE_PERSON] == ("share, high", "(no value), high")
    assert found[LeakKind.EQUAL] == ("owner, trad",)
    assert len(found[LeakKind.EMPTY]) == 5
    assert found[LeakKind.SCALE] == found[LeakKind.OUTSIDERS] == ()


def test_a_pool_enlarges_what_is_examined(build: Build) -> None:
    house = build()
    cells = [CellSummary(0, 0, 0, 0)] * 9
    cells[4] = CellSummary(1, 20000, 20000, 20000)
    pool = Pool(PoolKind.SYNTHETIC, "0" * 64, Observed(tuple(cells), outside=False))
    assert look(house, pool=pool).table.corrected == 29000


def test_everybody_in_one_cell() -> None:
    leaks = find_leaks({"a": count_summary(5), "b": count_summary(0)}, statistic=TableKind.COUNT)
    assert [leak.kind for leak in leaks[:2]] == [LeakKind.EVERYBODY, LeakKind.EMPTY]
    elsewhere = find_leaks({"a": count_summary(5)}, statistic=TableKind.COUNT, outside=True)
    assert [leak.kind for leak in elsewhere] == [LeakKind.SCALE, LeakKind.OUTSIDERS]


def test_a_total_of_everybody_is_no_exact_count() -> None:
    leaks = find_leaks(summarise({"a": [1, 2, 3], "b": []}), statistic=TableKind.TOTAL)
    assert [leak.kind for leak in leaks] == [LeakKind.EMPTY, LeakKind.SCALE, LeakKind.OUTSIDERS]


def test_equal_rows_leak_only_totals() -> None:
    values = summarise({"a": [1, 1], "b": [2, 3]})
    assert find_leaks(values, statistic=TableKind.TOTAL)[0].cells == ("a",)


@pytest.mark.parametrize(
    "release", [{"scale": 1}, {"mechanisms": [{"name": "x", "scale": 2}]}, {"bootstrap": {"table_sensitivity": 3}}]
)
def test_a_release_that_tells_its_noise_is_refused(release: dict[str, object]) -> None:
    with pytest.raises(Refused, match="never shows its noise"):
        require_silent(release)
    require_silent({"bootstrap": {"nominal_epsilon": "1"}, "mechanisms": [{"name": "discrete-laplace"}]})


# --- the checklist ----------------------------------------------------------------------------------------------------


def spoken(
    values: dict[str, list[int]], *, count: bool = False, gain: float | None = 5.0, epsilon: str = "1"
) -> list[str]:
    cells = {name: count_summary(len(of)) for name, of in values.items()} if count else summarise(values)
    statistic = TableKind.COUNT if count else TableKind.TOTAL
    outlook = ExaminedOutlook(statistic, PublicBounds(0, 100), gain, Decimal(epsilon), Decimal("0.05"), 12)
    items = check_table(cells, outlook, find_leaks(cells, statistic=statistic))
    assert all(item.question.endswith("?") and item.told.endswith(".") for item in items)
    return [str(item.speaks) for item in items]


def test_a_checklist_speaks_for_and_against() -> None:
    """In the paper's order: gain, protections, fixed, outliers, worst case, knowledge, …, epsilon, leaks."""
    even = spoken({"a": [5, 6, 7], "b": [4, 5, 6]})
    assert (even[0], even[3], even[9], even[10]) == ("for", "for", "decide", "decide")
    led = spoken({"a": [90, 6, 7], "b": [4]}, gain=1.5, epsilon="3")
    assert (led[0], led[3], led[9], led[10]) == ("against",) * 4
    assert spoken({"a": [5, 6, 7], "b": [4, 5, 6]}, gain=None)[0] == "against"
    assert spoken({"a": [1, 1], "b": [1]}, count=True)[0] == "against"
