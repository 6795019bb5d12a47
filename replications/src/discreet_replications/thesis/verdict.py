"""The verdict: mean relative error of every way of answering beside what the thesis prints, and what each promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median
from typing import Any

from discreet.catalogue import ENGLISH, Numeral, numeral, say, speaking
from discreet_replications.thesis.data.thesis_queries import QUERIES, RELATIVE_ERROR, REPLACEMENT_ERROR, ThesisQuery
from discreet_replications.thesis.methods import PUBLIC, ThesisMethod
from discreet_replications.thesis.run_records import Record, Records
from discreet_replications.wording import NO_GUARANTEE

__all__ = ["ErrorTarget", "PatientScore", "Score", "ThesisVerdict", "judge", "judge_patients", "mean_of", "printed_for"]

_FULL = 100_000


@dataclass(frozen=True, slots=True)
class Score:
    """One way of answering at one epsilon: the mean over queries of the mean relative error over runs.

    `printed` is the thesis' figure for the same queries, where it has one. `generated_error` is how far, relatively and
    on average, what the thesis' rule says of generated rows is from what it says of the real ones.
    """

    method: ThesisMethod
    epsilon: str
    proven: bool
    queries: int
    least_runs: int
    most_runs: int
    mean: float
    median: float
    printed: float | None = None
    generated_error: float | None = None

    @property
    def promise(self) -> str:
        """As files for machines have it."""
        return f"ε = {self.epsilon}, {self.method.terms.en}" if self.proven else NO_GUARANTEE.en

    def to_dict(self) -> dict[str, Any]:
        return {
            "strategy": self.method.name,
            "epsilon": self.epsilon,
            "guarantee": self.promise,
            "differentially_private": self.proven,
            "queries": self.queries,
            "runs": self.least_runs,
            "mean_relative_error": self.mean,
            "median_over_queries": self.median,
            "printed_in_the_thesis": self.printed,
            "sensitivity_error_of_generated_rows": self.generated_error,
        }


@dataclass(frozen=True, slots=True)
class ErrorTarget:
    """Whether proven answers from public ranges are no worse than the thesis' printed ones, over all 26 queries."""

    epsilon: str
    ours: float
    printed: float

    @property
    def holds(self) -> bool:
        return self.ours <= self.printed

    def tell(self) -> str:
        return say(
            "At ε = {epsilon} public ranges give {ours:.4f}, proven, where the thesis prints {printed:.4f} without a "
            "guarantee: {kept}.",
            epsilon=Numeral(self.epsilon),
            ours=self.ours,
            printed=self.printed,
            kept=say("reached") if self.holds else say("missed"),
        )

    def to_dict(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "public": self.ours, "thesis": self.printed, "holds": self.holds}


@dataclass(frozen=True, slots=True)
class ThesisVerdict:
    """Scores in the order of the table, the targets that could be judged, and the records that they follow from."""

    scores: tuple[Score, ...]
    targets: tuple[ErrorTarget, ...]
    records: Records

    @property
    def sentences(self) -> list[str]:
        """What follows."""
        return _sentences(self.records, self.targets)

    def to_dict(self) -> dict[str, Any]:
        with speaking(ENGLISH):
            sentences = self.sentences
        return {
            "scores": [score.to_dict() for score in self.scores],
            "targets": [target.to_dict() for target in self.targets],
            "sentences": sentences,
        }


def mean_of(records: Iterable[Record]) -> list[float]:
    """The mean relative error of each record."""
    spreads = [record.spread("relative_error") for record in records]
    return [spread.mean for spread in spreads if spread is not None]


def judge(records: Records) -> ThesisVerdict:
    """All that was drawn, summed up."""
    scores = tuple(
        score
        for method in records.methods
        for epsilon in records.epsilons
        if (score := _score(method, epsilon, records.pick(method, epsilon))) is not None
    )
    targets = tuple(
        ErrorTarget(score.epsilon, score.mean, RELATIVE_ERROR[score.epsilon, _FULL].mean)
        for score in scores
        if score.method == PUBLIC and score.queries == len(QUERIES) and (score.epsilon, _FULL) in RELATIVE_ERROR
    )
    return ThesisVerdict(scores, targets, records)


def _score(method: ThesisMethod, epsilon: str, records: Sequence[Record]) -> Score | None:
    means = mean_of(records)
    if not means:
        return None
    runs = [record.runs for record in records]
    return Score(
        method=method,
        epsilon=epsilon,
        proven=all(record.guarantee.differentially_private for record in records),
        queries=len(means),
        least_runs=min(runs),
        most_runs=max(runs),
        mean=fsum(means) / len(means),
        median=median(means),
        printed=printed_for(method, epsilon, [record.query for record in records]),
        generated_error=_generated_error(records),
    )


