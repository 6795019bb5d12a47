"""A statement in SQL to a plan: FROM and WHERE, keys, outputs, and which cells are shown in which order.

Refusals are decided from the text, the cards and public tables alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, cast

from sqlglot import exp

from discreet.data.card import Card
from discreet.errors import DiscreetError, QueryRefused
from discreet.plan.aggregates import Aggregates, default_name, takes_variance
from discreet.plan.algebra import (
    And,
    Condition,
    Derive,
    Field,
    Filter,
    Identity,
    IsNull,
    Join,
    Key,
    KeyJoin,
    Lookup,
    Measure,
    Not,
    OneOf,
    PerUnit,
    Plan,
    Relation,
    Rows,
    Trimmed,
    Units,
    Within,
    fields_in,
)
from discreet.plan.calculus import facts_of, private_spans, span_of
from discreet.plan.centres import usual_values
from discreet.plan.keycells import close_keys
from discreet.plan.keyjoins import restrict_count
from discreet.plan.outputs import (
    All,
    Any,
    Arithmetic,
    Column,
    Comparison,
    KeyAmong,
    KeyShown,
    Magnitude,
    Mean,
    Negation,
    Noted,
    Order,
    Output,
    Pick,
    Presentation,
    Selection,
    Spread,
)
from discreet.plan.parsing import FORM, alias_name, chain, literal, only, parse, refuse
from discreet.plan.scopes import Scope
from discreet.plan.sensitivity import sensitivities
from discreet.plan.slips import find_commas
from discreet.plan.statement import KeyFace, MeasureFace, Statement
from discreet.plan.tables import Catalogue, Tables, is_aggregate
from discreet.plan.typed import Domain, Sort, Typed
from discreet.plan.vocabulary import Identities, domain_of

__all__ = ["MOST_CELLS", "read_statement"]

MOST_CELLS: Final = 1_000_000

_PARTS: Final = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_")
_SIGNS: Final[Mapping[type[exp.Expression], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def read_statement(
    sql: str,
    catalogue: Catalogue,
    *,
    found: Mapping[Identity, tuple[int, int]] | None = None,
    admit: frozenset[str] = frozenset(),
) -> tuple[Statement, dict[str, Card]]:
    """The statement as planned, and the cards of its datasets by name.

    Columns with private bounds are clamped to those that were `found` for them; before the search, to all it looks at.
    `admit` names strategies for whose comparison more is read than is answered: `elastic` for a count over a join on a
    key, `smooth` for a trimmed mean.
    """
    try:
        return _read_statement(sql, catalogue, found=found, admit=admit)
    except QueryRefused as refusal:

        def reads(mended: str) -> bool:
            try:
                return bool(_read_statement(mended, catalogue, found=found, admit=admit))
            except DiscreetError:
                return False

        slip = "" if "se a point: " in refusal.message else find_commas(sql, reads)
        raise QueryRefused(f"{refusal.message}{slip}", **refusal.fields) if slip else refusal from None


def _read_statement(
    sql: str, catalogue: Catalogue, *, found: Mapping[Identity, tuple[int, int]] | None, admit: frozenset[str]
) -> tuple[Statement, dict[str, Card]]:
    select = parse(sql)
    only(select, *_PARTS)
    tables = Tables(catalogue, admit=admit)
    below = tables.read(select, {})
    if isinstance(below.relation, KeyJoin):
        pairs = _count_of_pairs(select, Scope(below.tables), below.relation, tables.cards)
        return replace(pairs, names=tables.identities.names), tables.cards
    reader = _Reader(select, Scope(below.tables), below.relation, tables.cards, tables.identities, found or {}, admit)
    statement = reader.read()
    _check_size(statement.plan)
    facts = facts_of(statement.plan.source, tables.cards)
    for measure in statement.plan.measures:
        if not isinstance(measure, Trimmed):  # what has no bounds is refused before anything is charged
            sensitivities(statement.plan, measure, tables.cards, facts=facts)
    return statement, tables.cards


def _count_of_pairs(select: exp.Select, scope: Scope, join: KeyJoin, cards: dict[str, Card]) -> Statement:
    """The statement of a count over a join on a key, which has no sensitivity here."""
    plan = Plan(restrict_count(select, scope, join, cards), (), (Rows(None),))
    item = _item(select.expressions[0], 1)
    column = Column(item.alias or default_name(item.node, 1), Noted(0, Fraction(1)))
    face = MeasureFace(item.node.sql(), Fraction(1))
    return Statement(plan, Presentation((column,), None, (), None, 0), (), (face,))


@dataclass(frozen=True, slots=True)
class _Item:
    """One column of SELECT: its node, its alias, and its place among the keys when it is one."""

    node: exp.Expression
    alias: str | None
    place: int


class _Reader:
    def __init__(
        self,
        select: exp.Select,
        scope: Scope,
        relation: Relation,
        cards: dict[str, Card],
        identities: Identities,
        found: Mapping[Identity, tuple[int, int]],
        admit: frozenset[str],
    ) -> None:
        self._select = select
        self._scope = scope
        self._relation = relation
        self._cards = cards
        self._identities = identities
        self._facts = facts_of(relation, cards)
        private = private_spans(self._facts, cards)
        # a variance takes its sum around the middle, and a mean beside it reads the same one
        usual = {} if takes_variance(select) else usual_values(relation, cards)
        self._aggregates = Aggregates(scope, self._facts, private, found, admit, usual)
        self._items = [_item(node, place) for place, node in enumerate(select.expressions, start=1)]
        self._keys = self._read_keys()

    def read(self) -> Statement:
        columns = self._columns()
        having, order = self._having(), self._order(columns)
        limit, offset = self._bound("limit"), self._bound("offset") or 0
        if not self._aggregates.measures:
            raise QueryRefused(f"the statement asks for no aggregate, such as COUNT(*). {FORM}")
        presentation = Presentation(columns, having, order, limit, offset)
        relation, keys = self._key_fields()
        measures, faces = self._aggregates.measures, self._aggregates.faces
        if any(key.cells is None for key in keys):
            measures, faces = _with_units(measures, faces, self._facts.rows)
            presentation = self._moved(presentation, measures)
        plan = Plan(_pruned(relation, keys, measures), keys, measures)
        names = [
            KeyFace(typed.text, typed.codes, typed.labels, typed.step if typed.sort is Sort.NUMBER else None)
            for typed in self._keys
        ]
        return Statement(
            plan,
            presentation,
            tuple(names),
            faces,
            self._identities.names,
            self._aggregates.searched,
            self._aggregates.private_columns,
            self._aggregates.readings,
        )

    # --- keys -------------------------------------------------------------------------------------------------------

    def _read_keys(self) -> list[Typed]:
        group = self._select.args.get("group")
        if group is None:
            return []
        only(group, "expressions")
        keys = [self._key(node) for node in group.expressions]
        if len({key.value for key in keys}) < len(keys):
            raise QueryRefused("a column stands twice in GROUP BY.")
        return keys

    def _key(self, node: exp.Expression) -> Typed:
        """A key: a column, an expression, or the name or number of a column of SELECT."""
        given = literal(node)
        if given is not None and given.number is not None and not given.quoted:
            return self._grouped(self._selected(given.number).node)
        named = self._by_alias(node)
        if named is not None and named.alias is not None and not self._scope.knows(named.alias):
            return replace(self._grouped(named.node), text=named.alias)
        return self._grouped(node)

    def _selected(self, number: Fraction) -> _Item:
        if number.denominator != 1 or not 1 <= number <= len(self._items):
            raise QueryRefused(f"there is no column {number} in SELECT.")
        return self._items[int(number) - 1]

    def _grouped(self, node: exp.Expression) -> Typed:
        if any(is_aggregate(part) for part in node.walk()):
            raise QueryRefused("an aggregate cannot stand in GROUP BY.")
        typed = self._scope.value(node)
        if typed.identifies:
            raise QueryRefused(
                f"'{typed.text}' identifies the protected unit; single units are never shown. Group by it inside a "
                "derived table and ask about all of them."
                if typed.sort is Sort.UNIT
                else f"'{typed.text}' identifies people; it cannot be asked about."
            )
        if typed.fine:
            raise QueryRefused(
                f"GROUP BY needs a column whose values are listed in the card; '{typed.text}' is a measured number. "
                "Cut it into bands, as in CASE WHEN x < 10 THEN 'low' ELSE 'high' END."
            )
        if typed.sort is Sort.NOTHING or typed.fixed is not None:
            raise QueryRefused("GROUP BY needs a column.")
        if typed.sort is Sort.NUMBER and not isinstance(typed.value, Field):
            return replace(typed, domain=domain_of(span_of(typed.value, self._facts)))
        return typed

    def _key_fields(self) -> tuple[Relation, tuple[Key, ...]]:
        """The keys as columns of the relation, with the cells that can hold rows; computed keys are derived first."""
        computed = [key for key in self._keys if not isinstance(key.value, Field)]
        relation, values = self._relation, [key.value for key in self._keys]
        if computed:
            spans = self._facts.spans
            used = set(fields_in((tuple(values), self._aggregates.measures)))
            used |= {span.caps.by for column, span in spans.items() if column in used and span.caps is not None}
            kept = [(column, Field(column)) for column in spans if column in used]
            made = {
                place: self._identities.new(f"key {place}")
                for place, value in enumerate(values)
                if not isinstance(value, Field)
            }
            relation = Derive(relation, (*kept, *((column, values[place]) for place, column in made.items())))
            values = [Field(made[place]) if place in made else value for place, value in enumerate(values)]
        whole = []
        for typed, value in zip(self._keys, values, strict=True):
            domain = typed.domain
            cells: tuple[int | None, ...] | None = None
            if domain is not None:
                if domain.high - domain.low >= MOST_CELLS:
                    raise QueryRefused(
                        f"'{typed.text}' can take more than {MOST_CELLS:,} values; group by a coarser one."
                    )
                cells = (*range(domain.low, domain.high + 1), *((None,) if domain.nullable else ()))
            whole.append(Key(cast(Field, value), cells))
        relation, keys = close_keys(relation, whole, self._cards)
        for typed, key in zip(self._keys, keys, strict=True):
            if key.cells == ():
                raise QueryRefused(
                    f"the conditions leave no value of '{typed.text}', so the answer would have no row. Change WHERE, "
                    "or leave the column out of GROUP BY.",
                    part="WHERE",
                )
        return relation, keys

    # --- outputs ----------------------------------------------------------------------------------------------------

    def _columns(self) -> tuple[Column, ...]:
        columns: list[Column] = []
        for item in self._items:
            shows = self._shows(item.node)
            if item.alias is not None:
                name = item.alias
            elif isinstance(shows, KeyShown):
                name = self._keys[shows.key].text
            else:
                name = _free(default_name(item.node, item.place), {column.name for column in columns})
            columns.append(Column(name, shows))
        if len({column.name for column in columns}) < len(columns):
            raise QueryRefused("two columns of the answer have the same name. Give one an alias with AS.")
        return tuple(columns)

    def _shows(self, node: exp.Expression) -> KeyShown | Output:
        """A key as it is, or an output; a multiple of a key is neither."""
        place = self._key_place(node)
        if place is not None and self._scope.value(node).step == self._keys[place].step:
            return KeyShown(place)
        return self._aggregates.output(node)

    def _key_place(self, node: exp.Expression) -> int | None:
        """Which key a node is, or is a multiple of; None for what is neither."""
        if any(is_aggregate(part) for part in node.walk()) or literal(node) is not None:
            return None
        value = self._scope.value(node).value
        return next((place for place, key in enumerate(self._keys) if key.value == value), None)

    def _having(self) -> Selection | None:
        clause = self._select.args.get("having")
        return self._selection(clause.this) if clause is not None else None

    def _selection(self, node: exp.Expression) -> Selection:
        match node:
            case exp.Paren():
                return self._selection(node.this)
            case exp.And() | exp.Or():
                operands = tuple(self._selection(part) for part in chain(node))
                return All(operands) if isinstance(node, exp.And) else Any(operands)
            case exp.Not():
                return Negation(self._selection(node.this))
            case exp.Between() if not self._is_key(node.this):
                only(node, "this", "low", "high")
                low, high = self._noisy(node.args["low"]), self._noisy(node.args["high"])
                inner = self._noisy(node.this)
                return All((Comparison(">=", inner, low), Comparison("<=", inner, high)))
        sign = _SIGNS.get(type(node))
        if isinstance(node, exp.In | exp.Is) or self._is_key(node.this):
            return self._key_selection(self._scope.condition(node))
        if sign is None:
            raise refuse(node, "HAVING")
        only(node, "this", "expression")
        return Comparison(sign, self._noisy(node.this), self._noisy(node.expression))  # type: ignore[arg-type]

    def _is_key(self, node: object) -> bool:
        return isinstance(node, exp.Column) and self._by_alias(node) is None and self._key_place(node) is not None

    def _key_selection(self, condition: Condition) -> Selection:
        """A condition on keys, as the cells for which it is true."""
        match condition:
            case Not(operand):
                return Negation(self._key_selection(operand))
            case And(operands):
                return All(tuple(self._key_selection(operand) for operand in operands))
            case OneOf(value, _) | Within(value, _, _) | IsNull(value):
                place = next((place for place, key in enumerate(self._keys) if key.value == value), None)
                domain = self._keys[place].domain if place is not None else None
                if place is not None and domain is not None:
                    return KeyAmong(place, _cells(condition, domain))
        raise QueryRefused("HAVING works on noisy outputs and on listed keys; choose other rows with WHERE.")

    def _noisy(self, node: exp.Expression) -> Output:
        """An output by its name or anew."""
        named = self._by_alias(node)
        if named is not None:
            node = named.node
        shows = self._shows(node)
        if isinstance(shows, KeyShown):
            raise QueryRefused("HAVING compares a key with constants, as in HAVING province <> 24.", part="HAVING")
        return shows

    def _by_alias(self, node: exp.Expression) -> _Item | None:
        if not isinstance(node, exp.Column) or node.args.get("table") is not None:
            return None
        name = unicodedata.normalize("NFC", str(node.this.this))
        wanted = name if node.this.args.get("quoted") else name.lower()
        return next((item for item in self._items if item.alias == wanted), None)

    def _order(self, columns: Sequence[Column]) -> tuple[Order, ...]:
        clause = self._select.args.get("order")
        if clause is None:
            return ()
        only(clause, "expressions")
        return tuple(self._ordered(node, columns) for node in clause.expressions)

    def _ordered(self, node: exp.Expression, columns: Sequence[Column]) -> Order:
        only(node, "this", "desc", "nulls_first")
        descending, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
        given, named = literal(node.this), self._by_alias(node.this)
        if given is not None and given.number is not None:
            return Order(columns[self._selected(given.number).place - 1].shows, descending, first)
        by = named.node if named is not None else node.this
        default = [
            column for column in columns if isinstance(by, exp.Column) and column.name == str(by.this.this).lower()
        ]
        place = None if default else self._key_place(by)
        shown = default[0].shows if default else KeyShown(place) if place is not None else self._shows(by)
        return Order(shown, descending, first)

    def _bound(self, name: str) -> int | None:
        clause = self._select.args.get(name)
        if clause is None:
            return None
        only(clause, "expression")
        given = literal(clause.expression)
        number = given.number if given is not None and not given.quoted else None
        if number is None or number.denominator != 1 or not 0 <= number <= MOST_CELLS:
            raise QueryRefused(f"{name.upper()} takes a whole number.")
        return int(number)

    def _moved(self, presentation: Presentation, measures: tuple[Measure, ...]) -> Presentation:
        """With open keys COUNT(*) of single rows is the count of units; places of measures follow."""
        before = self._aggregates.measures
        places = [measures.index(Units() if _stands_for_units(m, self._facts.rows) else m) for m in before]
        return cast(Presentation, _renumbered(presentation, places))


def _cells(condition: OneOf | Within | IsNull, domain: Domain) -> tuple[int | None, ...]:
    match condition:
        case OneOf(_, values):
            return values
        case IsNull(_):
            return (None,)
    low = domain.low if condition.low is None else max(condition.low, domain.low)
    high = domain.high if condition.high is None else min(condition.high, domain.high)
    return tuple(range(low, high + 1))


def _item(node: exp.Expression, place: int) -> _Item:
    if isinstance(node, exp.Star):
        raise QueryRefused(f"SELECT * would show single rows. {FORM}", part="*")
    if isinstance(node, exp.Alias):
        only(node, "this", "alias")
        return _Item(node.this, alias_name(node.args["alias"]), place)
    return _Item(node, None, place)


def _free(name: str, taken: set[str]) -> str:
    """The name, or the name with the first free number behind it."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _stands_for_units(measure: Measure, rows: int) -> bool:
    return rows == 1 and measure == Rows(None)


