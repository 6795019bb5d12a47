"""A tabular generator: a conditional GAN that learns a dataset's rows and makes others like them.

What it makes is Unproven, unless the model was trained with differential privacy. Needs the extra `gan`.
"""

from __future__ import annotations

__all__: list[str] = []
