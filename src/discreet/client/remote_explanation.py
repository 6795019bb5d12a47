"""What asking would do, as a server tells it: the facts, and the words in which it says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Self

from discreet.catalogue import say
from discreet.client.remote_forecasts import RemoteMeasure, RemoteOutput, read_width
from discreet.client.told_values import number_of, take, take_texts
from discreet.present import Listed

__all__ = ["RemoteExplanation", "RemotePlan"]


@dataclass(frozen=True, slots=True, repr=False)
class RemoteExplanation(Listed):
    """What a query or a table would measure, add, charge and leave. Of a table, `measures` and `outputs` are empty, and
    `rows` say how far off it will be. Its words are in the language in which it was asked for.
    """

    plan: tuple[str, ...]
    plan_hash: str
    population: str
    unit: str
    neighbours: str
    level: Decimal
    measures: tuple[RemoteMeasure, ...]
    outputs: tuple[RemoteOutput, ...]
    assumed: tuple[str, ...]
    notes: tuple[str, ...]
    headed: str = field(repr=False)
    told: Mapping[str, Any] = field(repr=False)
    lines: tuple[str, ...] = field(repr=False)
    brief: tuple[str, ...] = field(repr=False)

    @classmethod
    def read(cls, answer: Mapping[str, Any]) -> Self:
        """The explanation in an answer. ValueError and the like where there is none."""
        told, lines = take(answer, "explanation", dict), take_texts(answer, "lines")
        notes, of_query = take_texts(told, "notes"), "outputs" in told
        found = cls(
            plan=take_texts(told, "plan"),
            plan_hash=take(told, "plan_hash", str),
            **{name: take(told, name, str) if of_query else "" for name in ("population", "unit", "neighbours")},
            level=number_of(told, "level") or Decimal(0),
            measures=tuple(map(RemoteMeasure.read, take(told, "measures", list))) if of_query else (),
            outputs=tuple(map(RemoteOutput.read, take(told, "outputs", list))) if of_query else (),
            assumed=take_texts(told, "assumed") if of_query else (),
            # The last one is the refusal where it would be refused.
            notes=notes if told.get("remaining_after", notes) is not None else notes[:-1],
            headed=take(answer, "heading", str),
            told=told,
            lines=lines,
            brief=take_texts(answer, "summary"),
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
            return [row for output in self.outputs for row in output.rows]
        return [
            {
                "measure": take(measure, "measure", str),
                "margin": " × ".join(take_texts(part, "keeps")) or "total",
                **({"figures": take(part, "figures", int)} if "figures" in part else {}),
                "least_half_width": read_width(part, "least"),
                "largest_half_width": read_width(part, "largest"),
            }
            for measure in take(self.told, "measures", list)
            for part in take(measure, "half_widths", list)
        ]

    def heading(self) -> str:
        return self.headed

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


def _tell_width(output: Mapping[str, Any]) -> str:
    """The widest half-width, where a server has no words for it; what it depends on, where it is not known."""
    found = RemoteOutput.read(output)
    if found.depends is not None:
        return found.depends
    return "–" if found.widest is None else say("± {width:,.4g}", width=found.widest)
