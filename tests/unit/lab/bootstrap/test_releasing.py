"""Bootstrap releases: what they need, what they leave behind, and what they never show."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from discreet.engines.engine import Measured
from discreet.errors import (
    DatasetSuspended,
    LedgerUnavailable,
    ParameterInvalid,
    QueryRefused,
    Refused,
    RequestConflict,
    UnknownName,
)
from discreet.guarantees.types import BootstrapDP
from discreet.lab.bootstrap.bootstrap_release import _add_noise
from discreet.lab.bootstrap.bootstrap_sensitivity import CellSummary, PublicBounds, TableKind, table_sensitivity
from discreet.lab.bootstrap.observed_cells import observe, outline
from discreet.lab.laboratory import Laboratory
from discreet.present.messages import say_message
from discreet.release.journals.bootstrap_journal import LOG_FILE, BootstrapLog, bootstrap_log, list_releases
from discreet.results import Quality
from discreet.sql.algebra import Plan
from discreet.tables.request import TableRequest

pytestmark = pytest.mark.slow

Build = Callable[..., Any]


class Broken:
    """An engine that fails on the rows."""

    def measure(self, plan: Plan) -> Measured:
        raise RuntimeError("row 31 holds 9000")

    def close(self) -> None:
        pass


def test_the_cells_as_they_are_observed(build: Build) -> None:
    house = build()
    formed = house.form()
    engine = house.engine(formed)
    table = outline(formed)
    observed = observe(table.plan, engine)
    engine.close()
    assert table.statistic is TableKind.TOTAL
    assert table.bounds == PublicBounds(-1000, 20000)
    named = dict(zip(("oh", "ot", "o-", "sh", "st", "s-", "-h", "-t", "--"), observed.cells, strict=True))
    assert named["oh"] == CellSummary(21, 21000, 0, 2000)  # the farm without output adds 0
    assert named["ot"] == CellSummary(10, 5000, 500, 500)
    assert named["sh"] == CellSummary(1, 9000, 9000, 9000)
    assert named["-h"] == CellSummary(1, 70, 70, 70)
    assert named["st"].n == 0
    assert not observed.outside
    assert table_sensitivity(dict(enumerate(observed.cells))) == 11000


def test_complete_keys_set_the_number_of_cells(build: Build) -> None:
    """Four cells instead of nine; the farm without a status lies in none, and is a neighbour from outside."""
    house = build(complete=True)
    formed = house.form()
    engine = house.engine(formed)
    observed = observe(outline(formed).plan, engine)
    engine.close()
    assert formed.sizes == (2, 2)
    assert [cell.n for cell in observed.cells] == [21, 10, 1, 0]
    assert observed.outside
    table = house.release()
    assert len(table.cells) == 4
    entry, again = house.release(), build().form()
    assert [one.value for one in entry.cells] == [one.value for one in table.cells]
    assert again.sizes == (3, 3)


def test_rows_left_out_by_a_condition_lie_outside(build: Build) -> None:
    house = build()
    formed = house.form("variety", where="status = 'owner'")
    engine = house.engine(formed)
    observed = observe(outline(formed).plan, engine)
    engine.close()
    assert observed.outside
    assert [cell.n for cell in observed.cells] == [21, 10, 0]


def test_a_release_is_marked_logged_and_labelled(build: Build) -> None:
    house = build()
    table = house.release(request_id="first")
    assert table.guarantee == BootstrapDP(epsilon="1")
    assert house.markers() == 1
    (entry,) = bootstrap_log(house.session.workspace)
    assert (entry.who, entry.dataset, entry.version, entry.epsilon, entry.method) == ("ann", "farms", 1, "1", "i")
    assert entry.marker == house.session.ledger.state("farms").markers[0].sequence
    shown = table.to_dict()
    assert shown["differentially_private"] is False
    assert "not differentially private" in str(shown["guarantee"])
    assert shown["charge"] == {"epsilon": "0", "delta": "0"}
    assert any("no longer bounds everything" in warning for warning in shown["warnings"])
    _, said = say_message(table.notes[0])
    assert "Not differentially private" in said.en
    assert "Sans confidentialité différentielle" in said.fr


def test_a_new_version_of_the_data_is_another_question(build: Build) -> None:
    house = build()
    house.release()
    data = house.folder / "farms.csv"
    data.write_text(data.read_text() + "34,share,trad,800\n")
    house.session.add(data, card=house.folder / "farms.yaml", replace=True)
    assert [house.release().replayed for _ in range(2)] == [False, True]
    assert [entry.version for entry in bootstrap_log(house.session.workspace)] == [1, 2]
    assert house.markers() == 2


def test_a_release_shows_neither_noise_nor_interval(build: Build) -> None:
    house = build()
    table = house.release(method="pair")
    for entry in table.entries():
        assert (entry.low, entry.high, entry.quality) == (None, None, Quality.NOT_RATED)
    written = json.dumps(table.to_dict()) + (house.session.workspace.path / LOG_FILE).read_text()
    assert "scale" not in written
    assert "sensitivity" not in written


@pytest.mark.parametrize("method", ["i", "ii", "pair", "iii"])
def test_no_cell_leaves_exactly(build: Build, method: str) -> None:
    """Empty cells, cells of one row and of equal rows. The least scale is 140 at epsilon 1: noise of 0 has chance below
    1/280, and four times in a row below 1e-10."""
    house = build()
    exact = [21000, 5000, 0, 9000, 0, 0, 70, 0, 0]
    releases = [
        house.release(method=method, membership_public=True, epsilon=epsilon) for epsilon in ("1", "0.9", "0.8", "0.7")
    ]
    for place, value in enumerate(exact):
        assert any(table.cells[place].value != value for table in releases)


def test_each_cell_gets_the_noise_of_its_own_scale() -> None:
    """Noise of scale 1 beyond 60 has chance below e**-59; of scale 10**12 within 60, below 1e-10."""
    drawn = _add_noise([0, 0, 0], [1, 10**12, 1], epsilon=Decimal(1))
    assert [abs(value) > 60 for value in drawn] == [False, True, False]


def test_margins_are_sums_of_cells(build: Build) -> None:
    table = build().release()
    cells = {entry.codes: entry.value for entry in table.cells}
    assert len(cells) == 9
    for entry in table.margins:
        kept = [place for place in range(2) if place not in entry.over]
        parts = [value for codes, value in cells.items() if all(codes[at] == entry.codes[at] for at in kept)]
        assert entry.value == sum(parts)
    assert [entry.over for entry in table.margins] == [(1,)] * 3 + [(0,)] * 3 + [(0, 1)]


def test_the_same_question_returns_the_stored_table(build: Build) -> None:
    house = build()
    first = house.release()
    house.session.add_analyst("bob")
    again = house.release(analyst="bob")
    assert [entry.value for entry in again.cells] == [entry.value for entry in first.cells]
    assert again.replayed is True
    assert house.markers() == 1
    other = house.release(epsilon="2")
    assert other.replayed is False
    assert house.markers() == 2
    logged = list_releases(house.session.workspace, population="farms")
    assert (len(logged.entries), logged.to_dict()["nominal_epsilon"]) == (2, "3")
    assert list_releases(house.session.workspace, population="others").sentences() == []


def test_a_request_id_names_one_question(build: Build) -> None:
    house = build()
    house.release(request_id="same")
    house.release(request_id="same")
    with pytest.raises(RequestConflict, match="another bootstrap table"):
        house.release(request_id="same", epsilon="2")
    assert house.markers() == 1


def test_without_the_opt_in_nothing_happens(build: Build) -> None:
    house = build(allow=False)
    with pytest.raises(Refused, match=r"allow: \[bootstrap\]"):
        house.release()
    assert house.markers() == 0
    assert bootstrap_log(house.session.workspace) == []


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"epsilon": "-1"}, ParameterInvalid),
        ({"epsilon": "1e9"}, ParameterInvalid),
        ({"epsilon": "3.000000001"}, ParameterInvalid),
        ({"epsilon": "nan"}, ParameterInvalid),
        ({"method": "iv"}, ParameterInvalid),
        ({"method": "iii"}, QueryRefused),
        ({"analyst": "nobody"}, UnknownName),
    ],
)
def test_bad_requests_leave_no_mark(build: Build, given: dict[str, str], fault: type[Exception]) -> None:
    house = build()
    with pytest.raises(fault):
        house.release(**given)
    assert house.markers() == 0


def test_units_of_several_rows_are_refused(build: Build) -> None:
    house = build(rows=2)
    with pytest.raises(QueryRefused, match="one row for one unit"):
        house.release()


def test_means_are_refused(build: Build) -> None:
    house = build()
    with pytest.raises(QueryRefused, match="a mean is two tables"):
        house.release(house.form(mean=True))


def test_noise_that_cannot_be_drawn_is_refused_by_public_bounds(build: Build) -> None:
    house = build(high=1_000_000_000)
    with pytest.raises(ParameterInvalid, match="scale"):
        house.release(epsilon="0.000000001", method="ii")
    assert house.markers() == 0


def test_public_membership_by_card_or_by_statement(build: Build) -> None:
    by_card = build(public=True)
    by_card.release(method="iii")
    assert bootstrap_log(by_card.session.workspace)[0].membership == "public in the card"
    hidden = by_card.form("variety", where="output > 5")
    with pytest.raises(QueryRefused, match="public cell membership"):
        by_card.release(hidden, method="iii")
    stated = build()
    table = stated.release(method="iii", membership_public=True)
    assert table.to_dict()["bootstrap"]["membership"] == "declared public by the custodian"


def test_counts_with_public_membership_are_refused(build: Build) -> None:
    house = build(public=True)
    with pytest.raises(QueryRefused, match="the counts are known too"):
        house.release(house.form(value=None), method="iii")
    table = house.release(house.form(value=None))
    assert isinstance(table.cells[0].value, int)


def test_a_failure_after_the_marker_is_told_in_fixed_words(build: Build) -> None:
    house = build()
    with pytest.raises(Refused) as raised:
        house.release(engine=Broken())
    assert "9000" not in raised.value.message
    assert raised.value.__cause__ is None
    assert "suspended" in raised.value.message
    assert house.markers() == 1
    with pytest.raises(DatasetSuspended):
        house.release()
    assert bootstrap_log(house.session.workspace) == []


def test_an_engine_that_cannot_be_reached_leaves_no_mark(build: Build) -> None:
    class Unreachable(Broken):
        def prepare(self, plan: Plan) -> None:
            raise RuntimeError("password")

    house = build()
    with pytest.raises(Refused, match="cannot be reached"):
        house.release(engine=Unreachable())
    assert house.markers() == 0


def test_a_line_cut_short_never_left(build: Build) -> None:
    house = build()
    house.release()
    log = house.session.workspace.path / LOG_FILE
    whole = log.read_bytes()
    log.write_bytes(whole + whole[:40])
    assert len(bootstrap_log(house.session.workspace)) == 1
    house.release(epsilon="2")
    assert [entry.epsilon for entry in bootstrap_log(house.session.workspace)] == ["1", "2"]


def test_a_damaged_log_stops_releases(build: Build) -> None:
    house = build()
    house.release()
    log = house.session.workspace.path / LOG_FILE
    log.write_bytes(b"{}\n" + log.read_bytes())
    with pytest.raises(Refused, match="line 1"):
        house.release()
    assert house.markers() == 1


@pytest.mark.parametrize("fault", [{"epsilon": "-1"}, {"epsilon": None}, {"values": [0.5]}, {"who": None, "more": 1}])
def test_a_line_that_says_nonsense_is_damage(build: Build, fault: dict[str, object]) -> None:
    house = build()
    house.release()
    log = house.session.workspace.path / LOG_FILE
    log.write_text(json.dumps({**json.loads(log.read_text()), **fault}) + "\n")
    with pytest.raises(Refused, match="line 1"):
        bootstrap_log(house.session.workspace)


def test_one_question_asked_at_once_is_drawn_once(build: Build) -> None:
    house = build()
    script = (
        "import sys, discreet\n"
        "from discreet.lab.laboratory import Laboratory\n"
        "from discreet.tables.request import table_request\n"
        "with discreet.open(sys.argv[1]) as house:\n"
        "    request = table_request('farms', 'status,variety', value='output')\n"
        "    table = Laboratory(house).bootstrap(request, epsilon='1')\n"
        "    print([entry.value for entry in table.cells])\n"
    )
    words = [sys.executable, "-c", script, str(house.session.workspace.path)]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = {one.communicate()[0] for one in running}
    assert [one.returncode for one in running] == [0, 0, 0]
    assert len(told) == 1
    assert house.markers() == len(bootstrap_log(house.session.workspace)) == 1


def test_the_desk_asks_for_the_opt_in_before_it_reads_a_pool(build: Build) -> None:
    house = build(allow=False)
    request = TableRequest("farms", ("status",))
    with pytest.raises(Refused, match=r"allow: \[bootstrap\]"):
        Laboratory(house.session).bootstrap(request, epsilon="1", pool=house.folder / "none.csv")


def test_the_desk_takes_plain_request_ids(build: Build) -> None:
    house = build()
    with pytest.raises(ParameterInvalid, match="request id"):
        Laboratory(house.session).bootstrap(TableRequest("farms", ("status",)), epsilon="1", request_id="two\nlines")
    assert house.markers() == 0


def test_a_log_that_cannot_be_opened_stops_releases(build: Build) -> None:
    house = build()
    (house.session.workspace.path / LOG_FILE).mkdir()
    with pytest.raises(LedgerUnavailable, match=LOG_FILE):
        house.release()
    assert house.markers() == 0
    with pytest.raises(LedgerUnavailable, match=LOG_FILE):
        BootstrapLog(house.session.workspace.path).entries()
