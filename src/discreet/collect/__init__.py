"""Collection: answers that are randomised before they leave the respondent, mixed or not, and what they add up to.

Rooms within: `reporting` (manifest, signature, reports), `randomisers`, `estimates`, `mixing` (the shuffle and what it
gains). The core imports nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.collect.estimates.column_sampling import SamplingPlan, sample_columns, split_columns
    from discreet.collect.estimates.estimators.estimated_arrays import EstimatedArray
    from discreet.collect.estimates.estimators.frequencies import expected_absolute_error, expected_variances
    from discreet.collect.estimates.estimators.joint_frequencies import correlation_matrix
    from discreet.collect.estimates.estimators.norm_sub import norm_sub
    from discreet.collect.estimates.estimators.scores import (
        Scores,
        names_one_category,
        score_categories,
        score_numbers,
        score_numbers_or_missing,
        score_truths,
    )
    from discreet.collect.estimates.estimators.sums import sum_cells
    from discreet.collect.estimates.hybrid_collection import Combined
    from discreet.collect.estimates.question_estimates import (
        Clear,
        Sample,
        add_clear,
        average_numbers,
        count_categories,
        pool_clear,
        pool_counts,
        total_numbers,
    )
    from discreet.collect.mixing.batch_question import CategoryQuestion, NumberQuestion
    from discreet.collect.mixing.multi_message import FEWEST_SENDERS, MultiMessageSum
    from discreet.collect.mixing.single_message import Placed, SingleCategory, SingleNumber, single_message
    from discreet.collect.mixing.vector_sum import VectorSum
    from discreet.collect.randomisers.category_choice import FREQUENCY_ORACLES, choose_oracle, frequency_oracle
    from discreet.collect.randomisers.missing_numbers import NumberOrMissing, choose_with_missing
    from discreet.collect.randomisers.number_choice import NUMBER_RANDOMISERS, choose_number, number_randomiser
    from discreet.collect.randomisers.randomiser import FrequencyOracle, NumberRandomiser, Randomiser
    from discreet.collect.reporting.manifest_schema import MANIFEST
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = [
    "FEWEST_SENDERS",
    "FREQUENCY_ORACLES",
    "MANIFEST",
    "NUMBER_RANDOMISERS",
    "CategoryQuestion",
    "Clear",
    "Combined",
    "EstimatedArray",
    "FrequencyOracle",
    "MultiMessageSum",
    "NumberOrMissing",
    "NumberQuestion",
    "NumberRandomiser",
    "Placed",
    "Randomiser",
    "Sample",
    "SamplingPlan",
    "Scores",
    "SingleCategory",
    "SingleNumber",
    "VectorSum",
    "add_clear",
    "average_numbers",
    "choose_number",
    "choose_oracle",
    "choose_with_missing",
    "correlation_matrix",
    "count_categories",
    "expected_absolute_error",
    "expected_variances",
    "frequency_oracle",
    "names_one_category",
    "norm_sub",
    "number_randomiser",
    "pool_clear",
    "pool_counts",
    "sample_columns",
    "score_categories",
    "score_numbers",
    "score_numbers_or_missing",
    "score_truths",
    "single_message",
    "split_columns",
    "sum_cells",
    "total_numbers",
]
