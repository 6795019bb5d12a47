"""Estimates know the noise behind them: that of their own slice where slices differ."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.release.measurement.noisy_measures import NoisyMeasure
from discreet.tables.linear.layout import Layout
from discreet.tables.linear.margin_strategies import MeasuredShare
from discreet.tables.table_figures import EstimatedMeasure

LEVEL = Decimal("0.95")


def test_each_slice_is_as_uncertain_as_its_own_noise() -> None:
    small, large = (DiscreteLaplace(scale=Fraction(scale)) for scale in (1, 40))
    noisy = NoisyMeasure("", Decimal(1), 0, (small, large), (7, 3, 5, 9))
    layout = Layout((2, 2), 0, ((0, 1), (0,), ()))
    estimated = EstimatedMeasure(layout, [MeasuredShare((0, 1), False, Fraction(1))], [noisy])
    widths = [float(one.half_width(Fraction(LEVEL))) for one in (small, large)]
    assert estimated.half_widths((0, 1), LEVEL) == pytest.approx(np.transpose([widths, widths]))
    first, second = estimated.standard_errors((0,)).tolist()
    assert 30 < second / first < 50
    assert estimated.mean_errors((0, 1)) == pytest.approx([one.expected_absolute_error() for one in (small, large)])
    assert estimated.mean_errors(()).shape == (1,)
