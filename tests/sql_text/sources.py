"""FROM, at random: datasets, tables derived from them to some depth, joins on the unit and to public tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from random import Random
from typing import Final, Literal

from discreet.cards.card import Card, ColumnKind
from tests.sql_text.model import (
    Between,
    Both,
    Col,
    Compare,
    Condition,
    Const,
    Derived,
    Expr,
    Filtered,
    Joined,
    LookedUp,
    PerUnit,
    Relation,
    Scanned,
    UnitColumn,
    condition_sql,
    value_sql,
)
from tests.sql_text.names import ORDINARY, Namer, needs_quotes, quoted
from tests.sql_text.populations import PUBLIC, Population
from tests.sql_text.scope import Expressions, Number, Visible, visible_number

__all__ = ["DEEPEST", "Source", "Sources"]

DEEPEST: Final = 3


@dataclass(frozen=True, slots=True)
class Source:
    """A FROM clause or a part of it: its text, what it means, what can be named, and the datasets it reads."""

    sql: str
    relation: Relation
    scope: tuple[Visible, ...]
    datasets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A column of a derived table: how it reads, what it is, and the name it had where it is only passed on."""

    sql: str
    expr: Expr
    face: Visible
    plain: str | None = None


@dataclass(frozen=True, slots=True)
class With:
    """A table of WITH: `token` stands for its name until the statement is complete."""

    token: str
    sql: str


