"""How often the suite fails by chance, said in one place.

Noise is drawn with fresh entropy and nothing is rerun, so a sound product fails a statistical test now and then. Each
file below keeps its own share of the budget; the comment at its top works it out. A statistical test that is not listed
here cannot be collected, and `tests/docs/test_false_alarms.py` adds up the shares. Other tests draw noise too, but
assert what holds for all draws, or for all but very rare ones; a share is set aside for these together.
"""

from __future__ import annotations

from typing import Final

import pytest

__all__ = ["BUDGET", "CHANCES", "ELSEWHERE", "require_shares"]

BUDGET: Final = 5e-5
"""One run of `make test` and `make test-all` together: a false alarm in some twenty thousand runs."""

ELSEWHERE: Final = 1e-5

CHANCES: Final = {
    "tests/statistical/test_auditing.py": 3e-6,
    "tests/statistical/test_bits.py": 1e-6,
    "tests/statistical/test_figures.py": 2e-7,
    "tests/statistical/test_gaussian_array.py": 1e-6,
    "tests/statistical/test_generated_listing.py": 3e-6,
    "tests/statistical/test_laws.py": 1e-6,
    "tests/statistical/test_linked_audit.py": 1e-6,
    "tests/statistical/test_linked_answers.py": 2e-7,
    "tests/statistical/test_local_categories.py": 1e-6,
    "tests/statistical/test_local_estimates.py": 1e-6,
    "tests/statistical/test_local_numbers.py": 1e-6,
    "tests/statistical/test_local_shares.py": 1e-6,
    "tests/statistical/test_opendp.py": 2e-7,
    "tests/statistical/test_private_bounds.py": 1e-6,
    "tests/statistical/test_release.py": 2e-7,
    "replications/tests/test_report_statistics.py": 1e-6,
    "tests/statistical/test_shuffle_single.py": 3e-7,
    "tests/statistical/test_shuffle_sums.py": 1e-6,
    "tests/statistical/test_study_models.py": 1e-7,
    "tests/statistical/test_tables_calibrated.py": 1e-7,
    "tests/statistical/test_tables_estimation.py": 1e-6,
    "tests/statistical/test_tables_intervals.py": 1e-6,
    "tests/statistical/test_tables_release.py": 2e-6,
    "tests/statistical/test_tables_today.py": 6e-6,
    "tests/unit/collect/test_collection.py": 5e-6,
    "tests/unit/collect/test_encoding.py": 3e-6,
    "replications/tests/test_thesis_tables.py": 1e-9,
}


def require_shares(items: list[pytest.Item]) -> None:
    """Every statistical test is in a file that has a share."""
    files = {item.nodeid.partition("::")[0] for item in items if item.get_closest_marker("statistical")}
    if unsaid := sorted(files - CHANCES.keys()):
        raise pytest.UsageError(
            f"{', '.join(unsaid)} may fail by chance: say in tests/false_alarms.py how rarely, and work it out there."
        )
