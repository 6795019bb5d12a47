"""Releases of every kind as the product makes them, from questions to linked counts; and one with every noun in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

import discreet
from discreet.collect.estimates.published_collection import estimate_collection
from discreet.collect.reporting.signing import read_signed
from discreet.guarantees.types import ZCDP, ApproxDP, BootstrapDP, LocalDP, PureDP, ShuffleDP, Unproven
from discreet.lab.laboratory import Laboratory
from discreet.linkage import LinkedKind, publish_answer
from discreet.results import Calibration, CalibrationTarget, Labels, Later, MeasureNoise, Noise, RankAim, Release
from discreet.session import Session
from discreet.tables.request import table_request
from tests.golden.outputs.office import make_office
from tests.releases import make_table
from tests.unit.linkage.noisy_answers import make_agreement, make_answer
from tests.unit.results.test_notes import EXAMPLES
from tests.workspaces import fill

__all__ = ["GUARANTEES", "RELEASES", "SLICES", "make_full", "names_in", "open_office"]

Make = Callable[[Session, Path], Release]


def _query(sql: str, epsilon: str = "0.1", **more: Any) -> Make:
    return lambda house, _: house.query(sql, epsilon=epsilon, **more)


def _table(dataset: str, by: str, epsilon: str = "0.5", read: Mapping[str, Any] | None = None, **asked: Any) -> Make:
    def make(house: Session, _: Path) -> Release:
        return house.tables.release(
            house.tables.read(table_request(dataset, by, **asked), epsilon=epsilon, **(read or {}))
        )

    return make


def _replay(house: Session, _: Path) -> Release:
    for _turn in range(2):
        again = house.query("SELECT COUNT(*) AS n FROM clinic", epsilon="0.1", request_id="twice")
    return again


def _workload(house: Session, folder: Path) -> Release:
    return house.run(folder / "shared.yaml", epsilon="0.3")


def _unproven(house: Session, _: Path) -> Release:
    return Laboratory(house).ask_unproven("SELECT AVG(output) AS mean FROM farms", strategy="local", epsilon=1)


def _bootstrap(house: Session, _: Path) -> Release:
    return Laboratory(house).bootstrap(table_request("farms", "status", value="output"), epsilon=1)


def _collection(*by: str) -> Make:
    def make(_: Session, folder: Path) -> Release:
        signed = read_signed(folder / "survey.json", trust=folder / "survey.key.pub")
        return estimate_collection(signed, folder / "reports.jsonl", by=by)

    return make


def _linked_count(_: Session, __: Path) -> Release:
    agreement = make_agreement()
    return publish_answer(agreement, make_answer(agreement, [[412]], kind=LinkedKind.COUNT))


def _linked_groups(_: Session, __: Path) -> Release:
    agreement = make_agreement(
        linked_share="linked_share: 0.8", title="title: {en: Care in French, fr: Soins en français}"
    )
    cells = [[400, 1_200], [150, 300], [20, -4]]
    found = make_answer(agreement, cells, scale=10, groups=("none", "some", "=many"), rates=["0.5", "1", "1"])
    return publish_answer(agreement, found, population_share="0.2", population=10_000)


RELEASES: Final[Mapping[str, Make]] = {
    "grouped": _query("SELECT town, COUNT(*) AS people FROM clinic GROUP BY town"),
    "key not shown": _query("SELECT COUNT(*) AS people FROM clinic GROUP BY town"),
    "means": _query("SELECT smokes, AVG(age) AS age, MEDIAN(age) AS middle FROM clinic GROUP BY smokes", "0.5"),
    "one figure": _query("SELECT COUNT(*) AS n FROM clinic WHERE age >= 65", level="0.9"),
    "weighted": _query("SELECT town, SUM(weight) AS people, WAVG(age) AS age FROM clinic GROUP BY town"),
    "open keys": _query("SELECT reason, COUNT(*) AS n FROM visits GROUP BY reason", "1.2", delta="1e-7"),
    "keys alone": _query("SELECT town FROM clinic GROUP BY town HAVING COUNT(*) > 10"),
    "extremes": _query("SELECT MAX(cost) AS most, SUM(cost) AS total FROM visits"),
    "bounds not found": _query("SELECT SUM(income) AS income FROM clinic", "0.01"),
    "read from rows": _query("SELECT SUM(gain) AS gain FROM clinic"),
    "joined": _query("SELECT region, SUM(weight) AS people FROM clinic JOIN towns USING (town) GROUP BY region"),
    "nothing charged": _query("SELECT COUNT(*) AS farms FROM farms"),
    "given again": _replay,
    "many cells": _query("SELECT age, weight, COUNT(*) AS n, AVG(gain) AS gain FROM clinic GROUP BY age, weight"),
    "table": _table("clinic", "town,smokes"),
    "calibrated table": _table("clinic", "town,smokes", weighted=True, read={"calibrate": ["card"]}),
    "table of means": _table("clinic", "town", value="age", mean=True),
    "table of totals": _table("clinic", "town,age", value="age", where="smokes = '1'"),
    "table of cost": _table("visits", "ward", "0.1", value="cost", read={"noise": "gaussian"}),
    "suppressed table": _table(
        "clinic", "town,smokes", "0.2", leave_out={"town": ["S"]}, no_missing=True, read={"suppress_above": "0.1"}
    ),
    "workload": _workload,
    "unproven": _unproven,
    "bootstrap": _bootstrap,
    "collection": _collection(),
    "collection by town": _collection("town"),
    "linked count": _linked_count,
    "linked groups": _linked_groups,
}
"""How each is made, by a name that tests have for it."""


@contextmanager
def open_office(folder: Path) -> Iterator[tuple[Session, Path]]:
    """A workspace with budgets for all of them, and the folder in which it lies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_KEYS", str(folder / "keys"))
        patch.setenv("DISCREET_ANALYST", "ana")
        with discreet.open(fill(folder, "golden outputs", make_office)) as house:
            yield house, folder