class Sources:
    """Draws FROM clauses for one statement."""

    def __init__(self, random: Random, population: Population, namer: Namer, expressions: Expressions) -> None:
        self.random = random
        self.population = population
        self.namer = namer
        self.of = expressions
        self.withs: list[With] = []
        self.reads: set[str] = set()
        self._marks = count(1)
        self._with = expressions.chance(0.15)

    def mark(self) -> int:
        return next(self._marks)

    # --- a whole FROM -------------------------------------------------------------------------------------------------

    def clause(self, depth: int, available: Sequence[str]) -> Source:
        """FROM with its joins; WHERE is for `filtered`."""
        first, *others = self.random.sample(list(available), len(available))
        joined = others[: self.random.choice((0, 0, 0, 1, 1, 2) if depth < 2 else (0, 0, 0, 0, 1))]
        if depth == 0 and self.namer.theme == "join":
            joined = joined or others[:1]
        if (
            not joined
            and not self.namer.wild
            and self.of.chance(0.09)
            and (swapped := self._public_first(first)) is not None
        ):
            return swapped
        taken: set[str] = set()
        whole = self._item(depth, first, taken, unit=bool(joined), near=self._near(joined))
        looks = self.of.chance({"public": 0.9, "join": 0.5}.get(self.namer.theme, 0.35) if depth == 0 else 0.35)
        early = looks and self.of.chance(0.3)
        if early:
            whole = self._looked_up(whole, taken)
        for name in joined:
            plain = depth == 0 and self.namer.theme == "join" and self.of.chance(0.7)
            made = self._dataset(name, taken) if plain else None
            right = made or self._item(depth, name, taken, unit=True, near=self._near([first]))
            whole = self._joined(whole, right)
        return self._looked_up(whole, taken) if looks and not early else whole

    def filtered(self, source: Source, *, share: float) -> Source:
        """The clause with a WHERE, perhaps one that limits a column the card does not."""
        condition, scope = self._where(source.scope) if self.of.chance(share) else (None, source.scope)
        if condition is None:
            return source
        self.of.used("WHERE")
        sql = f"{source.sql} WHERE {condition_sql(condition)}"
        return replace(source, sql=sql, relation=Filtered(source.relation, condition), scope=scope)

    def _where(self, scope: tuple[Visible, ...]) -> tuple[Condition | None, tuple[Visible, ...]]:
        condition = self.of.condition(scope, 2)
        endless = [one for one in self.of.usable(scope, "number") if not one.bounded]
        if not endless or not self.of.chance(0.4):
            return condition, scope
        one = self.random.choice(endless)
        low, high = Fraction(self.random.choice((-5, 0))), Fraction(self.random.choice((3, 1000)))
        self.of.constants.update((low, high))
        self.of.used("bounds by WHERE")
        col = self.of.ref(one, scope)
        limits: tuple[Condition, ...] = (Between(col, low, high),)
        if self.of.chance(0.3):
            limits = (Compare(">=", col, Const(low)), Compare("<=", col, Const(high)))
        bounded = replace(one, bounded=True, low=low, high=high)
        together = Both((*limits, *([] if condition is None else [condition])))
        self.of.used("BETWEEN" if len(limits) == 1 else "AND")
        return together, tuple(bounded if other is one else other for other in scope)

    def _near(self, datasets: Sequence[str]) -> tuple[str, ...]:
        """Names of the columns of these datasets: those a derived column of the other side may collide with."""
        names = [column.name for name in datasets for column in self.population.cards[name].columns]
        return tuple(names)

    # --- one table ------------------------------------------------------------------------------------------------

    def _item(self, depth: int, dataset: str, taken: set[str], *, unit: bool, near: tuple[str, ...]) -> Source:
        if depth >= DEEPEST or not self.of.chance((0.85 if self.namer.theme != "any" else 0.55) if depth == 0 else 0.4):
            return self._dataset(dataset, taken)
        if self.of.chance(0.3 if self.namer.theme == "any" else 0.15):
            return self._per_unit(depth, dataset, taken, unit=unit, near=near)
        return self._derived(depth, dataset, taken, unit=unit, near=near)

    def _dataset(self, name: str, taken: set[str]) -> Source:
        card = self.population.cards[name]
        alias, written = self._alias(taken) if self.of.chance(0.5) else (None, None)
        if alias is None and name in taken:
            alias, written = self._alias(taken)
        taken.add(alias or name)
        self.reads.add(name)
        table = _table_text(alias) if alias is not None else name
        columns = [_card_column(card, column.name, self.mark(), table) for column in card.columns]
        scanned = tuple((column.name, face.mark) for column, face in zip(card.columns, columns, strict=True))
        sql = name if written is None else f"{name} {'AS ' if self.of.chance(0.7) else ''}{written}"
        return Source(sql, Scanned(name, scanned), tuple(columns), (name,))

    def _alias(self, taken: set[str]) -> tuple[str, str]:
        """A name that no other table of this FROM has; by chance, rarely, one that another has."""
        for _ in range(20):
            name, written = self.namer.alias()
            if name not in taken or self.of.chance(0.01):
                return name, written
        name = f"alias_{self.mark()}"
        return name, name

    def _derived(self, depth: int, dataset: str, taken: set[str], *, unit: bool, near: tuple[str, ...]) -> Source:
        """A table that keeps single rows."""
        others = [name for name in self.population.cards if name != dataset]
        extra = others if depth > 0 and not unit and self.of.chance(0.2) else []
        below = self.filtered(self.clause(depth + 1, [dataset, *extra[:1]]), share=0.5)
        self.of.used("derived table", f"depth {depth + 1}")
        items = self._kept(below, unit=unit, near=near)
        relation = Derived(below.relation, tuple((item.face.mark, item.expr) for item in items))
        return self._shown(depth, f"SELECT {_listed(items)} FROM {below.sql}", relation, items, below, taken)

    def _kept(self, below: Source, *, unit: bool, near: tuple[str, ...]) -> list[Item]:
        of, scope = self.of, below.scope
        chosen = of.usable(scope, "number", "category", "text")
        chosen = self.random.sample(chosen, min(len(chosen), self.random.choice((2, 3, 4, 5))))
        useful = [one for one in of.usable(scope, "number", "category") if one.weight or one.name in ("province", "x")]
        often = 0.9 if self.namer.theme in ("key", "public") else 0.6
        chosen += [one for one in useful if one not in chosen and of.chance(often)]
        if self.namer.theme == "public":
            chosen += [one for one in chosen if one.name == "province" and of.chance(0.5)]
        if self.namer.theme == "join":
            texts = [one for one in of.usable(scope, "text") if one not in chosen and of.chance(0.5)]
            chosen = [*texts, *chosen]
        if self.namer.theme == "key" and of.chance(0.5):
            chosen.sort(key=lambda one: one.name != "province")
        items = [self._passed(one, scope) for one in chosen]
        if of.chance(0.4) and (number := of.number(scope, 2, bounded=False)) is not None:
            items.append(Item(value_sql(number.expr), number.expr, visible_number(number, self.mark(), "", None)))
        if of.chance(0.15) and (made := of.category(scope, 1)) is not None:
            face = Visible(self.mark(), "", None, "category", codes=made[1])
            items.append(Item(value_sql(made[0]), made[0], face))
        ids = of.usable(scope, "unit")
        if ids and (unit or of.chance(0.7)):
            items.insert(self.random.randrange(len(items) + 1), self._passed(self.random.choice(ids), scope))
        return self._named(items, near)

    def _passed(self, one: Visible, scope: Sequence[Visible]) -> Item:
        col = self.of.ref(one, scope)
        return Item(col.text, col, replace(one, mark=self.mark(), table=None), plain=one.name)

    def _named(self, items: list[Item], near: tuple[str, ...]) -> list[Item]:
        """Every column under a name; no two under the same, but for a rare mistake."""
        taken: set[str] = set()
        named = []
        passed = [item.plain for item in items if item.plain is not None and item.face.sort != "unit"]
        shared = [name for name in passed if name in {other.lower() for other in near}]
        kept = tuple(self.random.sample(shared, 1)) if self.namer.theme == "join" and shared else ()
        near = kept or near
        for item in items:
            often = 0.75 if self.namer.wild else 0.5
            share = 0.0 if item.plain in kept else 0.3 if item.face.sort == "unit" else often
            if item.plain is not None and item.plain not in taken and not self.of.chance(share):
                taken.add(item.plain or "")
                named.append(replace(item, face=replace(item.face, name=item.plain or "")))
                continue
            name, written = self._free(taken, near)
            taken.add(name)
            hostile = not self.namer.wild or not ORDINARY.fullmatch(name) or name == "_discreet_value"
            face = replace(item.face, name=name, hostile=hostile)
            named.append(replace(item, sql=f"{item.sql} AS {written}", face=face))
        return named

    def _free(self, taken: set[str], near: tuple[str, ...]) -> tuple[str, str]:
        for _ in range(20):
            name, written = self.namer.column(near)
            if name.lower() not in taken or self.of.chance(0.01):
                return name.lower(), written
        name = f"z{self.mark()}"
        return name, name

    def _shown(
        self, depth: int, select: str, relation: Relation, items: list[Item], below: Source, taken: set[str]
    ) -> Source:
        """A derived table under its alias, in parentheses or by WITH."""
        alias, written = self._alias(taken)
        if depth == 0 and self._with and not self.withs:
            self.of.used("WITH")
            token = f"\0{len(self.withs)}\0"
            self.withs.append(With(token, select))
            sql = f"{token} AS {written}"
            self.reads -= set(below.datasets)
        elif self.of.chance(0.05):
            alias, sql = "", f"({select})"
        else:
            sql = f"({select}) {'AS ' if self.of.chance(0.7) else ''}{written}"
        taken.add(alias)
        table = _table_text(alias) if alias else None
        scope = tuple(replace(item.face, table=table) for item in items)
        return Source(sql, relation, scope, below.datasets)

    # --- tables by unit -------------------------------------------------------------------------------------------

    def _per_unit(self, depth: int, dataset: str, taken: set[str], *, unit: bool, near: tuple[str, ...]) -> Source:
        below = self.filtered(self.clause(depth + 1, [dataset]), share=0.4)
        ids = self.of.usable(below.scope, "unit")
        if not ids:
            return self._dataset(dataset, taken)
        self.of.used("derived table", "table by unit", f"depth {depth + 1}")
        owner = self.random.choice(ids)
        unit_col = self.of.ref(owner, below.scope)
        aggregates, items = self._unit_items(below)
        public = [one for one in self.of.usable(below.scope, "number", "category") if one.public]
        grouped = [unit_col.text]
        for one in self.random.sample(public, min(len(public), self.random.choice((0, 0, 1, 2)))):
            self.of.used("public column by unit")
            col = self.of.ref(one, below.scope, qualified=_qualifies(one, below.scope))
            grouped.append(col.text)
            mark = self.mark()
            aggregates.append(UnitColumn(mark, "public", col))
            face = replace(one, mark=self.mark(), table=None, weight=False)
            items.append(Item(col.text, Col(mark, col.text), face, plain=one.name))
        items.append(Item(unit_col.text, unit_col, replace(owner, mark=self.mark(), table=None), plain=owner.name))
        named = self._named(items, near)
        relation: Relation = PerUnit(below.relation, (*aggregates, UnitColumn(unit_col.mark, "public", unit_col)))
        tail = f" GROUP BY {', '.join(grouped)}"
        if aggregates and self.of.chance(0.45) and aggregates[0].aggregate != "public":
            self.of.used("HAVING by unit")
            bound = Fraction(self.random.choice((0, 1, 2)))
            self.of.constants.add(bound)
            having = Compare(
                self.random.choice((">", "<=")), Col(aggregates[0].mark, _unit_sql(aggregates[0])), Const(bound)
            )
            relation, tail = Filtered(relation, having), f"{tail} HAVING {condition_sql(having)}"
        relation = Derived(relation, tuple((item.face.mark, item.expr) for item in named))
        return self._shown(depth, f"SELECT {_listed(named)} FROM {below.sql}{tail}", relation, named, below, taken)

    def _unit_items(self, below: Source) -> tuple[list[UnitColumn], list[Item]]:
        aggregates, items = [], []
        for _ in range(self.random.choice((1, 2, 2, 3))):
            column, number = self._unit_aggregate(below)
            text = _unit_sql(column)
            expr: Expr = Col(column.mark, text)
            made = replace(number, expr=expr)
            if self.of.chance(0.2):
                made = self.of._step(made, (), 0)
            aggregates.append(column)
            face = visible_number(made, self.mark(), "", None)
            items.append(Item(value_sql(made.expr), made.expr, face))
        return aggregates, items

    def _unit_aggregate(self, below: Source) -> tuple[UnitColumn, Number]:
        sort: Literal["COUNT", "SUM", "MIN", "MAX"] = self.random.choice(("COUNT", "SUM", "MIN", "MAX"))
        number = self.of.number(below.scope, 1, bounded=True) if sort != "COUNT" or self.of.chance(0.3) else None
        if number is None:
            self.of.used("COUNT by unit")
            most = Fraction(9)
            return UnitColumn(self.mark(), "COUNT", None), Number(Const(most), Fraction(0), most, Fraction(1), True)
        self.of.used(f"{sort} by unit")
        column = UnitColumn(self.mark(), sort, number.expr)
        if sort == "COUNT":
            number = replace(number, low=Fraction(0), high=Fraction(9), step=Fraction(1))
        elif sort == "SUM":
            number = replace(number, low=min(number.low, 9 * number.low), high=max(number.high, 9 * number.high))
        return column, number

    # --- joins ----------------------------------------------------------------------------------------------------

    def _joined(self, left: Source, right: Source) -> Source:
        """Two sides on the unit they share."""
        ours = self.random.choice(self.of.usable(left.scope, "unit") or [None])
        theirs = self.random.choice(self.of.usable(right.scope, "unit") or [None])
        if ours is None or theirs is None:
            return left
        hit = {one.name.partition(":")[0] for one in left.scope if ":" in one.name}
        theirs_now = (replace(one, hostile=True) if one.name in hit else one for one in right.scope)
        both = (*left.scope, *theirs_now)
        relation = Joined(left.relation, right.relation)
        datasets = (*left.datasets, *right.datasets)
        alone = sum(one.name == ours.name for one in left.scope) == 1
        if ours.name == theirs.name and alone and self.of.chance(0.35):
            self.of.used("JOIN USING")
            return Source(f"{left.sql} JOIN {right.sql} USING ({self.of.name(ours.name)})", relation, both, datasets)
        self.of.used("JOIN ON")
        texts = [self._side(ours, both), self._side(theirs, both)]
        if self.of.chance(0.3):
            texts.reverse()
        inner = "INNER JOIN" if self.of.chance(0.1) else "JOIN"
        return Source(f"{left.sql} {inner} {right.sql} ON {texts[0]} = {texts[1]}", relation, both, datasets)

    def _side(self, one: Visible, scope: Sequence[Visible]) -> str:
        return self.of.ref(one, scope, qualified=one.table is not None).text

    def _looked_up(self, left: Source, taken: set[str]) -> Source:
        """The rows with the columns of a public table."""
        themed = self.namer.theme == "public"
        name = "t" if themed else self.random.choice(("t", "n"))
        table = PUBLIC[name]
        sort: Literal["category", "number"] = "category" if name == "t" else "number"
        fitting = [one for one in self.of.usable(left.scope, sort) if _fits(one, name)]
        if not fitting:
            return left
        same = [one for one in fitting if one.name == table.key]
        ours = self.random.choice(same) if same and self.of.chance(0.4) else self.of.preferred(fitting)
        alias, written = self._alias(taken) if self.of.chance(0.1 if themed else 0.4) or name in taken else (name, None)
        taken.add(alias)
        self.reads.add(name)
        text = _table_text(alias)
        own = replace(ours, mark=self.mark(), name=table.key.lower(), table=text, weight=False)
        columns = [
            _public_column(name, column.name, self.mark(), text, public=ours.public)
            for column in table.columns
            if column.name != table.key
        ]
        hit = {one.name.partition(".")[2] for one in left.scope if "." in one.name}
        columns = [replace(one, hostile=one.name in hit) for one in columns]
        both = (*left.scope, own, *columns)
        shown = name if written is None else f"{name} AS {written}"
        key = self.of.ref(ours, left.scope)
        marks = tuple((one.name, one.mark) for one in columns)
        relation = LookedUp(left.relation, name, key, own.mark, marks)
        twins = sum(one.name == table.key for one in left.scope)
        if ours.name == table.key and twins == 1 and self.of.chance(0.7):
            self.of.used("public table", "public USING")
            return Source(f"{left.sql} JOIN {shown} USING ({table.key})", relation, both, left.datasets)
        self.of.used("public table")
        texts = [self._side(ours, both), f"{text}.{self.of.name(table.key)}"]
        if ours.table is not None and self.of.chance(0.3):
            texts.reverse()
        return Source(f"{left.sql} JOIN {shown} ON {texts[0]} = {texts[1]}", relation, both, left.datasets)

    def _public_first(self, dataset: str) -> Source | None:
        """FROM the public table, joined by a dataset: read the other way round, the same."""
        taken: set[str] = set()
        left = self._dataset(dataset, taken)
        if "t" in taken:
            return None
        fitting = [one for one in self.of.usable(left.scope, "category") if _fits(one, "t")]
        if not fitting:
            return None
        self.of.used("public table", "public table first")
        self.reads.add("t")
        ours = self.random.choice(fitting)
        own = replace(ours, mark=self.mark(), name="prov", table="t")
        columns = [
            _public_column("t", column.name, self.mark(), "t", public=ours.public)
            for column in PUBLIC["t"].columns
            if column.name != "prov"
        ]
        marks = tuple((one.name, one.mark) for one in columns)
        key = self.of.ref(ours, left.scope, qualified=True)
        relation = LookedUp(left.relation, "t", key, own.mark, marks)
        return Source(
            f"t JOIN {left.sql} ON {key.text} = t.prov", relation, (*left.scope, own, *columns), left.datasets
        )


