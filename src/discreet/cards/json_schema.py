"""A declared file as JSON Schema (draft 2020-12), by which editors complete, explain and check while one writes.

It takes whatever the reader takes once an ordinary YAML loader has read it, so a number may be written in quotes and a
code may look like a number, a truth value or nothing. What ties several keys together it cannot say, beyond which keys
go with which kind; the reader says the rest.
"""

from __future__ import annotations

import re
from typing import Any, Final, assert_never

from discreet.cards.schema import (
    ChoiceType,
    CodeType,
    FieldsType,
    FileSchema,
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
)
from discreet.cards.schema_reader import NUMBER_PATTERN
from discreet.cards.yaml_text import MappingNode, Node, ScalarNode, parse_yaml

__all__ = ["json_value", "make_json_schema"]

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_LARGEST: Final = 10**15
_NUMBER_TEXT: Final = {
    "type": ["number", "string"],
    "pattern": r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*$",
}
_TEXT: Final = {"type": ["string", "number", "boolean"], "minLength": 1}


def make_json_schema(schema: FileSchema, lang: str = "en") -> dict[str, Any]:
    """The schema of a kind of file, with meanings in a language."""
    languages = {"type": "object", "properties": {"en": _TEXT, "fr": _TEXT}, "required": ["en", "fr"]}
    label = {"anyOf": [_TEXT, {**languages, "additionalProperties": False}]}
    return {
        "$schema": _DRAFT,
        "$id": schema.url,
        "title": schema.title.text(lang),
        "description": schema.about.text(lang),
        **_fields(schema.fields, lang),
        "$defs": {"label": label},
    }


def json_value(node: Node) -> Any:
    """A node as an ordinary loader of YAML 1.2 gives it: numbers and truth values where they look like it."""
    if isinstance(node, MappingNode):
        return {key.text: json_value(value) for key, value in node.entries}
    if not isinstance(node, ScalarNode):
        return [json_value(item) for item in node.items]
    if not node.plain:
        return node.text
    if node.text in {"true", "false"}:
        return node.text == "true"
    if re.fullmatch(NUMBER_PATTERN, node.text):
        return int(node.text) if re.fullmatch(r"[+-]?\d+", node.text) else float(node.text)
    return node.text


def _type(kind: SchemaType, lang: str) -> dict[str, Any]:
    match kind:
        case TextType():
            return _text(kind)
        case LabelType():
            return {"$ref": "#/$defs/label"}
        case CodeType():
            return {"type": ["string", "number", "boolean", "null"], "minLength": 1}
        case FlagType():
            return {"enum": [True, False, "true", "false"]}
        case WholeType(low=low, high=high):
            return {**_NUMBER_TEXT, "type": ["integer", "string"], "minimum": low, "maximum": high}
        case NumberType():
            least = {"exclusiveMinimum": 0} if kind.positive else {"minimum": -_LARGEST if kind.negative else 0}
            return {**_NUMBER_TEXT, **least, "maximum": _LARGEST}
        case ParameterType():
            least = {"minimum": 0} if kind.zero else {"exclusiveMinimum": 0}
            most = {"maximum": kind.largest} if kind.below is None else {"exclusiveMaximum": kind.below}
            return {**_NUMBER_TEXT, **least, **most}
        case ChoiceType(names=names):
            return {"enum": [str(name) for name in names]}
        case ListType():
            return _list(kind, lang)
        case MappingType():
            return _mapping(kind, lang)
        case FieldsType():
            return _fields(kind, lang)
        case FormsType(forms=forms):
            return {"anyOf": [_type(form, lang) for form in forms]}
        case _:
            assert_never(kind)


def _text(kind: TextType) -> dict[str, Any]:
    """Text as a loader gives it: a name made of digits comes as a number, the name `true` as a truth value."""
    known = {"examples": list(kind.known)} if kind.known else {}
    if not kind.pattern:
        return {**_TEXT, **known}
    types = ["string"]
    types += [name for name, word in (("number", "2024"), ("boolean", "true")) if re.fullmatch(kind.pattern, word)]
    return {"type": types, "pattern": f"^(?:{kind.pattern})$", **known}


def _list(kind: ListType, lang: str) -> dict[str, Any]:
    item = _type(kind.item, lang)
    found: dict[str, Any] = {"type": "array", "items": item}
    if kind.least:
        found["minItems"] = kind.least
    if kind.most is not None:
        found["maxItems"] = kind.most
    if kind.distinct:
        found["uniqueItems"] = True
    return {"anyOf": [item, found]} if kind.single else found


def _mapping(kind: MappingType, lang: str) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "object", "additionalProperties": _type(kind.item, lang)}
    if isinstance(kind.names, TextType) and kind.names.pattern:
        result["propertyNames"] = {"pattern": f"^(?:{kind.names.pattern})$"}
    if kind.least:
        result["minProperties"] = kind.least
    return result


def _fields(kind: FieldsType, lang: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "type": "object",
        "properties": {name: _property(kind, name, lang) for name in kind.names},
        "additionalProperties": False,
    }
    if required := [key.name for key in kind.keys if key.required]:
        result["required"] = required
    if kind.by:
        decisive = kind.named[kind.by][0].type
        assert isinstance(decisive, ChoiceType)
        result["allOf"] = [_condition(kind, str(value), lang) for value in decisive.names]
    return result


def _property(kind: FieldsType, name: str, lang: str) -> dict[str, Any]:
    """The values of all keys of that name."""
    keys = kind.named[name]
    return _key(keys[0], lang) if len(keys) == 1 else {"anyOf": [_key(key, lang) for key in keys]}


def _key(key: SchemaKey, lang: str) -> dict[str, Any]:
    result = {"description": key.meaning.text(lang), **_type(key.type, lang)}
    if key.default:
        result["default"] = _written(key.default)
    if key.example:
        result["examples"] = [_written(key.example), *result.get("examples", ())]
    return result


def _written(text: str) -> Any:
    return json_value(parse_yaml(str(text), file="schema"))


def _condition(kind: FieldsType, value: str, lang: str) -> dict[str, Any]:
    """What holds for one value of `by`: which keys are out of place, which of several is meant, which are needed."""
    then: dict[str, Any] = {}
    for name in kind.names:
        keys = kind.named[name]
        fitting = [key for key in keys if key.suits(value)]
        if not fitting:
            then[name] = _nothing(keys[0].type)
        elif len(keys) > 1:
            then[name] = _key(fitting[0], lang)
    found: dict[str, Any] = {"properties": then}
    if needed := [key.name for key in kind.keys if value in key.needed_with]:
        found["required"] = needed
    return {"if": {"properties": {kind.by: {"const": value}}, "required": [kind.by]}, "then": found}


def _nothing(kind: SchemaType) -> dict[str, Any]:
    """What may stand at a key that is out of place: what says no more than its absence."""
    return {"enum": [False, "false"] if isinstance(kind, FlagType) else [[], {}]}
