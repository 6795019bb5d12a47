"""Plans in the words of the card: column names, codes and real units instead of positions and whole steps.

A value of the plan is a whole number; what is written for it is a text and the step that makes the two equal, so
`Within(3·x, 21, None)` over a column in steps of 0.01 reads `x >= 0.07`. What is said is what the plan does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from discreet.cards import Card, Column, ColumnKind
from discreet.catalogue import Numeral, say, say_count
from discreet.sql.algebra import (
    Absolute,
    And,
    Case,
    Clamp,
    Coalesce,
    Condition,
    Derive,
    Field,
    Filter,
    Greatest,
    Identity,
    IsNull,
    Join,
    KeyJoin,
    Least,
    Lookup,
    Not,
    Nothing,
    OneOf,
    Or,
    PerUnit,
    Plus,
    Relation,
    Scan,
    Smallest,
    Tally,
    TextIn,
    Times,
    UnitAggregate,
    UnitTotal,
    Value,
    Whole,
    Within,
    scans,
)
from discreet.sql.statement import KeyFace, Statement

__all__ = ["Face", "faces_of", "word_condition", "word_number", "word_relation", "word_statement"]

_MOST_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class Face:
    """A text and the size of one whole step of what it stands for; `codes` for a category."""

    text: str
    step: Fraction = Fraction(1)
    codes: tuple[str, ...] = ()
    simple: bool = True


Faces = Mapping[Identity, Face]
Names = Mapping[Identity, str]


def word_number(number: Fraction) -> str:
    """Exact where a number has at most 9 decimals, else a quotient."""
    if 10**9 % number.denominator:
        return f"{number.numerator}/{number.denominator}"
    whole, part = divmod(abs(number.numerator) * (10**9 // number.denominator), 10**9)
    return Numeral(f"{'-' if number < 0 else ''}{whole:,}" + (f".{part:09d}".rstrip("0") if part else ""))


# --- statements and relations ---------------------------------------------------------------------------------------


def word_statement(statement: Statement, cards: Mapping[str, Card]) -> tuple[str, ...]:
    """What is measured, from the rows outwards: one line per step."""
    plan = statement.plan
    lines = list(word_relation(plan.source, cards, statement.names))
    if plan.keys:
        keys = [_key(face, key.cells) for face, key in zip(statement.keys, plan.keys, strict=True)]
        listed = ", ".join(keys)
        if plan.open:
            lines.append(say("group by {keys}", keys=listed))
        else:
            lines.append(
                say_count(
                    "group by {keys}: {count:,} cell", "group by {keys}: {count:,} cells", plan.cell_count, keys=listed
                )
            )
    lines += [say("measure {measure}", measure=face.told) for face in statement.measures]
    return tuple(lines)


def _key(face: KeyFace, cells: Sequence[int | None] | None) -> str:
    if cells is None:
        return say("{name} (keys from the rows, above a threshold)", name=face.name)
    if None in cells:
        return say_count(
            "{name} ({count:,} value, NULL last)", "{name} ({count:,} values, NULL last)", len(cells), name=face.name
        )
    return say_count("{name} ({count:,} value)", "{name} ({count:,} values)", len(cells), name=face.name)


def word_relation(relation: Relation, cards: Mapping[str, Card], names: Names) -> Iterator[str]:
    """One line per operator, the innermost first; the two sides of a join are indented.

    `names` are those that the statement gave to the columns it made.
    """
    match relation:
        case Scan(dataset, rows):
            bound = min(rows, cards[dataset].unit.rows)
            yield say(
                "rows of {dataset}, at most {rows:,} of each {unit}",
                dataset=dataset,
                rows=bound,
                unit=cards[dataset].unit.column,
            )
        case Filter(source, where):
            yield from word_relation(source, cards, names)
            condition = word_condition(where, faces_of(source, cards, names))
            if relation.by_card:
                yield say("where {condition} (complete by the card)", condition=condition)
            else:
                yield say("where {condition}", condition=condition)
        case Derive(source, columns):
            yield from word_relation(source, cards, names)
            below = faces_of(source, cards, names)
            made = [(_name(item, names), _word(value, below).text) for item, value in columns if value != Field(item)]
            lines = [f"{text} AS {name}" for name, text in made if text != name]
            if lines:
                yield say("with {columns}", columns=", ".join(lines))
        case PerUnit(source, columns):
            yield from word_relation(source, cards, names)
            below = faces_of(source, cards, names)
            lines = [f"{_aggregate(aggregate, below).text} AS {_name(item, names)}" for item, aggregate in columns]
            yield say("one row per unit: {columns}", columns=", ".join(lines) or say("its presence"))
        case Join(left, right):
            yield say("joined on the unit:")
            yield from _word_sides(left, right, cards, names)
        case Lookup(source, key, columns, entries):
            yield from word_relation(source, cards, names)
            key_text = _word(key, faces_of(source, cards, names)).text
            if columns:
                yield say_count(
                    "joined with a public table of {count:,} key by {key}, giving {columns}",
                    "joined with a public table of {count:,} keys by {key}, giving {columns}",
                    len(entries),
                    key=key_text,
                    columns=", ".join(_name(item, names) for item in columns),
                )
            else:
                yield say_count(
                    "joined with a public table of {count:,} key by {key}",
                    "joined with a public table of {count:,} keys by {key}",
                    len(entries),
                    key=key_text,
                )
        case KeyJoin(left, right, left_key, right_key):
            faces = faces_of(relation, cards, names)
            yield say(
                "joined where {left} = {right}, across units:",
                left=faces[left_key.column].text,
                right=faces[right_key.column].text,
            )
            yield from _word_sides(left, right, cards, names)


def _word_sides(left: Relation, right: Relation, cards: Mapping[str, Card], names: Names) -> Iterator[str]:
    yield from (f"  {line}" for line in word_relation(left, cards, names))
    yield say("and")
    yield from (f"  {line}" for line in word_relation(right, cards, names))


def faces_of(relation: Relation, cards: Mapping[str, Card], names: Names) -> Faces:
    """How the columns of a relation are written."""
    match relation:
        case Scan(dataset, _, columns):
            return {item: _card_face(cards[dataset].column(name)) for item, name in columns}
        case Filter(source, _):
            return faces_of(source, cards, names)
        case Derive(source, columns):
            below = faces_of(source, cards, names)
            return {
                item: below[item] if value == Field(item) else _named(_name(item, names), _word(value, below))
                for item, value in columns
            }
        case PerUnit(source, columns):
            below = faces_of(source, cards, names)
            return {item: _named(_name(item, names), _aggregate(aggregate, below)) for item, aggregate in columns}
        case Join(left, right) | KeyJoin(left, right):
            ours, theirs = faces_of(left, cards, names), faces_of(right, cards, names)
            shared = {face.text for face in ours.values()} & {face.text for face in theirs.values()}
            return {**_of_side(ours, left, shared), **_of_side(theirs, right, shared)}
        case Lookup(source, _, columns, _):
            return {**faces_of(source, cards, names), **{item: Face(_name(item, names)) for item in columns}}


def _card_face(column: Column) -> Face:
    codes = tuple(category.code for category in column.categories) if column.kind is ColumnKind.CATEGORY else ()
    return Face(column.name, Fraction(column.step or 1), codes)


def _of_side(faces: Faces, side: Relation, shared: set[str]) -> Faces:
    """The columns of one side of a join; where the other side has the same name, with the dataset's before it."""
    dataset = next(scans(side)).dataset
    return {
        item: _named(f"{dataset}.{face.text}", face) if face.text in shared else face for item, face in faces.items()
    }


