"""What a run of the benchmark may be asked for, checked before anything is read or trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from discreet.catalogue import Phrase, say
from discreet.errors import ParameterInvalid
from discreet.guarantees import exact, text
from discreet.lab.strategies.generated_columns import check_sample_size

__all__ = ["EPSILONS", "SAMPLE_SIZES", "ThesisSetting"]

EPSILONS: Final = ("0.01", "0.1")
SAMPLE_SIZES: Final = (10_000, 100_000)
_RUNS: Final = Phrase("runs")
_EPOCHS: Final = Phrase("epochs")
_AUDIT_SAMPLES: Final = Phrase("audit samples")
_EPSILONS: Final = Phrase("epsilons")
_SIZES: Final = Phrase("sample sizes")


@dataclass(frozen=True, slots=True)
class ThesisSetting:
    """The thesis had 100 runs. `epochs` of None leaves the length of a training to the size of the data."""

    runs: int = 100
    epsilons: tuple[str, ...] = EPSILONS
    sample_sizes: tuple[int, ...] = SAMPLE_SIZES
    epochs: int | None = None
    gan: bool = True
    audit_samples: int = 2_000

    def __post_init__(self) -> None:
        for name, value, least, most in (
            (_RUNS, self.runs, 1, 10_000),
            (_EPOCHS, self.epochs, 1, 100_000),
            (_AUDIT_SAMPLES, self.audit_samples, 100, 1_000_000),
        ):
            if value is not None and not least <= value <= most:
                rule = say("must be from {least} to {most:,}", least=least, most=most)
                raise ParameterInvalid(parameter=name, rule=rule, given=str(value))
        for name, values in ((_EPSILONS, self.epsilons), (_SIZES, self.sample_sizes)):
            if not values or len(set(values)) < len(values):
                rule = say("must be one or more, each once")
                raise ParameterInvalid(parameter=name, rule=rule, given=str(list(values)))
        for size in self.sample_sizes:
            check_sample_size(size)

    @classmethod
    def read(cls, *, epsilons: str, sample_sizes: str, **others: int | bool | None) -> Self:
        """From the texts of a command line, as in '.01,.1' and '10000,100000'."""
        listed = [part.strip() for part in epsilons.split(",")]
        if "0" in listed:
            rule = say("are positive; commas part them, so write decimals with a point")
            raise ParameterInvalid(parameter=_EPSILONS, rule=rule, given=ascii(epsilons[:40]))
        written = tuple(text(exact(part, parameter="epsilons")) for part in listed)
        return cls(epsilons=written, sample_sizes=_whole(sample_sizes.split(",")), **others)  # type: ignore[arg-type]


def _whole(parts: Sequence[str]) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in parts)
    except ValueError:
        given = ",".join(parts)[:40]
        raise ParameterInvalid(parameter=_SIZES, rule=say("must be whole numbers"), given=ascii(given)) from None
