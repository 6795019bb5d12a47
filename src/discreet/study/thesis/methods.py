"""The ways of answering that the benchmark sets side by side: a strategy, the terms it is held to, a sample size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from discreet.sensitivity.generatedcolumns import check_sample_size
from discreet.study.thesis.cards import Variant

__all__ = ["LEFT_OUT", "PATIENT_METHODS", "PUBLIC", "Method", "list_methods"]

LEFT_OUT: Final = (
    "smooth and elastic are not in the table: they bound medians, extremes, trimmed means and joins, and every query "
    "here is a sum or a mean."
)


@dataclass(frozen=True, slots=True)
class Method:
    """One row of the verdict. `sample_size` is how many rows are generated to look at, for `generated` alone."""

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
    def terms(self) -> str:
        """The neighbours that a guarantee speaks of."""
        return "replace-one" if self.variant.replaces else "add-remove"


PUBLIC: Final = Method("public", "public", Variant.THESIS)

PATIENT_METHODS: Final = (
    Method("public, per patient", "public", Variant.PATIENT),
    Method("private-bounds, per patient", "private-bounds", Variant.PATIENT_PRIVATE_BOUNDS),
)


def list_methods(sample_sizes: Sequence[int]) -> tuple[Method, ...]:
    """Every way of answering. What looks at the rows sees them as they are, not clamped to a card's ranges."""
    raw = Variant.PRIVATE_BOUNDS
    sizes = dict.fromkeys(map(check_sample_size, sample_sizes))
    return (
        PUBLIC,
        Method("public, add-remove", "public", Variant.ADD_REMOVE),
        Method("private-bounds", "private-bounds", raw),
        Method("private-bounds, add-remove", "private-bounds", Variant.PRIVATE_BOUNDS_ADD_REMOVE),
        Method("global-type", "global-type", raw),
        Method("local", "local", raw),
        *(Method(f"generated {size:,}", "generated", raw, size) for size in sizes),
        Method("replace", "replace", raw),
    )
