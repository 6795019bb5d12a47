"""The founding report's own study on the sample survey: its recipe beside mechanisms that keep their promise.

The setting is that of the report: thirteen provinces, five values of ε spent on every column, five runs, and as public
columns those that it left as they are. It is written as a study's file, so it can be read, changed and run alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from discreet.cards import Card
from discreet.catalogue import ENGLISH, Labels, Phrase, language, say, speaking
from discreet.errors import PathInvalid
from discreet.lab.study.execution.runner import run_study
from discreet.lab.study.study_file.study_config import StudyConfig
from discreet.lab.study.study_file.study_reader import parse_study
from discreet.lab.study.study_rows import study_card
from discreet.paths import tell_reason
from discreet.present import require_png
from discreet_replications.report.agreement import Agreement, agree, tell_agreement, tell_faults, tell_gain
from discreet_replications.report.printed_comparison import PrintedComparison, compare, merge_theirs, write_lines
from discreet_replications.report.printed_errors import Theirs, printed_tables, read_theirs

__all__ = ["EPSILONS", "ROWS", "RUNS", "ReportReproduction", "report_study", "reproduce_report"]

ROWS: Final = 113_290
RUNS: Final = 5
EPSILONS: Final = ("5.99", "3", "1", "0.8", "0.6")
_FILES: Final = ("study", "figures", "comparison.csv", "reproduction.html")

Progress = Callable[[str, int, int], None]

_TITLE: Final = Phrase("The founding report's study, as it was done and as it should be")
_SETTING: Final = """\
# {about}
study: founding-report
title: {title}

sample: {{rows: {rows}, seed: 1}}
strata: [province]
static: [sex, health_region, marital_status, age_group]

# {recipe}
models:
  - central
  - local
  - {{model: shuffle, mechanism: [single-message, multi-message]}}
  - {{model: naive, mechanism: all}}

# {spent}
epsilon: [{epsilons}]
epsilon_is: per-column
delta: 1e-6
neighbours: add-remove
runs: {runs}

queries: {{categories: all, means: all}}

# {appendix}
figures:
{figures}
metrics: [ks-complement, correlation-similarity, coverage, linkage]
seed: 1
"""


@dataclass(frozen=True, slots=True)
class ReportReproduction:
    """What was compared, how near the recipe came, and where it is written.

    `categories` has the columns of the counts that are compared, with their number of categories; `columns` is how many
    are protected.
    """

    folder: Path
    comparison: PrintedComparison
    agreement: Agreement
    categories: tuple[tuple[Labels, int], ...]
    columns: int
    seconds: float

    @property
    def verdict(self) -> list[str]:
        """Whether the recipe lands where the report did."""
        return tell_agreement(self.comparison, self.agreement)

    @property
    def gain(self) -> list[str]:
        """What doing it rightly changes."""
        return tell_gain(self.comparison)

    @property
    def faults(self) -> list[str]:
        """Why nobody may use the recipe."""
        counted = [(label.text(language()).lower(), number) for label, number in self.categories]
        return tell_faults(categories=counted, columns=self.columns)

    @property
    def files(self) -> dict[str, str]:
        named = {"comparison": "comparison.csv", "page": "reproduction.html", "report": "study/report.html"}
        return {name: str(self.folder / file) for name, file in named.items()}

    def to_dict(self) -> dict[str, Any]:
        """For machines, and so the same in every language."""
        with speaking(ENGLISH):
            return {
                **self.files,
                "seconds": round(self.seconds, 1),
                "source": str(self.comparison.source),
                "verdict": self.verdict,
                "gain": self.gain,
                "faults": self.faults,
                "agreement": self.agreement.to_dict(),
                "lines": [line.to_dict() for line in self.comparison.lines],
            }


def report_study(*, rows: int = ROWS, runs: int = RUNS) -> StudyConfig:
    """The report's setting as a study; StudyInvalid when rows or runs are out of range."""
    text = _SETTING.format(
        about=say("The setting of the founding report (docs/reproduce-report.md), on the sample survey."),
        title=_TITLE.en,  # what tells studies apart is the same in every language; comments are not
        rows=rows,
        recipe=say("The last is the report's own recipe. It is not differentially private, and here to compare only."),
        spent=say("Spent anew on each of ten columns, as in the report: a respondent's total is ten times as much."),
        epsilons=", ".join(EPSILONS),
        runs=runs,
        appendix=say("The six statistics of the report's appendix."),
        figures="\n".join(f"  - {table.query.name}" for table in printed_tables()),
    )
    return parse_study(text, file="report.yaml")


def reproduce_report(
    folder: Path,
    *,
    theirs: Path | None = None,
    rows: int = ROWS,
    runs: int = RUNS,
    jobs: int | None = None,
    png: bool = False,
    progress: Progress | None = None,
) -> ReportReproduction:
    """Run the study into `folder`/study, or go on with it, and write the comparison beside it.

    `theirs` is the tidy file of the report's result tables; without it the printed ones are compared. PathInvalid when
    the folder holds anything else. With `png` figures are PNG too: ExtraMissing without the extra 'png', Refused
    without a font.
    """
    if png:
        require_png()
    config = report_study(rows=rows, runs=runs)
    errors, source = merge_theirs(None if theirs is None else read_theirs(theirs))
    _claim(folder)
    done = run_study(config, folder / "study", base=folder, jobs=jobs, progress=progress)
    text = progress or (lambda _stage, _done, _all: None)
    text(say("drawing figures"), done.tasks, done.tasks)
    return _write(folder, config, errors, source, seconds=done.seconds, png=png)


def _claim(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(found.name not in _FILES for found in folder.iterdir())):
        raise PathInvalid(
            say("'{folder}' holds something else. Name a new folder with --out.", folder=folder), path=str(folder)
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise PathInvalid(
            say("'{path}' cannot be made: {reason}.", path=folder, reason=tell_reason(error)), path=str(folder)
        ) from None


def _write(
    folder: Path, config: StudyConfig, theirs: Theirs, source: Phrase, *, seconds: float, png: bool
) -> ReportReproduction:
    from discreet.lab.study.report.study_figures import write_charts
    from discreet.lab.study.report.study_report import write_report
    from discreet_replications.report.report_figures import read_heights, reproduction_charts
    from discreet_replications.report.report_page import write_reproduction

    study, card = folder / "study", study_card(config, folder)
    write_report(study, png=png, title=str(_TITLE))
    provinces = card.column("province").categories
    codes = {category.label.en: category.code for category in provinces}
    comparison = compare(study, theirs=theirs, source=source, provinces=codes)
    done = ReportReproduction(
        folder, comparison, agree(comparison), _categories(comparison, card), _protected(config, card), seconds
    )
    write_lines(comparison, folder / "comparison.csv")
    names = [category.label.text(language()) for category in provinces]
    charts = reproduction_charts(comparison, read_heights(study, comparison, names=names))
    drawn = write_charts(charts, folder / "figures", png=png)
    page, verdict = folder / "reproduction.html", [*done.gain, *done.verdict]
    write_reproduction(page, comparison, verdict=verdict, faults=done.faults, drawn=drawn)
    return done


def _categories(comparison: PrintedComparison, card: Card) -> tuple[tuple[Labels, int], ...]:
    counted = dict.fromkeys(query.column for query in comparison.queries if query.statistic == "count")
    return tuple((card.column(name).label, len(card.column(name).categories)) for name in counted)


def _protected(config: StudyConfig, card: Card) -> int:
    from discreet.lab.study.study_file.queries import design_study

    return len(design_study(config, card).columns)
