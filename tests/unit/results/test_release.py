"""A release as rows, intervals and columns: the same figures, however they are looked at."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import ParameterInvalid
from discreet.guarantees.types import BootstrapDP, LocalDP
from discreet.results import (
    Amount,
    Charged,
    Claim,
    Collected,
    Figure,
    Figures,
    Labels,
    Left,
    Margin,
    Marked,
    Quality,
    Release,
    ReleaseKind,
    Source,
    Statistic,
)
from tests.releases import LEFT, make_key, make_table, put_figures


def make_answer() -> Release:
    """Two statistics by one key, as an answer in SQL has them."""
    codes = (["a0", "a1"],)
    count = Margin((), codes, [3, 4], low=[1, None], high=[5, 6])
    mean = Margin((), codes, [None, 1.5], low=[0, 1], high=[9, 2])
    return dataclasses.replace(
        make_table({"a": ["x", "y"]}, lambda _: 1),
        kind=ReleaseKind.QUERY,
        headings=(make_key("a", ["x", "y"]),),
        statistics=(
            Statistic("n", Labels("n", "n"), Figures(2, lambda: [count]), "1", whole=True),
            Statistic("m", Labels("m", "m"), Figures(2, lambda: [mean])),
        ),
        order=("n", "a", "m"),
    )


def test_rows_have_keys_and_statistics_in_the_order_asked_for() -> None:
    answer = make_answer()
    assert answer.rows == [{"n": 3, "a": "a0", "m": None}, {"n": 4, "a": "a1", "m": 1.5}]
    assert list(answer.rows[0]) == ["n", "a", "m"]
    assert answer.intervals == [{"n": [1, 5], "m": [0, 9]}, {"n": [None, 6], "m": [1, 2]}]
    assert len(answer) == 2
    assert [figure.value for figure in answer.figures] == [3, 4, None, 1.5]


def test_rows_of_a_table_say_what_they_sum_over() -> None:
    table = make_table({"a": ["x", "y"], "b": 2}, lambda places: 10 * places[0] + places[1], half=1)
    assert table.columns == ("a", "b", "margin", "value")
    assert table.rows[1] == {"a": "a0", "b": 1, "margin": "", "value": 1}
    assert {(row["margin"], row["a"]) for row in table.rows[4:]} == {
        ("a+b", None),
        ("b", "a0"),
        ("b", "a1"),
        ("a", None),
    }
    assert table.intervals[3] == {"value": [10, 12]}
    assert [row["value"] for row in table.rows] == [figure.value for figure in table.entries()]
    assert (len(table.cells), len(table.margins), len(table)) == (4, 5, 9)


def test_a_table_without_intervals_has_no_ends() -> None:
    table = make_table({"a": 2}, lambda _: 1, half=None, guarantee=BootstrapDP(epsilon=1), quality=Quality.NOT_RATED)
    assert table.intervals == [{"value": [None, None]}] * 3
    assert not table.graded
    assert make_table({"a": 2}, lambda _: 1).graded


def test_labels_tell_a_key_summed_over_from_one_without_a_value() -> None:
    table = make_table({"a": ["x"]}, lambda _: 1)
    cell = Figure((None,), (), 1, 1, 0, 2, Quality.GOOD)
    table = put_figures(table, cells=[cell])
    assert table.label(table.cells[0], 0, "fr") == "(sans valeur)"
    assert table.label(table.margins[0], 0, "fr") == "Ensemble"
    assert table.labels("fr") == {"a": {"a0": "x (fr)"}}


@pytest.mark.parametrize("wrong", ["de", "", "FR", "en-CA", 5])
def test_other_languages_are_refused(wrong: Any, tmp_path: Path) -> None:
    table = make_table({"a": ["x"]}, lambda _: 1)
    save = partial(table.save, tmp_path / "x.html")
    for call in (table.labels, table.to_dict, table.to_arrow, table.to_pandas, table.to_polars, table.plot, save):
        with pytest.raises(ParameterInvalid, match="language must be en or fr; received"):
            call(language=wrong)
    assert list(tmp_path.iterdir()) == []


def test_rows_alone_are_rows() -> None:
    keys = dataclasses.replace(make_answer(), statistics=(), order=("a",), bare=Margin((), (["a0", "a1"],), [None] * 2))
    assert keys.rows == [{"a": "a0"}, {"a": "a1"}]
    assert keys.intervals == [{}, {}]
    assert len(keys) == 2
    assert list(keys.figures) == []


def test_parts_are_rows_under_their_names() -> None:
    answer = make_answer()
    whole = dataclasses.replace(answer, kind=ReleaseKind.WORKLOAD, statistics=(), parts={"one": answer, "two": answer})
    assert [row["question"] for row in whole.rows] == ["one", "one", "two", "two"]
    assert whole.intervals == [*answer.intervals, *answer.intervals]
    assert repr(whole) == "<Release of a workload: one, two; 4 row(s); pure DP, epsilon = 0.5>"
    assert repr(answer) == "<Release of a query: n, a, m; 2 row(s); pure DP, epsilon = 0.5>"


def test_a_release_promises_something() -> None:
    with pytest.raises(TypeError, match="claim"):
        Release(
            kind=ReleaseKind.TABLE, title=Labels("A", "A"), settlement=Marked(1, LEFT, False), source=Source("d", 1)
        )  # type: ignore[call-arg]


# --- what it cost -----------------------------------------------------------------------------------------------------


def test_only_what_was_charged_is_a_charge() -> None:
    table = make_table({"a": 1}, lambda _: 1)
    assert table.charge == {"epsilon": "0.5", "delta": "0"}
    assert not table.replayed
    for settlement, replayed in ((Marked(1, LEFT, True), True), (Collected(10), False)):
        other = dataclasses.replace(table, settlement=settlement)
        assert (other.charge, other.replayed) == ({"epsilon": "0", "delta": "0"}, replayed)
    gaussian = Charged(Amount(None, rho=Decimal("0.005")), LEFT, replayed=True)
    again = dataclasses.replace(table, settlement=gaussian)
    assert (again.charge, again.replayed) == ({"delta": "0", "rho": "0.005"}, True)


def test_what_is_left_is_the_least_of_both() -> None:
    left = Left(Amount(Decimal(3)), Amount(Decimal("0.5"), Decimal("1e-6")), Decimal("0.5"), 2)
    assert left.to_dict() == {
        "epsilon": "0.5",
        "delta": "0.000001",
        "population": {"epsilon": "3", "delta": "0"},
        "analyst": {"epsilon": "0.5", "delta": "0.000001"},
        "largest_question": {"epsilon": "0.5"},
        "more_like_this": 2,
    }
    assert "more_like_this" not in dataclasses.replace(left, more=None).to_dict()


def test_a_claim_names_its_guarantee() -> None:
    claim = Claim(LocalDP(epsilon=1), "reports")
    assert dataclasses.replace(make_answer(), claim=claim).guarantee == LocalDP(epsilon=1)


def test_labels_have_words_in_both_languages() -> None:
    with pytest.raises(ValueError, match="both languages"):
        Labels("words", " ")
