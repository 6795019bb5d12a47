"""The figure that a report begins with shows what the advice is for, and nothing that contradicts it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.catalogue import speaking
from discreet.lab.study.findings.study_findings import Findings
from discreet.lab.study.findings.verdicts import suggest, summarise, typical_errors
from discreet.lab.study.report.overview_figure import overview_chart
from discreet.present import Chart, PointMarks
from tests.unit.lab.study.test_verdicts import CENTRAL, LOCAL, _asked, _findings, _panel


@pytest.fixture
def findings() -> Findings:
    """Central shows two counts well and the third not; local shows none."""
    best = _asked({(CENTRAL, 1.0): _panel(0.2), (LOCAL, 1.0): _panel(250.0)})
    well = _asked({(CENTRAL, 1.0): _panel(1.0), (LOCAL, 1.0): _panel(300.0)})
    badly = _asked({(CENTRAL, 1.0): _panel(200.0), (LOCAL, 1.0): _panel(900.0)})
    return _findings(best, replace(well, name="well"), replace(badly, name="poor", label="Poor health"))


def list_told(chart: Chart | None) -> list[str]:
    assert chart is not None
    marks = [mark for row in chart.rows for panel in row.panels for mark in panel.marks]
    return [told for mark in marks if isinstance(mark, PointMarks) for told in mark.told]


def test_bars_are_of_the_figures_that_the_advice_is_for(findings: Findings) -> None:
    chart = overview_chart(findings)
    assert list_told(chart) == ["central, ε = 1: 0.21%", "local, ε = 1: 62%"]
    assert chart is not None
    assert "Left out at ε = 1, because no model shows it well enough there: “Poor health”." in chart.notes
    assert suggest(findings).startswith("Suggested choice: central at ε = 1.")
    assert suggest(findings).endswith("It is not for “Poor health”.")
    assert summarise(findings)[0].startswith("At ε = 1, in the typical group: central gives counts to within 0.21%")


def test_where_no_figure_is_shown_well_the_worst_is_shown(findings: Findings) -> None:
    alone = replace(findings, asked=findings.asked[2:])
    chart = overview_chart(alone)
    assert list_told(chart) == ["central, ε = 1: 42%", "local, ε = 1: 188%"]
    assert chart is not None
    assert "Left out" not in chart.notes
    two = replace(findings, asked=(findings.asked[2], replace(findings.asked[2], name="other")))
    assert typical_errors(two.asked, 1.0) == typical_errors(alone.asked, 1.0)


def test_what_is_left_out_is_named_in_french(findings: Findings) -> None:
    with speaking("fr"):
        chart = overview_chart(findings)
        assert chart is not None
        assert "Laissé de côté à ε = 1" in chart.notes
        assert suggest(findings).endswith("Ce choix ne vaut pas pour «\u00a0Poor health\u00a0».")
