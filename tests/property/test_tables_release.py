"""Whatever the exact cells are and whatever noise is drawn, a published table adds up and says so in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engines.cell_order import take_margin
from discreet.engines.engine import Measured
from discreet.release.measurement.noisy_measures import Noisy, draw
from discreet.release.stored_answer import Answer
from discreet.results import Amount, Charged, Figure, Quality, Release
from discreet.sql.algebra import Marginal, Residual
from discreet.tables.table_design import Design
from discreet.tables.table_reading import read_table
from tests.releases import LEFT
from tests.unit.tables.office import WITH_DELTA, Office, open_office

TABLES: dict[str, dict[str, Any]] = {
    "counts": {"by": "region,smokes,age"},
    "counts of one key": {"by": "smokes"},
    "counts with some margins": {"by": "region,smokes,grade", "margins": ["total", "smokes,grade"]},
    "weighted counts": {"by": "smokes,region", "weighted": True},
    "totals": {"by": "region,age", "value": "height"},
    "weighted signed totals": {"by": "smokes,region", "value": "change", "weighted": True},
    "means": {"by": "region,smokes", "value": "height", "mean": True},
}


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with open_office(folder, WITH_DELTA) as opened:
            yield opened


def dress(office: Office, design: Design, noisy: Noisy) -> Answer:
    """An answer as it would be stored, without a charge."""
    return Answer(
        statement=design.statement,
        cards=design.formed.cards,
        versions={"people": 1},
        noisy=Noisy.from_bytes(noisy.to_bytes()),
        level=Decimal("0.95"),
        settlement=Charged(Amount(Decimal(1)), LEFT, replayed=False),
        request_id="one",
    )


def exact_cells(design: Design, data: st.DataObject) -> Measured:
    """Cells of any size for each measure of the table, and the margins that follow from them."""
    plan, columns = design.statement.plan, []
    cells = {}
    for measure in plan.measures:
        of = measure.of if isinstance(measure, Marginal | Residual) else measure
        if of not in cells:
            signed = "change" in repr(of) or design.formed.mean is not None
            numbers = st.one_of(st.just(0), st.integers(-50 if signed else 0, 50), st.integers(0, 10**9))
            count = design.formed.plan.cell_count
            cells[of] = data.draw(st.lists(numbers, min_size=count, max_size=count))
        columns.append(take_margin(plan, measure, cells[of]))
    return Measured(tuple(columns))


def inside(table: Release, margin: Figure) -> list[Figure]:
    return [
        cell
        for cell in table.cells
        if all(place in margin.over or cell.codes[place] == code for place, code in enumerate(margin.codes))
    ]


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("case", TABLES)
@settings(max_examples=8)
@given(data=st.data())
def test_published_tables_add_up(office: Office, case: str, noise: str, data: st.DataObject) -> None:
    options = dict(TABLES[case])
    epsilon = data.draw(st.sampled_from(["0.01", "0.3", "4"]))
    design = office.design(options.pop("by"), noise=noise, epsilon=epsilon, **options)
    noisy = draw(design.statement.plan, design.price(), exact_cells(design, data))
    table = read_table(design, dress(office, design, noisy), level=Decimal("0.95"))
    mean, signed = options.get("mean", False), options.get("value") == "change"
    step = Decimal(table.statistic.step or "1")
    for entry in table.entries():
        if mean and entry.quality is Quality.TOO_SMALL:
            assert entry.value is entry.raw is entry.low is entry.high is None
            continue
        assert entry.value is not None
        assert entry.low is not None
        assert entry.high is not None
        assert entry.low <= entry.high
        if mean:
            assert 1.0 <= entry.low <= entry.value <= entry.high <= 2.5
            continue
        assert signed or (entry.value >= 0 and entry.low >= 0)
        assert (Decimal(str(entry.value)) / step) % 1 == 0
        assert isinstance(entry.value, int) == (step == 1)
    if not mean:
        for margin in table.margins:
            steps = [round(Decimal(str(entry.value)) / step) for entry in (margin, *inside(table, margin))]
            assert steps[0] == sum(steps[1:])
            raws = [float(entry.raw or 0) for entry in (margin, *inside(table, margin))]
            assert raws[0] == pytest.approx(sum(raws[1:]), rel=1e-6, abs=1e-3)
    told = json.loads(json.dumps(table.to_dict("fr"), allow_nan=False))
    assert len(told["cells"]) == len(table.cells)
    for margin in told["margins"]:
        assert all(margin["keys"][name] is None for name in margin["over"])
