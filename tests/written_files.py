"""Every file that people write, of each kind, that the project holds and its readers take: in files, pages, tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from discreet.cards.card import parse_card
from discreet.cli.file_schemas import FileKind
from discreet.collect.reporting.manifest_reader import parse_manifest
from discreet.errors import CardInvalid
from discreet.lab.study.study_file.study_reader import parse_study
from discreet.lab.study.study_file.template import sample_template
from discreet.linkage.agreements.agreement_reader import parse_terms
from discreet.linkage.agreements.agreement_template import agreement_template
from discreet.release.workloads.workload import parse_workload
from discreet.samples.linked_offices.linked_cards import health_card, people_card, registry_card
from discreet.samples.sample_cards import ce_card, survey_card, visits_card
from tests.places import ROOT

__all__ = ["PARSERS", "find_written", "is_taken"]

PARSERS: Final[Mapping[FileKind, Callable[..., Any]]] = {
    FileKind.CARD: parse_card,
    FileKind.WORKLOAD: parse_workload,
    FileKind.MANIFEST: parse_manifest,
    FileKind.STUDY: parse_study,
    FileKind.AGREEMENT: parse_terms,
}
_MARKS: Final = {
    FileKind.CARD: ("dataset:", "columns:", "unit:"),
    FileKind.WORKLOAD: ("questions:", "sql:"),
    FileKind.MANIFEST: ("survey:", "questions:", "kind:"),
    FileKind.STUDY: ("study:", "epsilon_is:"),
    FileKind.AGREEMENT: ("study:", "properties:", "quota:"),
}


def is_taken(kind: FileKind, text: str) -> bool:
    """Whether the reader takes a text as a file of this kind."""
    try:
        PARSERS[kind](text, file="f.yaml")
    except CardInvalid:
        return False
    return True


@cache
def find_written(kind: FileKind) -> tuple[str, ...]:
    """The texts, each once."""
    marked = (text for text in _texts() if all(mark in text for mark in _MARKS[kind]))
    return tuple(text for text in dict.fromkeys(marked) if is_taken(kind, text))


@cache
def _texts() -> tuple[str, ...]:
    made = [
        survey_card(rows=113_290, seed=1),
        visits_card(people=1_000, seed=1),
        ce_card(seed=1),
        health_card(people=1_000, seed=1),
        registry_card(people=1_000, seed=1),
        people_card(people=1_000, seed=1),
        sample_template("s.yaml"),
        agreement_template("a.yaml"),
    ]
    return (
        *made,
        *(text for folder in ("docs", "examples", "tests", "replications") for text in _below(ROOT / folder)),
    )


def _below(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        if file.suffix not in {".yaml", ".md", ".py"} or not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".yaml":
            yield text
        elif file.suffix == ".md":
            yield from re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
        else:
            constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
            yield from (value for value in constants if isinstance(value, str) and value.count("\n") > 1)
