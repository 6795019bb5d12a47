"""A workload: questions fixed in advance, with the accuracy each must reach or its share of a total. Read from YAML.

The file is read as strictly as a card: every problem is told with its line, unknown keys with the nearest known one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.cards import Record, SchemaReader, parse_yaml, read_yaml_text
from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid, WorkloadInvalid
from discreet.guarantees import as_given, text
from discreet.paths import as_path
from discreet.release.forecast.accuracy import Amounts
from discreet.release.workloads.workload_schema import MOST_QUESTIONS, WORKLOAD

__all__ = [
    "Workload",
    "WorkloadQuestion",
    "parse_workload",
    "read_workload",
    "recall_workload",
    "take_workload",
]


@dataclass(frozen=True, slots=True)
class WorkloadQuestion:
    """One question of a workload: a target (`within`) or a share of what the targets leave."""

    name: str
    sql: str
    within: Amounts = field(default_factory=dict)
    share: Decimal | None = None
    assume: Amounts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.within and self.share is not None:
            raise ParameterInvalid(
                parameter=Phrase("question '{name}'", name=self.name),
                rule=say("has a target (within) or a share"),
                given=say("both"),
            )


@dataclass(frozen=True, slots=True)
class Workload:
    """Questions fixed in advance, to be charged and answered as one."""

    tasks: tuple[WorkloadQuestion, ...]
    level: Decimal = Decimal("0.95")
    epsilon: Decimal | None = None
    delta: Decimal = Decimal(0)
    analyst: str | None = None

    @property
    def words(self) -> dict[str, object]:
        """What is asked, for `recall_workload`."""
        return {
            "kind": "workload",
            "questions": [
                {
                    "name": task.name,
                    "sql": task.sql,
                    "within": {name: str(width) for name, width in task.within.items()},
                    "share": None if task.share is None else text(task.share),
                    "assume": {name: str(size) for name, size in task.assume.items()},
                }
                for task in self.tasks
            ],
            "level": text(self.level),
            "epsilon": None if self.epsilon is None else text(self.epsilon),
            "delta": text(self.delta),
        }

    def __post_init__(self) -> None:
        names = [task.name for task in self.tasks]
        if not 1 <= len(names) <= MOST_QUESTIONS or len(set(names)) < len(names):
            raise ParameterInvalid(
                parameter="questions",
                rule=say("must be 1 to {most:,}, with different names", most=MOST_QUESTIONS),
                given=say("{count:,}, {different:,} of them different", count=len(names), different=len(set(names))),
            )


def read_workload(path: Path) -> Workload:
    """The workload in a file, or WorkloadInvalid with every problem."""
    return parse_workload(read_yaml_text(path, sort="workload", invalid=WorkloadInvalid), file=path.name)


def take_workload(given: object) -> Workload:
    """A workload, or the one in the file of this path."""
    if isinstance(given, str | os.PathLike):
        return read_workload(as_path(given, "workload"))
    if not isinstance(given, Workload):
        raise ParameterInvalid(
            parameter="workload", rule=say("must be a workload, or the path of its file"), given=as_given(given)
        )
    return given


def recall_workload(words: Mapping[str, Any]) -> Workload:
    """The workload whose `words` these are."""
    questions = [
        WorkloadQuestion(
            name=item["name"],
            sql=item["sql"],
            within={name: Fraction(width) for name, width in item["within"].items()},
            share=None if item["share"] is None else Decimal(item["share"]),
            assume={name: Fraction(size) for name, size in item["assume"].items()},
        )
        for item in words["questions"]
    ]
    epsilon = None if words["epsilon"] is None else Decimal(words["epsilon"])
    return Workload(tuple(questions), Decimal(words["level"]), epsilon, Decimal(words["delta"]))


def parse_workload(written: str, *, file: str) -> Workload:
    """The workload in a text; `file` is the name that messages show."""
    root = parse_yaml(written, file=file, invalid=WorkloadInvalid)
    reader = SchemaReader()
    workload = _build_workload(reader, reader.read_file(WORKLOAD, root))
    reader.settle(file=file, invalid=WorkloadInvalid)
    assert workload is not None
    return workload


def _build_workload(reader: SchemaReader, found: Record) -> Workload | None:
    tasks: dict[str, WorkloadQuestion] = {}
    for record in found["questions"] or ():
        if record["within"] and record["share"] is not None:
            reader.note(record.nodes["share"].line, say("a question has a target (within) or a share, not both"))
        elif record["name"] in tasks:
            reader.note(record.node.line, say("two questions are named '{name}'", name=record["name"]))
        elif record.whole:
            tasks[record["name"]] = _build_question(record)
    if not reader.is_clean():
        return None
    return Workload(tuple(tasks.values()), found["level"], found["epsilon"], found["delta"], found["analyst"])


def _build_question(found: Record) -> WorkloadQuestion:
    within, assume = ({entry.name: Fraction(entry.value) for entry in found[key] or ()} for key in ("within", "assume"))
    return WorkloadQuestion(found["name"], found["sql"], within, found["share"], assume)
