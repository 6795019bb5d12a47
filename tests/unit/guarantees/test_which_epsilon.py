"""Every number in the tables of docs/which-epsilon.md is computed anew and must be there as printed."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import pytest

from discreet.guarantees import ZCDP, PureDP, text
from discreet.guarantees.belief import epsilon_for, odds_ratio, posterior, solve
from discreet.guarantees.composition import compose
from discreet.guarantees.conversions import zcdp_to_approx
from discreet.guarantees.implications import pure_to_zcdp
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from tests.places import DOCS

PAGE = DOCS / "which-epsilon.md"
PRIORS = ("0.001", "0.01", "0.1", "0.5")
Rows = list[list[str]]


def percent(belief: Decimal) -> str:
    """Rounded up, against the optimist."""
    return f"{(belief * 100).quantize(Decimal('0.1'), rounding=ROUND_CEILING)}%"


def up(value: Decimal) -> str:
    return str(value.quantize(Decimal("0.01"), rounding=ROUND_CEILING))


def down(value: Decimal) -> str:
    return str(value.quantize(Decimal("0.01"), rounding=ROUND_FLOOR))


def beliefs() -> Rows:
    rows = [["ε", "odds × at most", *(f"from {percent(Decimal(prior))}" for prior in PRIORS)]]
    for epsilon in ("0.1", "0.5", "1", "2", "3", "5", "10"):
        after = [percent(posterior(epsilon=epsilon, prior=prior)) for prior in PRIORS]
        rows.append([epsilon, up(odds_ratio(epsilon)), *after])
    return rows


def limits() -> Rows:
    rows = [["belief at most", *(f"from {percent(Decimal(prior))}" for prior in PRIORS)]]
    for belief in ("0.6", "0.8", "0.9", "0.95"):
        allowed = [down(epsilon_for(belief=belief, prior=prior)) for prior in PRIORS]
        rows.append([percent(Decimal(belief)), *allowed])
    return rows


def counts() -> Rows:
    rows = [["ε of one count", "95% of the noise within"]]
    for epsilon in ("0.01", "0.05", "0.1", "0.5", "1", "3"):
        width = DiscreteLaplace.calibrate(sensitivity=1, epsilon=epsilon).half_width("0.95")
        rows.append([epsilon, f"±{width}"])
    return rows


def sums() -> Rows:
    rows = [["questions of ε = 0.1", "ε added up", "belief from 50.0%", "ε by zCDP at δ = 0.000001"]]
    for questions in (1, 10, 30, 100, 1000):
        asked = [PureDP(epsilon="0.1")] * questions
        total = compose(*asked).epsilon
        concentrated = compose(*(pure_to_zcdp(question) for question in asked))
        assert isinstance(concentrated, ZCDP)
        by_zcdp = up(zcdp_to_approx(concentrated, delta="0.000001").epsilon)
        rows.append([str(questions), text(total), percent(posterior(epsilon=total, prior="0.5")), by_zcdp])
    return rows


def linked() -> Rows:
    rows = [["noise scale", "queries for a belief of 80.0%", "belief after 50 queries"]]
    for scale in (10, 30, 50, 100):
        allowed = solve(prior="0.5", scale=scale, belief="0.8").queries
        rows.append([str(scale), str(allowed), percent(solve(prior="0.5", scale=scale, queries=50).belief)])
    return rows


def columns() -> Rows:
    rows = [["columns about one person", "ε per column", "ε per person", "belief from 50.0%"]]
    for number in (1, 3, 10, 15):
        total = compose(*[PureDP(epsilon=1)] * number).epsilon
        rows.append([str(number), "1", text(total), percent(posterior(epsilon=total, prior="0.5"))])
    return rows


TABLES: list[Callable[[], Rows]] = [beliefs, limits, counts, sums, linked, columns]


def markdown(rows: Rows) -> str:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, f"|{' --- |' * len(rows[0])}", *body])


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_a_table_is_as_the_code_computes_it(table: Callable[[], Rows]) -> None:
    assert markdown(table()) in PAGE.read_text("utf-8")


def test_the_page_has_no_other_table() -> None:
    printed = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    computed = [line for table in TABLES for line in markdown(table()).splitlines()]
    assert sorted(printed) == sorted(computed)
