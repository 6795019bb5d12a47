"""How a generator is trained: what a person may set, and what follows from the number of rows when they do not."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.guarantees import shown

__all__ = ["UNPROTECTED", "Epoch", "Settings"]

# Models, releases and the ledger keep it in English.
UNPROTECTED: Final = Phrase("rows of a generator that was trained on confidential rows without protection")
_MANY_ROWS: Final = 10_000
_LIMITS: Final = {"pac": (1, 100), "seed": (0, 2**63 - 1), "modes": (1, 100), "noise": (1, 4_096), "hidden": (1, 4_096)}


@dataclass(frozen=True, slots=True)
class Settings:
    """What is None follows from the number of rows; without a `seed` every training differs.

    From 10,000 rows on a batch has 500 rows in packs of 10, as in [XSCV19]. Fewer rows give too few packs for the
    discriminator to see how columns go together: rows are then judged singly, in ten batches an epoch.
    """

    epochs: int = 300
    batch: int | None = None
    pac: int | None = None
    seed: int | None = None
    patience: int | None = None
    modes: int | None = None
    noise: int = 128
    hidden: int = 256

    def __post_init__(self) -> None:
        for field in fields(self):
            value, (least, most) = getattr(self, field.name), _LIMITS.get(field.name, (1, 100_000))
            if value is None and field.default is None:
                continue
            if type(value) is not int or not least <= value <= most:
                rule = say("must be a whole number from {least} to {most}", least=least, most=most)
                raise ParameterInvalid(parameter=field.name, rule=rule, given=shown(value))
        if self.batch is not None and self.pac is not None and self.batch % self.pac:
            rule = say("must be a multiple of pac, which is {pac}", pac=self.pac)
            raise ParameterInvalid(parameter="batch", rule=rule, given=str(self.batch))

    def pac_for(self, rows: int) -> int:
        """How many rows the discriminator judges together."""
        return self.pac or (10 if rows >= _MANY_ROWS and (self.batch or 500) % 10 == 0 else 1)

    def batch_for(self, rows: int) -> int:
        """Rows of a step: whole packs, two or more, no more rows than there are."""
        pac = self.pac_for(rows)
        wanted = min(self.batch or min(500, rows // 10), rows)
        return max(wanted // pac, 2) * pac

    def modes_for(self, rows: int) -> int:
        """The most modes of a number: a hundred rows for each, and no more than ten."""
        return self.modes or min(10, max(1, rows // 100))


@dataclass(frozen=True, slots=True)
class Epoch:
    """How far training is: losses are means over the epoch, `seconds_left` an estimate."""

    number: int
    of: int
    generator_loss: float
    discriminator_loss: float
    seconds_left: float
