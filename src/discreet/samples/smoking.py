"""The four smoking questions as one answer, because each decides who is asked the next.

    smoking            everyone
    smoked_daily_30d   daily and occasional smokers; an occasional smoker who did not smoke of late may skip
    smoked_100         everyone
    ever_daily         occasional smokers, unless they smoked daily of late, and former smokers of 100 or more

This order of questions is the one that fits the published counts of all four, weighted and not. A profile is
one way through it: what a person answers, or 6 (valid skip), 7 (don't know), 8 (refusal), 9 (not stated).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.samples.published_figures import Variable
from discreet.samples.raking import Floats
from discreet.samples.tendencies import DAILY_BY_AGE, FORMER_BY_AGE, OCCASIONAL_BY_AGE

__all__ = ["PROFILES", "QUESTIONS", "Profile", "lean_profiles", "rank_answers", "rank_kinds"]

QUESTIONS: Final = ("smoking", "smoked_daily_30d", "smoked_100", "ever_daily")


@dataclass(frozen=True, slots=True)
class Profile:
    """The four answers, and how often they are given by those who gave the first."""

    answers: tuple[int, int, int, int]
    share: float

    @property
    def former(self) -> bool:
        return self.answers[0] == 3 and self.answers[2] == 1


def _daily() -> list[Profile]:
    recently = {1: 0.97, 2: 0.029, 7: 0.0002, 9: 0.0008}
    hundred = {1: 0.997, 2: 0.001, 7: 0.0015, 8: 0.0005}
    return [Profile((1, r, h, 6), p * q) for r, p in recently.items() for h, q in hundred.items()]


def _occasional() -> list[Profile]:
    recently = {1: 0.08, 2: 0.904, 6: 0.014, 7: 0.001, 9: 0.001}
    hundred = {1: 0.90, 2: 0.095, 7: 0.004, 8: 0.001}
    ever = {1: {1: 0.55, 2: 0.447, 7: 0.003}, 2: {1: 0.05, 2: 0.95}, 7: {9: 1.0}, 8: {9: 1.0}}
    return [
        Profile((2, r, h, e), p * q * s)
        for r, p in recently.items()
        for h, q in hundred.items()
        for e, s in ({6: 1.0} if r == 1 else ever[h]).items()
    ]


def _not_at_all() -> list[Profile]:
    former = {1: 0.929, 2: 0.07, 7: 0.0009, 8: 0.0001}
    never = [Profile((3, 6, 2, 6), 0.9945), Profile((3, 6, 7, 9), 0.005), Profile((3, 6, 8, 9), 0.0005)]
    return [Profile((3, 6, 1, e), s) for e, s in former.items()] + never


def _unanswered() -> list[Profile]:
    return [Profile((s, 9, h, 9), 0.25) for s in (7, 8) for h in (1, 2, 7, 8)]


PROFILES: Final = tuple(_daily() + _occasional() + _not_at_all() + _unanswered())


def lean_profiles() -> Floats:
    """How likely each profile is by age and sex: an array (16, 2, profiles)."""
    share = np.array([profile.share for profile in PROFILES])
    sex = np.array([1.0, 0.75])[None, :]
    daily, occasional = DAILY_BY_AGE[:, None] * sex, OCCASIONAL_BY_AGE[:, None] * sex
    former = FORMER_BY_AGE[:, None] * np.array([1.0, 0.85])[None, :]
    kinds = np.stack([daily, occasional, former, 1 - daily - occasional - former, np.full_like(daily, 3e-4)], axis=-1)
    kind = np.array([_kind(profile) for profile in PROFILES])
    leaning: Floats = kinds[..., kind] * share
    return leaning


def rank_kinds() -> NDArray[np.int8]:
    """For each profile: 0 daily, 1 occasional, 2 former, 3 never or unknown."""
    return np.array([min(_kind(profile), 3) for profile in PROFILES], dtype=np.int8)


def rank_answers(variable: Variable) -> NDArray[np.int8]:
    """For each profile the rank of its answer among the variable's categories."""
    question = QUESTIONS.index(variable.name)
    return np.array([variable.rank(profile.answers[question]) for profile in PROFILES], dtype=np.int8)


def _kind(profile: Profile) -> int:
    if profile.answers[0] in (7, 8):
        return 4
    return 2 if profile.former else {1: 0, 2: 1, 3: 3}[profile.answers[0]]
