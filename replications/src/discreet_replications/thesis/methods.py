"""The ways of answering that the benchmark sets side by side: a strategy, the terms it is held to, a sample size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from discreet.catalogue import Phrase, say
from discreet.lab.strategies.generated_columns import check_sample_size
from discreet_replications.thesis.data.thesis_cards import Variant

__all__ = ["LEFT_OUT", "PATIENT_METHODS", "PUBLIC", "ThesisMethod", "list_methods"]

LEFT_OUT: Final = Phrase(
    "smooth and elastic are not in the table: they bound medians, extremes, trimmed means and joins, and every query "
    "here is a sum or a mean."
)
_REPLACED: Final = Phrase("replace-one")
_ADDED: Final = Phrase("add-remove")


@dataclass(frozen=True, slots=True)
class ThesisMethod:
    """One row of the verdict. `sample_size` is how many rows are generated to look at, for `generated` alone.

    Files for machines know it by its `name`.
    """

    name: str
    strategy: str
    variant: Variant
    sample_size: int | None = None

    def __post_init__(self) -> None:
        if (self.strategy == "generated") != (self.sample_size is not None):
            raise ValueError("rows are generated to look at by the strategy of that name alone")

    @property
    def needs_model(self) -> bool:
        return self.strategy in {"generated", "replace"}

    @property
    def spends(self) -> bool:
        """Whether epsilon decides the answer: replaced rows have no noise."""
        return self.strategy != "replace"

    @property
    def terms(self) -> Phrase:
        """The neighbours that a guarantee speaks of."""
        return _REPLACED if self.variant.replaces else _ADDED

    @property
    def label(self) -> str:
        """What readers see: strategies are words of the command line, what tells two of one apart is not."""
        if self.sample_size is not None:
            return say("{strategy} {rows:,}", strategy=self.strategy, rows=self.sample_size)
        if self.variant.by_patient:
            return say("{strategy}, per patient", strategy=self.strategy)
        if not self.variant.replaces:
            return say("{strategy}, add-remove", strategy=self.strategy)
        return self.strategy


PUBLIC: Final = ThesisMethod("public", "public", Variant.THESIS)

PATIENT_METHODS: Final = (
    ThesisMethod("public, per patient", "public", Variant.PATIENT),
    ThesisMethod("private-bounds, per patient", "private-bounds", Variant.PATIENT_PRIVATE_BOUNDS),
)


def list_methods(sample_sizes: Sequence[int]) -> tuple[ThesisMethod, ...]:
    """Every way of answering. What looks at the rows sees them as they are, not clamped to a card's ranges."""
    raw = Variant.PRIVATE_BOUNDS
    sizes = dict.fromkeys(map(check_sample_size, sample_sizes))
    return (
        PUBLIC,
        ThesisMethod("public, add-remove", "public", Variant.ADD_REMOVE),
        ThesisMethod("private-bounds", "private-bounds", raw),
        ThesisMethod("private-bounds, add-remove", "private-bounds", Variant.PRIVATE_BOUNDS_ADD_REMOVE),
        ThesisMethod("global-type", "global-type", raw),
        ThesisMethod("local", "local", raw),
        *(ThesisMethod(f"generated {size:,}", "generated", raw, size) for size in sizes),
        ThesisMethod("replace", "replace", raw),
    )
