"""JSON has one reading: what another parser might take for something else is refused, and nothing exhausts this one."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.server import Guard, OfficeProtocol
from discreet.server.connections.json_text import DEEPEST, read_json
from discreet.server.connections.refusals import RequestRefused
from tests.unit.server.listening import Mirror, fetch, listen

mirror = Mirror()
LARGEST = 2**53 - 1


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with listen(Guard(mirror), OfficeProtocol) as found:
        yield found


def refused(data: bytes) -> str:
    with pytest.raises(RequestRefused) as caught:
        read_json(data)
    assert caught.value.status == 400
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value.code


@pytest.mark.parametrize(
    "data",
    {
        "nothing": b"",
        "space": b" \n",
        "a mark of order": b'\xef\xbb\xbf{"a": 1}',
        "UTF-16": '{"a": 1}'.encode("utf-16"),
        "UTF-16 without a mark": '{"a": 1}'.encode("utf-16-le"),
        "UTF-32": '{"a": 1}'.encode("utf-32-be"),
        "latin-1": '{"a": "é"}'.encode("latin-1"),
        "overlong": b'{"a": "\xc0\xaf"}',
        "half a character as bytes": b'{"a": "\xed\xa0\x80"}',
        "half a character": rb'{"a": "\ud800"}',
        "the other half": rb'{"a": "\udc00"}',
        "halves the wrong way round": rb'{"a": "\udc00\ud800"}',
        "half a character as a key": rb'{"\udfff": 1}',
        "half a character deep down": rb'[[{"a": [{"b": "x\uDBFFx"}]}]]',
        "a NUL": rb'{"a": "x\u0000"}',
        "a NUL in a key": rb'{"a\u0000": 1}',
        "a raw NUL": b'{"a": "x\x00"}',
        "a raw line feed": b'{"a": "x\n"}',
        "a raw escape": b'{"a": "x\x1b"}',
        "an odd escape": rb'{"a": "\x41"}',
        "a short escape": rb'{"a": "\u41"}',
        "a key twice": b'{"a": 1, "a": 1}',
        "a key twice with an escape": rb'{"a": 1, "\u0061": 2}',
        "a key twice deep down": b'[{"b": {"a": 1, "c": 2, "a": 3}}]',
        "NaN": b'{"a": NaN}',
        "Infinity": b'{"a": Infinity}',
        "minus Infinity": b'{"a": -Infinity}',
        "nan": b"nan",
        "too large": b"1e400",
        "too large and negative": b"-1e309",
        "too large with digits": b"9" * 400 + b".0",
        "a whole number beyond a float": b"9007199254740992",
        "the same below zero": b"-9007199254740992",
        "5,000 digits": b"1" * 5_000,
        "60,000 digits": b"-" + b"9" * 60_000,
        "digits that are not ASCII": '{"a": １}'.encode(),
        "underscores": b"1_0",
        "hexadecimal": b"0x10",
        "a zero first": b"01",
        "a plus first": b"+1",
        "a point first": b".5",
        "a point last": b"5.",
        "an empty exponent": b"1e",
        "single quotes": b"{'a': 1}",
        "no quotes": b"{a: 1}",
        "a comma last": b'{"a": 1,}',
        "a comma last in a list": b"[1,]",
        "a comment": b'{"a": 1} // x',
        "another comment": b'/* x */ {"a": 1}',
        "two values": b'{"a": 1} {"a": 2}',
        "something after": b'{"a": 1}]',
        "a NUL after": b'{"a": 1}\x00',
        "an end that is missing": b'{"a": 1',
        "a string that does not end": b'{"a": "x',
        "a string that ends with an escape": b'{"a": "x\\',
        "True": b"True",
        "None": b"None",
        "a space of another sort": '{"a":\u00a01}'.encode(),
    }.values(),
)
def test_what_is_refused(data: bytes) -> None:
    assert refused(data) == "JsonInvalid"


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": "b"}', {"a": "b"}),
        (b' \t\r\n"x" ', "x"),
        (b"null", None),
        (b"-0", 0),
        (b"1e308", 1e308),
        (b"5e-324", 5e-324),
        (b"1e-400", 0.0),
        (str(LARGEST).encode(), LARGEST),
        (str(-LARGEST).encode(), -LARGEST),
        (rb'"\ud83d\ude00 \u00e9"', "😀 é"),
        (rb'"\\u0000 \\ud800"', r"\u0000 \ud800"),
        ('"\u202e"'.encode(), "\u202e"),
        (b'{"a": {"a": {"a": 1}}, "b": {"a": 1}}', {"a": {"a": {"a": 1}}, "b": {"a": 1}}),
    ],
)
def test_what_is_read(data: bytes, value: Any) -> None:
    found = read_json(data)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"[":', b"}]")])
def test_depth_has_a_limit(opening: bytes, closing: bytes) -> None:
    levels = sum(opening.replace(b'"["', b"").count(mark) for mark in (b"[", b"{"))
    deepest = DEEPEST // levels
    assert read_json(opening * deepest + b"1" + closing * deepest)
    assert refused(opening * (deepest + 1) + b"1" + closing * (deepest + 1)) == "JsonTooDeep"


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 30_000,
        b'{"a":' * 30_000,
        b"[" * 60_000 + b"]" * 60_000,
        b"[[]," * 40 + b"[" * 33,
        b'["\\"",' + b"[" * 33,
    ],
)
def test_depth_is_seen_before_anything_is_parsed(data: bytes) -> None:
    assert refused(data) == "JsonTooDeep"


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(["[" * 500, "{" * 500, '"' * 9 + "[" * 99, "\\" * 9 + "[" * 99]).encode(),
        rb'["\\", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["]',
        rb'["\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["]',
        b"[" + b"[],{}," * 5_000 + b"[]]",
    ],
)
def test_brackets_in_texts_and_beside_one_another_are_not_depth(data: bytes) -> None:
    assert read_json(data) == json.loads(data)


@pytest.mark.parametrize(
    "data", [b'"' + b"\\" * 65_000, b'"' * 65_001, b'"\\"' * 20_000, b"\\" * 65_000, b'["' * 30_000]
)
def test_nothing_takes_long(data: bytes) -> None:
    start = time.process_time()
    assert refused(data) in ("JsonInvalid", "JsonTooDeep")
    assert time.process_time() - start < 1


def test_many_digits_are_a_plain_refusal_whatever_this_python_allows(port: int) -> None:
    before = sys.get_int_max_str_digits()
    try:
        for most in (before, 0):
            sys.set_int_max_str_digits(most)
            body = b'{"days": ' + b"9" * 5_000 + b"}"
            answer = fetch(port, "POST", "/take", "Content-Type: application/json", body=body)
            assert (answer.status, answer.body) == (400, b"Bad Request")
    finally:
        sys.set_int_max_str_digits(before)
    assert mirror.reached == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab\\\"[{é", max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(VALUES, st.booleans())
def test_every_value_is_read_as_it_was_written(value: Any, ascii_only: bool) -> None:
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=40) | st.text('[]{}",:\\u0d8 1e-.aNI', max_size=40).map(str.encode))
def test_other_bytes_are_refused_in_one_way(data: bytes) -> None:
    with suppress(RequestRefused):
        read_json(data)
