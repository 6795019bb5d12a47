"""Reading by a declared schema: what each type takes, what is said of everything else, and beside which line."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from discreet.cards.schema import (
    ChoiceType,
    CodeType,
    FieldsType,
    FlagType,
    FormsType,
    LabelType,
    ListType,
    MappingType,
    NumberType,
    ParameterType,
    SchemaKey,
    SchemaType,
    TextType,
    WholeType,
    call_by_place,
    walk_keys,
)
from discreet.cards.schema_reader import Record, SchemaReader
from discreet.cards.schema_words import brief, comment_block, takes
from discreet.cards.yaml_text import parse_yaml
from discreet.catalogue import FRENCH, Labels, Phrase, speaking

SHAPES = FieldsType(
    (
        SchemaKey("kind", ChoiceType(("round", "square")), Labels("Its kind. More.", "Sa forme. Plus."), required=True),
        SchemaKey(
            "radius", NumberType(), Labels("Its radius.", "Son rayon."), goes_with=("round",), needed_with=("round",)
        ),
        SchemaKey("side", NumberType(), Labels("Its side.", "Son côté."), goes_with=("square",)),
        SchemaKey("tone", ChoiceType(("red", "green")), Labels("Its red tone.", "Son ton."), goes_with=("round",)),
        SchemaKey("tone", ChoiceType(("blue",)), Labels("Its blue tone.", "Son ton."), goes_with=("square",)),
        SchemaKey(
            "filled", FlagType(), Labels("Whether it is.", "S'il l'est."), default="false", goes_with=("square",)
        ),
        SchemaKey("size", WholeType(1, 9), Labels("Its size.", "Sa taille."), default="3"),
    ),
    by="kind",
    called=call_by_place,
)


def call_part(name: str, _what: str) -> str:
    return f"part {name}"


def in_french(words: Callable[[], str]) -> str:
    with speaking(FRENCH):
        return words()


def read(kind: SchemaType, text: str) -> tuple[Any, list[str]]:
    """What a text means as a value of a type, and what was noted."""
    reader = SchemaReader()
    value = reader.read(kind, parse_yaml(text, file="f.yaml"), "it")
    return value, [note for _, note in [*reader.problems, *reader.undecided]]


@pytest.mark.parametrize(
    ("kind", "text", "meant"),
    [
        (TextType(), "010", "010"),
        (TextType(pattern="[a-z]+"), "' abc '", "abc"),
        (CodeType(), "null", "null"),
        (LabelType(), "a  b", Labels("a b", "a b")),
        (LabelType(), "{en: a, fr: b}", Labels("a", "b")),
        (FlagType(), "'true'", True),
        (WholeType(1, 10), "1e1", 10),
        (NumberType(), "-010.50", Decimal("-10.50")),
        (ParameterType(), "+1e-006", Decimal("0.000001")),
        (ParameterType(zero=True, below=1), "0", Decimal(0)),
        (ChoiceType(("a", "b")), "b", "b"),
        (ListType(CodeType()), "[1, x]", ("1", "x")),
        (ListType(NumberType(), single=True), "7", (Decimal(7),)),
        (FormsType((NumberType(), ListType(NumberType()))), "[1]", (Decimal(1),)),
        (FormsType((NumberType(), ListType(NumberType()))), "1", Decimal(1)),
    ],
)
def test_what_types_take(kind: SchemaType, text: str, meant: object) -> None:
    assert read(kind, text) == (meant, [])


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (TextType(), "[a]", "it must be one word or text, not a list or mapping"),
        (TextType(), "''", "it has no value"),
        (TextType(), "x" * 2001, "it is longer than 2000 characters"),
        (TextType(Labels("small", "petit"), "[a-z]+"), "Abc", "it 'Abc' must be small"),
        (TextType(pattern="[a-z]+", refusal=Phrase("names a thing, as in a")), "A", "it names a thing, as in a"),
        (FlagType(), "yes", "it must be true or false; received 'yes'"),
        (WholeType(1, 1000), "1001", "it must be a whole number from 1 to 1,000"),
        (WholeType(1, 1000), "0", "it must be a whole number from 1 to 1,000"),
        (WholeType(1, 1000), "1.5", "it must be a whole number from 1 to 1,000"),
        (NumberType(), "1,5", "it must be a plain decimal number: use a point: write 1.5; received '1,5'"),
        (NumberType(), "1e16", "it must lie within 10^15 and have at most 9 decimals; received '1e16'"),
        (NumberType(positive=True), "0", "it must be positive; received 0"),
        (NumberType(negative=False), "-0.10", "it must not be negative; received -0.1"),
        (ParameterType(), "0", "it must be positive; received '0'."),
        (ParameterType(below=1), "1", "it must be below 1; received '1'."),
        (ParameterType(largest=50), "51", "it must be at most 50; received '51'."),
        (ChoiceType(("public",)), "private", "it can only be public"),
        (ChoiceType(("left", "right")), "rigth", "it must be left or right; received 'rigth'; did you mean 'right'?"),
        (ListType(CodeType()), "a", "it must be a list, such as [a, b]"),
        (ListType(CodeType(), Phrase("are two"), least=2, most=2), "[a, b, c]", "it are two"),
        (ListType(NumberType(), distinct=Phrase("has equals")), "[1, 1.0]", "it has equals"),
        (MappingType(NumberType(), call_part), "[a]", "it must be a mapping from name to description"),
        (MappingType(NumberType(), call_part, least=1, empty=Phrase("there is none")), "{}", "there is none"),
        (MappingType(NumberType(), call_part), "{a: b}", "part a must be a plain decimal number; received 'b'"),
        (MappingType(NumberType(), call_part), "{'': 1}", "it: a code must not be empty"),
        (
            FormsType((ChoiceType(("none",)), ListType(CodeType())), Phrase("is none or a list")),
            "some",
            "it is none or a list",
        ),
        (
            FormsType((ChoiceType(("none",)), ListType(CodeType())), Phrase("is none or a list")),
            "{}",
            "it is none or a list",
        ),
    ],
)
def test_what_types_refuse(kind: SchemaType, text: str, said: str) -> None:
    value, notes = read(kind, text)
    assert (value is None or isinstance(kind, MappingType), notes) == (True, [said])


@pytest.mark.parametrize(
    "kind",
    [
        *(TextType(), LabelType(), CodeType(), FlagType(), WholeType(0, 1), NumberType(), ParameterType()),
        *(
            ChoiceType(("a",)),
            ListType(CodeType()),
            MappingType(CodeType(), call_part),
            SHAPES,
            FormsType((CodeType(),)),
        ),
    ],
)
def test_every_type_may_be_undecided(kind: SchemaType) -> None:
    value, notes = read(kind, "DECIDE")
    assert notes == ["it is still to be decided"]
    assert value is None or not value.whole
    assert read(kind, "'DECIDE'")[1] != notes


def test_absent_keys_have_their_defaults_and_are_not_given() -> None:
    found, notes = read(SHAPES, "{kind: square}")
    assert notes == []
    assert isinstance(found, Record)
    assert (found["size"], found["filled"], found["side"], found.whole) == (3, False, None, True)
    assert ("kind" in found, "size" in found) == (True, False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{kind: round, side: 1}", ["'side' does not go with kind round (it); it takes radius, tone, size"]),
        ("{kind: round, filled: true}", ["'filled' does not go with kind round (it); it takes radius, tone, size"]),
        ("{kind: round, filled: false, side: []}", []),
        ("{kind: square, tone: red}", ["tone of it can only be blue"]),
        ("{kind: round, tone: blue}", ["tone of it must be red or green; received 'blue'"]),
        ("{tone: red}", ["key 'kind' is missing in it"]),
        ("{kind: square, sides: 1}", ["unknown key 'sides' in it; did you mean 'side'?"]),
        (
            "{kind: oval, side: x}",
            [
                "kind of it must be round or square; received 'oval'",
                "side of it must be a plain decimal number; received 'x'",
            ],
        ),
    ],
)
def test_a_key_decides_which_others_go_with_it(text: str, said: list[str]) -> None:
    assert read(SHAPES, text)[1] == said


def test_a_mapping_with_an_unknown_key_is_whole_and_one_without_a_needed_key_is_not() -> None:
    """So that what the known keys say is checked too, and nothing is built without its key."""
    assert read(SHAPES, "{kind: square, sides: 1}")[0].whole
    assert not read(SHAPES, "{side: 1}")[0].whole
    assert not read(SHAPES, "{kind: square, side: x}")[0].whole


def test_problems_stand_beside_their_lines() -> None:
    reader = SchemaReader()
    text = "kind: square\nside: x\nsize:\n  12\nmore: 1\n"
    reader.read(SHAPES, parse_yaml(text, file="f.yaml"), "it")
    assert sorted(line for line, _ in reader.problems) == [2, 4, 5]


def test_words_and_comments() -> None:
    assert [path for path, _ in walk_keys(SHAPES)][:3] == ["kind", "radius", "side"]
    assert (brief(SHAPES.keys[0]), in_french(lambda: brief(SHAPES.keys[0]))) == ("its kind", "sa forme")
    assert in_french(lambda: takes(ParameterType(zero=True, below=1))) == "nombre à partir de 0 et inférieur à 1"
    assert in_french(lambda: takes(WholeType(1, 1000))) == "nombre entier de 1 à 1\N{NARROW NO-BREAK SPACE}000"
    assert takes(ListType(NumberType(), least=2, most=2)) == "[number, number]"
    key = SchemaKey("shape", SHAPES, Labels("The shape. It is drawn.", "La forme. Elle est tracée."))
    lines = list(comment_block(key))
    assert lines[0] == "# The shape. It is drawn."
    assert "#   radius  number; with round. Its radius." in lines
