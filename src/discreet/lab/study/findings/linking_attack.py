"""A linkage attack: someone knows a respondent's static columns, finds the row, and wants a protected answer.

Static columns stay in clear, so whoever is unique on them stays linked, whatever the model. What protection changes is
the answer found there: in the local model a randomised report, in the shuffle model only the group's mix of reports,
in the central model no row at all. The attacker is strong: the law of the reports and the true distribution of every
group are known to him, and he makes the best guess that those allow. Numbers count as guessed when the right tenth of
their range is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from discreet.lab.study.execution.outcomes import Outcome, Protected
from discreet.lab.study.findings.bins import Bins
from discreet.lab.study.frame import ABSENT, AnswerColumn, StudyFrame

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

__all__ = ["LinkageRow", "count_cells", "linkage_attack"]

_TENTHS: Final = 10
_REPORT_BINS: Final = 40
_GLANCE: Final = 1000  # reports that tell most often whether there are few different ones
# The law of the reports is learnt from the study's own rows; half a respondent more everywhere keeps it positive.
_SMOOTHING: Final = 0.5


class LinkageRow(NamedTuple):
    """How well one column's answers are guessed for the linked respondents; chances are nan where nobody is linked.

    `linked` respondents are alone with their static values; `within_2` and `within_5` share them with at most one and
    four others. Before protection an answer is read off; `baseline` is the best guess without the respondent's report.
    """

    mechanism: str
    column: str
    respondents: int
    linked: int
    within_2: int
    within_5: int
    success_before: float
    success_after: float
    baseline: float


def linkage_attack(
    frame: StudyFrame, outcome: Outcome, *, static: Sequence[str], columns: Sequence[str], shuffled: bool = False
) -> tuple[LinkageRow, ...]:
    """The attack on each column, through the static ones.

    Reports stay linked to their respondents unless they were `shuffled`; where they were, or no reports leave at all,
    the best guess is that for the group. Reports that are not one answer each (sets of categories, hashes) are linked
    too, but the outcome does not hold them: their success is nan, for it is not known.
    """
    sizes = frame.once(("cells", *static), lambda: count_cells(frame, static))
    # an attacker holds the reports where they travel, also beside an estimate that was made of them
    protected = {item.column: item for item in sorted(outcome.protected, key=lambda item: item.basis == "reports")}
    mechanisms = {item.query.column: item.mechanism for item in outcome.answered}
    rows = []
    for name in columns:
        seen = protected.get(name)
        answers = frame.column(name)
        target = frame.once(("target", answers, *static), partial(_Target.of, answers, frame, sizes))
        baseline = target.success(target.guess_by_group())
        after = baseline
        if seen is not None and not shuffled and _is_reported(seen):
            after = _success_with_reports(target, seen) if seen.values is not None else float("nan")
        mechanism = seen.mechanism if seen is not None else mechanisms.get(name, "")
        linked, within_2, within_5 = (int((sizes <= most).sum()) for most in (1, 2, 5))
        before = 1.0 if target.linked.any() else float("nan")
        rows.append(LinkageRow(mechanism, name, frame.size, linked, within_2, within_5, before, after, baseline))
    return tuple(rows)


def _is_reported(seen: Protected) -> bool:
    """Whether respondents sent reports of their own, held by the outcome or not."""
    if seen.values is not None:
        return seen.rows is not None
    from discreet.collect import FREQUENCY_ORACLES, NUMBER_RANDOMISERS

    # A mechanism's name may be followed by how ε was shared, as in 'grr split'.
    name = seen.mechanism.split(" ", 1)[0]
    return seen.basis == "none" or name in FREQUENCY_ORACLES or (name in NUMBER_RANDOMISERS and name != "laplace")


def count_cells(frame: StudyFrame, static: Sequence[str]) -> NDArray[int64]:
    """For each respondent, how many share all static values with them, themselves included."""
    cells = np.zeros(frame.size, dtype=np.int64)
    for name in static:
        positions = frame.column(name).positions
        # Numbered anew after each column, so that no number of columns can overflow.
        _, cells = np.unique(cells * (positions.max() + 2) + positions + 1, return_inverse=True)
    sizes: NDArray[int64] = np.bincount(cells)[cells].astype(np.int64)
    return sizes


@dataclass(frozen=True, slots=True)
class _Target:
    """One column's answers in classes, who is linked, and how often each class occurs in each group."""

    classes: NDArray[Any]
    number: int
    groups: NDArray[int64]
    linked: NDArray[bool_]
    prior: NDArray[Any]

    @classmethod
    def of(cls, answers: AnswerColumn, frame: StudyFrame, sizes: NDArray[int64]) -> _Target:
        present = answers.present()
        if answers.categorical:
            number, classes = answers.size, answers.positions
        else:
            number = min(_TENTHS, answers.size + 1)
            classes = Bins(number, answers.size + 1).places(answers.positions) - 1
        groups = np.where(frame.cells == ABSENT, len(frame.groups), frame.cells)
        indices = groups[present] * number + classes[present]
        counts = np.bincount(indices, minlength=(len(frame.groups) + 1) * number).reshape(-1, number)
        return cls(classes, number, groups, present & (sizes == 1), counts + _SMOOTHING)

    def guess_by_group(self) -> NDArray[Any]:
        """For each linked respondent the commonest answer of the group."""
        guesses: NDArray[Any] = self.prior.argmax(axis=1)[self.groups[self.linked]]
        return guesses

    def success(self, guesses: NDArray[Any]) -> float:
        """The share of linked respondents whose answer was guessed."""
        hits = guesses == self.classes[self.linked]
        return float(hits.mean()) if hits.size else float("nan")


def _success_with_reports(target: _Target, seen: Protected) -> float:
    """The best guess from the group's distribution and the report; respondents without a report are guessed by group.

    The law of reports is learnt from the respondents who are not linked, so no guess is made from its own answer.
    """
    assert seen.values is not None
    assert seen.rows is not None
    reports, size = _classify(seen.values)
    respondents = np.asarray(seen.rows)
    known = target.classes[respondents] >= 0
    reports, respondents = reports[known], respondents[known]
    others = ~target.linked[respondents]
    indices = target.classes[respondents[others]] * size + reports[others]
    counts = np.bincount(indices, minlength=target.number * size).reshape(target.number, size) + _SMOOTHING
    law = counts / counts.sum(axis=1, keepdims=True)
    guesses = target.prior.argmax(axis=1)[target.groups]
    attacked = respondents[~others]
    scores = target.prior[target.groups[attacked]] * law[:, reports[~others]].T
    guesses[attacked] = scores.argmax(axis=1)
    return target.success(guesses[target.linked])


def _classify(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Reports in classes: each value its own where they are few, else bins that hold about equally many."""
    if np.unique(values[:_GLANCE]).size <= _REPORT_BINS:
        indices, distinct = _number(values)
        if distinct <= _REPORT_BINS:
            return indices, distinct
    edges = np.quantile(values, np.linspace(0, 1, _REPORT_BINS + 1)[1:-1])
    return np.searchsorted(edges, values, side="right"), _REPORT_BINS


def _number(values: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """The place of each value among the different ones in rising order, and how many of these there are."""
    if values.dtype.kind == "i" and values.size and int(values.max()) - int(least := values.min()) < values.size:
        occurring = np.bincount(values - least) > 0
        return (np.cumsum(occurring) - 1)[values - least], int(occurring.sum())
    distinct, indices = np.unique(values, return_inverse=True)
    return indices, int(distinct.size)