# --- with every noun --------------------------------------------------------------------------------------------------

AIM = RankAim(100, 7, Decimal("0.95"), 3, "below")
SLICES = [Noise("laplace", {"scale": "1/3"}, {"sensitivity": "2"}, "as derived", AIM, cell) for cell in ("a", 1, None)]
CALIBRATION = Calibration(
    (CalibrationTarget("register", ("a",), Labels("Register", "Registre")), CalibrationTarget("census", ())),
    ({"a": "a1"}, {"a": None}),
    (("register", {"a": 2.5}),),
)
GUARANTEES = (
    PureDP(epsilon="0.5"),
    ZCDP(rho="0.005", delta="1e-9"),
    ApproxDP(epsilon=1, delta="1e-7"),
    LocalDP(epsilon=1),
    ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=2, anonymity=100),
    ShuffleDP(epsilon=1, delta="1e-6", local_epsilon=None, anonymity=1),
    BootstrapDP(epsilon=1),
    Unproven("nobody has shown what it hides"),
)


def make_full() -> Release:
    """With every note, and with what few releases have."""
    return replace(
        make_table({"a": ["x", "y"], "b": 2}, lambda places: places[0] / 3),
        notes=EXAMPLES,
        calibration=CALIBRATION,
        mechanisms=Later(lambda: (MeasureNoise("COUNT(*)", SLICES, {"epsilon": "1"}, "1/2", "a", "laplace"),)),
        asked={"by": ("a", "b"), "deep": [{"is": "Release", "of": [()]}], "none": None, "share": 0.1, "yes": True},
    )


def names_in(value: object) -> Iterator[str]:
    """The names of all records in a message."""
    if isinstance(value, dict):
        yield from [value["is"]] if value.get("is") not in (None, "tuple", "mapping") else []
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from names_in(item)