def _name(column: Identity, names: Names) -> str:
    return names.get(column) or say("column {number}", number=str(column))


def _named(name: str, face: Face) -> Face:
    return Face(name, face.step, face.codes)


def _aggregate(aggregate: UnitAggregate, below: Faces) -> Face:
    match aggregate:
        case Tally(None):
            return Face("COUNT(*)")
        case Tally(value):
            assert value is not None
            return Face(f"COUNT({_word(value, below).text})")
    face = _word(aggregate.value, below)
    function = {UnitTotal: "SUM", Smallest: "MIN"}.get(type(aggregate), "MAX")
    return Face(f"{function}({face.text})", face.step)


# --- values ---------------------------------------------------------------------------------------------------------


def _word(value: Value, faces: Faces) -> Face:
    match value:
        case Field(column):
            return faces[column]
        case Whole(number):
            return Face(word_number(Fraction(number)))
        case Nothing():
            return Face("NULL")
        case Times(Whole(factor), inner) if factor > 0:
            # A factor only says that the product is kept in finer steps than the value.
            face = _word(inner, faces)
            return Face(face.text, face.step / factor, simple=face.simple)
        case Times(Whole(factor), inner) if factor < 0:
            face = _word(inner, faces)
            return Face(f"-{_bracketed(face)}", face.step / -factor)
        case Times(left, right):
            one, two = _word(left, faces), _word(right, faces)
            return Face(f"{_bracketed(one)} * {_bracketed(two)}", one.step * two.step)
        case Absolute(inner):
            face = _word(inner, faces)
            return Face(f"ABS({face.text})", face.step)
        case Clamp(inner, low, high):
            face = _word(inner, faces)
            ends = f"{word_number(low * face.step)}, {word_number(high * face.step)}"
            return Face(f"CLAMP({face.text}, {ends})", face.step)
    return _several(value, faces)


