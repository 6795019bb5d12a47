"""The thesis' Figure 1, Tables 1 to 4, 8 and 9, and the share of sensitivities too low: printed and here."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from discreet_replications.thesis.data.arff import KIDNEY_COLUMNS, KidneyReading
from discreet_replications.thesis.data.compared_columns import GeneratorSample, compare_columns, list_columns
from discreet_replications.thesis.data.printed_columns import TRUE_SUM
from discreet_replications.thesis.data.readings import Readings, read_data
from discreet_replications.thesis.data.thesis_queries import QUERIES
from discreet_replications.thesis.foresight import foresee_all
from discreet_replications.thesis.methods import list_methods
from discreet_replications.thesis.run_records import Record, Records
from discreet_replications.thesis.scales import SENSITIVITIES, draw_scales, run_scales
from discreet_replications.thesis.setting import ThesisSetting
from discreet_replications.thesis.shortfalls import PRINTED_GENERATED, chance_below, judge_shortfalls
from discreet_replications.thesis.thesis_truth import Truth, losses
from discreet_replications.thesis.timings import judge_timings

from discreet.catalogue import Phrase
from discreet.guarantees import Unproven
from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.inspection import inspect
from discreet.lab.strategies.contest import Trials
from discreet.lab.strategies.generated_strategy import estimate
from tests.places import SHARED

needs_files = pytest.mark.skipif(
    not all((SHARED / name).is_file() for name in ("kidney_uci.arff", "diabetes130.csv.gz")),
    reason="the thesis' kidney and diabetes files are not at hand",
)
WHY = Phrase("none was wanted")


@pytest.fixture(scope="module")
def files() -> Readings:
    return read_data(SHARED)


# --- Tables 1 to 4 ----------------------------------------------------------------------------------------------------


@pytest.mark.long
@needs_files
def test_real_rows_give_every_printed_figure_but_one(files: Readings) -> None:
    """17 figures of columns that are there; encounter_id is printed as 100,000."""
    lines = compare_columns(files, {}, why=WHY)
    told = [line for line in lines if line.real]
    assert [line.printed.table for line in lines].count(4) == 6
    assert (len(lines), len(told)) == (18, 17)
    [wrong] = [line for line in told if not line.agrees]
    assert (wrong.printed.column, wrong.printed.real, wrong.real) == ("encounter_id", "100,000", "101,766")
    # The share of "?" in rbcc is 32% only where a tab cut three of them off: kidney as the thesis read it.
    assert [line.real for line in lines if line.printed.table == 3] == ["11%", "0%", "32%", "38%"]
    assert all(line.generated == ("",) * len(line.printed.generated) and line.why for line in lines)


@pytest.mark.long
@needs_files
def test_89_values_in_13_records_are_lost(files: Readings) -> None:
    lost = losses(files)
    assert lost is not None
    assert (lost.fields, lost.records) == (89, 13)
    assert "89 values in 13 records" in lost.tell()


def breast(folder: Path) -> Readings:
    """Four rows of breast with every column the same."""
    from discreet_replications.thesis.data.readings import BREAST_COLUMNS

    rows = [["M" if value == "1" else "B", *[value] * 30] for value in ("1", "2", "2", "3")]
    (folder / "breast_wdbc.csv").write_text("\n".join(map(",".join, [BREAST_COLUMNS, *rows])) + "\n")
    return read_data(folder)


def sampled() -> GeneratorSample:
    """One generated column of which half is missing, beside a real one."""
    shapes = (Shape("smoothness_se", "number", step="0.1"), Shape("diagnosis", "category", ("M", "B")))
    real = GeneratorRows(shapes, {"smoothness_se": np.array([1.0, 2, 2, 3]), "diagnosis": np.array([0.0, 1, 1, 1])})
    made = GeneratorRows(
        shapes, {"smoothness_se": np.array([5.0, np.nan, 6, np.nan]), "diagnosis": np.array([1.0, 1, 1, 1])}
    )
    return GeneratorSample(inspect(real, {"generated 4": made}), loading=2.0, seconds={4: 0.5, 7: 3.0})


def test_generated_rows_stand_beside_the_real_ones(tmp_path: Path) -> None:
    readings = breast(tmp_path)
    lines = {line.printed.column: line for line in compare_columns(readings, {"breast": sampled()}, why=WHY)}
    assert lines["smoothness_se"].real == "75.0%"
    assert lines["smoothness_se"].generated == ("50.0%",)
    assert lines["diagnosis"].generated == ("25.0%",)
    assert str(lines["id"].why) == "This copy of the data has no such column."
    assert "No code book" in str(lines["smoothness_worst"].why)
    rows = list(list_columns(readings, {"breast": sampled()}))
    assert len([row for row in rows if row["of"] == "real"]) == 31
    made = next(row for row in rows if row["of"] == "generated 4" and row["column"] == "smoothness_se")
    assert (made["cardinality"], made["uniqueness"], made["missing"]) == (2, 0.5, 0.5)


def test_a_question_mark_counts_as_a_value(tmp_path: Path) -> None:
    """In the tables of kidney, as in the thesis; and what a tab cut off does not."""
    record = (
        "48,80,1.020,1,0,{rbc},normal,notpresent,notpresent,121,36,1,?,?,15.4,44,7800,{rbcc},yes,no,no,good,no,no,ckd"
    )
    header = [f"@attribute {name} numeric" for name in KIDNEY_COLUMNS]
    rows = [record.format(rbc=rbc, rbcc=rbcc) for rbc, rbcc in (("normal", "5"), ("?", "\t?"), ("?", "6"))]
    (tmp_path / "kidney_uci.arff").write_text("\n".join([*header, "@data", *rows]) + "\n")
    readings = breast(tmp_path)
    assert [readings.kidney[reading].as_written("rbcc") for reading in KidneyReading] == [(3, 1), (2, 0)]
    shapes = (Shape("rbc", "category", ("normal", "abnormal")),)
    real = GeneratorRows(shapes, {"rbc": np.array([0.0, np.nan, np.nan])})
    made = GeneratorRows(shapes, {"rbc": np.array([0.0, 1.0, np.nan])})
    found = GeneratorSample(inspect(real, {"generated 3": made, "generated 10,000": real}), loading=0, seconds={})
    lines = compare_columns(readings, {"kidney": found}, why=WHY)
    rbc = {line.printed.measure: line for line in lines if line.printed.column == "rbc"}
    assert (rbc["cardinality"].real, rbc["cardinality"].generated) == ("2", ("3", "2"))
    assert (rbc["unknown"].real, rbc["unknown"].generated) == ("67%", ("33.3%", "66.7%"))


# --- Figure 1 ---------------------------------------------------------------------------------------------------------


@pytest.mark.statistical
def test_errors_grow_in_proportion_to_the_sensitivity() -> None:
    """A mean of 200 exponentials is below a half of theirs, or twice as large, with a chance of exp(−38) each."""
    lines = run_scales(None, ThesisSetting(runs=200, epsilons=("0.1",)))
    assert [line.sensitivity for line in lines] == list(SENSITIVITIES)
    assert {line.truth for line in lines} == {TRUE_SUM}
    for line in lines:
        assert line.expected == line.sensitivity * 10
        assert line.expected / 2 < line.error.mean < line.expected * 2


def test_figure_1_compares_with_the_answer() -> None:
    drawn = draw_scales(run_scales(None, ThesisSetting(runs=2)))
    assert drawn.name == "figure-1"
    assert "1,630,479" in drawn.words
    assert "2³²" in drawn.svg
    assert drawn.svg.count("ε = 0.01") == 1


# --- too low ----------------------------------------------------------------------------------------------------------


@pytest.mark.long
@needs_files
def test_the_listing_explains_what_the_thesis_counts(files: Readings) -> None:
    """Of 2,600 at its own generated sensitivities the listing gives 2.6 too low; the thesis counts 3."""
    [printed] = judge_shortfalls(Records(()), foresee_all(files))
    assert (printed.below, printed.runs) == (3, 2_600)
    assert 2 < printed.expected * 2_600 < 3.5
    assert 0.5 < printed.unproven < 0.6


@pytest.mark.statistical
@pytest.mark.parametrize(("real", "made"), [(76.0, 3.1026), (81.0, 60.8), (1.0, 1.3), (5.0, 5.0)])
def test_the_chance_is_that_of_the_listing(real: float, made: float) -> None:
    """20,000 runs: by Hoeffding a share is off by .025 with a chance below 2·exp(−25); twelve of them, 4e-10."""
    rng = np.random.default_rng()
    used = np.array([estimate(real, made, rng).used for _ in range(20_000)])
    for bound in (real, 1.02 * real, 1.5 * real):
        assert abs((used < bound).mean() - chance_below(bound, real=real, generated=made)) < 0.025


def record(number: int, used: tuple[float, ...], made: float, seconds: tuple[float, ...] = ()) -> Record:
    query = QUERIES[number]
    top = Fraction(query.sensitivity) if query.aggregate == "SUM" else Fraction(query.sensitivity) * 568
    truth = Truth(query, 569, 569, Fraction(1), Fraction(0), top)
    [method] = [one for one in list_methods([7]) if one.strategy == "generated"]
    trials = Trials(1.0, (1.0,) * len(used), used, seconds or (0.25,) * len(used))
    return Record(truth, method, "0.01", Unproven("the scale tells"), trials, made)


def test_what_is_used_is_held_against_the_real_and_the_needed(tmp_path: Path) -> None:
    foreseen = [one for one in foresee_all(breast(tmp_path)) if one.query.number in {11, 12}]
    needed = [float(one.sensitivity) for one in foreseen]
    assert needed == [0.25, 0.5]
    found = Records((record(11, (0.16, 0.17, 0.3), 0.1758), record(12, (0.3454, 0.4, 0.6), 0.4507)))
    [low] = judge_shortfalls(found, foreseen)
    assert (low.runs, low.below) == (6, 1)
    assert low.unproven == pytest.approx(4 / 6)
    assert "1 of 6" in low.tell()
    assert len(PRINTED_GENERATED) == len(QUERIES)


# --- Tables 8 and 9 ---------------------------------------------------------------------------------------------------


def test_times_with_and_without_the_first_answers() -> None:
    found = Records((record(11, (1.0, 1.0), 1.0, (0.1, 0.3)), record(12, (1.0, 1.0), 1.0, (0.2, 0.2))))
    [line] = judge_timings(found, {"breast": sampled()})
    assert line.whole is not None
    assert line.warm is not None
    assert line.kept is not None
    assert line.whole.most == pytest.approx(2 + 3 + 0.1)  # opened, generated, answered
    assert line.warm.most == pytest.approx(3.3)
    assert line.warm.least == pytest.approx(3.2)
    assert line.kept.mean == pytest.approx(0.2)
    told: dict[str, Any] = line.to_dict()
    assert told["table_8_printed_mean"] is None
    assert told["table_9_mean"] == pytest.approx((3.3 + 3.2 + 3.2) / 3)


def test_times_without_a_generator_are_those_printed_and_say_why() -> None:
    methods = list_methods((10_000, 7))
    [public] = (one for one in methods if one.name == "public")
    drawn = replace(record(11, (1.0, 1.0), 1.0, (0.1, 0.3)), method=public, epsilon="0.01")
    left = tuple((one, WHY) for one in methods if one.needs_model)
    [line] = judge_timings(Records((drawn,), left), {})
    told = line.to_dict()
    assert (told["table_8_printed_mean"], told["table_9_printed_most"], told["why"]) == (0.7289, 1.2460, WHY.en)
    assert told["table_8_mean"] is told["kept_mean"] is None
