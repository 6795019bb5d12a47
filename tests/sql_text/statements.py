"""Random statements in SQL with hostile names, each with what it means. A seed names a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Final

from tests.sql_text.model import (
    Aggregate,
    Arith,
    Const,
    Expr,
    Leaf,
    OutAbs,
    OutArith,
    OutConst,
    OutPick,
    Output,
    Question,
    ShownKey,
    output_sql,
    value_sql,
)
from tests.sql_text.names import Namer
from tests.sql_text.populations import RULES, population
from tests.sql_text.scope import Expressions, Visible
from tests.sql_text.sources import Source, Sources

__all__ = ["EVERY_OPERATOR", "random_question"]

EVERY_OPERATOR: Final = frozenset(
    {
        *("COUNT(*)", "COUNT", "COUNT(DISTINCT)", "SUM", "AVG", "WAVG", "VAR", "STDDEV", "MEDIAN", "QUANTILE"),
        *("MIN", "MAX", "arithmetic on outputs", "HAVING", "ORDER BY", "LIMIT"),
        *("+", "-", "*", "/", "columns combined", "ABS", "LEAST", "GREATEST", "COALESCE", "CLAMP", "CASE"),
        *("simple CASE", "comparison", "columns compared", "codes compared", "text", "IN", "BETWEEN", "IS NULL"),
        *("AND", "OR", "NOT", "WHERE", "bounds by WHERE"),
        *("derived table", "depth 1", "depth 2", "depth 3", "WITH", "JOIN ON", "JOIN USING"),
        *("table by unit", "COUNT by unit", "SUM by unit", "MIN by unit", "MAX by unit", "HAVING by unit"),
        *("public column by unit", "public table", "public USING", "public table first"),
        *("key column", "key category", "key integer", "key CASE", "key arithmetic", "key open"),
        *("key by place", "key by alias"),
    }
)
"""What a statement can be made of, as `Question.operators` names it."""

WILD: Final = 0.25
"""How many statements may have names of more than letters, digits and underscores."""

MOST_CELLS: Final = 300
WORDS: Final[dict[Aggregate, tuple[str, ...]]] = {
    "VAR": ("VAR", "VARIANCE", "VAR_SAMP"),
    "STDDEV": ("STDDEV", "STDDEV_SAMP"),
}
KINDS: Final[tuple[Aggregate, ...]] = (
    *("ROWS", "ROWS", "COUNT", "UNITS", "SUM", "SUM", "SUM", "AVG", "WAVG", "WAVG", "VAR", "STDDEV", "STDDEV"),
    *("MEDIAN", "MEDIAN", "QUANTILE", "QUANTILE", "MIN", "MAX", "MAX"),
)
RANKED: Final[tuple[Aggregate, ...]] = ("MEDIAN", "QUANTILE", "MIN", "MAX")


@dataclass(frozen=True, slots=True)
class Key:
    """A key: its expression, how GROUP BY writes it, and what SELECT shows of it, if anything."""

    expr: Expr
    grouped: str
    shown: str | None
    cells: int


def random_question(seed: int, *, wild: float = WILD) -> Question:
    """The statement of that seed."""
    random = Random(f"statement {seed}")
    number = random.randrange(len(RULES))
    namer = Namer(Random(f"names {seed}"), wild=random.random() < wild)
    expressions = Expressions(random)
    sources = Sources(random, population(number), namer, expressions)
    below = sources.filtered(sources.clause(0, list(population(number).cards)), share=0.35)
    return _Asker(seed, number, namer, expressions, sources, below).question()


class _Asker:
    """Draws keys and outputs over a FROM clause."""

    def __init__(
        self, seed: int, number: int, namer: Namer, expressions: Expressions, sources: Sources, below: Source
    ) -> None:
        self.seed, self.number = seed, number
        self.namer, self.of, self.sources, self.below = namer, expressions, sources, below
        self.random, self.scope = expressions.random, below.scope
        self.aliases: set[str] = set()
        self.theme = namer.theme

    def question(self) -> Question:
        keys = self._keys()
        outputs = [self._output() for _ in range(self.random.choice((1, 1, 1, 2, 2, 3)))]
        columns: list[tuple[str, ShownKey | Output]] = [
            (key.shown, ShownKey(place)) for place, key in enumerate(keys) if key.shown is not None
        ]
        columns += [(self._aliased(output_sql(output)), output) for output in outputs]
        having, order = self._output_if(0.12, "HAVING"), self._output_if(0.12, "ORDER BY")
        sql = self._sql(keys, columns, having, order)
        return Question(
            seed=self.seed,
            population=self.number,
            sql=sql,
            relation=self.below.relation,
            keys=tuple(key.expr for key in keys),
            columns=tuple(shows for _, shows in columns),
            having=having,
            order=order,
            datasets=tuple(dict.fromkeys(self.below.datasets)),
            constants=tuple(sorted(self.of.constants)),
            texts=tuple(sorted(self.of.texts)),
            operators=frozenset(self.of.operators),
            wild=self.namer.used_wild,
            theme=self.theme,
        )

    # --- keys -------------------------------------------------------------------------------------------------------

    def _keys(self) -> list[Key]:
        keys: list[Key] = []
        cells = 1
        for _ in range(self.random.choice((0, 0, 1, 1, 1, 2) if self.theme in ("any", "join") else (1, 1, 2))):
            found = self._key(len(keys) + 1)
            if found is None or cells * found.cells > MOST_CELLS or any(found.expr == key.expr for key in keys):
                continue
            if any(_same_column(found.expr, key.expr) for key in keys):
                continue
            keys.append(found)
            cells *= found.cells
        # Positions count the columns that are shown, so they are settled last.
        shown = [key for key in keys if key.shown is not None]
        return [replace(key, grouped=str(shown.index(key) + 1)) if key.grouped == "position" else key for key in keys]

    def _key(self, place: int) -> Key | None:
        sort = self.random.random()
        if self.theme == "key":
            sort = 0.46 + sort * 0.4
        elif self.theme == "value":
            sort *= 0.6
        if sort < 0.45:
            return self._column_key()
        if sort < 0.68:
            made = self.of.category(self.scope, 1)
            if made is None:
                return None
            self.of.used("key CASE")
            return self._written(made[0], len(made[1]) + 1)
        if sort < 0.83:
            return self._number_key()
        return self._open_key()

    def _column_key(self) -> Key | None:
        found = [one for one in self.of.usable(self.scope, "number", "category") if _lists(one)]
        if not found:
            return None
        one = self.of.preferred(found)
        self.of.used("key column", "key category" if one.sort == "category" else "key integer")
        return self._written(self.of.ref(one, self.scope), one.values + 1)

    def _number_key(self) -> Key | None:
        found = [one for one in self.of.usable(self.scope, "number") if _lists(one)]
        if not found:
            return None
        one = self.of.preferred(found)
        self.of.used("key arithmetic")
        by = Fraction(self.random.choice((1, 2, 3)))
        self.of.constants.add(by)
        col = self.of.ref(one, self.scope)
        return self._written(Arith(self.random.choice(("+", "-", "*", "/")), col, Const(by)), one.values + 1)

    def _open_key(self) -> Key | None:
        texts = self.of.usable(self.scope, "text")
        endless = [one for one in self.of.usable(self.scope, "number") if not one.bounded and not one.fine]
        if not texts and not endless:
            return None
        one = self.random.choice([*texts, *endless])
        self.of.used("key open")
        return self._written(self.of.ref(one, self.scope), 1)

    def _written(self, expr: Expr, cells: int) -> Key:
        """By itself, by its place in SELECT, or by its alias where no column has that name."""
        text = value_sql(expr)
        sort = self.random.random()
        if sort < 0.45:
            shown = self._aliased(text) if self.of.chance(0.8) else None
            return Key(expr, text, shown, cells)
        name, written = self._alias()
        if sort < 0.75 or any(one.name == name.lower() for one in self.scope) or not name.isascii():
            self.of.used("key by place")
            return Key(expr, "position", f"{text} AS {written}", cells)
        self.of.used("key by alias")
        return Key(expr, written, f"{text} AS {written}", cells)

    # --- outputs ----------------------------------------------------------------------------------------------------

    def _output_if(self, share: float, operator: str) -> tuple[Output, ...]:
        if not self.of.chance(share):
            return ()
        self.of.used(operator)
        return (self._leaf(),)

    def _output(self) -> Output:
        if not self.of.chance(0.2):
            return self._leaf()
        self.of.used("arithmetic on outputs")
        sort = self.random.randrange(5)
        if sort == 0:
            return OutAbs(self._leaf())
        if sort == 1:
            return OutPick(self.of.chance(0.5), (self._leaf(), self._leaf()))
        if sort == 2:
            return OutArith("*", OutConst(Fraction(100)), OutArith("/", self._leaf(), self._leaf()))
        return OutArith(self.random.choice(("+", "-", "*", "/")), self._leaf(), self._leaf())

    def _leaf(self) -> Leaf:
        kind = self.random.choice(RANKED if self.theme == "value" and self.of.chance(0.7) else KINDS)
        if self.theme in ("key", "public") and any(one.weight for one in self.scope) and self.of.chance(0.4):
            kind = "SUM"
        leaf = self._made(kind)
        self.of.used({"ROWS": "COUNT(*)", "UNITS": "COUNT(DISTINCT)"}.get(leaf.aggregate, leaf.aggregate))
        return leaf

    def _made(self, kind: Aggregate) -> Leaf:
        rows = Leaf("ROWS", None, "COUNT")
        if kind == "ROWS":
            return rows
        if kind == "UNITS":
            ids = self.of.usable(self.scope, "unit")
            return Leaf("UNITS", None, "COUNT", unit=self.of.ref(ids[0], self.scope).text) if ids else rows
        if kind == "COUNT":
            found = self.of.usable(self.scope, "category", "text")
            if found and self.of.chance(0.5):
                return Leaf("COUNT", self.of.ref(self.of.preferred(found), self.scope), "COUNT")
        number = self.of.number(self.scope, 2, bounded=kind != "COUNT")
        if number is None:
            return rows
        value, weight = number.expr, None
        weights = [one for one in self.scope if one.weight]
        capped = 0.8 if self.theme in ("key", "public") else 0.35
        if kind == "SUM" and weights and self.of.chance(capped) and (found := self.of.usable(weights, "number")):
            value = self.of.ref(self.random.choice(found), self.scope)
        if kind == "WAVG":
            if len(weights) != 1 or weights[0] not in self.of.usable(self.scope, "number"):
                kind = "AVG"
            else:
                weight = self.of.ref(weights[0], self.scope)
        words = self.random.choice(WORDS.get(kind, (kind,)))
        rank = self.random.choice((Fraction(1, 4), Fraction(9, 10), Fraction(1, 100))) if kind == "QUANTILE" else None
        return Leaf(kind, value, words, weight, rank)

    # --- text -------------------------------------------------------------------------------------------------------

    def _alias(self) -> tuple[str, str]:
        for _ in range(20):
            name, written = self.namer.output()
            if name not in self.aliases or self.of.chance(0.01):
                break
        else:
            name = written = f"out_{len(self.aliases)}"
        self.aliases.add(name)
        return name, written

    def _aliased(self, text: str) -> str:
        return f"{text} AS {self._alias()[1]}" if self.of.chance(0.6) else text

    def _sql(
        self,
        keys: Sequence[Key],
        columns: Sequence[tuple[str, ShownKey | Output]],
        having: tuple[Output, ...],
        order: tuple[Output, ...],
    ) -> str:
        parts = [f"SELECT {', '.join(text for text, _ in columns)} FROM {self.below.sql}"]
        if keys:
            parts.append(f"GROUP BY {', '.join(key.grouped for key in keys)}")
        parts += [f"HAVING {output_sql(one)} > 1" for one in having]
        parts += [f"ORDER BY {output_sql(one)}{self.random.choice(('', ' DESC'))}" for one in order]
        if self.of.chance(0.12):
            self.of.used("LIMIT")
            parts.append(f"LIMIT {self.random.choice((1, 5, 100))}")
        sql = " ".join(parts)
        for table in self.sources.withs:
            name = self._with_name()
            sql = f"WITH {name} AS ({table.sql}) {sql}".replace(table.token, name)
        return sql

    def _with_name(self) -> str:
        """A name for a table of WITH: also that of a dataset or public table that nothing else here reads."""
        for _ in range(20):
            name, written = self.namer.alias()
            if name.lower() not in self.sources.reads:
                return written
        return "with_1"


def _lists(one: Visible) -> bool:
    """Whether it makes a key with few cells."""
    return one.sort == "category" or (one.bounded and not one.fine and one.values <= 60)


def _same_column(one: Expr, other: Expr) -> bool:
    """Whether two keys are one column at different scales, which the planner takes for one key."""
    return value_sql(_base(one)) == value_sql(_base(other))


def _base(expr: Expr) -> Expr:
    return expr.left if isinstance(expr, Arith) else expr
