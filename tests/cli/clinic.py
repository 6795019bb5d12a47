"""A small file whose true counts the tests know, its card, and what a command gives back."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CARD = """\
dataset: clinic
title: {en: Clinic, fr: Clinique}
population: patients
unit: {column: patient, rows: 2}
neighbours: add-remove
size: private
budget: {epsilon: 3, per_analyst: 1}
columns:
  patient: {kind: id, type: integer}
  town: {kind: category, public: true, categories: {N: {en: North, fr: Nord}, S: {en: South, fr: Sud}}}
  smokes: {kind: category, categories: {1: {en: "yes", fr: oui}, 2: {en: "no", fr: non}}}
  age: {kind: integer, bounds: [0, 110], missing: [999]}
  note: {kind: text}
"""

ROWS = "patient,town,smokes,age,note\n" + "".join(
    f"{patient},{'N' if patient % 3 else 'S'},{1 + patient % 2},{20 + patient % 50},n{patient % 7}\n"
    for patient in range(1, 3001)
)


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


def heed_interrupts() -> None:
    """A suite that was started in the background ignores them, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
