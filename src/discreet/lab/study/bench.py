"""Where the tasks of a study are run: the frame, the queries and the models, set up once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.cards import parse_card
from discreet.catalogue import say
from discreet.errors import Refused
from discreet.lab.study.execution.outcomes import Outcome, Streams, StudyModel
from discreet.lab.study.execution.parts import StudyTask, read_part, write_part
from discreet.lab.study.findings.averages import write_averages
from discreet.lab.study.findings.linking_attack import linkage_attack
from discreet.lab.study.findings.metrics import CORRELATION_SIMILARITY, KS_COMPLEMENT, measure
from discreet.lab.study.findings.series_names import mechanism_of
from discreet.lab.study.findings.tidy_tables import SIZES, TaskHeading, join_parts, results, rows_of, sized, theory
from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.models.truth import true_values
from discreet.lab.study.study_file.queries import StudyDesign, design_study
from discreet.lab.study.study_file.study_config import ModelChoice, StudyConfig
from discreet.lab.study.study_file.study_reader import parse_study
from discreet.lab.study.study_file.variants import tell_apart
from discreet.lab.study.study_rows import StudyRows, make_frame, make_raw_rows

if TYPE_CHECKING:
    from discreet.lab.study.execution.worker import Assignment
    from discreet.lab.study.raw_rows import RawRows

__all__ = ["Builder", "StudyBench", "set_up"]

Builder = Callable[["StudyConfig", "Callable[[], RawRows]"], tuple[StudyModel, ...]]


@dataclass(frozen=True, slots=True)
class StudyBench:
    """A study ready to run, with one model for each choice in its file."""

    config: StudyConfig
    design: StudyDesign
    frame: StudyFrame
    models: tuple[StudyModel, ...]

    def describe(self) -> dict[str, Any]:
        variants = [
            {"model": model.name, "variant": model.variant, **_sweep(choice)}
            for model, choice in zip(self.models, self.config.models, strict=True)
        ]
        labels = {name: answers.column.label.en for name, answers in self.frame.columns.items()}
        return {
            "rows": self.frame.size,
            "groups": list(self.frame.groups),
            "labels": labels,
            "french": self._describe_in_french(),
            "variants": variants,
        }

    def _describe_in_french(self) -> dict[str, Any]:
        """What the card calls groups, columns and categories in French; tables hold the English names."""
        columns = {name: answers.column for name, answers in self.frame.columns.items()}
        return {
            "groups": dict(zip(self.frame.groups, self.frame.groups_in_french(), strict=True)),
            "labels": {name: column.label.fr for name, column in columns.items()},
            "categories": {
                name: {item.code: item.label.fr for item in column.categories}
                for name, column in columns.items()
                if column.categories
            },
        }

    def perform(self, task: StudyTask, parts: Path) -> None:
        """Run a task and keep its tables."""
        write_part(parts, task, self.run(task))

    def average(self, tasks: Sequence[StudyTask], parts: Path) -> None:
        """Write the averages of finished tasks beside their parts."""
        found = [read_part(parts, task) for task in tasks]
        tables = join_parts(found, ("results", "theory", "quality", *([SIZES] if self.config.rows else [])))
        labels = {(query.statistic, query.column, query.category): query.label for query in self.design.queries}
        variants = self.describe()["variants"]
        write_averages(
            tables,
            labels,
            parts.parent / "tables",
            coverage="coverage" in self.config.metrics,
            hybrids={mechanism_of(item["variant"]): item for item in variants if item["model"] == "hybrid"},
        )

    def run(self, task: StudyTask) -> dict[str, Any]:
        """The tables of a task. What is the same in every run, shapes and correlations come with the first."""
        if task.rows is not None:
            return {SIZES: self._run_on(task, task.rows)}
        model, first = self.models[task.place], task.run == 0
        streams = Streams.of_run(seed=self.config.seed, variant=model.variant, epsilon=task.epsilon, run=task.run)
        correlated = first and CORRELATION_SIMILARITY in self.config.metrics
        outcome = model.run(self.frame, self.design.queries, epsilon=task.epsilon, streams=streams, detailed=correlated)
        heading = self._head(task)
        tables = {"results": results(heading, self.frame, outcome.answered)}
        tables |= self._measure(heading, outcome, model, detailed=first)
        if first:
            expected = model.expect(self.frame, self.design.queries, epsilon=task.epsilon)
            tables["theory"] = theory(heading, self.frame, expected)
            tables["notes"] = _notes(outcome)
            # who answers in clear is read off as before: there is nothing to attack
            if "linkage" in self.config.metrics and self.design.every_static and model.name != "hybrid":
                tables["linkage"] = self._attack(heading, outcome, model)
        return tables

    def _run_on(self, task: StudyTask, rows: int) -> Any:
        """The answers from so many respondents, drawn anew in each run and the same for every model."""
        model, label = self.models[task.place], f"{self.config.seed}|{rows} respondents|{task.run}"
        drawn = Streams(label).generator("who is drawn").choice(self.frame.size, rows, replace=False)
        fewer = self.frame.sample(np.sort(drawn))
        streams = Streams.of_run(
            seed=self.config.seed, variant=model.variant, epsilon=task.epsilon, run=task.run, rows=rows
        )
        queries = self.design.queries
        answered = model.run(fewer, queries, epsilon=task.epsilon, streams=streams, detailed=False).answered
        whole = [true_values(self.frame, item.query) for item in answered]
        expected = model.expect(fewer, queries, epsilon=task.epsilon)
        return sized(self._head(task), fewer, answered, whole=whole, expected=expected)

    def _head(self, task: StudyTask) -> TaskHeading:
        model, marks = self.models[task.place], tell_apart(self.config.models)[task.place]
        delta = Decimal(getattr(model, "delta", 0))
        return TaskHeading(model.name, task.epsilon, delta, task.run, marks, respondents=task.rows)

    def _measure(self, heading: TaskHeading, outcome: Outcome, model: StudyModel, *, detailed: bool) -> dict[str, Any]:
        wanted = self.config.metrics
        if not {KS_COMPLEMENT, CORRELATION_SIMILARITY} & set(wanted):
            return {}
        measured = measure(self.frame, outcome, detailed=detailed, variant=model.variant)
        rows: dict[str, list[Any]] = {"quality": [row for row in measured.quality if row.metric in wanted]}
        if detailed:
            rows["shapes"] = list(measured.shapes) if KS_COMPLEMENT in wanted else []
            rows["correlations"] = list(measured.correlations) if CORRELATION_SIMILARITY in wanted else []
        return {name: rows_of(name, heading, found) for name, found in rows.items()}

    def _attack(self, heading: TaskHeading, outcome: Outcome, model: StudyModel) -> Any:
        asked = {item.query.column for item in outcome.answered}
        rows = linkage_attack(
            self.frame,
            outcome,
            static=self.design.every_static,
            columns=[name for name in self.design.columns if name in asked],
            shuffled=model.name == "shuffle",
        )
        return rows_of("linkage", heading, rows)


def set_up(assignment: Assignment, build: Builder) -> StudyBench:
    """The bench of a study whose rows are on disk."""
    config = parse_study(assignment.study, file=assignment.file)
    card = parse_card(assignment.card, file="card.yaml")
    raw = Path(assignment.raw) if assignment.raw is not None else None
    rows = StudyRows(card, Path(assignment.data), raw, None)
    design = design_study(config, card)
    frame = make_frame(rows, config, design)
    if any(size > frame.size for size in config.rows):
        raise Refused(
            say(
                "rows: {max:,} respondents are more than the {size:,} that the study has.",
                max=max(config.rows),
                size=frame.size,
            )
        )

    def written() -> RawRows:
        raw = make_raw_rows(rows, config, design)
        if raw.weights.size != frame.size:
            raise Refused(
                say("Model naive reads the file as it is, and preparing left out some of its rows. Leave it out.")
            )
        return raw

    return StudyBench(config, design, frame, build(config, written))


def _sweep(choice: ModelChoice) -> dict[str, Any]:
    """Where a hybrid stands among others: what the report draws them by."""
    if choice.model != "hybrid":
        return {}
    selection = choice.selection.words if choice.selection else None
    return {"share": float(choice.share or 0), "selection": selection, "relation": choice.relation}


def _notes(outcome: Outcome) -> Any:
    import pyarrow as pa

    texts = [pa.array(list(part), type=pa.string()) for part in (outcome.notes.keys(), outcome.notes.values())]
    return pa.table({"name": texts[0], "text": texts[1]})
