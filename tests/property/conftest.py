"""Half as many examples as usual: every run draws new ones, and many quick runs look further than a few slow ones."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("laws", deadline=None, max_examples=50)
settings.load_profile("laws")
