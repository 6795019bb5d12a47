"""What holds for every randomiser of categories: real epsilon, channel, exact tallies, reports that are read back."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.collect.estimates.estimators import tallies
from discreet.collect.estimates.estimators.tallies import LARGEST_SUM, WeightedCells
from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES, frequency_oracle
from discreet.collect.randomisers.oracle import CategoryOracle, settle_by_odds, variance_per_report
from discreet.collect.randomisers.randomiser import Channel, ReportTally
from discreet.errors import ParameterInvalid
from discreet.guarantees.types import LocalDP
from discreet.noise import ByteTape, SystemEntropy
from tests.unit.collect.channels import Law, as_array, root_of_decay, supports, walk_reports, worst_ratio

ENTROPY = SystemEntropy()
NAMES = sorted(FREQUENCY_ORACLES)
SMALL = [
    *[("grr", epsilon, k) for epsilon, k in (("1", 2), ("0.1", 3), ("1", 5), ("5.99", 6))],
    *[("oue", epsilon, k) for epsilon, k in (("1", 2), ("0.3", 3), ("2", 5))],
    *[("rappor", epsilon, k) for epsilon, k in (("1", 2), ("0.3", 3), ("2", 5))],
    # 2, 3, 4, 6 and 8 hash values: primes, powers and a product
    *[("olh", epsilon, k) for epsilon, k in (("0.3", 5), ("0.7", 4), ("1", 4), ("1.6", 3), ("2", 3))],
    *[("subset", epsilon, k) for epsilon, k in (("1", 2), ("1", 5), ("0.5", 5), ("0.3", 6))],
    *[("hadamard", epsilon, k) for epsilon, k in (("1", 2), ("1", 3), ("0.3", 4), ("2", 7))],
]


@pytest.mark.parametrize(("name", "epsilon", "categories"), SMALL)
def test_the_code_draws_the_claimed_epsilon_and_channel(
    name: str, epsilon: str, categories: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle = frequency_oracle(name, epsilon=epsilon, categories=categories)
    laws = [walk_reports(monkeypatch, oracle, answer) for answer in range(categories)]
    assert all(sum(law.values()) == 1 for law in laws)
    assert all(law.keys() == laws[0].keys() for law in laws)
    assert worst_ratio(laws) == 1 / root_of_decay(oracle) ** 2
    reports = sorted(laws[0])
    places = np.arange(len(reports))
    support = oracle.tally(
        as_array(oracle, reports), cells=places, weights=np.ones_like(places), number=len(reports)
    ).support
    channel = oracle.channel()
    for answer, law in enumerate(laws):
        for category in range(categories):
            chance = sum(
                (law[report] for report, row in zip(reports, support, strict=True) if row[category]), Fraction()
            )
            assert float(chance) == pytest.approx(channel.p if category == answer else channel.q, rel=1e-12)


def test_the_walk_finds_what_a_binary_coin_costs_with_five_categories(monkeypatch: pytest.MonkeyPatch) -> None:
    """p = e^ε/(1 + e^ε) for five categories: nominally 1, really 1 + ln 4."""
    binary = frequency_oracle("grr", epsilon=1, categories=2)
    kept = walk_reports(monkeypatch, binary, 0)[(0,)]
    laws: list[Law] = [
        {(report,): kept if report == answer else (1 - kept) / 4 for report in range(5)} for answer in range(5)
    ]
    assert math.log(worst_ratio(laws)) == pytest.approx(1 + math.log(4), rel=1e-12)
    assert round(math.log(worst_ratio(laws)), 3) == 2.386


def brute_force(oracle: CategoryOracle, reports: Any, cells: Any, weights: Any, number: int) -> dict[str, Any]:
    support = [[0] * oracle.categories for _ in range(number)]
    squares = [[0] * oracle.categories for _ in range(number)]
    totals = [[0] * number for _ in range(3)]
    for report, cell, weight in zip(reports, cells.tolist(), weights.tolist(), strict=True):
        for power in range(3):
            totals[power][cell] += weight**power
        for category in range(oracle.categories):
            if supports(oracle, report, category):
                support[cell][category] += weight
                squares[cell][category] += weight**2
    return {
        "support": support,
        "support_squares": squares,
        "weights": totals[1],
        "weight_squares": totals[2],
        "reports": totals[0],
    }


def as_lists(tally: ReportTally) -> dict[str, Any]:
    fields = ("support", "support_squares", "weights", "weight_squares", "reports")
    return {field: getattr(tally, field).tolist() for field in fields}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("epsilon", "categories", "top"), [("1", 7, 100), ("0.6", 20, 1 << 27), ("1.6", 2, 3)])
def test_tallies_are_those_of_a_loop_in_any_order(name: str, epsilon: str, categories: int, top: int) -> None:
    oracle = frequency_oracle(name, epsilon=epsilon, categories=categories)
    draw = np.random.default_rng()
    n, number = 150, 4
    reports = oracle.randomise(ENTROPY, draw.integers(0, categories, n))
    cells, weights = draw.integers(0, number - 1, n), draw.integers(0, top, n)
    tally = oracle.tally(reports, cells=cells, weights=weights, number=number)
    assert as_lists(tally) == brute_force(oracle, reports, cells, weights, number)
    assert tally.support.dtype == tally.support_squares.dtype == np.int64
    order = draw.permutation(n)
    again = oracle.tally(reports[order], cells=cells[order], weights=weights[order], number=number)
    assert as_lists(again) == as_lists(tally)
    ones = oracle.tally(reports, cells=np.zeros_like(cells), weights=np.ones_like(weights), number=1)
    assert oracle.count(reports).tolist() == ones.support[0].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_sums_are_exact_beyond_what_floats_hold(name: str) -> None:
    oracle = frequency_oracle(name, epsilon=1, categories=3)
    reports = oracle.randomise(ENTROPY, np.array([0, 1, 2]))
    cells, weights = np.zeros(3, dtype=np.int64), np.array([(1 << 30) + 1, (1 << 30) + 3, 1])
    tally = oracle.tally(reports, cells=cells, weights=weights, number=1)
    assert as_lists(tally) == brute_force(oracle, reports, cells, weights, 1)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_is_tallied_as_zero(name: str) -> None:
    oracle = frequency_oracle(name, epsilon=1, categories=5)
    none = np.array([], dtype=np.int64)
    reports = oracle.randomise(ByteTape(b""), none)
    tally = oracle.tally(reports, cells=none, weights=none, number=2)
    assert tally.support.shape == (2, 5)
    assert not tally.support.any()
    assert oracle.count(reports).tolist() == [0] * 5
    assert oracle.write_reports(reports) == []
    assert oracle.read_reports([])[1].tolist() == []


def test_weights_whose_squares_leave_64_bits_are_refused() -> None:
    cells = np.zeros(2, dtype=np.int64)
    fits = np.array([math.isqrt(LARGEST_SUM), 0])
    assert WeightedCells(cells, fits, 1).totals()[1].tolist() == [math.isqrt(LARGEST_SUM) ** 2]
    with pytest.raises(ParameterInvalid, match="coarser units"):
        WeightedCells(cells, np.array([1 << 31, 0]), 1)
    with pytest.raises(ParameterInvalid, match="negative"):
        WeightedCells(cells, np.array([-1, 1]), 1)


@pytest.mark.parametrize(
    ("cells", "weights", "error"),
    [
        ([0, 2], [1, 1], ValueError),
        ([-1, 0], [1, 1], ValueError),
        ([0], [1, 1], ValueError),
        ([0, 0], [0.5, 1], TypeError),
    ],
)
def test_cells_and_weights_must_fit(cells: list[int], weights: list[float], error: type[Exception]) -> None:
    with pytest.raises(error):
        WeightedCells(np.array(cells), np.array(weights), 2)


@pytest.mark.parametrize("name", NAMES)
def test_each_report_has_its_own_cell(name: str) -> None:
    oracle = frequency_oracle(name, epsilon=1, categories=4)
    reports = oracle.randomise(ENTROPY, np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="each report"):
        oracle.tally(reports, cells=np.array([0, 0]), weights=np.array([1, 1]), number=1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("categories", [2, 8, 13])
def test_reports_survive_json(name: str, categories: int) -> None:
    oracle = frequency_oracle(name, epsilon="0.6", categories=categories)
    reports = oracle.randomise(ENTROPY, np.arange(200) % categories)
    values = json.loads(json.dumps(oracle.write_reports(reports)))
    read, valid = oracle.read_reports(values)
    assert valid.all()
    assert read.tolist() == reports.tolist()
    assert read.dtype == reports.dtype


RUBBISH: list[object] = [
    *[None, True, False, 1.0, math.nan, math.inf, -1, 2**70, -(2**70), "", "0", "ü", "١٢", " 1f", "0x", {}, {"a": 1}],
    *[
        [],
        [[]],
        [None],
        [True, True],
        [1.0, 0.0],
        [0, -1],
        [2**70, 0],
        ["0", "1"],
        [0] * 1000,
        "f" * 1000,
        b"00",
        (0, 0),
    ],
]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_report_is_marked_and_never_raises(name: str) -> None:
    oracle = frequency_oracle(name, epsilon="0.6", categories=13)
    good = oracle.write_reports(oracle.randomise(ENTROPY, np.array([0, 12])))
    values = [good[0], *RUBBISH, good[1]]
    reports, valid = oracle.read_reports(values)
    assert valid.tolist() == [True, *[False] * len(RUBBISH), True]
    assert len(reports) == len(values)
    places = np.zeros(len(values), dtype=np.int64)
    oracle.tally(reports, cells=places, weights=places, number=1)  # places without meaning still have the right shape
    assert oracle.write_reports(reports[valid]) == good


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_checked_and_written_exactly(name: str) -> None:
    made = frequency_oracle(name, epsilon=0.1, categories=6)
    assert {"epsilon": "0.1", "categories": "6"}.items() <= made.parameters().items()
    assert made.guarantee() == LocalDP(epsilon="0.1")
    assert made == frequency_oracle(name, epsilon="0.1", categories=6)
    assert not made.comparison_only
    for epsilon in (0, -1, "nan", 50.5, True):
        with pytest.raises(ParameterInvalid, match="epsilon"):
            frequency_oracle(name, epsilon=epsilon, categories=3)
    for categories in (0, 1, True, "3", 3.0, 2**16 + 1, 10**50):
        with pytest.raises(ParameterInvalid, match="categories"):
            frequency_oracle(name, epsilon=1, categories=categories)  # type: ignore[arg-type]


@pytest.mark.parametrize("oracle", FREQUENCY_ORACLES.values(), ids=lambda oracle: oracle.name)
def test_an_objection_is_a_sentence_that_names_the_limit(oracle: type[CategoryOracle]) -> None:
    assert oracle.objection(epsilon=Decimal(1), categories=13) is None
    for epsilon, categories, word in (
        ("0", 3, "epsilon"),
        ("51", 3, "epsilon"),
        ("NaN", 3, "epsilon"),
        ("1", 1, "2 to"),
    ):
        objection = oracle.objection(epsilon=Decimal(epsilon), categories=categories)
        assert objection is not None
        assert word in objection
        assert oracle.name in objection


@pytest.mark.parametrize("name", NAMES)
def test_answers_outside_the_categories_are_refused_without_showing_them(name: str) -> None:
    oracle = frequency_oracle(name, epsilon=1, categories=4)
    for answers in ([-1], [4], [0, 777]):
        with pytest.raises(ValueError, match="categories") as raised:
            oracle.randomise(ENTROPY, np.array(answers))
        assert "777" not in str(raised.value)
    with pytest.raises(TypeError, match="integers"):
        oracle.randomise(ENTROPY, np.array([0.5]))


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_left_as_they_were(name: str) -> None:
    answers = np.arange(1000) % 4
    frequency_oracle(name, epsilon="0.1", categories=4).randomise(ENTROPY, answers)
    assert answers.tolist() == [place % 4 for place in range(1000)]


def test_the_variance_is_that_of_the_debiased_indicator() -> None:
    channel = Channel(p=0.7, q=0.1)
    own, other = 0.7 * 0.3 / 0.36, 0.1 * 0.9 / 0.36
    for share in (0.0, 0.25, 1.0):
        assert variance_per_report(channel, share=share) == pytest.approx(share * own + (1 - share) * other)
    with pytest.raises(ValueError, match="share"):
        variance_per_report(channel, share=1.5)


def test_integers_are_settled_by_bounds_that_narrow() -> None:
    """e^1 to 120 digits lies between two steps of this rule that 60 digits cannot tell apart."""
    step = Fraction(Decimal("2.71828182845904523536028747135266249775724709369995957496696762"))
    assert settle_by_odds(lambda odds: int(odds > step), epsilon=Decimal(1)) == 1
    assert settle_by_odds(lambda odds: int(odds > step + Fraction(1, 10**61)), epsilon=Decimal(1)) == 0


def test_sums_in_floats_are_those_in_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    cells, weights = rng.integers(0, 5, 400), rng.integers(0, 1 << 20, 400)
    reports, masks = rng.integers(0, 7, (400, 2)), rng.integers(0, 2, (7, 400)).astype(bool)
    placed, found = WeightedCells(cells, weights, 6), []
    for largest in (1 << 53, 0):
        monkeypatch.setattr(tallies, "_LARGEST_FLOAT", largest)
        for tally in (placed.tally_named(reports, categories=7), placed.tally_masks(masks, categories=7)):
            parts = (tally.support, tally.support_squares, tally.weights, tally.weight_squares, tally.reports)
            assert all(part.dtype == np.int64 for part in parts)
            found.append([part.tolist() for part in parts])
    assert found[:2] == found[2:]
    assert sum(found[1][2]) == int(weights.sum())