def _with_units(
    measures: tuple[Measure, ...], faces: tuple[MeasureFace, ...], rows: int
) -> tuple[tuple[Measure, ...], tuple[MeasureFace, ...]]:
    """Open keys are chosen by a noisy count of units: one that is asked for anyway, or one more."""
    found = {Units() if _stands_for_units(m, rows) else m: face for m, face in zip(measures, faces, strict=True)}
    found.setdefault(Units(), MeasureFace("units of each key (to choose the keys)", Fraction(1)))
    return tuple(found), tuple(found.values())


def _renumbered(node: object, places: Sequence[int]) -> object:
    match node:
        case Noted(measure, step):
            return Noted(places[measure], step)
        case Mean():
            return replace(node, total=places[node.total], size=places[node.size])
        case Spread():
            return replace(node, total=places[node.total], squares=places[node.squares], size=places[node.size])
        case tuple():
            return tuple(_renumbered(part, places) for part in node)
        case Arithmetic() | Magnitude() | Pick() | Comparison() | Negation() | All() | Any() | Column() | Order():
            changed = {name: _renumbered(getattr(node, name), places) for name in node.__dataclass_fields__}
            return replace(node, **changed)  # type: ignore[arg-type]
        case Presentation():
            return replace(
                node,
                columns=_renumbered(node.columns, places),  # type: ignore[arg-type]
                having=_renumbered(node.having, places),  # type: ignore[arg-type]
                order=_renumbered(node.order, places),  # type: ignore[arg-type]
            )
    return node


def _pruned(relation: Relation, keys: tuple[Key, ...], measures: tuple[Measure, ...]) -> Relation:
    """Public tables reduced to the columns that the plan reads."""
    used = set(fields_in((relation, keys, measures)))

    def prune(below: Relation) -> Relation:
        match below:
            case Lookup():
                kept = [place for place, column in enumerate(below.columns, start=1) if column in used]
                return replace(
                    below,
                    source=prune(below.source),
                    columns=tuple(below.columns[place - 1] for place in kept),
                    entries=tuple((entry[0], *(entry[place] for place in kept)) for entry in below.entries),
                )
            case Join(left, right):
                return Join(prune(left), prune(right))
            case Filter() | Derive() | PerUnit():
                return replace(below, source=prune(below.source))
        return below

    return prune(relation)


def _check_size(plan: Plan) -> None:
    if not plan.open and plan.cell_count > MOST_CELLS:
        raise QueryRefused(
            f"the answer would have {plan.cell_count:,} cells; at most {MOST_CELLS:,} are answered at once. "
            "Group by fewer columns.",
            cells=plan.cell_count,
        )
