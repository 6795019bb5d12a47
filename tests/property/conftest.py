"""Hypothesis without deadlines: how long an example takes says nothing of the law it checks."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("laws", deadline=None)
settings.load_profile("laws")
