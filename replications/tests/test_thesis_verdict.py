"""The verdict of the benchmark by hand: means, medians, what is printed for the same queries, targets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import nan

import pytest
from discreet_replications.thesis.data.thesis_queries import QUERIES, ThesisQuery
from discreet_replications.thesis.methods import PATIENT_METHODS, PUBLIC, ThesisMethod, list_methods
from discreet_replications.thesis.pages.thesis_words import tell_figure
from discreet_replications.thesis.run_records import QUANTITIES, Record, Records
from discreet_replications.thesis.setting import ThesisSetting
from discreet_replications.thesis.thesis_truth import Truth
from discreet_replications.thesis.verdict import judge, judge_patients, printed_for

from discreet.catalogue import Phrase
from discreet.errors import ParameterInvalid
from discreet.guarantees import Guarantee, PureDP, Unproven
from discreet.lab.strategies.contest import Trials

METHODS = {method.name: method for method in list_methods([10_000, 100_000])}
PROVEN = PureDP(epsilon="0.01")
UNPROVEN = Unproven("a test")


def record(
    query: ThesisQuery,
    method: ThesisMethod = PUBLIC,
    *results: float,
    epsilon: str | None = "0.01",
    guarantee: Guarantee = PROVEN,
    generated: float | None = None,
) -> Record:
    """Exact answer 10, largest value 5 of 11 rows."""
    truth = Truth(query, 11, 11, Fraction(10), Fraction(0), Fraction(5))
    used = (2.0,) * len(results) if method.spends else (nan,) * len(results)
    trials = Trials(10.0, results, used, (0.5,) * len(results))
    return Record(truth, method, epsilon, guarantee, trials, generated)


def test_quantities_of_a_record() -> None:
    total = record(QUERIES[3], PUBLIC, 12.0, 4.0)
    assert total.series("error") == (2.0, 6.0)
    assert total.series("relative_error") == (0.2, 0.6)
    # A sum has the largest value, 5, as the thesis' sensitivity; 2 was used.
    assert total.series("relative_sensitivity_error") == (-0.6, -0.6)
    mean = record(QUERIES[0], PUBLIC, 10.0)
    assert mean.real_sensitivity == 0.5
    rows = list(total.rows())
    assert [row["quantity"] for row in rows] == list(QUANTITIES)
    assert {
        "number",
        "query",
        "strategy",
        "terms",
        "epsilon",
        "sample_size",
        "runs",
        "mean",
        "median",
        "min",
        "max",
    } <= {*rows[0]}
    replaced = record(QUERIES[3], METHODS["replace"], 9.0, epsilon=None, guarantee=UNPROVEN)
    assert [row["quantity"] for row in replaced.rows()] == ["result", "error", "relative_error", "seconds"]
    with pytest.raises(ValueError, match="not a quantity"):
        total.series("bias")
    with pytest.raises(ValueError, match="spends one"):
        record(QUERIES[3], METHODS["replace"], 9.0, epsilon="0.01")


def test_means_over_queries_and_medians() -> None:
    found = Records(
        (
            record(QUERIES[0], PUBLIC, 11.0, 13.0),  # mean .2
            record(QUERIES[1], PUBLIC, 10.0, 10.0),  # 0
            record(QUERIES[2], PUBLIC, 20.0, 20.0),  # 1
        )
    )
    [score] = judge(found).scores
    assert score.mean == pytest.approx(0.4)
    assert score.median == pytest.approx(0.2)
    assert (score.queries, score.least_runs, score.proven) == (3, 2, True)
    assert score.promise == "ε = 0.01, replace-one"
    assert judge(found).targets == ()
    assert "3 of 26 queries" in judge(found).sentences[0]


@pytest.mark.parametrize(("off", "kept"), [(8.0, True), (9.0, False)])
def test_the_target_is_the_printed_mean_over_all_queries(off: float, kept: bool) -> None:
    found = Records(tuple(record(query, PUBLIC, 10.0 + off) for query in QUERIES))
    verdict = judge(found)
    [target] = verdict.targets
    assert (target.printed, target.holds) == (0.8372, kept)
    assert ("reached" if kept else "missed") in verdict.sentences[0]
    assert verdict.to_dict()["targets"][0]["holds"] is kept


def test_printed_figures_are_those_of_the_same_queries() -> None:
    generated, replaced = METHODS["generated 100,000"], METHODS["replace"]

    def judged(queries: tuple[ThesisQuery, ...], epsilon: str) -> list[float | None]:
        parts = [
            part
            for query in queries
            for part in (
                record(query, generated, 12.0, epsilon=epsilon, guarantee=UNPROVEN, generated=6.0),
                record(query, replaced, 11.0, epsilon=None, guarantee=UNPROVEN),
            )
        ]
        return [score.printed for score in judge(Records(tuple(parts))).scores]

    assert judged(QUERIES, "0.1") == [0.0818, 0.1415]
    assert judged(QUERIES, "3") == [None, 0.1415]
    assert judged(QUERIES[:2], "0.01") == pytest.approx([(0.5188 + 0.7537) / 2, (0.0391 + 0.0183) / 2])
    assert judged(QUERIES[:2], "0.1")[0] is None


def test_the_error_of_a_generated_sensitivity() -> None:
    method = METHODS["generated 10,000"]
    found = Records((record(QUERIES[3], method, 10.0, guarantee=UNPROVEN, generated=4.0),))
    [score] = judge(found).scores
    assert score.generated_error == pytest.approx(0.2)
    assert score.promise == "none"


def test_private_bounds_are_held_against_the_printed_diabetes_errors() -> None:
    method = METHODS["private-bounds"]
    asked = [query for query in QUERIES if query.dataset == "diabetes"]
    told = judge(Records(tuple(record(query, method, 11.0) for query in asked))).sentences
    assert any("0.1000 on diabetes" in one and "prints 0.1063" in one for one in told)
    assert not any("found no bounds" in one for one in told)


def test_runs_that_found_no_bounds_are_told_before_their_errors() -> None:
    one = record(QUERIES[16], METHODS["private-bounds"], 11.0, 0.0)
    told = judge(Records((replace(one, trials=replace(one.trials, unfound=1)),))).sentences
    place = next(number for number, words in enumerate(told) if "found no bounds in 1 of 2 runs" in words)
    assert "on diabetes" in told[place + 1]


def test_what_was_skipped_is_told_once() -> None:
    left = tuple((METHODS[name], Phrase("No torch.")) for name in ("generated 100,000", "replace"))
    found = Records((record(QUERIES[0], PUBLIC, 1.0),), left)
    assert judge(found).sentences[-1] == "Left out: generated 100,000, replace. No torch."


def test_what_the_thesis_prints_stands_beside_what_was_skipped_too() -> None:
    assert printed_for(METHODS["generated 100,000"], "0.01", QUERIES) == 0.8372
    assert printed_for(METHODS["generated 100,000"], "0.1", QUERIES) == 0.0818
    assert printed_for(METHODS["replace"], "0.1", QUERIES) == 0.1415
    assert printed_for(METHODS["public"], "0.1", QUERIES) is None


def test_patients_take_the_place_of_rows_in_diabetes_alone() -> None:
    method = PATIENT_METHODS[0]
    rows = Records((record(QUERIES[0], PUBLIC, 12.0), record(QUERIES[16], PUBLIC, 10.0)))
    patients = Records((record(QUERIES[16], method, 16.0),))
    [score] = judge_patients(patients, rows)
    assert (score.diabetes, score.diabetes_queries, score.queries) == (0.6, 1, 2)
    assert score.overall == pytest.approx(0.4)


def test_only_generated_rows_have_a_size() -> None:
    with pytest.raises(ValueError, match="that name alone"):
        ThesisMethod("public", "public", PUBLIC.variant, 3)


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.0, "0"), (0.55915, "0.5592"), (-1234.5, "−1,234.5"), (7.96e11, "7.960e11"), (2e-5, "2.000e−5")],
)
def test_figures_have_a_few_digits(value: float, told: str) -> None:
    assert tell_figure(value) == told


def test_settings_are_read_and_checked() -> None:
    read = ThesisSetting.read(epsilons=" .01, 1", sample_sizes="10,20", runs=3)
    assert (read.epsilons, read.sample_sizes, read.runs) == (("0.01", "1"), (10, 20), 3)
    for epsilons, sizes in (("0", "10"), ("1,1.0", "10"), ("1", "ten"), ("1", "0"), ("1", "10,10")):
        with pytest.raises(ParameterInvalid):
            ThesisSetting.read(epsilons=epsilons, sample_sizes=sizes)
    for wrong_figure in ({"runs": 0}, {"epochs": -1}, {"audit_samples": 5}):
        with pytest.raises(ParameterInvalid):
            ThesisSetting(**wrong_figure)  # type: ignore[arg-type]
