"""From text to a syntax tree that is safe to walk: limits before parsing, one SELECT, plain names.

Nothing here knows a card. Every part of the tree must be one we know; `only` refuses the rest by name.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.postgres import Postgres

from discreet.catalogue import Phrase, say
from discreet.errors import QueryRefused
from discreet.sql.reader.slips import guess_function, read_mended

__all__ = [
    "FORM",
    "LONGEST_TEXT",
    "Literal",
    "alias_name",
    "chain",
    "derived_name",
    "identifier",
    "literal",
    "only",
    "parse",
    "parse_condition",
    "refuse",
]

LONGEST_TEXT: Final = 10_000
DEEPEST_NESTING: Final = 50
MOST_NODES: Final = 2_000
FORM: Final = Phrase("Ask: SELECT [keys,] aggregates FROM dataset [WHERE …] [GROUP BY keys] (docs/sql.md).")
_SINGLE: Final = Phrase("the condition of a table is a single condition, as after WHERE in SQL.")

# The parser warns of what it cannot read in its own words; ours stand in the refusal.
logging.getLogger("sqlglot").disabled = True

_NUMBER: Final = re.compile(r"-?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
_ORDINARY: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}", re.ASCII)
_CHAINS: Final = (exp.And, exp.Or, exp.Add, exp.Sub)
_WORDS: Final[Mapping[str, str | Phrase]] = {
    "from_": "FROM",
    "with_": "WITH",
    "expressions": Phrase("a list"),
    "operation_modifiers": Phrase("a modifier"),
    "windows": "WINDOW",
    "cluster": "CLUSTER BY",
    "locks": Phrase("a lock"),
    "distinct": "DISTINCT",
    "group": "GROUP BY",
    "order": "ORDER BY",
    "having": "HAVING",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "sample": "TABLESAMPLE",
    "joins": Phrase("a join"),
    "db": Phrase("a schema"),
    "catalog": Phrase("a catalogue"),
}


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant as written; `quoted` when it stood in quotation marks."""

    text: str
    quoted: bool

    @property
    def number(self) -> Fraction | None:
        """The exact number, or None when it is not one."""
        plain = self.text.strip()
        return Fraction(plain) if _NUMBER.fullmatch(plain) else None

    @property
    def plain(self) -> str:
        return unicodedata.normalize("NFC", self.text.strip())


class _Reading(Postgres):
    """PostgreSQL's words; NULLs stand last unless NULLS FIRST is said, in descending order too."""

    NULL_ORDERING = "nulls_are_last"


def parse(sql: str) -> exp.Select:
    """One SELECT within the limits, or a refusal that names a likely slip of the pen."""
    return read_mended(sql, _parse, words=True)


def parse_condition(text: str) -> exp.Expression:
    """One condition, as after WHERE, within the limits; or a refusal that names a likely slip of the pen."""
    return read_mended(text, _parse_condition, words=True)


def _parse_condition(text: str) -> exp.Expression:
    _limit(text)
    dialect = _Reading()
    try:
        tokens = dialect.tokenize(text)
        parsed = dialect.parser().parse_into(exp.Condition, tokens, text)
    except Exception:
        raise QueryRefused(str(_SINGLE), part="where") from None
    condition = parsed[0]
    if not isinstance(condition, exp.Expression) or any(item.token_type is TokenType.SEMICOLON for item in tokens):
        raise QueryRefused(str(_SINGLE), part="where")
    _limit_tree(condition)
    return condition


def _parse(sql: str) -> exp.Select:
    _limit(sql)
    try:
        statements = [statement for statement in sqlglot.parse(sql, dialect=_Reading) if statement is not None]
    except Exception:  # a parser may trip over what it was not made for, and its words are not ours
        raise QueryRefused(say("the statement is not SQL that can be read. {form}", form=FORM)) from None
    if len(statements) != 1:
        raise QueryRefused(
            say("one statement is answered at a time; received {count}. {form}", count=len(statements), form=FORM)
        )
    statement = statements[0]
    if not isinstance(statement, exp.Select):
        raise QueryRefused(
            say("only SELECT is answered; received {given}. {form}", given=statement.key.upper(), form=FORM)
        )
    _limit_tree(statement)
    return statement


def _limit(sql: str) -> None:
    if len(sql) > LONGEST_TEXT:
        raise QueryRefused(
            say(
                "the statement has {count:,} characters; at most {most:,} are read.",
                count=len(sql),
                most=LONGEST_TEXT,
            )
        )
    depth = deepest = 0
    for character in sql:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    if deepest > DEEPEST_NESTING:
        raise QueryRefused(
            say(
                "parentheses nest deeper than {deepest}. Write the statement more plainly.",
                deepest=DEEPEST_NESTING,
            )
        )


