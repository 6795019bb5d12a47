"""Intervals for combined noise: how far a weighted sum of independent draws may lie from zero, and how far a mean.

Every half-width covers at least its level and hardly more. Nothing here knows what the noise was added to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.doors import open_door

if TYPE_CHECKING:
    from discreet.intervals.half_widths import half_width, mean_size
    from discreet.intervals.mean_laws import MeanLaw, mean_law
    from discreet.intervals.noise_laws import Floats, NoisePart, variance
else:
    __getattr__, __dir__ = open_door(__name__)

__all__ = ["Floats", "MeanLaw", "NoisePart", "half_width", "mean_law", "mean_size", "variance"]
