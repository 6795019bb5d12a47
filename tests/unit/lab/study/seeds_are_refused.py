"""For the type checker alone: a study's entropy is refused where the system's is asked for.

mypy is strict here, so an ignore that nothing needs is an error: the day the assignment is allowed, this file fails.
"""

from __future__ import annotations

from discreet.lab.study.seeded_entropy import SeededEntropy
from discreet.noise.entropy import SystemEntropy

given: SystemEntropy = SeededEntropy(1)  # type: ignore[assignment]
