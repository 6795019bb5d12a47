"""JSON Schemas take every file that the readers take, and refuse nothing that the readers would take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from discreet.cards.json_schema import json_value, make_json_schema
from discreet.cards.schema import FieldsType, FileSchema, find_fields, walk_keys
from discreet.cards.schema_reader import Record, SchemaReader
from discreet.cards.yaml_text import parse_yaml
from discreet.cli.file_schemas import FileKind, load_schema
from tests.written_files import find_written, is_taken

FEWEST: Final = {
    FileKind.CARD: 40,
    FileKind.WORKLOAD: 4,
    FileKind.MANIFEST: 8,
    FileKind.STUDY: 8,
    FileKind.AGREEMENT: 2,
}
OTHER_VALUES: Final[tuple[Any, ...]] = (
    *([], {}, [[]], {"a": []}, "", " ", "unheard-of", "x y", "1,5", "DECIDE", True, False),
    *(-1, 0, 1, 2, 51, 10**7, 10**16, 0.5, 1.5, -0.001, 1e-10),
)


class _OrdinaryLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """As editors load YAML: dates stay text."""


_OrdinaryLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith("timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@cache
def validator(kind: FileKind) -> Draft202012Validator:
    return Draft202012Validator(make_json_schema(load_schema(kind)))


def load(text: str) -> Any:
    """The file as JSON: every key is text."""
    return _with_text_keys(yaml.load(text, Loader=_OrdinaryLoader))


def _with_text_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            json.dumps(key) if not isinstance(key, str) else key: _with_text_keys(part) for key, part in value.items()
        }
    return [_with_text_keys(item) for item in value] if isinstance(value, list) else value


def faults(kind: FileKind, value: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator(kind).iter_errors(value)]


@pytest.mark.parametrize("kind", FileKind)
def test_schemas_are_schemas(kind: FileKind) -> None:
    for lang in ("en", "fr"):
        Draft202012Validator.check_schema(make_json_schema(load_schema(kind), lang))


@pytest.mark.parametrize("kind", FileKind)
def test_every_file_that_a_reader_takes_is_taken_by_its_schema(kind: FileKind) -> None:
    texts = find_written(kind)
    assert len(texts) >= FEWEST[kind]
    for text in texts:
        assert faults(kind, load(text)) == [], text
        assert faults(kind, json_value(parse_yaml(text, file="f.yaml"))) == [], text


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _places(part, (*path, key))


@st.composite
def changed_files(draw: st.DrawFn, kind: FileKind) -> Any:
    """A file that is right but for one thing: a key too many, a key too few, or another value somewhere."""
    text = draw(st.sampled_from(find_written(kind)))
    value = deepcopy(json_value(parse_yaml(text, file="f.yaml")))
    path = draw(st.sampled_from([path for path in _places(value) if path]))
    around = value
    for key in path[:-1]:
        around = around[key]
    match draw(st.sampled_from(["more", "fewer", "other"])):
        case "more" if isinstance(around, dict):
            around["unheard_of"] = draw(st.sampled_from(OTHER_VALUES))
        case "fewer":
            del around[path[-1]]
        case _:
            around[path[-1]] = draw(st.sampled_from(OTHER_VALUES))
    return value


@pytest.mark.parametrize("kind", FileKind)
@given(data=st.data())
def test_what_a_schema_refuses_a_reader_refuses(kind: FileKind, data: st.DataObject) -> None:
    for _ in range(10):
        value = data.draw(changed_files(kind))
        found = faults(kind, value)
        assert not found or not is_taken(kind, json.dumps(value, ensure_ascii=False)), found


@pytest.mark.parametrize("kind", FileKind)
def test_slips_of_every_sort_are_refused_by_schema_and_reader(kind: FileKind) -> None:
    """The law above would hold of a schema that refuses nothing."""
    text = max(find_written(kind), key=len)
    value = json_value(parse_yaml(text, file="f.yaml"))
    fields = load_schema(kind).fields
    for name in (key.name for key in fields.keys if key.required):
        without = {key: part for key, part in value.items() if key != name}
        assert faults(kind, without)
        assert not is_taken(kind, json.dumps(without))
    assert faults(kind, {**value, "unheard_of": 1})
    for name in fields.names:
        assert faults(kind, {**value, name: [[]]}), name
        assert not is_taken(kind, json.dumps({**value, name: [[]]})), name


SLIPS: Final[dict[str, list[tuple[str, Any]]]] = {
    "card": [
        ("neighbours", "swap"),
        ("unit", {"column": "a", "rows": 0}),
        ("unit", {"column": "a", "rows": 1.5}),
        ("budget", {"epsilon": 0}),
        ("budget", {"epsilon": 1, "delta": 1}),
        ("dataset", "Survey"),
        ("columns", {"2x": {"kind": "text"}}),
        ("columns", {"x": {"kind": "text", "bounds": [0, 1]}}),
        ("columns", {"x": {"kind": "id", "public": True}}),
        ("columns", {"x": {"kind": "id"}}),
        ("columns", {"x": {"kind": "number", "bounds": [1, 2, 3]}}),
        ("weight", {"column": "w", "cap": 0}),
    ],
    "workload": [("level", 1), ("questions", []), ("questions", [{"name": "a b", "sql": "SELECT 1"}])],
    "manifest": [
        ("mode", "spilt"),
        ("version", 0),
        ("respondent", "id"),
        ("questions", {"q": {"kind": "integer"}}),
        ("questions", {"q": {"kind": "text"}}),
    ],
    "agreement": [
        ("ids", "number"),
        ("people", 0),
        ("unit", "family"),
        ("policy", {"belief": 1}),
        ("scales", []),
        ("scales", [30, 30]),
        ("kinds", ["sum"]),
        ("quota", 1.5),
        ("expires", "tomorrow"),
        ("properties", {}),
    ],
    "study": [
        ("runs", 0),
        ("epsilon", [51]),
        ("epsilon", [1, 1.0]),
        ("seed", -1),
        ("models", ["shufle"]),
        ("models", [{"model": "central", "numbers": "duchi"}]),
        ("models", [{"model": "shuffle", "mechanism": "laplace"}]),
        ("models", [{"model": "hybrid", "share": 1}]),
    ],
}


@pytest.mark.parametrize(("kind", "key", "other"), [(FileKind(kind), *slip) for kind in SLIPS for slip in SLIPS[kind]])
def test_limits_choices_and_kinds_are_in_the_schema(kind: FileKind, key: str, other: object) -> None:
    value = json_value(parse_yaml(find_written(kind)[0], file="f.yaml"))
    assert faults(kind, {**value, key: other})
    assert not is_taken(kind, json.dumps({**value, key: other}))


@pytest.mark.parametrize("kind", FileKind)
def test_every_key_is_explained_in_both_languages_with_an_example_that_is_read(kind: FileKind) -> None:
    schema = load_schema(kind)
    for path, key in walk_keys(schema.fields):
        for text in (key.meaning.en, key.meaning.fr):
            assert text.endswith("."), path
            assert text[0].isupper() or text[0] in "εδ", path
        assert key.meaning.en != key.meaning.fr, path
        assert key.example or find_fields(key.type), path  # the keys below have their own
        for text in filter(None, (key.example, key.default)):
            reader = SchemaReader()
            node = parse_yaml(str(text), file="f.yaml")
            assert reader.read(key.type, node, path) is not None, path
            assert reader.is_clean(), (path, reader.problems)
            inner = make_json_schema(FileSchema("x", schema.where, schema.title, schema.about, FieldsType((key,))))
            assert Draft202012Validator(inner).is_valid({key.name: json_value(node)}), path


def test_a_record_says_what_was_given() -> None:
    reader = SchemaReader()
    found = reader.read_file(load_schema(FileKind.WORKLOAD), parse_yaml("level: 0.9\nepsilon: x\n", file="f.yaml"))
    assert isinstance(found, Record)
    assert ("level" in found, "epsilon" in found, "delta" in found) == (True, True, False)
    assert (str(found["level"]), found["epsilon"], found["delta"]) == ("0.9", None, 0)
    assert not found.whole
