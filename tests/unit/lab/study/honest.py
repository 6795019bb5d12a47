"""A small honest model for tests of the runner: exact totals with seeded discrete Laplace noise."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.errors import Refused
from discreet.lab.study.execution.outcomes import (
    Answered,
    Correlations,
    Outcome,
    Protected,
    Streams,
    StudyModel,
    StudyQuery,
    TheoryError,
)
from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.models.truth import category_place, counted, mean_values
from discreet.lab.study.raw_rows import RawRows
from discreet.lab.study.study_file.study_config import StudyConfig
from discreet.noise.bits import discrete_laplace_many

CARD = """\
dataset: clinic
title: {en: Clinic, fr: Clinique}
population: patients
unit: {column: patient, rows: 1}
neighbours: add-remove
budget: {epsilon: 3}
weight: {column: weight, cap: 20}
columns:
  patient: {kind: id, type: integer}
  town: {kind: category, public: true, categories: {N: {en: North, fr: Nord}, S: {en: South, fr: Sud}}}
  sex: {kind: category, categories: {1: {en: Men, fr: Hommes}, 2: {en: Women, fr: Femmes}}}
  smokes: {kind: category, categories: {1: {en: "yes", fr: oui}, 2: {en: "no", fr: non}}}
  age: {kind: integer, bounds: [0, 110], missing: [999]}
  note: {kind: text}
"""

PEOPLE = 600


def rows(order: Sequence[int] = range(1, PEOPLE + 1)) -> str:
    """The file; the same people in any order of lines."""
    lines = [
        f"{p},{'N' if p % 3 else 'S'},{1 + p // 2 % 2},{1 + p % 2},{999 if p % 10 == 0 else 20 + p % 50},n,{5 + p % 7}"
        for p in order
    ]
    return "\n".join(["patient,town,sex,smokes,age,note,weight", *lines]) + "\n"


STUDY = """\
study: clinic
dataset: {card: clinic.yaml, file: clinic.csv}
strata: [town]
static: [sex]
models: [central, {model: shuffle, mechanism: [single-message, multi-message]}]
epsilon: [1, 0.5]
epsilon_is: per-column
runs: 3
seed: 7
"""


def write(folder: Path, study: str = STUDY, data: str | None = None) -> Path:
    """The study, its card and its file in a folder."""
    (folder / "clinic.yaml").write_text(CARD, encoding="utf-8")
    (folder / "clinic.csv").write_text(data or rows(), encoding="utf-8")
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    return folder / "study.yaml"


@dataclass(frozen=True, slots=True)
class Honest:
    name: str
    mechanism: str
    delta: Decimal

    @property
    def variant(self) -> str:
        return f"{self.name} {self.mechanism}"

    def run(
        self,
        frame: StudyFrame,
        queries: Sequence[StudyQuery],
        *,
        epsilon: Decimal,
        streams: Streams,
        detailed: bool = True,
    ) -> Outcome:
        answered, shown = [], {}
        for query in queries:
            answers = frame.column(query.column)
            noise = discrete_laplace_many(
                streams.stream(query.name), scale=Fraction(100) / Fraction(epsilon), count=len(frame.groups)
            )
            if answers.categorical:
                truth = (counted(frame, answers)[:, category_place(answers, query)] * frame.weight_step).astype(
                    np.float64
                )
                estimate = truth + np.array(noise)
            else:
                truth = mean_values(frame, answers)
                estimate = truth + np.array(noise) / 1000
            answered.append(Answered(query, self.mechanism, truth, estimate, estimate - 500, estimate + 500))
            values = answers.positions[answers.present()]
            shown[query.column] = Protected(
                query.column, self.mechanism, "reports", values=values, rows=np.flatnonzero(answers.present())
            )
        names = tuple(shown)
        # Linear algebra whose last bits may depend on the number of threads.
        stacked = np.vstack([frame.column(name).positions for name in names]).astype(float)
        correlations = (Correlations(names, np.atleast_2d(np.corrcoef(stacked)), "reports"),)
        return Outcome(tuple(answered), tuple(shown.values()), correlations if detailed else (), {"told": self.variant})

    def expect(self, frame: StudyFrame, queries: Sequence[StudyQuery], *, epsilon: Decimal) -> tuple[TheoryError, ...]:
        errors = np.full(len(frame.groups), 100 / float(epsilon))
        return tuple(TheoryError(query, self.mechanism, errors) for query in queries)


@dataclass(frozen=True, slots=True)
class Counting(Honest):
    """Notes every run in a file, and ends its process, or refuses, when told so."""

    def run(
        self,
        frame: StudyFrame,
        queries: Sequence[StudyQuery],
        *,
        epsilon: Decimal,
        streams: Streams,
        detailed: bool = True,
    ) -> Outcome:
        diary = Path(os.environ["HONEST_DIARY"])
        with diary.open("a", encoding="utf-8") as stream:
            stream.write(f"{streams.label}\n")
        if "die" in os.environ.get("HONEST_ORDERS", "") and streams.label.endswith("|0.5|2"):
            os._exit(9)
        if "refuse" in os.environ.get("HONEST_ORDERS", "") and streams.label.endswith("|1|1"):
            raise Refused("The model refuses this.")
        return Honest.run(self, frame, queries, epsilon=epsilon, streams=streams, detailed=detailed)


def build(config: StudyConfig, raw: Callable[[], RawRows]) -> tuple[StudyModel, ...]:
    return tuple(Honest(one.model, one.mechanism or "", Decimal("0.000001")) for one in config.models)


def build_counting(config: StudyConfig, raw: Callable[[], RawRows]) -> tuple[StudyModel, ...]:
    return tuple(Counting(one.model, one.mechanism or "", Decimal(0)) for one in config.models)


@dataclass(frozen=True, slots=True)
class Local(Honest):
    """Bears the name of its number randomiser, and tells its treatment of missing answers in its variant only."""

    missing: str

    @property
    def variant(self) -> str:
        return f"{self.name} {self.mechanism} {self.missing}"


def build_local(config: StudyConfig, raw: Callable[[], RawRows]) -> tuple[StudyModel, ...]:
    return tuple(Local(one.model, one.numbers or "", Decimal(0), one.missing or "") for one in config.models)
