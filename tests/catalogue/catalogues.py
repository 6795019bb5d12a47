"""Reading and writing the catalogues, and what may be wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from string import Formatter

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from tests.catalogue.sentences import ROOT, Sentence

LOCALE = ROOT / "src" / "discreet" / "catalogue" / "locale"
PO = LOCALE / "fr" / "LC_MESSAGES" / "discreet.po"
ENGLISH_PO = LOCALE / "en" / "LC_MESSAGES" / "discreet.po"
Translations = dict[str, tuple[str, ...]]
"""What is said for each sentence: one form, or two of a sentence that counts."""

_PLURALS = {"fr": "nplurals=2; plural=(n > 1)", "en": "nplurals=2; plural=(n != 1)"}


def read_catalogue(path: Path = PO) -> Translations:
    """What the catalogue says for each sentence; nothing for what is fuzzy or empty."""
    if not path.exists():
        return {}
    with path.open("rb") as stream:
        messages = list(read_po(stream))
    found = {}
    for message in messages:
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        forms = [message.string] if isinstance(message.string, str) else list(message.string or [""])
        if ids[0] and all(forms) and not message.fuzzy:
            found[ids[0]] = tuple(forms)
    return found


def write_catalogue(known: Translations, sentences: Sequence[Sentence], *, keep: bool = False) -> None:
    """The French catalogue: sentences of the source in the order of their files, and what is said for each.

    Sentences that no longer stand anywhere are dropped, unless they are to be kept.
    """
    stands = {item.one for item in sentences}
    gone = [Sentence(one, None, ("",)) for one in known if keep and one not in stands]
    forms = {one: tuple(map(typeset, said)) for one, said in known.items()}
    PO.write_bytes(_write("fr", [*sentences, *gone], forms))


def write_english(sentences: Sequence[Sentence]) -> None:
    ENGLISH_PO.write_bytes(english_bytes(sentences))


def english_bytes(sentences: Sequence[Sentence]) -> bytes:
    """English as a catalogue, for translators into a third language: each sentence says itself."""
    return _write("en", sentences, {item.one: (item.one, *([item.many] if item.many else [])) for item in sentences})


def _write(language: str, sentences: Sequence[Sentence], known: Translations) -> bytes:
    catalogue = Catalog(locale=language, domain="discreet", fuzzy=False)
    for item in sorted(sentences, key=lambda item: (item.places[0], item.one)):
        said = known.get(item.one, ())
        places = [(item.places[0], 0)] if item.places[0] else []
        if item.many is None and len(said) < 2:
            catalogue.add(item.one, said[0] if said else "", locations=places)
        else:
            catalogue.add((item.one, item.many or item.one), said or ("", ""), locations=places)
    out = BytesIO()
    write_po(out, catalogue, width=110, omit_header=True, include_lineno=False)
    head = (
        "# Sentences of Discreet. `make catalogue` keeps them in step with the source.\n"
        f'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Content-Transfer-Encoding: 8bit\\n"\n"Plural-Forms: {_PLURALS[language]};\\n"\n\n'
    )
    return head.encode() + out.getvalue()


def tell_faults(sentences: Sequence[Sentence], path: Path = PO) -> list[str]:
    """What is wrong with the catalogues, one line each."""
    known = read_catalogue(path)
    stands = {item.one for item in sentences}
    faults = [f"no longer in the source: {one!r}" for one in known if one not in stands]
    for item in sentences:
        forms = known.get(item.one, ())
        if len(forms) != (1 if item.many is None else 2):
            faults.append(f"not translated: {item.one!r} ({item.places[0]})")
        faults += [f"{fault}: {item.one!r} → {form!r}" for form in forms for fault in _compare(item, form)]
    if not ENGLISH_PO.exists() or ENGLISH_PO.read_bytes() != english_bytes(sentences):
        faults.append("the English catalogue is not in step: make catalogue")
    return faults


def _compare(item: Sentence, form: str) -> Iterator[str]:
    needed, allowed = _fields(item.one), _fields(item.one) | _fields(item.many or "")
    if not needed - {"count"} <= _fields(form) <= allowed:
        yield "other facts"
    if form != typeset(form):
        yield "not typeset"


def typeset(form: str) -> str:
    """French as it is printed: spaces that do not break before high signs and within quotes, true apostrophes."""
    form = re.sub(r"(?<=[A-Za-zÀ-ÿ])'(?=[A-Za-zÀ-ÿ«])", "’", form)
    form = re.sub(r"(?<=[\w»)\]}”…*`%])[ \u00a0\u202f]*([;!?])(?=[\s»)\n]|$)", "\u202f\\1", form)
    form = re.sub(r"(?<=[\w»)\]}”…*`%]) :(?=\s|$)", "\u00a0:", form)
    form = re.sub(r"«[ \u00a0\u202f]*", "«\u00a0", form)
    form = re.sub(r"[ \u00a0\u202f]*»", "\u00a0»", form)
    return re.sub(r"(?<=[\d}]) %", "\u00a0%", form)


def _fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def as_forms(given: Mapping[str, str | list[str]]) -> Translations:
    """Translations as a file of JSON has them."""
    return {one: (said,) if isinstance(said, str) else tuple(said) for one, said in given.items() if said}
