"""Design weights in a few classes, so that a weight, which is sent in clear, does not single its respondent out.

Guarantee: none is claimed; a weight is public. A class is shared by many where a weight to the cent is not.
Requires:  caps fixed before the weights are known; each respondent draws once.
Proof:     docs/proofs/local-estimates.md (weights in classes)
Refs:      docs/adr/0028-ratios-and-classes-of-weights.md
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.collect.reporting.manifest import Manifest
from discreet.noise import uniform_array_below

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy import int64
    from numpy.typing import NDArray

    from discreet.noise import Entropy

__all__ = ["draw_classes"]


def draw_classes(
    entropy: Entropy, weights: NDArray[int64], *, manifest: Manifest, groups: Mapping[str, NDArray[int64]]
) -> NDArray[int64]:
    """Each weight as one of the two classes next to it, drawn so that it is right on average.

    A weight below the smallest class counts as that class, 0 as 0. Weights are in steps and within their caps.
    """
    scale = manifest.weight
    if scale is None or scale.classes is None:
        return weights
    if scale.rule.by is None:
        caps, places = [scale.largest_steps], np.zeros(weights.size, dtype=np.int64)
    else:
        caps = [scale.cap_steps(category.code) for category in manifest.group(scale.rule.by).categories]
        places = groups[scale.rule.by]
    drawn = weights.copy()
    for index, cap in enumerate(caps):
        classes = scale.class_steps(cap)
        own = (places == index) & (weights > 0)
        drawn[own & (weights < classes[0])] = classes[0]
        for low, high in pairwise(classes):
            between = np.flatnonzero(own & (weights > low) & (weights < high))
            upwards = uniform_array_below(entropy, high - low, count=between.size) < weights[between] - low
            drawn[between] = np.where(upwards, high, low)
    return drawn
