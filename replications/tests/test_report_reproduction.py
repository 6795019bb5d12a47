"""The report's study repeated on a small sample: what is written, and that it holds together."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from statistics import fmean

import pytest
from discreet_replications.report import report_reproduction as reproduction
from discreet_replications.report.agreement import (
    Agreement,
    agree,
    short_label,
    tell_agreement,
    tell_amount,
    tell_faults,
)
from discreet_replications.report.printed_comparison import (
    EVERYWHERE,
    MODELS,
    ErrorLine,
    PrintedComparison,
    correlate_ranks,
    merge_theirs,
)
from discreet_replications.report.printed_errors import printed_source, printed_tables
from discreet_replications.report.report_reproduction import ReportReproduction, report_study, reproduce_report

from discreet.catalogue import Phrase
from discreet.errors import FileRefused, PathInvalid, StudyInvalid

pytestmark = pytest.mark.long

SETTING = "columns: [height, body_weight, smoking, perceived_health, work_stress]\nstatic: []"
QUERIES = tuple(table.query for table in printed_tables())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> ReportReproduction:
    """One ε, one run, few rows, and of the columns those that the appendix prints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduction, "EPSILONS", ("1",))
        small = reproduction._SETTING.replace("static: [sex, health_region, marital_status, age_group]", SETTING)
        patch.setattr(reproduction, "_SETTING", small)
        return reproduce_report(tmp_path_factory.mktemp("small") / "out", rows=1_500, runs=1, jobs=1)


def test_the_setting_is_the_reports() -> None:
    config = report_study()
    assert [str(epsilon) for epsilon in config.epsilon] == ["5.99", "3", "1", "0.8", "0.6"]
    assert (config.runs, config.epsilon_is, config.delta) == (5, "per-column", Decimal("0.000001"))
    assert config.figures == tuple(query.name for query in QUERIES)
    assert [choice.mechanism for choice in config.models if choice.model == "naive"] == ["central", "local", "shuffle"]
    assert config.to_dict()["data"] == {"sample": {"rows": 113_290, "seed": 1}}


@pytest.mark.parametrize("wrong", [{"rows": 10}, {"runs": 0}])
def test_a_setting_out_of_range_is_refused(wrong: Mapping[str, int]) -> None:
    with pytest.raises(StudyInvalid):
        report_study(**wrong)