def printed_for(method: ThesisMethod, epsilon: str, queries: Sequence[ThesisQuery]) -> float | None:
    """What the thesis prints over all queries, or for some of them the mean of what it prints for each."""
    whole = len(queries) == len(QUERIES)
    if method.strategy == "replace":
        return REPLACEMENT_ERROR.mean if whole else fsum(item.replaced_error for item in queries) / len(queries)
    if method.strategy != "generated":
        return None
    setting = (epsilon, method.sample_size or 0)
    if whole:
        return RELATIVE_ERROR[setting].mean if setting in RELATIVE_ERROR else None
    if setting != ("0.01", _FULL):
        return None
    return fsum(item.generated_error for item in queries) / len(queries)


def _generated_error(records: Sequence[Record]) -> float | None:
    off = [
        abs(record.generated - record.real_sensitivity) / record.real_sensitivity
        for record in records
        if record.generated is not None and record.real_sensitivity
    ]
    return fsum(off) / len(off) if off else None


def _sentences(records: Records, targets: Sequence[ErrorTarget]) -> list[str]:
    lines = [target.tell() for target in targets]
    if not targets:
        lines.append(
            say(
                "{asked} of {all} queries could be asked, so the thesis' printed means over all cannot be held against "
                "them.",
                asked=len(records.queries),
                all=len(QUERIES),
            )
        )
    for method in records.methods:
        if method.name == "private-bounds" and "0.01" in records.epsilons:
            lines += _tell_private(records.pick(method, "0.01"))
    for why in dict.fromkeys(why for _, why in records.skipped):
        names = ", ".join(method.label for method, reason in records.skipped if reason == why)
        lines.append(say("Left out: {names}. {why}", names=names, why=why))
    return lines


def _tell_private(drawn: Sequence[Record]) -> list[str]:
    """What bounds found in the rows, at ε = 0.01, do to the answers."""
    lines = []
    unfound = sum(item.trials.unfound for item in drawn)
    if unfound:
        lines.append(
            say(
                "private-bounds found no bounds in {unfound:,} of {runs:,} runs at ε = 0.01; the answer is then near "
                "0, and the relative error near 1.",
                unfound=unfound,
                runs=sum(item.runs for item in drawn),
            )
        )
    large = [item for item in drawn if item.query.dataset == "diabetes"]
    if large:
        ours, theirs = mean_of(large), [item.query.generated_error for item in large]
        emergency = sorted(mean_of(item for item in large if item.query.column == "number_emergency"))
        ends = list(dict.fromkeys(numeral(item, ".2f") for item in emergency))
        lines.append(
            say(
                "With nothing known of the ranges and a proof, private-bounds has a mean relative error of {ours:.4f} "
                "on diabetes at ε = 0.01, where the thesis prints {theirs:.4f}; on number_emergency {between} where it "
                "prints 0.49 to 0.54. On a few hundred rows ε = 0.01 is too little to find bounds with.",
                ours=fsum(ours) / len(ours),
                theirs=fsum(theirs) / len(theirs),
                between=say("{low} to {high}", low=ends[0], high=ends[-1]) if len(ends) > 1 else "".join(ends),
            )
        )
    return lines


# --- patients -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PatientScore:
    """A way of answering with the patient as unit: over the diabetes queries alone, and over all that can be asked.

    Kidney and breast have one row a person, so their answers are those of the thesis' terms.
    """

    method: ThesisMethod
    epsilon: str
    diabetes: float
    diabetes_queries: int
    overall: float
    queries: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "strategy": self.method.name,
            "epsilon": self.epsilon,
            "mean_relative_error_diabetes": self.diabetes,
            "diabetes_queries": self.diabetes_queries,
            "mean_relative_error": self.overall,
            "queries": self.queries,
        }


def judge_patients(patients: Records, records: Records) -> tuple[PatientScore, ...]:
    """Means with whole patients protected; 25 queries, because the id of a unit is not summed."""
    scores = []
    for method in patients.methods:
        by_row = next(item for item in records.methods if item.name == method.strategy)
        for epsilon in patients.epsilons:
            own = mean_of(patients.pick(method, epsilon))
            others = mean_of(item for item in records.pick(by_row, epsilon) if item.query.dataset != "diabetes")
            both = own + others
            scores.append(
                PatientScore(method, epsilon, fsum(own) / len(own), len(own), fsum(both) / len(both), len(both))
            )
    return tuple(scores)
