"""Linked counts, exactly: every answer of an adaptive strategy, in two worlds that differ in one person.

An answer below all counts, or above them, has a likelihood ratio of exactly e^(difference/scale) or its inverse, and
none has a larger one. So an adversary who sees for every cell which side its answer lies on reaches the worst case, and
the worst transcript is found by trying both. All arithmetic is of fractions.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from discreet.linkage.accounts import Accounts
from discreet.linkage.tariff import LinkedKind, Tariff

TARIFF = Tariff.of(scales=(3, 6), prior="0.5", epsilon="0.67")
E_TOTAL = TARIFF.spent(TARIFF.cap)
"""What an account holds: four parts of six."""

Value = int | None
"""A person's property; None where the registry has no row."""


@dataclass(frozen=True)
class Asked:
    """A request as the adversary words it: who is drawn, into which of two groups of values, at what scale."""

    drawn: tuple[int, ...]
    cells: tuple[frozenset[Value], ...]
    scale: int

    @property
    def kind(self) -> LinkedKind:
        return LinkedKind.COUNT if len(self.cells) == 1 else LinkedKind.HISTOGRAM


@dataclass
class World:
    """A registry: values of people, the unit that each belongs to, and accounts."""

    values: Sequence[Value]
    units: Sequence[int]
    accounts: Accounts
    charge: Callable[[Asked], int]

    def count(self, asked: Asked) -> list[int]:
        """The exact cells of those who are counted; who is not is left out."""
        units = sorted({self.units[person] for person in asked.drawn})
        members = [sum(self.units[person] == unit for person in asked.drawn) for unit in units]
        room = self.accounts.charge(np.array(units, dtype=np.int64), self.charge(asked), members=np.array(members))
        counted = {unit for unit, has in zip(units, room, strict=True) if has}
        return [
            sum(self.values[person] in cell for person in asked.drawn if self.units[person] in counted)
            for cell in asked.cells
        ]


def right_charge(asked: Asked) -> int:
    return TARIFF.charge(asked.kind, asked.scale, cells=max(len(asked.cells), 1))


Strategy = Callable[[tuple[int, ...]], tuple[Asked, Asked]]
"""The request that follows what was seen; as it is drawn in the one world and in the other."""


def worst(strategy: Strategy, one: World, other: World, depth: int, seen: tuple[int, ...] = ()) -> Fraction:
    """The largest log-likelihood ratio of any transcript from here on."""
    if depth == 0:
        return Fraction(0)
    asked = strategy(seen)
    after = copy.deepcopy(one.accounts), copy.deepcopy(other.accounts)
    worlds = [
        World(world.values, world.units, accounts, world.charge)
        for world, accounts in zip((one, other), after, strict=True)
    ]
    counts = [world.count(request) for world, request in zip(worlds, asked, strict=True)]
    apart = [Fraction(mine - yours, asked[0].scale) for mine, yours in zip(*counts, strict=True)]
    return max(
        sum((side * gap for side, gap in zip(sides, apart, strict=True)), Fraction(0))
        + worst(strategy, worlds[0], worlds[1], depth - 1, (*seen, *sides))
        for sides in product((1, -1), repeat=len(apart))
    )


def random_strategy(number: int, people: int, *, histograms: bool) -> Strategy:
    def ask(seen: tuple[int, ...]) -> tuple[Asked, Asked]:
        random = Random(f"{number} {seen}")
        drawn = tuple(person for person in range(people) if random.random() < 0.8)
        cells: tuple[frozenset[Value], ...] = (frozenset({1}),)
        if histograms and random.random() < 0.6:
            cells = (frozenset({0}), frozenset({1}))
        elif random.random() < 0.3:
            cells = (frozenset({None}),)
        request = Asked(drawn, cells, random.choice((3, 6)))
        return request, request

    return ask


def property_loss(number: int, units: Sequence[int], charge: Callable[[Asked], int], *, depth: int = 4) -> Fraction:
    """Two worlds in which the people of unit 0 have other values, or none."""
    random = Random(f"values {number}")
    values: list[Value] = [random.choice((0, 1, None)) for _ in units]
    changed = [random.choice((0, 1, None)) if unit == 0 else value for unit, value in zip(units, values, strict=True)]
    accounts = Accounts(max(units) + 1, cap=TARIFF.cap)
    one, other = (World(held, units, copy.deepcopy(accounts), charge) for held in (values, changed))
    return worst(random_strategy(number, len(units), histograms=True), one, other, depth)


@pytest.mark.parametrize("units", [(0, 1, 2), (0, 0, 1)], ids=["people", "households"])
def test_a_property_costs_what_its_account_holds_and_that_is_reached(units: tuple[int, ...]) -> None:
    losses = [property_loss(number, units, right_charge) for number in range(150)]
    assert max(losses) == E_TOTAL


def test_a_charge_too_small_is_found() -> None:
    def by_member_not_by_cell(asked: Asked) -> int:
        return TARIFF.charge(LinkedKind.COUNT, asked.scale)

    assert max(property_loss(number, (0, 0, 1), by_member_not_by_cell) for number in range(60)) > E_TOTAL


