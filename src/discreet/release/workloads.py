"""A workload: questions fixed in advance, with the accuracy each must reach or its share of a total. Read from YAML.

The file is read as strictly as a card: every problem is told with its line, unknown keys with the nearest known one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final

from discreet.data.cardkeys import Key
from discreet.data.nodereader import NodeReader
from discreet.data.yamltext import MappingNode, Node, SequenceNode, parse_yaml, read_yaml_text
from discreet.errors import ParameterInvalid, WorkloadInvalid
from discreet.guarantees.numbers import exact
from discreet.guarantees.parameters import came
from discreet.release.accuracy import Amounts

__all__ = [
    "MOST_QUESTIONS",
    "QUESTION_KEYS",
    "WORKLOAD_KEYS",
    "Task",
    "Workload",
    "parse_workload",
    "read_workload",
    "take_workload",
]

MOST_QUESTIONS: Final = 1_000

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)

QUESTION_KEYS: Final = (
    Key("name", "What the question is called in tables and answers.", "letters, digits and . _ -", required=True),
    Key("sql", "The statement.", "SQL text", required=True),
    Key("within", "Half-widths that outputs must reach in every cell.", "{output: number}"),
    Key("share", "The weight with which it shares what targets leave of the total; 1 when absent.", "number"),
    Key("assume", "What widths of means and ratios may assume of every cell.", "{n: number, …}"),
)

WORKLOAD_KEYS: Final = (
    Key("analyst", "Who asks; $DISCREET_ANALYST or the system's user when absent.", "name"),
    Key("level", "Coverage of the intervals; 0.95 when absent.", "number below 1"),
    Key("epsilon", "The total; when absent, the least that meets the targets.", "number"),
    Key("delta", "The total for questions whose keys come from the rows.", "number below 1"),
    Key("questions", "The questions, at most 1,000.", "[{name, sql, …}]", required=True, keys=QUESTION_KEYS),
)


@dataclass(frozen=True, slots=True)
class Task:
    """One question of a workload: a target (`within`) or a share of what the targets leave."""

    name: str
    sql: str
    within: Amounts = field(default_factory=dict)
    share: Decimal | None = None
    assume: Amounts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.within and self.share is not None:
            raise ParameterInvalid(
                parameter=f"question '{self.name}'", rule="has a target (within) or a share", came="both"
            )


@dataclass(frozen=True, slots=True)
class Workload:
    """Questions fixed in advance, to be charged and answered as one."""

    tasks: tuple[Task, ...]
    level: Decimal = Decimal("0.95")
    epsilon: Decimal | None = None
    delta: Decimal = Decimal(0)
    analyst: str | None = None

    def __post_init__(self) -> None:
        names = [task.name for task in self.tasks]
        if not 1 <= len(names) <= MOST_QUESTIONS or len(set(names)) < len(names):
            raise ParameterInvalid(
                parameter="questions",
                rule=f"must be 1 to {MOST_QUESTIONS:,}, with different names",
                came=f"{len(names):,}, {len(set(names)):,} of them different",
            )


def read_workload(path: Path) -> Workload:
    """The workload in a file, or WorkloadInvalid with every problem."""
    return parse_workload(read_yaml_text(path, sort="workload", invalid=WorkloadInvalid), file=path.name)


def take_workload(given: object) -> Workload:
    """A workload, or the one in the file of this path."""
    if isinstance(given, str | Path):
        return read_workload(Path(given))
    if not isinstance(given, Workload):
        raise ParameterInvalid(
            parameter="workload", rule="must be a workload, or the path of its file", came=came(given)
        )
    return given


def parse_workload(text: str, *, file: str) -> Workload:
    """The workload in a text; `file` is the name that messages show."""
    root = parse_yaml(text, file=file, invalid=WorkloadInvalid)
    reader = _WorkloadReader()
    workload = reader.read(root)
    reader.settle(file=file, invalid=WorkloadInvalid)
    assert workload is not None
    return workload


class _WorkloadReader(NodeReader):
    def read(self, root: Node) -> Workload | None:
        fields = self.fields(root, WORKLOAD_KEYS, "the workload")
        if fields is None or "questions" not in fields:
            return None
        tasks = self._tasks(fields["questions"])
        analyst = self.optional(fields, "analyst", lambda node: self.text(node, "analyst"))
        epsilon = self.optional(fields, "epsilon", lambda node: self._exact(node, "epsilon"))
        delta = self.optional(fields, "delta", lambda node: self._exact(node, "delta", below=1, zero=True))
        level = self.optional(fields, "level", lambda node: self._exact(node, "level", below=1))
        if self.problems or self.undecided:
            return None
        return Workload(tuple(tasks), level or Decimal("0.95"), epsilon, delta or Decimal(0), analyst)

    def _tasks(self, node: Node) -> list[Task]:
        if not isinstance(node, SequenceNode) or not 1 <= len(node.items) <= MOST_QUESTIONS:
            self.note(node.line, f"questions are a list of 1 to {MOST_QUESTIONS:,}, each with a name and sql")
            return []
        found: dict[str, Task] = {}
        for item in node.items:
            task = self._task(item)
            if task is not None and task.name in found:
                self.note(item.line, f"two questions are named '{task.name}'")
            elif task is not None:
                found[task.name] = task
        return list(found.values())

    def _task(self, node: Node) -> Task | None:
        fields = self.fields(node, QUESTION_KEYS, "a question")
        if fields is None:
            return None
        rule = "letters, digits and . _ - (at most 63)"
        name = self.optional(fields, "name", lambda part: self.named(part, "name", _NAME, rule))
        sql = self.optional(fields, "sql", self._sql)
        within = self.optional(fields, "within", lambda part: self._amounts(part, "within")) or {}
        share = self.optional(fields, "share", lambda part: self._exact(part, "share"))
        assumed = self.optional(fields, "assume", lambda part: self._amounts(part, "assume")) or {}
        if within and share is not None:
            self.note(fields["share"].line, "a question has a target (within) or a share, not both")
            return None
        return Task(name, sql, within, share, assumed) if name and sql else None

    def _sql(self, node: Node) -> str | None:
        return self.text(node, "sql")

    def _amounts(self, node: Node, what: str) -> Mapping[str, Fraction] | None:
        if not isinstance(node, MappingNode) or not node.entries:
            self.note(node.line, f"{what} is a mapping of names to numbers, such as {{n: 500}}")
            return None
        read = {key.text: self.number(value, f"{what} of '{key.text[:40]}'") for key, value in node.entries}
        return {name: Fraction(number) for name, number in read.items() if number is not None}

    def _exact(self, node: Node, what: str, *, below: int | None = None, zero: bool = False) -> Decimal | None:
        number = self.number(node, what)
        if number is None:
            return None
        try:
            return exact(number, parameter=what, below=below, zero=zero)
        except ParameterInvalid as error:
            self.note(node.line, error.message)
            return None
