"""Whole tables, every strategy: what one unit moves in all measurements together never costs more than is charged.

All that a unit with up to two rows can be is written out, so no pair of neighbours is missed: for Laplace noise the
sum over all measured values of |move| / scale is at most epsilon, for Gaussian noise that of move² / (2·scale²) at
most rho. Scales are those of the price, slice by slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.mechanisms.noisy_max import NoisyMax
from discreet.release.measurement.noisy_measures import slices_of
from discreet.release.measurement.pricing import Pricing
from discreet.session import Session
from discreet.sql.algebra import reduced
from discreet.tables.request import table_request
from discreet.tables.table_design import Design, _split, _widened
from tests.algebra.interpreter import Prepared, measure
from tests.algebra.populations import cut_weight

CARD = """
dataset: people
population: everyone
unit: {{column: pid, rows: {rows}}}
neighbours: {neighbours}
size: {size}
budget: {{epsilon: 10, delta: 0.000001}}
weight: {{column: weight, cap: {{by: region, values: {{0: 4, 1: 15, 2: 1}}}}}}
columns:
  pid: {{kind: id, type: integer}}
  region: {{kind: category, public: true, categories: {{0: A, 1: B, 2: C}}}}
  sick: {{kind: category, categories: {{0: 'no', 1: 'yes'}}}}
  stage: {{kind: integer, bounds: [0, 1]}}
  change: {{kind: integer, bounds: [-3, 5]}}
  cost: {{kind: integer, bounds: [2, 7]}}
  weight: {{kind: integer, bounds: [0, 20]}}
"""
SETTINGS = {
    "add-remove": ("add-remove", "private"),
    "replace-one": ("replace-one", "private"),
    "replace-one, public size": ("replace-one", "public"),
}
VALUES = {"sick": (0, 1, None), "stage": (0, 1), "change": (-3, 5, None), "cost": (2, 7), "weight": (0, 20)}
TABLES = {
    "counts": {"by": "region,sick"},
    "counts by what is confidential": {"by": "sick,stage"},
    "signed totals": {"by": "region,sick", "value": "change"},
    "totals": {"by": "sick,stage", "value": "cost"},
    "weighted counts": {"by": "region,sick", "weighted": True},
    "weighted counts, the caps' column last": {"by": "stage,sick,region", "weighted": True},
    "weighted signed totals": {"by": "sick,region", "value": "change", "weighted": True},
    "weighted means": {"by": "region,sick", "value": "change", "mean": True, "weighted": True},
    "of those who are sick": {"by": "region,stage", "value": "cost", "where": "sick = 1", "weighted": True},
}


HOUSES = [
    pytest.param((setting, rows), id=f"{setting}, rows {rows}", marks=[pytest.mark.long] if rows > 1 else [])
    for setting in SETTINGS
    for rows in (1, 2)
]


@pytest.fixture(scope="module", params=HOUSES)
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    setting, rows = request.param
    neighbours, size = SETTINGS[setting]
    folder = tmp_path_factory.mktemp("house")
    (folder / "people.csv").write_text("pid,region,sick,stage,change,cost,weight\n1,0,0,0,1,3,5\n", encoding="utf-8")
    (folder / "people.yaml").write_text(CARD.format(neighbours=neighbours, size=size, rows=rows), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with Session.create(folder / "w") as session:
            session.add(folder / "people.csv", confirm=lambda _: True)
            yield session


def designs(design: Design) -> Iterator[Design]:
    """The design with each strategy in place of the chosen one."""
    for choice in range(len(design.components[0].strategies)):
        components = tuple(replace(one, chosen=one.strategies[choice]) for one in design.components)
        gaussian = components[0].chosen.noise == "gaussian"
        whole = design.rho if gaussian else design.epsilon
        assert whole is not None
        shares = _split(whole, [one.part * measured.share for one in components for measured in one.chosen.measured])
        yield replace(
            design,
            components=components,
            statement=_widened(design.formed, components),
            rho=design.rho if gaussian else None,
            shares=shares,
        )


def states(design: Design, region: int | None) -> Iterator[list[Prepared]]:
    """Everything that a unit of a region can be, its rows in any number that counts."""
    card = design.formed.card
    asked = design.formed.request.to_sql(card)
    read = [name for name in VALUES if name in asked or name == "weight"]
    rest = {name: options[:1] for name, options in VALUES.items() if name not in read}
    options = {**{name: VALUES[name] for name in read}, **rest}
    rows = [
        cut_weight(card, {"region": region, **dict(zip(options, chosen, strict=True))})
        for chosen in product(*options.values())
    ]
    for number in range(card.unit.rows + 1):
        for some in combinations_with_replacement(rows, number):
            yield [{"pid": 1, **row, "ord": order} for order, row in enumerate(some, start=1)]


def scales(design: Design, pricing: Pricing) -> NDArray[np.float64]:
    """The scale behind every measured value, in the order of what is measured."""
    found: list[float] = []
    plan = design.statement.plan
    for asked, priced in zip(plan.measures, pricing.measures, strict=True):
        margin = reduced(plan, asked)
        key = priced.sensitivities.key
        slices = [0] * margin.cell_count if key is None else slices_of(margin, key, None)
        for place in slices:
            mechanism = priced.mechanisms[place]
            assert mechanism is not None
            assert not isinstance(mechanism, NoisyMax)
            found.append(float(mechanism.scale))
    return np.array(found)


def observe(design: Design, rows: list[Prepared]) -> list[int]:
    found = measure(design.statement.plan, {"people": rows}, design.formed.cards)
    return [value for column in found.columns for value in cast("Sequence[int]", column)]


def cost(design: Design, moves: NDArray[np.float64]) -> float:
    """The most that any of these moves, one a row, tells about a unit."""
    if design.rho is None:
        return float(np.abs(moves).sum(axis=-1).max())
    return float((moves**2).sum(axis=-1).max() / 2)


@pytest.mark.parametrize("table", TABLES)
def test_no_unit_moves_a_table_by_more_than_is_charged(house: Session, table: str) -> None:
    request = table_request("people", **TABLES[table])  # type: ignore[arg-type]
    for design in designs(house.tables.read(request, epsilon=1, noise="gaussian").design):
        pricing = design.price()
        reach = 0.0
        for region in (0, 1, 2, None):
            every = list(states(design, region))
            if design.formed.card.size == "public":
                every = [rows for rows in every if rows]
            seen = np.array([observe(design, rows) for rows in every]) / scales(design, pricing)
            if design.formed.card.neighbours == "add-remove":
                reach = max(reach, cost(design, seen))
            else:
                reach = max(reach, *(cost(design, seen - one) for one in seen))
        charged = float(design.epsilon if design.rho is None else design.rho)
        # rows that count twice, or a margin that is not paid for, would be found out
        assert charged / 2 < reach <= charged * (1 + 1e-9), design.components[0].chosen
