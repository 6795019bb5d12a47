"""Estimates from randomised reports against the truth behind them.

Entropy is fresh and nothing is rerun. Means of simulations are compared at six of their own deviations (normal law:
2e-9 each), variances at six deviations of a sample variance (taken from the fourth moment), coverages at 93% and 97%
of 10,000 independent intervals, where a true coverage between 94.5% and 95.5% is more than six deviations from either
end (exact binomial tails below 1e-9). With fewer than 200 comparisons a false alarm in this file has probability below
1e-6. Each test also rejects a planted fault.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from discreet.collect.estimates.column_sampling import SamplingPlan
from discreet.collect.estimates.estimators.frequencies import Frequencies, estimate_frequencies, expected_variances
from discreet.collect.estimates.estimators.joint_frequencies import correlation_matrix, estimate_joint
from discreet.collect.estimates.estimators.means import estimate_means, estimate_ratios
from discreet.collect.estimates.estimators.scores import score_categories, score_numbers, score_truths
from discreet.collect.estimates.hybrid_collection import pool_samples
from discreet.collect.estimates.replicates import replicate_variance
from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES, frequency_oracle
from discreet.collect.randomisers.generalised_response import GeneralisedResponse
from discreet.collect.randomisers.missing_numbers import choose_with_missing
from discreet.collect.randomisers.number_choice import number_randomiser
from discreet.collect.randomisers.randomiser import FrequencyOracle, ReportTally
from discreet.noise.entropy import SystemEntropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = pytest.mark.statistical

ENTROPY = SystemEntropy()
GENERATOR = np.random.default_rng()
SIX = 6.0


def agrees(found: NDArray[Any], truth: float) -> bool:
    """Whether independent, unbiased estimates average to the truth, within six deviations."""
    return bool(abs(found.mean() - truth) <= SIX * found.std() / np.sqrt(found.size))


def spreads_as(found: NDArray[Any], variance: float) -> bool:
    """Whether independent estimates have this variance, within six deviations of a sample variance."""
    squares = (found - found.mean()) ** 2
    return bool(abs(squares.mean() - variance) <= SIX * squares.std() / np.sqrt(found.size))


def repeat(
    oracle: FrequencyOracle,
    answers: NDArray[Any],
    weights: NDArray[Any],
    *,
    times: int,
    asked: SamplingPlan | None = None,
) -> Frequencies:
    """Independent collections of the same answers: one cell each."""
    cells = np.repeat(np.arange(times), answers.size)
    everyone, heavy = np.tile(answers, times), np.tile(weights, times)
    if asked is not None:
        kept = asked.draw(ENTROPY, respondents=cells.size)[:, 0]
        cells, everyone, heavy = cells[kept], everyone[kept], heavy[kept]
    reports = oracle.randomise(ENTROPY, everyone)
    tally = oracle.tally(reports, cells=cells, weights=heavy, number=times)
    return estimate_frequencies(tally, oracle.channel(), inclusion=asked.inclusion if asked else 1.0)


def population() -> tuple[NDArray[Any], NDArray[Any]]:
    """60 answers among four of falling frequency, and weights that differ by a factor of ten.

    The frequencies are fixed: of a category that by chance hardly anybody gave no planted fault could be found. As they
    are, counts that are half too large lie more than 13 deviations off, whatever the weights and the randomiser.
    """
    return np.repeat(np.arange(4), (28, 18, 9, 5)), GENERATOR.integers(20, 200, 60)


@pytest.mark.parametrize("asked", [None, SamplingPlan(epsilon=4, columns=5, asked=2)], ids=["all", "sampled"])
@pytest.mark.parametrize("name", sorted(FREQUENCY_ORACLES))
def test_counts_are_unbiased_with_the_variance_of_theory(name: str, asked: SamplingPlan | None) -> None:
    oracle = frequency_oracle(name, epsilon=2, categories=4)
    answers, weights = population()
    made = repeat(oracle, answers, weights, times=4_000, asked=asked)
    squares = np.array([[float((weights[answers == category] ** 2).sum()) for category in range(4)]])
    inclusion = asked.inclusion if asked else Fraction(1)
    theory = expected_variances(
        weight_squares=squares.sum(axis=1), category_squares=squares, channel=oracle.channel(), inclusion=inclusion
    )[0]
    for category in range(2):
        found, truth = made.estimates[:, category], float(weights[answers == category].sum())
        assert agrees(found, truth)
        assert spreads_as(found, theory[category])
        assert 0.95 < made.variances[:, category].mean() / theory[category] < 1.2  # the mean of 4,000 hardly varies
        assert not agrees(found * 1.5, truth)
        assert not spreads_as(found, theory[category] * 1.5)


@pytest.mark.parametrize("inclusion", [None, SamplingPlan(epsilon=4, columns=2, asked=1)], ids=["all", "sampled"])
@pytest.mark.parametrize("share", [0.05, pytest.param(0.3, marks=pytest.mark.long)])
def test_intervals_of_counts_cover(share: float, inclusion: SamplingPlan | None) -> None:
    oracle = GeneralisedResponse(epsilon=1, categories=5)
    size = 1_000
    answers = np.full(size, 1, dtype=np.int64)
    answers[: round(size * share)] = 0
    weights = GENERATOR.integers(20, 200, size)
    made = repeat(oracle, answers, weights, times=10_000, asked=inclusion)
    truth = float(weights[answers == 0].sum())
    assert 0.93 <= coverage(made.low[:, 0], made.high[:, 0], truth) <= 0.97
    half = (made.high - made.low)[:, 0] / 2 / 1.4
    assert coverage(made.estimates[:, 0] - half, made.estimates[:, 0] + half, truth) < 0.93
    shares = made.shares()
    part = truth / float(weights.sum())
    assert 0.93 <= coverage(shares.low[:, 0], shares.high[:, 0], part) <= 0.97


def coverage(low: NDArray[Any], high: NDArray[Any], truth: float) -> float:
    return float(np.mean((low <= truth) & (truth <= high)))


@pytest.mark.parametrize("name", ["laplace", "piecewise", "duchi"])
def test_intervals_of_means_cover(name: str) -> None:
    randomiser, times, size = number_randomiser(name, epsilon=1, grid=90), 10_000, 100
    positions = np.clip(GENERATOR.normal(50, 10, size), 0, 90).astype(np.int64)
    weights = GENERATOR.integers(20, 200, size)
    reports = randomiser.randomise(ENTROPY, np.tile(positions, times))
    made = estimate_means(
        randomiser.values(reports),
        randomiser.variances(reports),
        cells=np.repeat(np.arange(times), size),
        weights=np.tile(weights, times),
        number=times,
    )
    truth = float(weights @ positions / weights.sum())
    theory = float(weights**2 @ randomiser.variance(positions.astype(np.float64)) / weights.sum() ** 2)
    assert agrees(made.estimates, truth)
    assert spreads_as(made.estimates, theory)
    assert 0.93 <= coverage(made.low, made.high, truth) <= 0.97
    assert coverage(made.low, made.high, truth + np.sqrt(theory)) < 0.93


def test_sampled_means_cover_those_who_were_not_asked() -> None:
    randomiser, times, size = number_randomiser("piecewise", epsilon=4, grid=90), 10_000, 200
    plan = SamplingPlan(epsilon=8, columns=4, asked=2)
    positions = GENERATOR.integers(0, 91, size)
    kept = plan.draw(ENTROPY, respondents=size * times)[:, 0]
    reports = randomiser.randomise(ENTROPY, np.tile(positions, times)[kept])
    values, variances = randomiser.values(reports), randomiser.variances(reports)
    cells, truth = np.repeat(np.arange(times), size)[kept], float(positions.mean())
    weights = np.ones(cells.size, dtype=np.int64)
    made = estimate_means(values, variances, cells=cells, weights=weights, number=times, inclusion=plan.inclusion)
    assert 0.93 <= coverage(made.low, made.high, truth) <= 0.97
    narrow = estimate_means(values, variances, cells=cells, weights=weights, number=times)
    assert coverage(narrow.low, narrow.high, truth) < 0.93


def test_means_of_those_who_have_a_number_cover() -> None:
    randomiser, times, size = choose_with_missing(epsilon=2, grid=90, missing=0.2), 4_000, 500
    positions = np.clip(GENERATOR.normal(50, 10, size), 0, 90).astype(np.int64)
    positions[:100] = -1
    pairs = randomiser.pairs(randomiser.randomise(ENTROPY, np.tile(positions, times)))
    cells, weights = np.repeat(np.arange(times), size), np.ones(times * size, dtype=np.int64)
    made = estimate_ratios(pairs, cells=cells, weights=weights, number=times)
    truth = float(positions[100:].mean())
    # variances are bounds here, so intervals may cover more than their level, and never less
    assert coverage(made.low, made.high, truth) >= 0.93
    assert coverage(made.low, made.high, float(np.maximum(positions, 0).mean())) < 0.93


@pytest.mark.parametrize("names", [("grr", "grr"), ("oue", "subset"), ("hadamard", "grr")])
def test_cross_tables_are_unbiased_with_honest_variances(names: tuple[str, str]) -> None:
    one, two = (frequency_oracle(name, epsilon=3, categories=3) for name in names)
    times, size = 2_000, 60
    left = GENERATOR.integers(0, 3, size)
    right = np.where(GENERATOR.random(size) < 0.6, left, GENERATOR.integers(0, 3, size))
    weights = GENERATOR.integers(20, 200, size)
    made = estimate_joint(
        one,
        one.randomise(ENTROPY, np.tile(left, times)),
        two,
        two.randomise(ENTROPY, np.tile(right, times)),
        cells=np.repeat(np.arange(times), size),
        weights=np.tile(weights, times),
        number=times,
    )
    for pair in ((0, 0), (0, 1), (2, 1)):
        found = made.estimates[:, pair[0], pair[1]]
        truth = float(weights[(left == pair[0]) & (right == pair[1])].sum())
        assert agrees(found, truth)
        assert not agrees(found, truth + found.std() / 2)
        theory = joint_variance((one, two), (left == pair[0], right == pair[1]), weights)
        assert spreads_as(found, theory)
        assert not spreads_as(found, theory * 1.5)
        # plug-ins err on the wide side; their mean over 2,000 cells varies by about 1%
        assert 0.92 < float(made.variances[:, pair[0], pair[1]].mean()) / theory < 1.5


def joint_variance(
    oracles: tuple[FrequencyOracle, FrequencyOracle], true: tuple[NDArray[Any], NDArray[Any]], weights: NDArray[Any]
) -> float:
    """Respondent by respondent: the product of two mean squares, less the square of the mean."""
    squares = np.ones(weights.size)
    for oracle, own in zip(oracles, true, strict=True):
        channel = oracle.channel()
        support = np.where(own, channel.p, channel.q)
        squares *= (support * (1 - channel.q) ** 2 + (1 - support) * channel.q**2) / (channel.p - channel.q) ** 2
    return float(weights**2 @ (squares - (true[0] & true[1])))


def test_correlations_are_recovered() -> None:
    """Deviations of the estimates come from 40 batches; raw reports, uncorrected, must be rejected."""
    batches, size = 40, 20_000
    numbers, response = (
        number_randomiser("piecewise", epsilon=4, grid=100),
        GeneralisedResponse(epsilon=3, categories=5),
    )
    unary = frequency_oracle("oue", epsilon=3, categories=5)
    latent = GENERATOR.normal(size=size)
    category, other = (
        np.clip(np.floor(2.5 + latent + GENERATOR.normal(size=size)), 0, 4).astype(np.int64) for _ in range(2)
    )
    number = np.clip(50 + 15 * (latent + GENERATOR.normal(size=size)), 0, 100).astype(np.int64)
    weights = GENERATOR.integers(20, 200, size)
    truths = [score_truths(column.astype(np.float64)) for column in (category, other, number)]
    truth = correlation_matrix(truths, weights=weights).matrix
    found, plain = [], []
    for _ in range(batches):
        reports = (
            response.randomise(ENTROPY, category),
            unary.randomise(ENTROPY, other),
            numbers.randomise(ENTROPY, number),
        )
        scores = [
            score_categories(response, reports[0]),
            score_categories(unary, reports[1]),
            score_numbers(numbers, reports[2]),
        ]
        made = correlation_matrix(scores, weights=weights)
        assert made.reasons == {}
        found.append(made.matrix)
        plain.append(correlation_matrix([score_truths(each.values) for each in scores], weights=weights).matrix)
    for pair in ((0, 1), (0, 2), (1, 2)):
        each = np.array([matrix[pair] for matrix in found])
        # seven deviations: with 40 batches they are estimated, Student's tail at 7 with 39 degrees is 2e-8
        assert abs(each.mean() - truth[pair]) < 7 * each.std(ddof=1) / np.sqrt(batches) + 2e-3
        naive = np.array([matrix[pair] for matrix in plain])
        assert abs(naive.mean() - truth[pair]) > 7 * naive.std(ddof=1) / np.sqrt(batches) + 2e-3


def test_replicates_hold_design_and_privacy_together() -> None:
    """Simple random samples with replacement, randomised; the rescaled bootstrap [RW88] against the true variance."""
    times, size, replicates = 3_000, 200, 60
    people = GENERATOR.random(5_000) < 0.3
    oracle = GeneralisedResponse(epsilon=2, categories=2)
    weights = np.full(size, (size - 1) * 1000, dtype=np.int64)  # whole steps also after rescaling by size/(size - 1)
    cells = np.repeat(np.arange(times), size)
    drawn = people[GENERATOR.integers(0, people.size, times * size)].astype(np.int64)
    reports = oracle.randomise(ENTROPY, drawn)

    def tally_for(scale: NDArray[Any]) -> ReportTally:
        return oracle.tally(reports, cells=cells, weights=scale, number=times)

    def estimator(tally: ReportTally) -> NDArray[Any]:
        return estimate_frequencies(tally, oracle.channel()).estimates[:, 1]

    def bootstrap() -> NDArray[Any]:
        counts = GENERATOR.multinomial(size - 1, np.full(size, 1 / size), size=times)
        return np.asarray(counts.ravel() * size * 1000, dtype=np.int64)

    everyone = np.tile(weights, times)
    made = replicate_variance(
        estimator, tally_for, weights=everyone, replicate_weights=(bootstrap() for _ in range(replicates))
    )
    claimed = float(made.variances.mean())
    assert spreads_as(made.estimates, claimed)
    assert agrees(made.estimates, float(people.mean()) * float(weights.sum()))
    privacy = float(estimate_frequencies(tally_for(everyone), oracle.channel()).variances[:, 1].mean())
    assert not spreads_as(made.estimates, privacy)
    assert privacy < 0.75 * claimed


def test_two_samples_of_one_population_make_a_better_one() -> None:
    times, size = 10_000, 300
    oracle = GeneralisedResponse(epsilon=1, categories=2)
    cells, weights = np.repeat(np.arange(times), size), np.ones(times * size, dtype=np.int64)

    def shares_of(kind: GeneralisedResponse) -> Any:
        drawn = (GENERATOR.random(times * size) < 0.3).astype(np.int64)
        tally = kind.tally(kind.randomise(ENTROPY, drawn), cells=cells, weights=weights, number=times)
        return estimate_frequencies(tally, kind.channel()).shares(design=True)

    clear, protected = shares_of(GeneralisedResponse(epsilon=50, categories=2)), shares_of(oracle)
    planned = tuple(np.broadcast_to(group.variances.mean(axis=0), (times, 2)) for group in (clear, protected))
    made = pool_samples(clear, protected, planned=(planned[0], planned[1]))
    assert agrees(made.estimates[:, 1], 0.3)
    assert spreads_as(made.estimates[:, 1], float(made.variances[:, 1].mean()))
    assert made.estimates[:, 1].var() < clear.estimates[:, 1].var() < protected.estimates[:, 1].var()
    assert 0.93 <= coverage(made.low[:, 1], made.high[:, 1], 0.3) <= 0.97
    assert not spreads_as(clear.estimates[:, 1], float(made.variances[:, 1].mean()))
