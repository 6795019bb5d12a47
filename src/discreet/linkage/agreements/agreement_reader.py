"""From a YAML file to the terms of an agreement, collecting every problem with its line."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from discreet.cards import CardFault, Entry, Record, SchemaReader, parse_yaml, read_yaml_text
from discreet.catalogue import say
from discreet.errors import AgreementInvalid, QueryRefused
from discreet.linkage.agreements.agreement import (
    AgreementTerms,
    IdType,
    LinkedProperty,
    LinkedSide,
    LinkedWeight,
    PropertyValue,
)
from discreet.linkage.agreements.agreement_schema import AGREEMENT
from discreet.paths import AnyPath, as_path, open_regular
from discreet.results import Labels
from discreet.sql import parse_condition

__all__ = ["digest_file", "parse_terms", "read_terms", "require_writable"]

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_CHUNK: Final = 1 << 20


def read_terms(path: AnyPath) -> AgreementTerms:
    """The terms in a YAML file. A map that it names is looked for beside it, and its digest taken."""
    path = as_path(path, "agreement")
    text = read_yaml_text(path, sort="agreement", invalid=AgreementInvalid)
    return parse_terms(text, file=path.name, folder=path.parent)


def parse_terms(text: str, *, file: str, folder: AnyPath = Path()) -> AgreementTerms:
    """The terms in a text, or AgreementInvalid with all problems. A map that they name is looked for in `folder`."""
    root = parse_yaml(text, file=file, invalid=AgreementInvalid)
    reader = SchemaReader()
    terms = _build(reader, reader.read_file(AGREEMENT, root), as_path(folder, "folder"))
    reader.settle(file=file, invalid=AgreementInvalid)
    assert terms is not None
    return terms


def require_writable(terms: AgreementTerms) -> None:
    """AgreementInvalid for terms that no file could give: names and numbers of another office are of its shape too."""
    content = terms.to_content()
    unit = content["unit"]
    written = {
        **content,
        "unit": unit["is"] if unit["map"] is None else {"map": unit["map"], "members": unit["members"]},
        "properties": {item["name"]: _written(item) for item in content["properties"]},
    }
    named = {key: value for key, value in written.items() if value is not None}
    if parse_terms(json.dumps(named), file="agreement") != terms:
        raise AgreementInvalid(file="agreement", problems=[say("it says something that no file of terms could say")])


def _written(item: Mapping[str, Any]) -> dict[str, Any]:
    """A property as a file has it."""
    rest = {key: item[key] for key in ("answers", "weight") if key in item}
    values = item["values"]
    if len(values) == 1:
        return {"label": item["title"], "where": values[0]["where"], **rest}
    named = {value["name"]: {"label": value["title"], "where": value["where"]} for value in values}
    return {"label": item["title"], "values": named, **rest}


def digest_file(path: Path) -> str:
    """The SHA-256 of a file's bytes; OSError where it cannot be read."""
    found = hashlib.sha256()
    with open_regular(path) as stream:
        while part := stream.read(_CHUNK):
            found.update(part)
    return found.hexdigest()


def _build(reader: SchemaReader, found: Record, folder: Path) -> AgreementTerms | None:
    properties = [_property(reader, entry) for entry in found["properties"] or ()]
    unit, digest, members = _unit(reader, found, folder)
    expires = _day(reader, found)
    if not reader.is_clean():
        return None
    assert expires is not None
    closing, policy = found["closing"], found["policy"]
    try:
        return AgreementTerms(
            study=found["study"],
            title=found["title"] or Labels(found["study"], found["study"]),
            holder=LinkedSide(found["holder"]["dataset"], found["holder"]["id"]),
            registry=LinkedSide(found["registry"]["dataset"], found["registry"]["id"]),
            ids=IdType(found["ids"]),
            unit=unit,
            map_digest=digest,
            members=members,
            people=found["people"],
            belief=policy["belief"],
            prior=policy["prior"],
            scales=tuple(sorted(found["scales"])),
            kinds=tuple(map(str, found["kinds"])),
            properties=tuple(item for item in properties if item is not None),
            quota=found["quota"],
            largest_sample=found["largest_sample"],
            closing_share=Decimal("0.05") if closing is None else closing["share"],
            closing_epsilon=Decimal("0.1") if closing is None else closing["epsilon"],
            expires=expires,
            linked_share=found["linked_share"],
            slots=found["slots"],
        )
    except CardFault as fault:
        reader.note_at(found.node, fault.problems)
        return None


def _unit(reader: SchemaReader, found: Record, folder: Path) -> tuple[str, str | None, int]:
    unit = found["unit"]
    if not isinstance(unit, Record):
        return str(unit), None, 1
    named: str | None = unit["map"]
    if named is None or _DIGEST.fullmatch(named):
        return "household", named, unit["members"]
    try:
        return "household", digest_file(folder / named), unit["members"]
    except OSError:
        reader.note(unit.nodes["map"].line, say("map '{file}' is not there or cannot be read", file=named[:70]))
        return "household", None, 1


def _day(reader: SchemaReader, found: Record) -> date | None:
    if found["expires"] is None:
        return None
    try:
        return date.fromisoformat(found["expires"])
    except ValueError:
        reader.note(found.nodes["expires"].line, say("expires '{day}' is not a day", day=found["expires"]))
        return None


def _property(reader: SchemaReader, entry: Entry) -> LinkedProperty | None:
    found: Record = entry.value
    name, title = entry.name, found["label"] or Labels(entry.name, entry.name)
    if ("where" in found) == ("values" in found):
        reader.note(entry.line, say("property '{name}' has either `where` or `values`", name=name))
        return None
    if "where" in found:
        values = [PropertyValue(name, title, found["where"])]
    else:
        values = [
            PropertyValue(item.name, item.value["label"] or Labels(item.name, item.name), item.value["where"])
            for item in found["values"] or ()
        ]
        if len(values) == 1:
            reader.note(entry.line, say("property '{name}' has one value: write it as `where`", name=name))
    for value in values:
        try:
            parse_condition(value.where or "true")  # what is missing has been noted
        except QueryRefused:
            reader.note(
                entry.line, say("where of '{name}' is not a single condition, as after WHERE in SQL", name=value.name)
            )
    weight = found["weight"]
    return LinkedProperty(
        name,
        title,
        tuple(values),
        found["answers"],
        None if weight is None else LinkedWeight(weight["column"], weight["most"], weight["step"]),
    )
