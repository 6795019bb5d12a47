"""A declared file in words: the tables of the reference page, and the comments of drafts, in both languages."""

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
from discreet.results import Labels

__all__ = ["brief", "comment_block", "draft_file", "hint", "key_table", "takes", "with_comment"]

_COMMENT_COLUMN: Final = 36
_WIDTH: Final = 118

_CODE: Final = Labels("code", "code")
_LABEL: Final = Labels("text, or {en: text, fr: text}", "texte, ou {en: texte, fr: texte}")
_LABEL_SHORT: Final = Labels("label", "libellé")
_WHOLE: Final = Labels("whole number from {low} to {high}", "nombre entier de {low} à {high}")
_WHOLE_FROM: Final = Labels("whole number from {low}", "nombre entier à partir de {low}")
_NUMBERS: Final = {
    "any": Labels("number", "nombre"),
    "positive": Labels("positive number", "nombre positif"),
    "zero": Labels("number from 0", "nombre à partir de 0"),
}
_BELOW: Final = {
    False: Labels(" below {limit}", " inférieur à {limit}"),
    True: Labels(" and below {limit}", " et inférieur à {limit}"),
}
_UP_TO: Final = Labels(" up to {limit}", " jusqu'à {limit}")
_UNBOUNDED: Final = 10**15
_OR_LIST: Final = Labels("{item}, or a list", "{item}, ou une liste")
_NAME: Final = Labels("name", "nom")
_OR: Final = Labels(" or ", " ou ")
_HEADINGS: Final = Labels("key | takes | meaning | when absent", "clé | valeur | sens | par défaut")
_REQUIRED: Final = Labels("required", "obligatoire")
_NEEDED: Final = Labels("required with {values}", "obligatoire avec {values}")
_WITH: Final = Labels("with", "avec")
_ONLY: Final = Labels("Only with {values}.", "Seulement avec {values}.")


def brief(key: SchemaKey, lang: str = "en") -> str:
    """The first sentence of a key's meaning, as a comment begins and ends."""
    sentence = key.meaning(lang).split(". ")[0].removesuffix(".")
    return sentence[0].lower() + sentence[1:]


def hint(key: SchemaKey, lang: str = "en") -> str:
    """The same with what the key takes, where there is a choice of words or forms, or a pattern."""
    shown = isinstance(key.type, ChoiceType | LabelType | FormsType) or (
        isinstance(key.type, TextType) and key.type.pattern
    )
    return f"{brief(key, lang)} ({takes(key.type, lang)})" if shown else brief(key, lang)


def with_comment(text: str, comment: str) -> str:
    """A line of YAML with a comment beside it."""
    return f"{text:<{_COMMENT_COLUMN}} # {comment}"


def comment_block(key: SchemaKey, lang: str = "en") -> Iterator[str]:
    """The meaning of a key and of the keys below it, as lines of comment."""
    yield from textwrap.wrap(f"# {key.meaning(lang)}", _WIDTH, subsequent_indent="# ")
    found = find_fields(key.type)
    if found is None:
        return
    inner = list(walk_keys(found[0]))
    width = max(len(path) for path, _ in inner)
    for path, part in inner:
        only = f"; {_WITH.text(lang)} {', '.join(part.goes_with)}" if part.goes_with else ""
        words = f"{takes(part.type, lang)}{only}. {part.meaning(lang)}"
        yield from textwrap.wrap(f"#   {path:<{width}}  {words}", _WIDTH, subsequent_indent=f"#   {'':<{width}}  ")


def draft_file(
    schema: FileSchema, values: Mapping[str, str], *, use: str, examples: Mapping[str, str] | None = None
) -> str:
    """A file to begin with: every key with its meaning; one without a value stands as a comment, with an example."""
    head = textwrap.wrap(schema.about.en, _WIDTH, initial_indent="# ", subsequent_indent="# ")
    blocks = ["\n".join([schema.editor_line, *head, f"# {use}"])]
    for key in schema.fields.keys:
        value, example = values.get(key.name), (examples or {}).get(key.name, key.example)
        line = f"# {key.name}: {example}" if value is None else f"{key.name}: {value}".replace(": \n", ":\n")
        blocks.append("\n".join([*comment_block(key), line]))
    return "\n\n".join(blocks) + "\n"


def key_table(schema: FileSchema, lang: str = "en") -> str:
    """Every key of a kind of file as a Markdown table; '*' stands for a name that the author chooses."""
    columns = _HEADINGS.text(lang)
    lines = [f"| {columns} |", f"|{' --- |' * (columns.count('|') + 1)}"]
    for path, key in walk_keys(schema.fields):
        meaning = key.meaning(lang)
        if key.goes_with:
            meaning += f" {_ONLY.text(lang).format(values=', '.join(f'`{value}`' for value in key.goes_with))}"
        shown = takes(key.type, lang).replace("|", "·")
        lines.append(f"| `{path}` | {shown} | {meaning.replace('|', '·')} | {_absent(key, lang)} |")
    return "\n".join(lines)


def _absent(key: SchemaKey, lang: str) -> str:
    if key.required:
        return _REQUIRED.text(lang)
    if key.needed_with:
        return _NEEDED.text(lang).format(values=", ".join(f"`{value}`" for value in key.needed_with))
    return f"`{key.default}`" if key.default else ""


def takes(kind: SchemaType, lang: str = "en") -> str:
    """What a value of this type looks like."""
    match kind:
        case TextType():
            return kind.words.text(lang)
        case CodeType():
            return _CODE.text(lang)
        case LabelType():
            return _LABEL.text(lang)
        case FlagType():
            return "true | false"
        case WholeType(low=low, high=high):
            words = _WHOLE if high < _UNBOUNDED else _WHOLE_FROM
            return words.text(lang).format(low=_grouped(low, lang), high=_grouped(high, lang))
        case NumberType():
            return _NUMBERS["positive" if kind.positive else "any" if kind.negative else "zero"].text(lang)
        case ParameterType():
            return _parameter(kind, lang)
        case ChoiceType(names=names):
            return " | ".join(names)
        case ListType():
            return _list(kind, lang)
        case MappingType():
            name = kind.names.words if isinstance(kind.names, TextType) and not kind.names.pattern else _NAME
            name = _CODE if isinstance(kind.names, CodeType) else name
            item = _LABEL_SHORT.text(lang) if isinstance(kind.item, LabelType) else takes(kind.item, lang)
            return f"{{{name.text(lang)}: {item}}}"
        case FieldsType():
            return f"{{{', '.join(kind.names)}}}" if len(kind.names) <= 4 else "{...}"
        case FormsType(forms=forms):
            return _OR.text(lang).join(takes(form, lang) for form in forms)
        case _:
            assert_never(kind)


def _list(kind: ListType, lang: str) -> str:
    item = takes(kind.item, lang)
    if kind.single:
        return _OR_LIST.text(lang).format(item=item)
    return f"[{', '.join([item] * kind.least)}]" if kind.least == kind.most else f"[{item}, ...]"


def _parameter(kind: ParameterType, lang: str) -> str:
    words = _NUMBERS["zero" if kind.zero else "positive"].text(lang)
    if kind.below is not None:
        return words + _BELOW[kind.zero].text(lang).format(limit=kind.below)
    return words if kind.largest == ParameterType().largest else words + _UP_TO.text(lang).format(limit=kind.largest)


def _grouped(number: int, lang: str) -> str:
    text = f"{number:,}"
    return text.replace(",", "\N{NO-BREAK SPACE}") if lang == "fr" else text
