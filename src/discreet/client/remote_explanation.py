"""What asking would do, as a server tells it: the facts, and the words in which it says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

from discreet.catalogue import say
from discreet.client.told_values import number_of, take, take_texts
from discreet.present import Listed

__all__ = ["RemoteExplanation", "RemotePlan"]


@dataclass(frozen=True, slots=True, repr=False)
class RemoteExplanation(Listed):
    """What a query or a table would measure, add, charge and leave."""

    plan: tuple[str, ...]
    plan_hash: str
    level: Decimal
    notes: tuple[str, ...]
    told: Mapping[str, Any] = field(repr=False)
    lines: tuple[str, ...] = field(repr=False)
    brief: tuple[str, ...] = field(repr=False)

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """The explanation in an answer; `summary` is told of queries. ValueError and the like where there is none."""
        told, lines = take(answer, "explanation", dict), take_texts(answer, "lines")
        found = cls(
            plan=take_texts(told, "plan"),
            plan_hash=take(told, "plan_hash", str),
            level=number_of(told, "level") or Decimal(0),
            notes=take_texts(told, "notes"),
            told=told,
            lines=lines,
            brief=take_texts(answer, "summary") if "summary" in answer else lines,
        )
        found.rows  # noqa: B018 - what cannot be listed is no explanation
        return found

    def to_dict(self) -> dict[str, object]:
        """All facts, as a workspace gives them."""
        return dict(self.told)

    def to_text(self) -> str:
        """For people, in the language that was asked for."""
        return "\n".join(self.lines)

    def summary(self) -> list[str]:
        """What it costs and how far off it will be."""
        return list(self.brief)

    def __str__(self) -> str:
        return self.to_text()

    @property
    def rows(self) -> list[dict[str, str | float | None]]:
        """How far off each output would be, cell by cell; of a table, the half-widths of every measure and margin."""
        if "outputs" in self.told:
            return [row for output in self.told["outputs"] for row in _list_output(output)]
        return [
            {
                "measure": take(measure, "measure", str),
                "margin": " × ".join(take_texts(part, "keeps")) or "total",
                "least_half_width": _width(part, "least"),
                "largest_half_width": _width(part, "largest"),
            }
            for measure in take(self.told, "measures", list)
            for part in take(measure, "half_widths", list)
        ]

    def _heading(self) -> str:
        names = [str(row.get("output", row.get("measure"))) for row in self.rows]
        return say(
            "Explanation of {outputs}: {guarantee}",
            outputs=", ".join(dict.fromkeys(names)),
            guarantee=str(self.told.get("guarantee", "")),
        )

    def _lines(self) -> list[str]:
        return self.summary()


@dataclass(frozen=True, slots=True)
class RemotePlan:
    """How a workload's budget would be shared. `shortfall` says what is impossible; then nothing may run."""

    level: Decimal
    epsilon: Decimal
    shortfall: str | None
    plan_hash: str
    told: Mapping[str, Any] = field(repr=False)
    accuracies: tuple[tuple[str, ...], ...] = field(repr=False)
    lines: tuple[str, ...] = field(repr=False)

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """The plan in an answer. ValueError and the like where there is none."""
        told = take(answer, "plan", dict)
        shortfall, total = told.get("shortfall"), take(told, "total", dict)
        words = take(answer, "told", list) if "told" in answer else None
        found = cls(
            level=number_of(told, "level") or Decimal(0),
            epsilon=number_of(total, "epsilon") or Decimal(0),
            shortfall=None if shortfall is None else take(told, "shortfall", str),
            plan_hash=take(told, "plan_hash", str),
            told=told,
            accuracies=tuple(
                tuple(map(_tell_width, take(question, "outputs", list)))
                if words is None
                else take_texts({"told": words[place]}, "told")
                for place, question in enumerate(take(told, "questions", list))
            ),
            lines=take_texts(answer, "lines") if "lines" in answer else (),
        )
        found.rows  # noqa: B018 - what cannot be listed is no plan
        return found

    def to_dict(self) -> dict[str, object]:
        """All facts, as a workspace gives them."""
        return dict(self.told)

    @property
    def rows(self) -> list[dict[str, str]]:
        """Every output of every question, with the share of its question and how close it will be."""
        return [
            {
                "question": take(question, "question", str),
                "epsilon": take(question, "epsilon", str),
                "output": take(output, "output", str),
                "accuracy": accuracy,
            }
            for question, told in zip(self.told["questions"], self.accuracies, strict=True)
            for output, accuracy in zip(question["outputs"], told, strict=True)
        ]


def _list_output(output: Mapping[str, Any]) -> list[dict[str, str | float | None]]:
    name = take(output, "output", str)
    if "depends" in output:
        return [{"output": name, "cell": None, "expected_error": None, "half_width": None}]
    return [
        {
            "output": name,
            "cell": None if part["cell"] is None else take(part, "cell", str),
            "expected_error": _width(part, "expected_error"),
            "half_width": _width(part, "half_width"),
        }
        for part in take(output, "slices", list)
    ]


def _tell_width(output: Mapping[str, Any]) -> str:
    """The widest half-width, where a server has no words for it; what it depends on, where it is not known."""
    if "depends" in output:
        return take(output, "depends", str)
    widths = [_width(part, "half_width") for part in take(output, "slices", list)]
    known = [width for width in widths if width is not None]
    return say("± {width:,.4g}", width=max(known)) if known and len(known) == len(widths) else "–"


def _width(facts: Mapping[str, Any], name: str) -> float | None:
    found = facts[name]
    if isinstance(found, bool) or not isinstance(found, int | float | None):
        raise ValueError(f"{name} is no number")
    return None if found is None else float(found)