def test_everything_is_written(done: ReportReproduction) -> None:
    assert all(Path(file).is_file() for file in done.files.values())
    page = (done.folder / "reproduction.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4
    assert "not differentially private" in page
    assert "2.39 for 5" in page
    assert "13,894" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page
    assert str(printed_source()) in page


def test_the_table_holds_every_statistic_model_and_province(done: ReportReproduction) -> None:
    with (done.folder / "comparison.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 6 * 4 * 14
    assert list(rows[0])[:4] == ["statistic", "column", "category", "epsilon"]
    assert {row["notice"] for row in rows} == {"study on true data; not a release"}
    ontario = [row for row in rows if row["column"] == "height" and row["group"] == "Ontario"]
    assert [row["correct_mechanism"] for row in ontario] == [
        "laplace",
        "piecewise-wide",
        "single-message",
        "multi-message",
    ]
    assert float(ontario[1]["theirs"]) == pytest.approx(6.93, abs=0.005)
    assert float(ontario[1]["naive"]) > 5
    assert float(ontario[1]["correct"]) < 0.5


def test_the_mean_over_provinces_is_their_mean(done: ReportReproduction) -> None:
    for query in QUERIES:
        for model in MODELS:
            (whole,) = done.comparison.pick(query=query, model=model)
            parts = done.comparison.by_province(query=query, model=model, epsilon=Decimal(1))
            assert len(parts) == 13
            assert whole.naive == pytest.approx(fmean(line.naive for line in parts))
            assert whole.theory == pytest.approx(fmean(line.theory for line in parts))
            assert whole.theirs == pytest.approx(fmean(line.theirs for line in parts if line.theirs is not None))


def test_other_folders_and_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(PathInvalid):
        reproduce_report(tmp_path)
    with pytest.raises(PathInvalid):
        reproduce_report(tmp_path / "letter.txt")
    (tmp_path / "other.csv").write_text("a,b\n")
    with pytest.raises(FileRefused):
        reproduce_report(tmp_path / "new", theirs=tmp_path / "other.csv")
    assert not (tmp_path / "new").exists()


def test_what_is_gained_is_told_for_two_statistics(done: ReportReproduction) -> None:
    height, smokers = done.gain
    assert height.startswith("Mean height at ε = 1, mean over provinces: the report was off by 6.96 m (local)")
    assert all(
        way in smokers for way in ("(central)", "(local)", "(shuffle, single-message)", "(shuffle, multi-message)")
    )
    assert "74,096 people (local) and 316,441 people (shuffle)" in smokers


def test_the_given_file_adds_to_what_is_printed() -> None:
    key = ("mean of height", Decimal(3), "local", "35")
    errors, source = merge_theirs({key: 1.53})
    assert errors[key] == 1.53
    assert errors["mean of height", Decimal(1), "local", "35"] == pytest.approx(6.92537)
    assert "result file" in str(source)
    assert key not in merge_theirs(None)[0]


# --- agreement ------------------------------------------------------------------------------------------------------


def invented(*, naive_of: Mapping[str, float]) -> PrintedComparison:
    """Three provinces at ε = 1, local alone; theirs are 1, 2, 3 and the recipe's as given."""
    lines = [
        ErrorLine(query, Decimal(1), "local", name, place + 1.0, naive_of[name], 0.1, "grr", 0.1)
        for query in QUERIES
        for place, name in enumerate(naive_of)
    ]
    means = [ErrorLine(query, Decimal(1), "local", EVERYWHERE, 2.0, 2.0, 0.1, "grr", 0.1) for query in QUERIES]
    return PrintedComparison((*lines, *means), tuple(naive_of), QUERIES, (Decimal(1),), Phrase("a source"))


def judge(**naive_of: float) -> tuple[Agreement, list[str]]:
    comparison = invented(naive_of=naive_of)
    found = agree(comparison)
    return found, tell_agreement(comparison, found)


def test_near_and_in_order_is_told() -> None:
    found, words = judge(Ontario=1.04, Quebec=2.2, Alberta=3.1)
    assert found.heights_near
    assert found.pooled == pytest.approx(1.0)
    assert "Within 5%: yes." in words[0]
    assert words[1].endswith("together: yes.")


def test_far_or_out_of_order_is_told() -> None:
    found, words = judge(Ontario=1.06, Quebec=3.2, Alberta=3.1)
    assert not found.heights_near
    assert "Within 5%: no." in words[0]
    assert words[1].endswith("together: no.")
    assert found.lowest.correlation == pytest.approx(0.5)
    assert found.to_dict()["ontario_height_within_5_percent"] is False


def test_rank_correlation_shares_ranks_of_equal_values() -> None:
    scipy = pytest.importorskip("scipy.stats")
    first, second = [1.0, 2.0, 2.0, 5.0, 0.5], [3.0, 1.0, 4.0, 4.0, 0.0]
    assert correlate_ranks(first, second) == pytest.approx(scipy.spearmanr(first, second).statistic)


def test_words_for_faults_and_amounts() -> None:
    told = " ".join(tell_faults(categories=[("smoking", 5)], columns=10))
    assert "2.39 for 5 (smoking)" in told
    assert "10 times" in told
    assert [tell_amount(value) for value in (None, math.nan, 12_345.6, 6.955, 0.00012, 0.00001)] == [
        "—",
        "—",
        "12,346",
        "6.96",
        "0.00012",
        "0.00001",
    ]
    assert short_label(QUERIES[3]) == "people in fair health"
