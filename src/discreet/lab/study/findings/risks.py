"""What a study's own linkage attack says against a model: where it finds too much, the model is not advised.

The limits: the best guess at some answer is right for nine in ten of the respondents whom the attack finds, where
reports make up a quarter of what the group alone leaves open; or it is right for a quarter more of them than without
their report. An answer that nearly everybody of a group gives is no secret that a report betrays. Where a mechanism's
reports were not attacked (sets, hashes), what ε allows stands in for it: a report with ε multiplies the odds of an
answer by e^ε at most. Where the study tried no attack at all, the same stands in for a hunch at even odds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from discreet.catalogue import say
from discreet.lab.study.findings.study_findings import Findings, Row, Series

__all__ = ["FOUND", "TELLING", "Risk", "find_risks", "find_untried"]

FOUND: Final = 0.90
TELLING: Final = 0.25
_EVEN: Final = 0.5
# Reports of these models stay with the respondents who sent them.
_LINKED: Final = "local"


@dataclass(frozen=True, slots=True)
class Risk:
    """The worst column of one model at one ε; `bounded` says that ε allows so much, and nothing was attacked.

    Without a column the study tried no attack: then `success` is what a report makes of even odds.
    """

    column: str
    success: float
    baseline: float
    bounded: bool

    @property
    def excessive(self) -> bool:
        """Whether the model must not be advised for it."""
        if not self.column:
            return self.success >= FOUND
        gain, left = self.success - self.baseline, 1 - self.baseline
        return gain >= TELLING or (self.success >= FOUND and gain > 0 and gain >= TELLING * left)

    def tell(self) -> str:
        """What was found, in words."""
        if not self.column:
            return say(
                "the study tried no linkage attack on it, and whoever knows the sender of a report may turn a guess at "
                "even odds into one that is right for {success:.0%}",
                success=self.success,
            )
        facts = {"column": self.column, "success": self.success, "baseline": self.baseline}
        if self.bounded:
            return say(
                "the best guess at {column} may be right for {success:.0%} of those whom the linkage attack finds, and "
                "for {baseline:.0%} without a report",
                **facts,
            )
        return say(
            "the best guess at {column} is right for {success:.0%} of those whom the linkage attack finds, and for "
            "{baseline:.0%} without a report",
            **facts,
        )


def find_risks(findings: Findings) -> dict[tuple[str, float], Risk]:
    """By the name under which advice knows a model, and ε: the column on which the attack succeeds best."""
    several = [item.get("model") for item in findings.config.get("models") or []].count(_LINKED) > 1
    result: dict[tuple[str, float], Risk] = {}
    for row in findings.linkage:
        if row["model"] != _LINKED or math.isnan(row["baseline"]):
            continue
        variant = Series(_LINKED, str(row.get("mechanism", ""))).variant
        key = (Series(_LINKED, variant if several else "").name, float(row["epsilon"]))
        risk = _risk(row, findings)
        worst = result.get(key)
        if worst is None or _rank(risk) > _rank(worst):
            result[key] = risk
    return result


def find_untried(findings: Findings) -> dict[float, Risk]:
    """By ε: what a local report allows where nothing was tried on it."""
    reports = {epsilon: _spent(findings, epsilon)[0] for epsilon in findings.epsilons}
    return {epsilon: Risk("", 1 / (1 + math.exp(-report)), _EVEN, bounded=True) for epsilon, report in reports.items()}


def _rank(risk: Risk) -> tuple[bool, float, float]:
    return (risk.excessive, risk.success - risk.baseline, risk.success)


def _risk(row: Row, findings: Findings) -> Risk:
    after, baseline = float(row["success_after"]), float(row["baseline"])
    if not math.isnan(after):
        return Risk(str(row["column"]), after, baseline, bounded=False)
    epsilon, chance = _spent(findings, float(row["epsilon"]))
    odds = math.exp(epsilon) * baseline
    allowed = odds / (odds + 1 - baseline)
    return Risk(str(row["column"]), chance * allowed + (1 - chance) * baseline, baseline, bounded=True)


def _spent(findings: Findings, epsilon: float) -> tuple[float, float]:
    """Over all local variants: the largest ε of one report, and the largest share of people who are asked a column."""
    notes = [lines for lines in _notes(findings.info.get("variants") or [], epsilon) if lines]
    reports = [float(lines["epsilon of a report"]) for lines in notes if "epsilon of a report" in lines]
    shares = [_share(lines["columns asked"]) for lines in notes if "columns asked" in lines]
    return max(reports, default=epsilon), max(shares, default=1.0)


def _notes(variants: Iterable[Any], epsilon: float) -> list[dict[str, str]]:
    local = [item.get("notes") or {} for item in variants if item.get("model") == _LINKED]
    return [text for notes in local for written, text in notes.items() if float(written) == epsilon]


def _share(text: str) -> float:
    """'2 of 6' as a share."""
    asked, _, columns = text.partition(" of ")
    return int(asked) / int(columns)
