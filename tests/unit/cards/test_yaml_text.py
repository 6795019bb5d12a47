"""Strict YAML: what is read, what is refused, and on which line."""

from __future__ import annotations

import pytest

from discreet.cards.yaml_text import MappingNode, ScalarNode, SequenceNode, parse_yaml
from discreet.errors import CardInvalid


def problem(text: str) -> str:
    with pytest.raises(CardInvalid) as refused:
        parse_yaml(text, file="c.yaml")
    return str(refused.value)


def test_scalars_stay_text() -> None:
    root = parse_yaml("a: 010\nb: [ON, NO, yes, 1e-6, 0x1F, 1_000, .5, 12:30, null, ~, 2020-01-01]\n", file="c.yaml")
    assert isinstance(root, MappingNode)
    assert root.get("a") == ScalarNode("010", 1)
    listed = root.get("b")
    assert isinstance(listed, SequenceNode)
    texts = [item.text for item in listed.items if isinstance(item, ScalarNode)]
    assert texts == ["ON", "NO", "yes", "1e-6", "0x1F", "1_000", ".5", "12:30", "null", "~", "2020-01-01"]


def test_quotes_are_known() -> None:
    root = parse_yaml("a: 'DECIDE'\nb: DECIDE\n", file="c.yaml")
    assert isinstance(root, MappingNode)
    assert root.get("a") == ScalarNode("DECIDE", 1, plain=False)
    assert root.get("b") == ScalarNode("DECIDE", 2, plain=True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: !!str 1", "c.yaml:1: tags"),
        ("a: 1\nb: !x {c: 1}", "c.yaml:2: tags"),
        ("a: !!python/object/apply:os.system [id]", "c.yaml:1: tags"),
        ("%TAG ! tag:x,2000:\n---\na: 1", "tags"),
        ("a: &x 1\nb: 2", "c.yaml:1: anchors"),
        ("a: 1\nb: *a", "c.yaml:2: aliases"),
        ("a: 1\nb: 2\na: 3", "c.yaml:3: key 'a' appears twice (first on line 1)"),
        ("a: 1\n---\nb: 2", "c.yaml:2: a second document"),
        ("? [a, b]\n: 1", "c.yaml:1: a key must be plain text"),
        ("a: [1, 2", "this is not YAML"),
        ("", "c.yaml:1: the file is empty"),
        ("a: 1\nb: \x07", "c.yaml:2: control character U+0007"),
        ('a: 1\nb: "\\0"', "c.yaml:2: control character U+0000"),
        ('a: "\\u202e"', "c.yaml:1: control character U+202E"),
        ("a: \u202ex", "c.yaml:1: control character U+202E"),
        ("a: " + "[" * 30 + "]" * 30, "nesting is deeper than 20"),
        ("a: " + "[" * 400_000, "nesting is deeper than 20"),
        ("a: " + "x" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_refused(text: str, told: str) -> None:
    assert told in problem(text)


def test_every_duplicate_is_told() -> None:
    assert problem("a: 1\na: 2\nb: {c: 1, c: 2}").count("appears twice") == 2


def test_windows_line_ends_count_as_one() -> None:
    assert "c.yaml:3:" in problem("a: 1\r\nb: 2\r\na: 3\r\n")