def _several(value: Plus | Least | Greatest | Coalesce | Case, faces: Faces) -> Face:
    match value:
        case Plus(terms):
            texts, step = _alike(terms, faces)
            return Face(_added(texts), step, simple=False)
        case Least(values):
            texts, step = _alike(values, faces)
            return Face(f"LEAST({', '.join(texts)})", step)
        case Greatest(values):
            texts, step = _alike(values, faces)
            return Face(f"GREATEST({', '.join(texts)})", step)
        case Coalesce(values):
            texts, step = _alike(values, faces)
            return Face(f"COALESCE({', '.join(texts)})", step)
        case Case(branches, otherwise):
            texts, step = _alike([*(then for _, then in branches), otherwise], faces)
            whens = [
                f"WHEN {word_condition(condition, faces)} THEN {text}"
                for (condition, _), text in zip(branches, texts, strict=False)
            ]
            return Face(f"CASE {' '.join(whens)} ELSE {texts[-1]} END", step)


def _alike(values: Sequence[Value], faces: Faces) -> tuple[list[str], Fraction]:
    """The texts of values that are compared or added, all in one step: the coarsest that one of them has."""
    moving = [_word(value, faces) for value in values if not isinstance(value, Whole | Nothing)]
    step = max((face.step for face in moving), default=Fraction(1))
    texts = []
    for value in values:
        if isinstance(value, Whole):
            texts.append(word_number(value.value * step))
            continue
        face = _word(value, faces)
        factor = step / face.step
        plain = isinstance(value, Nothing) or factor == 1
        texts.append(face.text if plain else f"{word_number(factor)} * {_bracketed(face)}")
    return texts, step


def _added(texts: Sequence[str]) -> str:
    signed = [f" - {text[1:]}" if text.startswith("-") else f" + {text}" for text in texts[1:]]
    return texts[0] + "".join(signed)


def _bracketed(face: Face) -> str:
    return face.text if face.simple else f"({face.text})"


# --- conditions -----------------------------------------------------------------------------------------------------


def word_condition(condition: Condition, faces: Faces) -> str:
    """A condition as one would write it in WHERE."""
    match condition:
        case And(operands):
            return " AND ".join(_operand(operand, faces, And) for operand in operands)
        case Or(operands):
            return " OR ".join(_operand(operand, faces, Or) for operand in operands)
        case Not(IsNull(value)):
            return f"{_bracketed(_word(value, faces))} IS NOT NULL"
        case Not(operand):
            return f"NOT ({word_condition(operand, faces)})"
        case IsNull(value):
            return f"{_bracketed(_word(value, faces))} IS NULL"
        case TextIn(field, values):
            return _among(faces[field.column].text, [_quoted(text) for text in values])
        case OneOf(value, places):
            face = _word(value, faces)
            return _among(_bracketed(face), [_shown(face, index) for index in places])
        case Within(value, low, high):
            return _between(_word(value, faces), low, high)


def _operand(condition: Condition, faces: Faces, around: type[And] | type[Or]) -> str:
    text = word_condition(condition, faces)
    mixed = isinstance(condition, And | Or) and not isinstance(condition, around)
    return f"({text})" if mixed else text


def _among(name: str, shown: Sequence[str]) -> str:
    if len(shown) == 1:
        return f"{name} = {shown[0]}"
    listed = list(shown[:_MOST_LISTED])
    if len(shown) > _MOST_LISTED:
        listed.append(say("… {count:,} more", count=len(shown) - _MOST_LISTED))
    return f"{name} IN ({', '.join(listed)})"


def _between(face: Face, low: int | None, high: int | None) -> str:
    name = _bracketed(face)
    if low is None or high is None:
        bound = low if low is not None else high
        assert bound is not None
        return f"{name} {'>=' if low is not None else '<='} {_shown(face, bound)}"
    if low == high:
        return f"{name} = {_shown(face, low)}"
    return f"{name} BETWEEN {_shown(face, low)} AND {_shown(face, high)}"


def _shown(face: Face, index: int) -> str:
    if face.codes:
        return _quoted(face.codes[index]) if 0 <= index < len(face.codes) else str(index)
    return word_number(index * face.step)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
