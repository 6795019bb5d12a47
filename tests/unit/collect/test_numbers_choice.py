"""Randomisers of numbers: what is refused, what is chosen, and where the comparisons go wrong."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from discreet.collect.randomisers.bounded_laplace import BoundedLaplace
from discreet.collect.randomisers.comparisons import AbsoluteLaplace, ClippedLaplace, ModuloLaplace
from discreet.collect.randomisers.duchi import Duchi
from discreet.collect.randomisers.hybrid import Hybrid
from discreet.collect.randomisers.number_choice import NUMBER_RANDOMISERS, choose_number, number_randomiser
from discreet.collect.randomisers.piecewise import Piecewise, WidePiecewise
from discreet.errors import ParameterInvalid, UnknownName
from discreet.noise import SystemEntropy
from tests.randomisers.numbers import COMPARISONS, PLAIN, make

pytestmark = pytest.mark.slow

ENTROPY = SystemEntropy()


@pytest.mark.parametrize("grid", [0, -1, True, 2**31 + 1, 1.5, "7"])
@pytest.mark.parametrize("name", [*PLAIN, *COMPARISONS])
def test_grids_without_sense_are_refused(name: str, grid: int) -> None:
    with pytest.raises(ParameterInvalid, match="grid"):
        number_randomiser(name, epsilon=1, grid=grid)
    assert "grid" in (NUMBER_RANDOMISERS[name].objection(epsilon=Decimal(1), grid=grid) or "")


@pytest.mark.parametrize("name", [*PLAIN, *COMPARISONS])
def test_epsilon_beyond_the_limits_is_refused(name: str) -> None:
    for epsilon in ("0", "0.0000001", "51", "nan"):
        with pytest.raises(ParameterInvalid, match="epsilon"):
            number_randomiser(name, epsilon=epsilon, grid=10)
    assert NUMBER_RANDOMISERS[name].objection(epsilon=Decimal(51), grid=10)
    assert NUMBER_RANDOMISERS[name].objection(epsilon=Decimal(1), grid=10) is None


@pytest.mark.parametrize("name", [*PLAIN, *COMPARISONS])
def test_both_limits_together_still_draw(name: str) -> None:
    grid = NUMBER_RANDOMISERS[name].largest_grid
    for epsilon in ("0.000001", "50"):
        randomiser = number_randomiser(name, epsilon=epsilon, grid=grid)
        reports = randomiser.randomise(ENTROPY, np.array([0, grid // 2, grid]))
        _, taken = randomiser.read_reports(randomiser.write_reports(reports))
        assert taken.all()
        assert np.isfinite(randomiser.values(reports)).all()
        assert (randomiser.variance(np.array([0.0, float(grid)])) >= 0).all()


@pytest.mark.parametrize("name", [*PLAIN, *COMPARISONS])
def test_answers_off_the_grid_are_a_fault_that_shows_none(name: str) -> None:
    randomiser = make(name, epsilon="1", grid=40)
    for answers in (np.array([3, 41]), np.array([-1, 2])):
        with pytest.raises(ValueError, match="grid") as caught:
            randomiser.randomise(ENTROPY, answers)
        assert "41" not in str(caught.value)
    with pytest.raises(TypeError, match="integers"):
        randomiser.randomise(ENTROPY, np.array([1.0]))
    assert randomiser.randomise(ENTROPY, np.array([], dtype=np.int64)).size == 0


def test_parameters_are_exact_text() -> None:
    assert make("duchi", epsilon="0.10", grid=12).parameters() == {"epsilon": "0.1", "grid": "12"}
    assert make("abs", epsilon="1", grid=12).parameters() == {"epsilon": "1", "grid": "12", "origin": "4"}
    assert make("duchi", epsilon="1", grid=12) == Duchi(epsilon=1, grid=12) != make("laplace", epsilon="1", grid=12)


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'piecewise'"):
        number_randomiser("piecwise", epsilon=1, grid=10)


def test_the_hybrid_changes_over_at_the_constant_of_its_paper() -> None:
    root = 405 * math.sqrt(241)
    constant = math.log((-5 + 2 * (6353 - root) ** (1 / 3) + 2 * (6353 + root) ** (1 / 3)) / 27)
    assert constant == pytest.approx(0.609352493, abs=1e-9)
    assert Hybrid(epsilon="0.609352493", grid=900).coarse_share() == 1
    assert Hybrid(epsilon="0.609352494", grid=900).coarse_share() == pytest.approx(math.exp(-constant / 2))
    # there, and only there, the worst variance over all positions is no smaller with the mixture
    ends = np.linspace(0, 10**6, 101)
    for epsilon in ("1", "2", "4"):
        worst = {kind: kind(epsilon=epsilon, grid=10**6).variance(ends).max() for kind in (Hybrid, Piecewise, Duchi)}
        assert worst[Hybrid] < min(worst[Piecewise], worst[Duchi])


def test_the_choice_has_the_smallest_variance() -> None:
    assert isinstance(choose_number(epsilon="0.3", grid=900), Duchi)
    assert isinstance(choose_number(epsilon="1", grid=900), WidePiecewise)
    assert isinstance(choose_number(epsilon="1", grid=900, position=0), Duchi)
    for epsilon in ("0.1", "0.6", "1", "3", "5.99"):
        for grid in (1, 2, 10, 900):
            for position in (0.0, grid / 2, float(grid)):
                place = np.array([position])
                chosen = choose_number(epsilon=epsilon, grid=grid, position=position)
                assert not chosen.comparison_only
                others = [make(name, epsilon=epsilon, grid=grid).variance(place)[0] for name in PLAIN]
                assert chosen.variance(place)[0] <= min(others) * (1 + 1e-8)


def test_the_simplest_of_equals_is_chosen() -> None:
    # on two positions Duchi, Piecewise and bounded Laplace are all binary response
    assert isinstance(choose_number(epsilon=1, grid=1), Duchi)
    assert isinstance(choose_number(epsilon="0.5", grid=900, position=0), Duchi)


def test_a_choice_needs_a_place_on_the_grid() -> None:
    for position in (-1, 901):
        with pytest.raises(ParameterInvalid, match="position"):
            choose_number(epsilon=1, grid=900, position=position)
    with pytest.raises(ParameterInvalid, match="grid"):
        choose_number(epsilon=1, grid=0)


def test_the_wider_window_halves_the_variance_at_large_epsilon() -> None:
    middle = np.array([450.0])
    usual, wide = (kind(epsilon="5.99", grid=900).variance(middle)[0] for kind in (Piecewise, WidePiecewise))
    assert wide < 0.85 * usual
    ends = np.array([0.0])
    usual, wide = (kind(epsilon="5.99", grid=900).variance(ends)[0] for kind in (Piecewise, WidePiecewise))
    assert wide < 0.6 * usual


def test_the_unbiased_value_of_bounded_laplace_pays_with_the_cube_of_the_grid() -> None:
    coarse, fine = (BoundedLaplace(epsilon=1, grid=grid).variance(np.array([grid / 2.0]))[0] for grid in (400, 800))
    assert fine / coarse == pytest.approx(8, rel=0.02)


def test_abs_is_off_by_what_the_report_printed_for_ontario() -> None:
    """Heights of 1.7 m and codes of 9.999 m, mean 2.18 m, range 8.7 m [R, local results]: b·e^(-x/b) of each."""
    printed = {"5.99": 0.431, "3": 1.53, "1": 6.96, "0.8": 9.11, "0.6": 12.58}
    codes = (2.18 - 1.7) / (9.999 - 1.7)
    for epsilon, off in printed.items():
        randomiser = AbsoluteLaplace(epsilon=epsilon, grid=8700, origin=1299)
        measured = np.array([1.7, 9.999])
        bias = randomiser.bias(measured / 0.001 - 1299) * 0.001
        b = 8.7 / float(epsilon)
        assert bias == pytest.approx(b * np.exp(-measured / b), rel=1e-3)
        assert (1 - codes) * bias[0] + codes * bias[1] == pytest.approx(off, rel=0.03)


def test_the_modulo_formula_shifts_even_without_noise() -> None:
    randomiser = ModuloLaplace(epsilon=50, grid=9, origin=12)  # 1.2 to 2.1 in steps of 0.1
    reports = randomiser.randomise(ENTROPY, np.full(1000, 5))
    assert np.median(reports) == 8  # 1.70 becomes 2.00


def test_clipping_and_wrapping_pull_means_to_the_middle() -> None:
    positions = np.array([0.0, 100.0, 450.0, 800.0, 900.0])
    for randomiser in (ClippedLaplace(epsilon=1, grid=900), ModuloLaplace(epsilon=1, grid=900)):
        bias = randomiser.bias(positions)
        assert (np.abs(positions + bias - 450)[[1, 3]] < 350).all()
        assert abs(bias[1]) > 100


@pytest.mark.parametrize("origin", [True, 1.5, 2**48 + 1])
def test_an_origin_is_a_whole_number_of_steps(origin: int) -> None:
    with pytest.raises(ParameterInvalid, match="origin"):
        AbsoluteLaplace(epsilon=1, grid=9, origin=origin)
