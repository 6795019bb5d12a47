"""The comparison of rules on breast alone, a run each: every figure is there."""

from __future__ import annotations

import pytest

from benchmarks.private_bounds import EPSILONS, RULES, run


@pytest.mark.long
def test_every_rule_has_its_figures() -> None:
    pytest.importorskip("sklearn")
    told = run(None, runs=1)
    names = {f", epsilon {epsilon}, {name}: all" for epsilon in EPSILONS for name, _, _ in RULES}
    assert {what.removeprefix("add-remove") for what in told if what.startswith("add-remove")} >= names
    assert {what.removeprefix("replace-one") for what in told if what.startswith("replace-one")} >= names
    assert all(figure >= 0 for figure in told.values())
