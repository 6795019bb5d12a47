"""Studies: what a choice of model, mechanism and parameters would cost, before anything is released.

Here, and nowhere else, randomness may be repeated from a seed. Nothing drawn here can become a release.
"""

from discreet.lab.study.seeded_entropy import SeededEntropy

__all__ = ["SeededEntropy"]