# --- pieces -------------------------------------------------------------------------------------------------------


def _listed(items: Sequence[Item]) -> str:
    return ", ".join(item.sql for item in items)


def _table_text(name: str) -> str:
    """A table's name as columns carry it: in quotes unless it reads the same without."""
    return name if ORDINARY.fullmatch(name) and name == name.lower() and not needs_quotes(name) else quoted(name)


def _qualifies(one: Visible, scope: Sequence[Visible]) -> bool:
    return one.table is not None and sum(other.name == one.name for other in scope) > 1


def _unit_sql(column: UnitColumn) -> str:
    return f"{column.aggregate}({'*' if column.value is None else value_sql(column.value)})"


def _fits(one: Visible, table: str) -> bool:
    """Whether some key of the public table can be found in the column."""
    if table == "t":
        return bool({"24", "10", "99"} & {*one.codes})
    return one.bounded and one.step == 1 and not one.fine and one.low <= 2 and one.high >= 0


def _card_column(card: Card, name: str, mark: int, table: str) -> Visible:
    column = card.column(name)
    lower = name.lower()
    if column.kind is ColumnKind.ID:
        return Visible(mark, lower, table, "unit")
    if column.kind is ColumnKind.TEXT:
        return Visible(mark, lower, table, "text")
    if column.kind is ColumnKind.CATEGORY:
        codes = tuple(category.code for category in column.categories)
        return Visible(mark, lower, table, "category", codes=codes, public=column.public)
    step = Fraction(column.step or 1)
    return Visible(
        mark,
        lower,
        table,
        "number",
        column.low_units * step,
        column.high_units * step,
        step,
        bounded=column.bounds is not None,
        public=column.public,
        fine=column.kind is ColumnKind.NUMBER,
        weight=card.weight is not None and card.weight.column == name,
    )


def _public_column(table: str, name: str, mark: int, text: str, *, public: bool) -> Visible:
    column = PUBLIC[table].column(name)
    if column.kind is ColumnKind.CATEGORY:
        return Visible(mark, name, text, "category", codes=column.categories, public=public)
    step = Fraction(column.step or 1)
    low, high = column.low_units * step, column.high_units * step
    return Visible(mark, name, text, "number", low, high, step, public=public, fine=column.kind is ColumnKind.NUMBER)
