"""The thesis' Figure 1: how far one sum is off when noise is made for one sensitivity or another.

The query is SUM(num_medications) over diabetes. Its answer is that of the rows where they were read, else the one that
the thesis prints, so that the figure needs no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import numeral, say
from discreet.lab.strategies.contest import SeriesSpread
from discreet.lab.strategies.scaled_laplace import draw_laplace
from discreet.present.charts.dots import DotMark, DotPanel, DotSeries, draw_dots
from discreet_replications.thesis.data.printed_columns import TRUE_SUM
from discreet_replications.thesis.data.thesis_queries import QUERIES
from discreet_replications.thesis.thesis_truth import find_truth
from discreet_replications.wording import tell_epsilon

if TYPE_CHECKING:
    from discreet.present import Drawn
    from discreet_replications.thesis.data.readings import ThesisTable
    from discreet_replications.thesis.setting import ThesisSetting

__all__ = ["QUERY", "SENSITIVITIES", "ScaleLine", "draw_scales", "run_scales"]

QUERY: Final = next(query for query in QUERIES if query.name == "SUM(num_medications)")
# As printed in Section 2.2.2; the last is the width of a type, which the thesis calls global.
SENSITIVITIES: Final = (10, 20, 35, 50, 75, 100, 2**8, 1_000, 10_000, 2**16, 2**20, 2**24, 2**28, 2**32)
_SUPERSCRIPT: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class ScaleLine:
    """The errors of many answers under noise for one sensitivity at one epsilon; `expected` is their mean by theory."""

    sensitivity: int
    epsilon: str
    truth: int
    error: SeriesSpread

    @property
    def expected(self) -> float:
        return float(self.sensitivity / Fraction(self.epsilon))

    def to_dict(self) -> dict[str, Any]:
        return {
            "query": QUERY.name,
            "exact": self.truth,
            "sensitivity": self.sensitivity,
            "epsilon": self.epsilon,
            "expected_error": self.expected,
            **self.error.to_dict(),
            "relative_error": self.error.mean / self.truth,
        }


def run_scales(table: ThesisTable | None, setting: ThesisSetting) -> tuple[ScaleLine, ...]:
    """Fresh answers for each sensitivity and epsilon; `table` is diabetes, where it was read."""
    truth = TRUE_SUM if table is None else int(find_truth(QUERY, table).result)
    return tuple(
        ScaleLine(sensitivity, epsilon, truth, _errors(truth, sensitivity, epsilon, setting.runs))
        for epsilon in setting.epsilons
        for sensitivity in SENSITIVITIES
    )


def _errors(truth: int, sensitivity: int, epsilon: str, runs: int) -> SeriesSpread:
    drawn = draw_laplace(Fraction(truth), runs, sensitivity=Fraction(sensitivity), epsilon=Decimal(epsilon))
    return SeriesSpread.of([abs(item - truth) for item in drawn])


def draw_scales(lines: Sequence[ScaleLine]) -> Drawn:
    """The figure: errors by sensitivity, a panel for each epsilon, the answer itself as a line to compare with."""
    truth = lines[0].truth
    panels = []
    for epsilon in dict.fromkeys(line.epsilon for line in lines):
        drawn = [line for line in lines if line.epsilon == epsilon]
        marks = tuple(DotMark(line.error.mean, line.error.least, line.error.most) for line in drawn)
        theory = tuple(DotMark(line.expected, line.expected, line.expected) for line in drawn)
        series = (
            DotSeries(say("mean error, from the least to the most"), marks, "#0072b2"),
            DotSeries(say("expected: sensitivity / ε"), theory, "#d55e00"),
        )
        panels.append(DotPanel(tell_epsilon(epsilon), series, (float(truth),) * len(drawn)))
    title = say("Error of {query} by the sensitivity that the noise is made for", query=QUERY.name)
    return draw_dots(
        name="figure-1",
        words=say(
            "{title}, on a logarithmic axis, a panel for each ε. The line is the exact answer, {truth:,}: above it the "
            "noise is larger than what it hides. The error grows in proportion to the sensitivity.",
            title=title,
            truth=truth,
        ),
        title=title,
        unit=say("distance from the exact answer, in medications"),
        columns=[(_short(item), f"= {numeral(item)}" if item & (item - 1) == 0 else "") for item in SENSITIVITIES],
        groups=[(say("sensitivity"), len(SENSITIVITIES))],
        panels=panels,
        reference_words=say("the exact answer"),
    )


def _short(sensitivity: int) -> str:
    """As printed: powers of two as such."""
    power = sensitivity.bit_length() - 1
    return f"2{str(power).translate(_SUPERSCRIPT)}" if sensitivity == 2**power else numeral(sensitivity)
