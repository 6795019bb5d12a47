"""Whatever a server sends, reading it gives a release, or the one refusal."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Refused
from discreet.results import Release, read_release, sent_release, write_release
from discreet.results.sent_release import RELEASE_FORM, decode_release, encode_release
from tests.unit.results.real_releases import make_full, names_in

REFUSAL = r"^what the server sent cannot be read as a release\.$"


SMALL = write_release(make_full())


def change(*path: str | int, to: object) -> bytes:
    """The message of a release with another value at a place of it."""
    message = json.loads(SMALL)
    place = message
    for step in path[:-1]:
        place = place[step]
    assert path[-1] in (place if isinstance(place, dict) else range(len(place)))
    place[path[-1]] = to
    return json.dumps(message).encode()


def refuse(data: bytes) -> None:
    with pytest.raises(Refused, match=REFUSAL) as refused:
        read_release(data)
    assert refused.value.fields == {}
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        b"\xef\xbb\xbf" + SMALL,
        SMALL.decode().encode("utf-16"),
        SMALL[:-1],
        SMALL + b"{}",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"9" * 10_000,
        json.dumps({"format": RELEASE_FORM}).encode(),
        json.dumps(json.loads(SMALL)["release"]).encode(),
    ],
    ids=range(14),
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    refuse(data)


@pytest.mark.parametrize("other", [0, 2, 1.0, True, "1", None, [1]])
def test_a_message_of_another_form_is_refused(other: object) -> None:
    refuse(change("format", to=other))


STATISTIC = ("release", "statistics", 0)
MARGIN = (*STATISTIC, "figures", 0)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("release", "kind"), "survey"),
        (("release", "is"), "PureDP"),
        (("release", "is"), "__class__"),
        (("release", "is"), ["Release"]),
        (("release", "title"), "a title"),
        (("release", "title", "fr"), " "),
        (("release", "title"), {"is": "Phrase", "template": "{0.__class__}", "facts": {}}),
        (("release", "claim", "guarantee"), {"is": "BeliefRise", "prior": "1", "belief": "1"}),
        (("release", "claim", "guarantee"), {"is": "PureDP"}),
        (("release", "claim", "guarantee"), {"is": "PureDP", "epsilon": "1", "delta": "0"}),
        (("release", "claim", "guarantee", "epsilon"), "0"),
        (("release", "claim", "guarantee", "epsilon"), 1),
        (("release", "claim", "unit", "rows"), True),
        (("release", "claim", "unit", "rows"), 10**7),
        (("release", "claim", "each"), "dog"),
        (("release", "level"), "1E+999999999"),
        (("release", "level"), "NaN"),
        (("release", "level"), "١"),
        (("release", "level"), "1" * 1_000_000),
        (("release", "level"), 0.95),
        (("release", "settlement", "replayed"), 0),
        (("release", "source", "version"), 1.0),
        (("release", "source", "datasets"), {"survey": "1"}),
        (("release", "headings"), None),
        (("release", "headings"), []),
        (("release", "headings", 0, "face", "step"), "1/0"),
        (("release", "headings", 0, "face", "step"), "1" + "0" * 999),
        (("release", "headings", 0, "face", "codes"), ["a0"]),
        (("release", "order"), ["value", "nobody"]),
        (("release", "order"), ["a"]),
        (("release", "mechanisms"), {"is": "set", "of": []}),
        (("release", "asked"), {"deep": [[[[[[[[[[[[[[]]]]]]]]]]]]]]}),
        (("release", "asked"), {"what": {"is": "Release"}}),
        (("release", "parts"), {"one": None}),
        ((*STATISTIC, "step"), "1e9"),
        ((*STATISTIC, "step"), "0." + "0" * 1_000_000),
        ((*STATISTIC, "whole"), 1),
        ((*MARGIN, "over"), [2]),
        ((*MARGIN, "codes"), []),
        ((*MARGIN, "values"), [1]),
        ((*MARGIN, "values"), [1, 2, 3, True]),
        ((*MARGIN, "values"), [1, 2, 3, "4"]),
        ((*MARGIN, "values"), [1, 2, 3, [4]]),
        ((*MARGIN, "values"), {"0": 1}),
        ((*MARGIN, "values", 0), float("nan")),
        ((*MARGIN, "low", 0), float("inf")),
        ((*MARGIN, "quality", 0), "excellent"),
        ((*MARGIN, "quality", 0), None),
    ],
)
def test_a_value_of_another_sort_is_refused(path: tuple[str | int, ...], wrong: object) -> None:
    refuse(change(*path, to=wrong))


NOISELESS = {
    "is": "MeasureNoise",
    "measure": "COUNT(*)",
    "noise": [],
    "share": {},
    "step": "1",
    "name": "",
    "shown": True,
}
CELLS = ("release", "statistics", 0, "figures")


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("release", "claim", "neighbours_from"), "query"),
        (("release", "kind"), "local"),
        (("release", "kind"), "unproven"),
        (("release", "kind"), "workload"),
        (("release", "asked"), {"is": "mapping", "of": {"sql": "SELECT"}}),
        (("release", "mechanisms"), [{**NOISELESS, "by": None}]),
        ((*CELLS,), []),
        (("release", "order"), ["value"]),
    ],
)
def test_what_does_not_fit_the_rest_is_refused(path: tuple[str | int, ...], wrong: object) -> None:
    """Whoever shows a release would stumble over it."""
    refuse(change(*path, to=wrong))


def test_a_margin_stands_once_and_a_release_has_columns() -> None:
    message: Any = encode_release(make_full())
    figures = message["statistics"][0]["figures"]
    for wrong in ({"statistics": [{**message["statistics"][0], "figures": [*figures, figures[0]]}]},
                  {"kind": "query", "statistics": [], "headings": []}):  # fmt: skip
        with pytest.raises(Refused, match=REFUSAL):
            decode_release({**message, **wrong})


def test_a_number_beyond_floats_is_refused() -> None:
    refuse(SMALL.replace(b'"share":0.1', b'"share":1e999'))
    with pytest.raises(Refused, match=REFUSAL):
        decode_release({**encode_release(make_full()), "asked": {"share": 10**5_000}})


def test_parts_have_no_parts() -> None:
    part = make_full()
    whole = dataclasses.replace(part, parts={"one": part})
    assert read_release(write_release(whole)).rows == whole.rows
    message = {**encode_release(whole), "parts": {"one": encode_release(whole)}}
    with pytest.raises(Refused, match=REFUSAL):
        decode_release(message)


def test_statistics_have_the_same_rows() -> None:
    message: Any = encode_release(make_full())
    more = deepcopy(message["statistics"][0])
    message["statistics"].append({**more, "name": "more"})
    assert len(decode_release(message).statistics) == 2
    more["figures"].pop()
    message["statistics"][1] = more
    with pytest.raises(Refused, match=REFUSAL):
        decode_release(message)


def test_values_that_hold_themselves_are_refused() -> None:
    message: Any = encode_release(make_full())
    message["parts"] = {"one": message}
    with pytest.raises(Refused, match=REFUSAL):
        decode_release(message)


def test_a_message_that_is_too_long_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sent_release, "LARGEST_RELEASE", len(SMALL))
    assert len(read_release(SMALL)) == 9
    refuse(SMALL + b" ")


# --- whatever is sent -----------------------------------------------------------------------------------------------

FULL: Any = json.loads(SMALL)["release"]
"""With every noun in it: what is put in the place of a value may be another of its own values."""

NAMES = sorted(set(names_in(FULL)))


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from places(item, (*path, name))


PLACES = list(places(FULL))[1:]
numbers = st.one_of(st.integers(), st.floats(), st.sampled_from([0, 1, -1, 10**30, 10**400]))
words = st.one_of(st.text(max_size=5), st.sampled_from(["", "0", "1", "1/0", "1E+999999", "Infinity", *NAMES]))
plain = st.one_of(st.none(), st.booleans(), numbers, words)
others = st.one_of(
    plain,
    st.lists(plain, max_size=5),
    st.dictionaries(words, plain, max_size=2),
    st.sampled_from(NAMES).map(lambda name: {"is": name}),
    st.sampled_from(PLACES).map(lambda path: at(FULL, path)),
)


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@st.composite
def messages(draw: st.DrawFn) -> object:
    """The message of a release in which one to three values are others, are gone, or stand twice."""
    message = deepcopy(FULL)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(PLACES))
        try:
            place = at(message, tuple(above))
            place[last] = place[last]
        except (LookupError, TypeError):  # gone with an earlier one
            continue
        match draw(st.sampled_from(["change", "drop", "add"])):
            case "change":
                place[last] = deepcopy(draw(others))
            case "drop":
                del place[last]
            case "add" if isinstance(place, list):
                place.append(deepcopy(draw(others)))
            case _:
                place[draw(words)] = deepcopy(draw(others)) if isinstance(place, dict) else None
    return message


def read_or_refuse(read: Callable[[Any], Release], given: object) -> Release | None:
    """What is read, if it is not refused."""
    try:
        return read(given)
    except Refused as refused:
        said = refused.to_dict()
    assert said == {"error": "Refused", "message": "what the server sent cannot be read as a release.", "fields": {}}
    return None


@settings(max_examples=400)
@given(messages())
def test_whatever_is_sent_is_a_release_or_is_refused(message: object) -> None:
    found = read_or_refuse(decode_release, message)
    if found is None:
        return
    assert len(found.rows) == len(found.intervals)
    assert repr(found)
    assert list(found.figures) == list(read_release(write_release(found)).figures)


@settings(max_examples=150)
@given(st.data())
def test_whatever_is_read_can_be_shown(data: st.DataObject) -> None:
    message = data.draw(messages())
    found = read_or_refuse(decode_release, message)
    if found is not None:
        for language in ("en", "fr"):
            found.to_dict(language)
        assert found._repr_html_()


@given(st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_whatever_bytes_are_sent_are_a_release_or_are_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL)
    for place, byte in changes:
        data[place] = byte
    read_or_refuse(read_release, bytes(data))
