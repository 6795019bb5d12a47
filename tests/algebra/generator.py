"""Random plans over random populations, valid by construction and covering every node.

Everything is drawn from the `random.Random` that is given, so a seed names a case. The calculus may still refuse a
plan (a product that could overflow, a sum without bounds): `random_plan` then draws another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Final, get_args

from discreet.cards.card import ColumnKind
from discreet.errors import QueryRefused
from discreet.sql import algebra
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Derive,
    Extreme,
    Field,
    Filter,
    Greatest,
    Identity,
    IsNull,
    Join,
    Key,
    Largest,
    Least,
    Lookup,
    Marginal,
    Measure,
    Not,
    Nothing,
    OneOf,
    Or,
    PerUnit,
    Plan,
    Plus,
    Quantile,
    Relation,
    Residual,
    Rows,
    Scan,
    Smallest,
    Tally,
    TextIn,
    Times,
    Total,
    UnitAggregate,
    Units,
    UnitTotal,
    Value,
    Whole,
    Within,
    walk,
)
from discreet.sql.calculus import Facts, ends_of, facts_of, span_of
from discreet.sql.key_cells import close_keys
from discreet.sql.sensitivity import sensitivities
from tests.algebra.populations import TEXTS, Cards, Table, random_cards, random_tables

__all__ = ["EVERY_NODE", "Example", "nodes_in", "random_example", "random_plan"]

_COMPARED: Final = {"KeyJoin", "Trimmed"}
"""Read for comparisons of strategies alone: the calculus refuses them, so there is no bound to attack."""

EVERY_NODE: Final = (
    frozenset(
        node.__name__
        for family in ("Value", "Condition", "Relation", "UnitAggregate", "Measure")
        for node in get_args(getattr(algebra, family))
    )
    | {"Key", "Plan"}
) - _COMPARED
"""The names of all node classes that are answered: what generated plans must cover."""

MOST_ROWS: Final = 30
WIDEST_KEY: Final = 12


@dataclass(frozen=True, slots=True)
class Example:
    """A population, its rows, and a question that the calculus accepts."""

    seed: int
    cards: Cards
    tables: Mapping[str, Table]
    plan: Plan


def random_example(seed: int, *, depth: int = 4, units: int = 5) -> Example:
    """The case that a seed names."""
    random = Random(seed)
    cards = random_cards(random)
    plan = random_plan(random, cards, depth=depth)
    return Example(seed, cards, random_tables(random, cards, units=units), plan)


def random_plan(random: Random, cards: Cards, *, depth: int = 4) -> Plan:
    """A question of relations nested up to `depth`, with up to two keys and three measures."""
    while True:
        try:
            plan = _Writer(random, cards).plan(random.randint(0, depth))
            for measure in plan.measures:
                sensitivities(plan, measure, cards)
        except QueryRefused:
            continue
        return plan


def nodes_in(plan: Plan) -> frozenset[str]:
    """The names of the node classes that a plan uses."""
    return frozenset(type(node).__name__ for node in walk(plan))


class _Writer:
    """Draws well-typed parts of a plan. Identities are drawn as well: nothing may rest on their order."""

    def __init__(self, random: Random, cards: Cards) -> None:
        self.random = random
        self.cards = cards
        self.taken: set[Identity] = set()
        self.texts: set[Identity] = set()

    def plan(self, depth: int) -> Plan:
        source = self.relation(depth)
        facts = facts_of(source, self.cards)
        count = min(len(facts.spans), self.random.choice((0, 0, 1, 1, 1, 2)))
        whole = [self.key(column, facts) for column in self.random.sample(sorted(facts.spans), count)]
        source, keys = close_keys(source, whole, self.cards)
        if any(key.cells == () for key in keys):
            raise QueryRefused("nothing is left of a key")
        measures = dict.fromkeys(self.margin(keys, self.measure(facts)) for _ in range(self.random.choice((1, 2, 3))))
        return Plan(source, keys, tuple(measures))

    def margin(self, keys: tuple[Key, ...], measure: Measure) -> Measure:
        """The measure itself, or a margin of it, or the residual of one."""
        closed = all(key.cells is not None for key in keys)
        if not closed or not isinstance(measure, Rows | Total) or self.random.random() < 0.4:
            return measure
        kept = tuple(place for place in range(len(keys)) if self.random.random() < 0.6)
        if self.random.random() < 0.4:
            return Marginal(measure, kept)
        return Residual(measure, kept, tuple(place for place in kept if self.random.random() < 0.3))

    def key(self, column: Identity, facts: Facts) -> Key:
        """Closed where few values are possible, open for texts and wide numbers."""
        span = facts.spans[column]
        if column in self.texts:
            return Key(Field(column), None)
        if span.low is None or span.high is None:
            return Key(Field(column), (None,))
        if span.high - span.low > WIDEST_KEY:
            return Key(Field(column), None)
        return Key(Field(column), (*range(span.low, span.high + 1), *((None,) if span.nullable else ())))

    def measure(self, facts: Facts) -> Measure:
        draw: tuple[Callable[[], Measure], ...] = (
            lambda: Rows(None),
            lambda: Rows(self.countable(facts)),
            Units,
            lambda: Total(self.value(facts)),
            lambda: Total(self.value(facts)),
            lambda: self.quantile(facts),
            lambda: self.extreme(facts),
        )
        return self.random.choice(draw)()

    def quantile(self, facts: Facts) -> Measure:
        value = self.value(facts)
        rank = self.random.choice((Fraction(1, 2), Fraction(1, 10), Fraction(3, 4)))
        return Quantile(value, rank, self.candidates(value, facts))

    def extreme(self, facts: Facts) -> Measure:
        value = self.value(facts)
        return Extreme(value, self.random.random() < 0.5, self.candidates(value, facts))

    def candidates(self, value: Value, facts: Facts) -> tuple[int, int] | None:
        """None, all that is possible, or a part of it."""
        span = span_of(value, facts)
        if self.random.random() < 0.3:
            return None
        if self.random.random() < 0.4:
            return ends_of(span)
        low, high = sorted(self.random.choices(self.near(value, facts), k=2))
        return low, high

    def countable(self, facts: Facts) -> Value:
        texts = sorted(self.texts & facts.spans.keys())
        return Field(self.random.choice(texts)) if texts and self.random.random() < 0.3 else self.value(facts)

    def fresh(self) -> Identity:
        """An identity that no column has."""
        drawn = Identity(self.random.randrange(10**4))
        while drawn in self.taken:
            drawn = Identity(self.random.randrange(10**4))
        self.taken.add(drawn)
        return drawn

    # --- relations

    def relation(self, depth: int) -> Relation:
        if depth == 0:
            return self.scan(self.random.choice(sorted(self.cards)))
        draw = self.random.choice((self.filter, self.filter, self.derive, self.per_unit, self.join, self.lookup))
        return draw(depth - 1)

    def scan(self, dataset: str) -> Scan:
        card = self.cards[dataset]
        listed = [column for column in card.columns if column.kind is not ColumnKind.ID]
        columns = tuple((self.fresh(), column.name) for column in listed)
        pairs = zip(columns, listed, strict=True)
        self.texts |= {identity for (identity, _), column in pairs if column.kind is ColumnKind.TEXT}
        return Scan(dataset, self.random.randint(1, card.unit.rows), columns)

    def filter(self, depth: int) -> Relation:
        source = self.relation(depth)
        return Filter(source, self.condition(facts_of(source, self.cards)))

    def derive(self, depth: int) -> Relation:
        """Some columns as they are, some copied, and new ones."""
        source = self.relation(depth)
        facts = facts_of(source, self.cards)
        columns: list[tuple[Identity, Value]] = []
        for column in facts.spans:
            if self.random.random() < 0.4:
                columns.append((column, Field(column)))
            if self.random.random() < 0.3:
                columns.append((self.fresh(), Field(column)))
        self.texts |= {new for new, value in columns if isinstance(value, Field) and value.column in self.texts}
        made = ((self.fresh(), self.value(facts)) for _ in range(self.random.randint(1, 3)))
        return Derive(source, (*columns, *made))

    def per_unit(self, depth: int) -> Relation:
        source = self.relation(depth)
        facts = facts_of(source, self.cards)
        return PerUnit(source, tuple((self.fresh(), self.aggregate(facts)) for _ in range(self.random.randint(1, 3))))

    def aggregate(self, facts: Facts) -> UnitAggregate:
        draw: tuple[Callable[[], UnitAggregate], ...] = (
            lambda: Tally(None),
            lambda: Tally(self.countable(facts)),
            lambda: UnitTotal(self.value(facts)),
            lambda: Smallest(self.value(facts)),
            lambda: Largest(self.value(facts)),
        )
        return self.random.choice(draw)()

    def join(self, depth: int) -> Relation:
        left, right = self.relation(depth), self.relation(self.random.randint(0, depth))
        facts, others = facts_of(left, self.cards), facts_of(right, self.cards)
        if facts.rows * others.rows > MOST_ROWS:
            right = PerUnit(right, ((self.fresh(), self.aggregate(others)),))
        return Join(left, right)

    def lookup(self, depth: int) -> Relation:
        source = self.relation(depth)
        facts = facts_of(source, self.cards)
        key = self.value(facts) if self.random.random() < 0.3 else self.field(facts)
        columns = tuple(self.fresh() for _ in range(self.random.randint(1, 2)))
        near = self.near(key, facts)
        keys = self.random.sample(near, self.random.randint(1, len(near)))
        worth = (None, -4, 0, 1, 9, 10**6)
        return Lookup(source, key, columns, tuple((at, *self.random.choices(worth, k=len(columns))) for at in keys))

    # --- values

    def field(self, facts: Facts) -> Value:
        columns = sorted(facts.spans.keys() - self.texts)
        return Field(self.random.choice(columns)) if columns else Whole(1)

    def value(self, facts: Facts, depth: int = 2) -> Value:
        if depth == 0 or self.random.random() < 0.4:
            return self.field(facts) if self.random.random() < 0.85 else self.constant()
        sort = self.random.choice((Plus, Times, Absolute, Clamp, Least, Greatest, Coalesce, Case))
        return self.made(sort, facts, depth - 1)

    def constant(self) -> Value:
        return Nothing() if self.random.random() < 0.1 else Whole(self.random.choice((-3, -1, 0, 1, 2, 10, 1000)))

    def made(self, sort: type, facts: Facts, depth: int) -> Value:
        one, two, three = (self.value(facts, depth) for _ in range(3))
        low = self.random.choice((-5, -1, 0, 2))
        if sort is Times:
            return Times(one, two)
        if sort is Absolute:
            return Absolute(one)
        if sort is Clamp:
            return Clamp(one, low, low + self.random.choice((0, 1, 8)))
        if sort is Case:
            branch = (self.condition(facts, depth), one)
            return Case((branch, (self.condition(facts, depth), two)) if low < 0 else (branch,), three)
        built: Value = sort((one, two) if low < 0 else (one, two, three))
        return built

    # --- conditions

    def condition(self, facts: Facts, depth: int = 2) -> Condition:
        sort = self.random.choice((OneOf, OneOf, Within, Within, TextIn, IsNull, Not, And, Or))
        if sort in {Not, And, Or} and depth > 0:
            return self.combined(sort, facts, depth - 1)
        texts = sorted(self.texts & facts.spans.keys())
        if sort is TextIn and texts:
            found = self.random.sample(TEXTS, self.random.randint(1, 6))
            return TextIn(Field(self.random.choice(texts)), tuple(sorted(found)))
        value = self.field(facts) if self.random.random() < 0.7 else self.value(facts, min(depth, 1))
        if sort is IsNull:
            return IsNull(Field(self.random.choice(texts)) if texts and self.random.random() < 0.3 else value)
        near = self.near(value, facts)
        if sort is Within:
            low, high = sorted(self.random.choices(near, k=2))
            return Within(value, *self.random.choice(((low, None), (None, high), (low, high))))
        return OneOf(value, tuple(sorted(self.random.sample(near, min(len(near), self.random.randint(0, 5))))))

    def near(self, value: Value, facts: Facts) -> list[int]:
        """Constants that tell values apart: the ends of what is possible, their neighbours, small numbers."""
        span = span_of(value, facts)
        low, high = span.low or 0, span.high or 0
        found = {low, low + 1, (low + high) // 2, high - 1, high, 0, 1, 2, 3}
        return sorted(number for number in found if low - 1 <= number <= high + 1)

    def combined(self, sort: type, facts: Facts, depth: int) -> Condition:
        parts = tuple(self.condition(facts, depth) for _ in range(self.random.choice((2, 2, 3))))
        built: Condition = Not(parts[0]) if sort is Not else sort(parts)
        return built