def test_a_household_that_pays_once_is_found() -> None:
    class PaysOnce(World):
        def count(self, asked: Asked) -> list[int]:
            units = sorted({self.units[person] for person in asked.drawn})
            room = self.accounts.charge(np.array(units, dtype=np.int64), self.charge(asked))
            counted = {unit for unit, has in zip(units, room, strict=True) if has}
            return [
                sum(self.values[p] in cell for p in asked.drawn if self.units[p] in counted) for cell in asked.cells
            ]

    both = Asked((0, 1), (frozenset({1}),), 3)
    accounts = Accounts(1, cap=TARIFF.cap)
    one, other = (PaysOnce(values, (0, 0), copy.deepcopy(accounts), right_charge) for values in ((1, 1), (0, 0)))
    counted = [one.count(both), other.count(both)]
    assert Fraction(counted[0][0] - counted[1][0], 3) == Fraction(2, 3)
    assert one.accounts.counters.tolist() == [2], "so it could be asked again, for as much"


def drawn_by(criteria: int, records: Sequence[int], scale: int = 3) -> Asked:
    """Those whose health record meets the criteria; everybody has the property, as the researcher may know."""
    return Asked(tuple(i for i, record in enumerate(records) if record == criteria), (frozenset({1}),), scale)


def health_loss(strategy: Callable[[tuple[int, ...]], int], depth: int) -> Fraction:
    """Two worlds in which person 0 has record 1 and record 2; the researcher chooses criteria by what was seen."""
    worlds = [World((1, 1, 1), (0, 1, 2), Accounts(3, cap=TARIFF.cap), right_charge) for _ in range(2)]
    records = (1, 0, 2), (2, 0, 2)

    def ask(seen: tuple[int, ...]) -> tuple[Asked, Asked]:
        return drawn_by(strategy(seen), records[0]), drawn_by(strategy(seen), records[1])

    return worst(ask, worlds[0], worlds[1], depth)


def test_a_health_record_costs_the_researcher_twice_that_and_no_more() -> None:
    def by_chance(number: int) -> Callable[[tuple[int, ...]], int]:
        return lambda seen: Random(f"{number} {seen}").randrange(3)

    assert max(health_loss(by_chance(number), 5) for number in range(150)) <= 2 * E_TOTAL
    first_one_then_the_other = health_loss(lambda seen: 1 if len(seen) < 2 else 2, 4)
    assert first_one_then_the_other == 2 * E_TOTAL


def test_refusing_would_tell_a_health_record_for_certain() -> None:
    """Exhaust her with criteria that she meets in both worlds, then ask for one record: refused if it is hers."""
    refused = []
    for record in (1, 2):
        accounts = Accounts(3, cap=TARIFF.cap)
        while accounts.charge(np.array([0]), TARIFF.charge(LinkedKind.COUNT, 3))[0]:
            pass
        sample = np.array([person for person, held in enumerate((record, 0, 2)) if held == 1], dtype=np.int64)
        refused.append(not accounts.charge(sample, TARIFF.charge(LinkedKind.COUNT, 3)).all())
    assert refused == [True, False]


def closing_chances(worn: Sequence[int], *, threshold: int, draws: float, check: float) -> list[float]:
    """The chance that the service closes at each step, and at none, for these numbers of exhausted units."""
    noise = np.arange(-600, 601)
    law = np.exp(-np.abs(noise) / check)
    at_least = np.append(np.cumsum((law / law.sum())[::-1])[::-1], 0.0)
    start = np.exp(-np.abs(noise) / draws)
    still, chances = start / start.sum(), []
    for number in worn:
        above = at_least[np.clip(threshold + noise - number + 600, 0, 1201)]
        chances.append(float((still * above).sum()))
        still = still * (1 - above)
    return [*chances, float(still.sum())]


def closing_loss(number: int, *, epsilon: float, check: float) -> float:
    """Two worlds in which one unit is exhausted at another time, or never."""
    random = Random(f"closing {number}")
    worn = sorted(random.randrange(12) for _ in range(6))
    joins = random.randrange(7)
    other = [count + (step >= joins) for step, count in enumerate(worn)]
    pairs = zip(
        *(closing_chances(item, threshold=8, draws=2 / epsilon, check=check) for item in (worn, other)), strict=True
    )
    return max(abs(math.log(one / two)) for one, two in pairs if min(one, two) > 1e-12)


def test_when_a_service_closes_costs_no_more_than_was_set_aside_for_it() -> None:
    assert max(closing_loss(number, epsilon=0.5, check=4 / 0.5) for number in range(200)) <= 0.5 + 1e-9
    assert max(closing_loss(number, epsilon=0.5, check=0.5 / 0.5) for number in range(200)) > 0.5


@dataclass
class Replaying:
    """A registry that gives a stored answer again: to the same draw, or, wrongly, to the same people."""

    by_people: bool
    kept: dict[object, int]

    def answer(self, draw: str, people: frozenset[int], noise: Iterator[int]) -> int:
        key: object = people if self.by_people else draw
        if key not in self.kept:
            self.kept[key] = len(people) + next(noise)
        return self.kept[key]


@pytest.mark.parametrize("by_people", [False, True])
def test_a_replay_by_people_would_tell_a_record_for_certain(by_people: bool) -> None:
    """Ask for {y}, then for {y and x if she has it}: by people, other bits are possible in one world alone."""
    differs = {}
    for has in (True, False):
        second = frozenset({1, 2}) if has else frozenset({1})
        found = set()
        for first, other in product(range(-2, 3), repeat=2):
            registry = Replaying(by_people, {})
            noise = iter((first, other))
            found.add(registry.answer("a", frozenset({1}), noise) != registry.answer("b", second, noise))
            again = registry.answer("a", frozenset({1}), noise)
            assert again == registry.answer("a", frozenset({1}), noise), "the same draw is the same answer"
        differs[has] = found
    assert (differs[False] == {False}) is by_people, "equal answers for sure, and so a ratio without bound"
    assert differs[True] == {True, False}
