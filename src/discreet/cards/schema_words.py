"""A declared file in words: the tables of the reference page and the comments of drafts, in the language spoken."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Final, assert_never

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
    find_fields,
    walk_keys,
)
from discreet.catalogue import language, say

__all__ = ["brief", "comment_block", "draft_file", "hint", "key_table", "takes", "with_comment"]

_COMMENT_COLUMN: Final = 36
_WIDTH: Final = 118

_UNBOUNDED: Final = 10**15


def brief(key: SchemaKey) -> str:
    """The first sentence of a key's meaning, as a comment begins and ends."""
    sentence = key.meaning.text(language()).split(". ")[0].removesuffix(".")
    return sentence[0].lower() + sentence[1:]


def hint(key: SchemaKey) -> str:
    """The same with what the key takes, where there is a choice of words or forms, or a pattern."""
    shown = isinstance(key.type, ChoiceType | LabelType | FormsType) or (
        isinstance(key.type, TextType) and key.type.pattern
    )
    return f"{brief(key)} ({takes(key.type)})" if shown else brief(key)


def with_comment(text: str, comment: str) -> str:
    """A line of YAML with a comment beside it."""
    return f"{text:<{_COMMENT_COLUMN}} # {comment}"


def comment_block(key: SchemaKey) -> Iterator[str]:
    """The meaning of a key and of the keys below it, as lines of comment."""
    yield from textwrap.wrap(f"# {key.meaning.text(language())}", _WIDTH, subsequent_indent="# ")
    found = find_fields(key.type)
    if found is None:
        return
    inner = list(walk_keys(found[0]))
    width = max(len(path) for path, _ in inner)
    for path, part in inner:
        words = takes(part.type)
        if part.goes_with:
            words = say("{takes}; with {values}", takes=words, values=", ".join(part.goes_with))
        line = f"#   {path:<{width}}  {words}. {part.meaning.text(language())}"
        yield from textwrap.wrap(line, _WIDTH, subsequent_indent=f"#   {'':<{width}}  ")


def draft_file(
    schema: FileSchema, values: Mapping[str, str], *, use: str, examples: Mapping[str, str] | None = None
) -> str:
    """A file to begin with: every key with its meaning; one without a value stands as a comment, with an example."""
    head = textwrap.wrap(schema.about.text(language()), _WIDTH, initial_indent="# ", subsequent_indent="# ")
    blocks = ["\n".join([schema.editor_line, *head, f"# {use}"])]
    for key in schema.fields.keys:
        value, example = values.get(key.name), (examples or {}).get(key.name, key.example)
        line = f"# {key.name}: {example}" if value is None else f"{key.name}: {value}".replace(": \n", ":\n")
        blocks.append("\n".join([*comment_block(key), line]))
    return "\n\n".join(blocks) + "\n"


def key_table(schema: FileSchema) -> str:
    """Every key of a kind of file as a Markdown table; '*' stands for a name that the author chooses."""
    columns = say("key | takes | meaning | when absent")
    lines = [f"| {columns} |", f"|{' --- |' * (columns.count('|') + 1)}"]
    for path, key in walk_keys(schema.fields):
        meaning = key.meaning.text(language())
        if key.goes_with:
            meaning += " " + say("Only with {values}.", values=_coded(key.goes_with))
        shown = takes(key.type).replace("|", "·")
        lines.append(f"| `{path}` | {shown} | {meaning.replace('|', '·')} | {_absent(key)} |")
    return "\n".join(lines)


def _absent(key: SchemaKey) -> str:
    if key.required:
        return say("required")
    if key.needed_with:
        return say("required with {values}", values=_coded(key.needed_with))
    return f"`{key.default}`" if key.default else ""


def _coded(values: tuple[str, ...]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def takes(kind: SchemaType) -> str:
    """What a value of this type looks like."""
    match kind:
        case TextType():
            return kind.words.text(language())
        case CodeType():
            return say("code")
        case LabelType():
            return say("text, or {{en: text, fr: text}}")
        case FlagType():
            return "true | false"
        case WholeType(low=low, high=high):
            if high >= _UNBOUNDED:
                return say("whole number from {low:,}", low=low)
            return say("whole number from {low:,} to {high:,}", low=low, high=high)
        case NumberType():
            if kind.positive:
                return say("positive number")
            return say("number") if kind.negative else say("number from 0")
        case ParameterType():
            return _parameter(kind)
        case ChoiceType(names=names):
            return " | ".join(names)
        case ListType():
            return _list(kind)
        case MappingType():
            item = say("label") if isinstance(kind.item, LabelType) else takes(kind.item)
            return f"{{{_name(kind.names)}: {item}}}"
        case FieldsType():
            return f"{{{', '.join(kind.names)}}}" if len(kind.names) <= 4 else "{...}"
        case FormsType(forms=forms):
            return say(" or ").join(takes(form) for form in forms)
        case _:
            assert_never(kind)


def _name(kind: TextType | CodeType) -> str:
    """What the names of a mapping are."""
    if isinstance(kind, CodeType):
        return say("code")
    return say("name") if kind.pattern else kind.words.text(language())


def _list(kind: ListType) -> str:
    item = takes(kind.item)
    if kind.single:
        return say("{item}, or a list", item=item)
    return f"[{', '.join([item] * kind.least)}]" if kind.least == kind.most else f"[{item}, ...]"


def _parameter(kind: ParameterType) -> str:
    number = say("number from 0") if kind.zero else say("positive number")
    if kind.below is None:
        largest = kind.largest
        return (
            number
            if largest == ParameterType().largest
            else say("{number} up to {limit}", number=number, limit=largest)
        )
    if kind.zero:
        return say("{number} and below {limit}", number=number, limit=kind.below)
    return say("{number} below {limit}", number=number, limit=kind.below)
