"""How numbers are shown to people."""

from __future__ import annotations

from discreet.cli.screen import show_estimates


def test_decimals_follow_the_narrowest_interval_and_ends_go_outwards() -> None:
    values, intervals = show_estimates([1.7608, 1.6288], [(1.75921, 1.76249), (1.2, 2.1)])
    assert values == ["1.7608", "1.6288"]
    assert intervals == ["1.7592 to 1.7625", "1.2000 to 2.1000"]
    assert show_estimates([79024.07], [(64045.41, 94002.73)]) == (["79,024"], ["64,045 to 94,003"])


def test_whole_numbers_and_open_ends() -> None:
    assert show_estimates([-12, 3000], [(-20, -4), (2992, 3008)]) == (["-12", "3,000"], ["-20 to -4", "2,992 to 3,008"])
    assert show_estimates([None, 0.5], [(None, None), (None, 2.0)]) == (["–", "0.500"], ["–", "−∞ to 2.000"])
    assert show_estimates([10**40], [(10**40 - 1, 10**40 + 1)])[0] == [f"{10**40:,}"]
    assert show_estimates([74.25], [(30.0, 140.0)], decimals=2) == (["74.25"], ["30.00 to 140.00"])
