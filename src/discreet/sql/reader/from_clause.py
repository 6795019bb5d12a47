"""FROM: datasets, tables derived from them, joins on the unit and to public tables, as one relation.

Every table of a statement hangs on the protected unit. A derived table keeps single rows or aggregates them per unit;
two tables join on the unit they share, a public table joins on its unique key and so never doubles a row. A join on
another key is read only where it is admitted, and stands alone and last (`keyjoins`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from sqlglot import exp

from discreet.cards import Card
from discreet.catalogue import say, say_list
from discreet.errors import QueryRefused
from discreet.sql.algebra import (
    Condition,
    Derive,
    Field,
    Filter,
    Identity,
    Join,
    KeyJoin,
    Largest,
    Lookup,
    Nothing,
    PerUnit,
    Relation,
    Smallest,
    Tally,
    UnitAggregate,
    UnitTotal,
    Value,
    all_of,
    scans,
)
from discreet.sql.calculus import facts_of, key_join_refused
from discreet.sql.reader.key_joins import ELASTIC, join_on_key, keep
from discreet.sql.reader.parsing import FORM, chain, derived_name, identifier, only, refuse
from discreet.sql.reader.scopes import Scope, ScopedTable, call_name
from discreet.sql.reader.typed_values import Typed, ValueSort, require_number
from discreet.sql.reader.vocabulary import Identities, card_table, domain_of, public_column, stored_key
from discreet.workspace import Dataset, PublicTable

__all__ = ["DEEPEST_TABLES", "MOST_JOINS", "Catalogue", "From", "FromTables", "is_aggregate", "read_conditions"]

MOST_JOINS: Final = 5
DEEPEST_TABLES: Final = 8

_AGGREGATES: Final = (exp.AggFunc, exp.Median, exp.Quantile)
_OWN_AGGREGATES: Final = frozenset({"TRIMMED_AVG", "VAR", "WAVG"})


class Catalogue(Protocol):
    """Where names of a statement lead: to a dataset or to a public table."""

    def find(self, name: str) -> Dataset | PublicTable:
        """What has that name, or UnknownName."""


@dataclass(frozen=True, slots=True)
class From:
    """A relation and the tables by which a statement speaks of it."""

    relation: Relation
    tables: tuple[ScopedTable, ...]


def is_aggregate(node: object) -> bool:
    return isinstance(node, _AGGREGATES) or (isinstance(node, exp.Anonymous) and call_name(node) in _OWN_AGGREGATES)


class FromTables:
    """Reads the FROM of a statement and of the tables derived inside it; `cards` are those of the datasets met.

    `identities` gives one to every column that FROM brings or makes, so none is told by its name afterwards. `admit`
    names the strategies for whose comparison more is read than is answered.
    """

    def __init__(self, catalogue: Catalogue, *, admit: frozenset[str] = frozenset()) -> None:
        self._catalogue = catalogue
        self._admit = admit
        self._depth = 0
        self.identities = Identities()
        self.cards: dict[str, Card] = {}

    def read(self, select: exp.Select, named: Mapping[str, exp.Select]) -> From:
        """The relation of a SELECT after WHERE. `named` are the tables of WITH that it may use."""
        named = {**named, **self._with(select)}
        source = select.args.get("from_")
        if source is None:
            raise QueryRefused(say("the statement names no dataset. {form}", form=FORM))
        joins = list(select.args.get("joins") or [])
        if len(joins) > MOST_JOINS:
            raise QueryRefused(say("at most {most} joins are answered.", most=MOST_JOINS), part="JOIN")
        first = source.this
        if joins and isinstance(self._public(first, named), PublicTable):
            first, joins[0] = joins[0].this, _with_table(joins[0], first)
        together = self._item(first, named)
        for join in joins:
            together = self._join(together, join, named)
        where = select.args.get("where")
        if where is None:
            return together
        condition = all_of(read_conditions(where.this, Scope(together.tables)))
        if isinstance(together.relation, KeyJoin):
            return replace(together, relation=keep(together.relation, condition, self.cards))
        return replace(together, relation=Filter(together.relation, condition))

    # --- one table --------------------------------------------------------------------------------------------------

    def _with(self, select: exp.Select) -> dict[str, exp.Select]:
        clause = select.args.get("with_")
        if clause is None:
            return {}
        only(clause, "expressions")
        result: dict[str, exp.Select] = {}
        for table in clause.expressions:
            only(table, "this", "alias")
            only(table.args["alias"], "this")
            name = derived_name(table.args["alias"].this)
            if name in result:
                raise QueryRefused(say("WITH names '{name}' twice.", name=name))
            if not isinstance(table.this, exp.Select):
                raise refuse(table.this, "WITH")
            result[name] = table.this
        return result

    def _item(self, node: exp.Expression, named: Mapping[str, exp.Select]) -> From:
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            if not isinstance(node.this, exp.Select):
                raise refuse(node.this, "FROM")
            return self._derived(node.this, _alias(node) or "", named)
        name = _table_name(node)
        shown = _alias(node) or name
        if name in named:
            inner = {other: table for other, table in named.items() if other != name}
            return self._derived(named[name], shown, inner)
        found = self._catalogue.find(name)
        if isinstance(found, PublicTable):
            raise QueryRefused(
                say(
                    "'{name}' is a public table: read it directly. A question joins it to a dataset, as in FROM "
                    "dataset JOIN {name} ON dataset.column = {name}.{key}.",
                    name=name,
                    key=found.key,
                )
            )
        return self._dataset(found, shown)

    def _dataset(self, found: Dataset, shown: str) -> From:
        card = found.card
        others = [other for other in self.cards.values() if other.dataset != card.dataset]
        for other in others:
            if other.population != card.population:
                raise QueryRefused(
                    say(
                        "'{one}' and '{other}' are of different populations; only datasets of one population share "
                        "units and can be asked together.",
                        one=other.dataset,
                        other=card.dataset,
                    )
                )
        self.cards[card.dataset] = card
        version = found.version if others else 0
        scan, table = card_table(card, shown, version=version, identities=self.identities)
        return From(scan, (table,))

    def _public(self, node: exp.Expression, named: Mapping[str, exp.Select]) -> PublicTable | None:
        if not isinstance(node, exp.Table):
            return None
        name = _table_name(node)
        found = self._catalogue.find(name) if name not in named else None
        return found if isinstance(found, PublicTable) else None

    # --- derived tables ---------------------------------------------------------------------------------------------

    def _derived(self, select: exp.Select, shown: str, named: Mapping[str, exp.Select]) -> From:
        if select.args.get("limit") or select.args.get("order") or select.args.get("offset"):
            raise QueryRefused(
                say(
                    "ORDER BY and LIMIT inside a derived table would choose rows by confidential values; use them on "
                    "the outer statement, where they work on noisy outputs."
                )
            )
        only(select, "expressions", "from_", "joins", "where", "group", "having", "with_")
        self._depth += 1
        if self._depth > DEEPEST_TABLES:
            raise QueryRefused(
                say(
                    "derived tables nest deeper than {deepest}. Write the statement more plainly.",
                    deepest=DEEPEST_TABLES,
                )
            )
        below = self.read(select, named)
        self._depth -= 1
        if select.args.get("group") is not None:
            return self._per_unit(select, below, shown)
        if select.args.get("having") is not None or any(map(is_aggregate, _outside_subqueries(select))):
            raise QueryRefused(
                say(
                    "a derived table aggregates per unit: GROUP BY the unit's column, as in (SELECT person_id, "
                    "COUNT(*) AS n FROM visits GROUP BY person_id)."
                )
            )
        scope = Scope(below.tables)
        outputs = [(name, scope.value(node)) for name, node in _named(select)]
        kept = _distinct([weight for table in below.tables for weight in table.weights])
        weights = tuple(name for name, typed in outputs if typed.value in {weight.value for weight in kept})
        return self._shown(below.relation, outputs, shown, weights)

    def _per_unit(self, select: exp.Select, below: From, shown: str) -> From:
        group = select.args["group"]
        only(group, "expressions")
        inner = Scope(below.tables)
        keys = [inner.column(node) for node in group.expressions]
        if not any(key.sort is ValueSort.UNIT for key in keys):
            raise QueryRefused(say("a derived table aggregates per unit: its GROUP BY names the unit's column."))
        facts = facts_of(below.relation, self.cards)
        reader = _UnitReader(inner, self.identities)
        columns: dict[str, Typed] = {}
        for key in keys:
            name = key.text.lower()
            if key.sort is ValueSort.UNIT:
                columns[name] = key
            elif isinstance(key.value, Field) and facts.spans[key.value.column].public:
                columns[name] = replace(key, value=reader.field(Largest(key.value)))
            else:
                raise QueryRefused(
                    say(
                        "a derived table has one row per unit, and '{column}' can differ between a unit's rows. Group "
                        "by the unit alone, or also by columns that the card declares public.",
                        column=key.text,
                    )
                )
        upper = Scope([ScopedTable(table.name, columns) for table in below.tables], aggregate=reader.read)
        outputs = [(name, upper.value(node)) for name, node in _named(select)]
        having = select.args.get("having")
        condition = upper.condition(having.this) if having is not None else None
        relation: Relation = PerUnit(below.relation, reader.columns())
        if condition is not None:
            relation = Filter(relation, condition)
        return self._shown(relation, outputs, shown, ())

    def _shown(
        self, relation: Relation, outputs: list[tuple[str, Typed]], shown: str, weights: tuple[str, ...]
    ) -> From:
        """A relation with exactly the named columns; its unit is visible when it was selected."""
        names = [name for name, _ in outputs]
        if len(set(names)) < len(names):
            raise QueryRefused(say("two columns of a derived table have the same name. Give one an alias with AS."))
        columns = {name: replace(typed, text=name) for name, typed in outputs if typed.identifies}
        made: dict[Identity, tuple[str, Typed]] = {}
        for name, typed in outputs:
            if typed.sort is ValueSort.NOTHING:
                raise QueryRefused(say("column '{name}' of a derived table is always NULL.", name=name))
            if not typed.identifies:
                made[self.identities.new(name)] = name, typed
        derived = Derive(relation, tuple((identity, typed.value) for identity, (_, typed) in made.items()))
        facts = facts_of(derived, self.cards)
        for identity, (name, typed) in made.items():
            domain = typed.domain or domain_of(facts.spans[identity])
            columns[name] = replace(typed, value=Field(identity), text=name, domain=domain)
        return From(derived, (ScopedTable(shown, columns, tuple(columns[name] for name in weights)),))

    # --- joins ------------------------------------------------------------------------------------------------------

    def _join(self, left: From, join: exp.Expression, named: Mapping[str, exp.Select]) -> From:
        only(join, "this", "on", "using", "kind")
        if str(join.args.get("kind") or "INNER").upper() != "INNER":
            raise QueryRefused(
                say("{kind} JOIN is not answered; only inner joins are.", kind=join.args["kind"]), part="JOIN"
            )
        if isinstance(left.relation, KeyJoin):
            raise QueryRefused(say("a join on a key is the only one of its sort and the last; write others before it."))
        table = self._public(join.this, named)
        if table is not None:
            return self._look_up(left, join, table)
        right = self._item(join.this, named)
        self._check_scans(left, right)
        ours, theirs = _sides(join, left, right)
        if not ours.sort is theirs.sort is ValueSort.UNIT:
            return self._join_on_key(left, right, ours, theirs)
        self._check_units(left, right)
        return From(Join(left.relation, right.relation), (*left.tables, *right.tables))

    def _join_on_key(self, left: From, right: From, ours: Typed, theirs: Typed) -> From:
        if ELASTIC not in self._admit:
            raise key_join_refused()
        if self._depth:
            raise QueryRefused(
                say("a join on a key stands in the outer statement, not in a derived table."), part="JOIN"
            )
        joined = join_on_key(left.relation, right.relation, ours, theirs, self.cards)
        return From(joined, (*left.tables, *right.tables))

    def _check_scans(self, left: From, right: From) -> None:
        common = {scan.dataset for scan in scans(left.relation)} & {scan.dataset for scan in scans(right.relation)}
        if common:
            raise QueryRefused(
                say(
                    "'{dataset}' is joined with itself. Aggregate it once per unit, with all the columns needed.",
                    dataset=min(common),
                ),
                part="JOIN",
            )
        names = {table.name for table in left.tables}
        for table in right.tables:
            if table.name in names:
                raise QueryRefused(say("two tables are called '{name}'. Give one an alias.", name=table.name))

    def _check_units(self, left: From, right: From) -> None:
        """Numbers of rows say nothing of who is who: one row less in a file would pair all others anew."""
        names = {scan.dataset for side in (left, right) for scan in scans(side.relation)}
        if any(self.cards[name].unit_type == "row" for name in names):
            shown = say_list([say("'{name}'", name=name) for name in sorted(names)])
            raise QueryRefused(
                say(
                    "{datasets} take each row for a unit of its own, so a row of one belongs to no row of the other. "
                    "Ask about each alone, or name an id column in the cards.",
                    datasets=shown,
                ),
                part="JOIN",
            )

    def _look_up(self, left: From, join: exp.Expression, table: PublicTable) -> From:
        shown = _alias(join.this) or table.name
        if any(known.name == shown for known in left.tables):
            raise QueryRefused(say("two tables are called '{name}'. Give one an alias.", name=shown))
        indices = [index for index, column in enumerate(table.columns) if column.name.lower() != table.key.lower()]
        made = {index: self.identities.new(f"{shown}.{table.columns[index].name}") for index in indices}
        columns = {
            table.columns[index].name.lower(): public_column(table.columns[index], identity)
            for index, identity in made.items()
        }
        key = Typed(Nothing(), ValueSort.NOTHING, table.key)
        right = From(left.relation, (ScopedTable(shown, {**columns, table.key.lower(): key}),))
        ours, theirs = _sides(join, left, right)
        if theirs is not key:
            raise QueryRefused(
                say("public table '{name}' is joined on its unique key, '{key}'.", name=table.name, key=table.key)
            )
        if ours.sort not in {ValueSort.CATEGORY, ValueSort.NUMBER}:
            raise QueryRefused(
                say("a public table is joined on a category or a number; '{column}' is neither.", column=ours.text)
            )
        entries: dict[int, tuple[int | None, ...]] = {}
        for position, entry in enumerate(table.values(table.key)):
            stored = stored_key(ours, table.column(table.key), entry)
            if stored is not None:
                entries[stored] = tuple(table.rows[position][index] for index in indices)
        listed = tuple((entry, *entries[entry]) for entry in sorted(entries))
        relation = Lookup(left.relation, ours.value, tuple(made.values()), listed)
        columns[table.key.lower()] = replace(ours, text=table.key)
        return From(relation, (*left.tables, ScopedTable(shown, columns)))


class _UnitReader:
    """Aggregates over the rows of one unit, each computed once."""

    def __init__(self, inner: Scope, identities: Identities) -> None:
        self._inner = inner
        self._identities = identities
        self._found: dict[UnitAggregate, Identity] = {}

    def field(self, aggregate: UnitAggregate) -> Field:
        if aggregate not in self._found:
            self._found[aggregate] = self._identities.new(f"u{len(self._found) + 1}")
        return Field(self._found[aggregate])

    def columns(self) -> tuple[tuple[Identity, UnitAggregate], ...]:
        """All of them; a table that only lists its units still counts their rows."""
        if not self._found:
            self.field(Tally(None))
        return tuple((identity, aggregate) for aggregate, identity in self._found.items())

    def read(self, node: exp.Expression) -> Typed | None:
        if not is_aggregate(node):
            return None
        text = node.sql()
        if isinstance(node, exp.Count):
            only(node, "this", "big_int")
            return Typed(self.field(Tally(self._counted(node.this))), ValueSort.NUMBER, text)
        if not isinstance(node, exp.Sum | exp.Min | exp.Max):
            raise QueryRefused(
                say(
                    "per unit, COUNT, SUM, MIN and MAX are answered; received {given}.",
                    given=call_name(node),
                ),
                part=call_name(node),
            )
        only(node, "this")
        inner = require_number(self._inner.value(node.this), call_name(node))
        made: UnitAggregate = UnitTotal(inner.value)
        if not isinstance(node, exp.Sum):
            made = Smallest(inner.value) if isinstance(node, exp.Min) else Largest(inner.value)
        return Typed(self.field(made), ValueSort.NUMBER, text, step=inner.step)

    def _counted(self, node: exp.Expression) -> Value | None:
        if isinstance(node, exp.Star):
            return None
        if isinstance(node, exp.Distinct):
            raise QueryRefused(say("COUNT(DISTINCT …) is not answered per unit."), part="DISTINCT")
        return self._inner.counted(node)


# --- pieces -----------------------------------------------------------------------------------------------------------


def _sides(join: exp.Expression, left: From, right: From) -> tuple[Typed, Typed]:
    """The two columns that a join equates: one of the tables so far, one of the new table."""
    ours, theirs = Scope(left.tables), Scope(right.tables)
    using = join.args.get("using") or []
    on = join.args.get("on")
    if len(using) == 1 and on is None:
        name = identifier(using[0].this if isinstance(using[0], exp.Column) else using[0])
        return ours.find(name), theirs.find(name)
    while isinstance(on, exp.Paren):
        on = on.this
    if not isinstance(on, exp.EQ) or not isinstance(on.this, exp.Column) or not isinstance(on.expression, exp.Column):
        raise QueryRefused(
            say("a join equates one column of each table, as in ON a.person_id = b.person_id."), part="JOIN"
        )
    new = {table.name for table in right.tables}
    first, second = on.this, on.expression
    if _names_table(first, new) or _names_table(second, {table.name for table in left.tables}):
        first, second = second, first
    return ours.column(first), theirs.column(second)


def _names_table(column: exp.Expression, names: set[str]) -> bool:
    table = column.args.get("table")
    return table is not None and identifier(table).lower() in names


def _table_name(node: exp.Expression) -> str:
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise QueryRefused(
            say(
                "FROM takes the name of a dataset or a derived table; files and functions are not read. {form}",
                form=FORM,
            )
        )
    only(node, "this", "alias")
    return identifier(node.this).lower()


def _alias(node: exp.Expression) -> str | None:
    alias = node.args.get("alias")
    if alias is None:
        return None
    only(alias, "this")
    return derived_name(alias.this)


def _with_table(join: exp.Expression, table: exp.Expression) -> exp.Expression:
    swapped = join.copy()
    swapped.set("this", table.copy())
    return swapped


def _named(select: exp.Select) -> list[tuple[str, exp.Expression]]:
    """The columns of a derived table with their names."""
    result = []
    for index, node in enumerate(select.expressions, start=1):
        if isinstance(node, exp.Alias):
            only(node, "this", "alias")
            result.append((derived_name(node.args["alias"]), node.this))
        elif isinstance(node, exp.Column):
            result.append((identifier(node.this).lower(), node))
        elif isinstance(node, exp.Star):
            raise QueryRefused(say("SELECT * is not answered in a derived table; name its columns."), part="*")
        else:
            raise QueryRefused(say("column {index} of a derived table needs a name: … AS name.", index=index))
    return result


def _outside_subqueries(select: exp.Select) -> list[exp.Expression]:
    return [node for part in select.expressions for node in part.walk()]


def read_conditions(where: exp.Expression, scope: Scope) -> tuple[Condition, ...]:
    """What WHERE says of a row: the operands of its AND, or the whole of it."""
    if any(is_aggregate(part) for part in where.walk()):
        raise QueryRefused(say("an aggregate cannot stand in WHERE; use HAVING."), part="WHERE")
    return tuple(map(scope.condition, chain(where) if isinstance(where, exp.And) else (where,)))


def _distinct(weights: list[Typed]) -> list[Typed]:
    return list({weight.value: weight for weight in weights}.values())