def _limit_tree(tree: exp.Expression) -> None:
    if sum(1 for _ in tree.walk()) > MOST_NODES:
        raise QueryRefused(say("the statement has more than {most:,} parts. Ask something simpler.", most=MOST_NODES))
    if _depth(tree) > 2 * DEEPEST_NESTING:
        raise QueryRefused(say("the statement nests too deeply. Write it more plainly."))


def _depth(tree: exp.Expression) -> int:
    """How deep the tree is, a chain such as a AND b AND c or a + b - c counting as one step."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        for part in node.iter_expressions():
            chained = isinstance(node, _CHAINS) and isinstance(part, _CHAINS)
            waiting.append((part, depth if chained else depth + 1))
    return deepest


def chain(node: exp.Expression) -> Iterator[exp.Expression]:
    """The operands of a chain of ANDs or ORs, however they are nested, without recursion."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if type(part) is type(node):
            waiting += [part.args["expression"], part.this]
        elif isinstance(part, exp.Paren) and type(part.this) is type(node):
            waiting.append(part.this)
        else:
            yield part


def only(node: exp.Expression, *allowed: str) -> None:
    """Refuse a node that carries anything but the named parts."""
    for name, value in node.args.items():
        if name not in allowed and value not in (None, False, []):
            part = _WORDS.get(name, name.strip("_").replace("_", " ").upper())
            raise QueryRefused(
                say("{clause} with {part} is not answered. {form}", clause=node.key.upper(), part=part, form=FORM),
                part=part if isinstance(part, str) else part.en,
            )


def refuse(node: exp.Expression, where: str) -> QueryRefused:
    """The refusal of a node that is not on the list."""
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else node.key.upper()
    meant = guess_function(name) if isinstance(node, exp.Anonymous) else ""
    told = say("{name} is not answered in {where}. {form}", name=name, where=where, form=FORM)
    return QueryRefused(f"{told}{meant}", part=name)


def identifier(node: object) -> str:
    """A plain name of a table or column: ASCII, so that no two names can look alike and differ."""
    if not isinstance(node, exp.Identifier):
        shown = node.key.upper() if isinstance(node, exp.Expression) else say("nothing")
        raise QueryRefused(say("a plain name is needed where {shown} stands. {form}", shown=shown, form=FORM))
    name = str(node.this)
    if not name.isascii():
        raise QueryRefused(
            say(
                "a name of the statement holds letters outside ASCII, which can look like others. Names of "
                "datasets and columns are plain letters, digits and underscores; type the name anew."
            ),
            part="look-alike",
        )
    return name if node.args.get("quoted") else name.lower()


def derived_name(node: object) -> str:
    """The name given to a table or to a column of a derived table: letters, digits and underscores, in lower case."""
    name = identifier(node).lower()
    if not _ORDINARY.fullmatch(name):
        raise QueryRefused(
            say(
                "a table, or a column of a derived table, is named by 1 to 63 letters, digits and underscores, "
                "as in AS total_cost. Other names are for the columns of the answer."
            ),
            part="AS",
        )
    return name


def alias_name(node: object) -> str:
    """The name given to an output: Latin letters with accents are welcome, other scripts look like them."""
    if not isinstance(node, exp.Identifier):
        raise QueryRefused(say("AS takes a plain name. {form}", form=FORM))
    name = unicodedata.normalize("NFC", str(node.this))
    if not name.strip() or len(name) > 63 or not all(_latin(letter) for letter in name):
        raise QueryRefused(
            say(
                "a name after AS has 1 to 63 Latin letters, digits, spaces and plain signs; others can look like them."
            ),
            part="look-alike",
        )
    return name if node.args.get("quoted") else name.lower()


def _latin(letter: str) -> bool:
    if letter.isascii():
        return letter.isprintable()
    return unicodedata.name(letter, "").startswith("LATIN ") and unicodedata.normalize("NFKC", letter) == letter


def literal(node: exp.Expression) -> Literal | None:
    """The constant that a node is, or None."""
    while isinstance(node, exp.Paren):
        node = node.this
    negative = isinstance(node, exp.Neg)
    inner = node.this if negative else node
    if not isinstance(inner, exp.Literal) or (negative and inner.is_string):
        return None
    return Literal(text=("-" if negative else "") + str(inner.this), quoted=bool(inner.is_string))
