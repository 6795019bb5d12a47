"""Dialects with one planted mistake each, as a hurried hand might write them."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.engines.dialects import InPlaceDialect
from discreet.engines.in_place.postgres_dialect import Postgres
from discreet.engines.in_place.spark_dialect import Spark
from discreet.workspace.preparation_sql import Form


def planted(base: type[InPlaceDialect]) -> dict[str, InPlaceDialect]:
    """One engine's dialect, each time with another fault."""

    class NoTrim(base):  # type: ignore[valid-type, misc]
        def trim(self, raw: str) -> str:
            return f"trim({raw})"

    class NoComposition(base):  # type: ignore[valid-type, misc]
        def compose(self, text: str) -> str:
            return text

    class NoSalt(base):  # type: ignore[valid-type, misc]
        def digest(self, text: str) -> str:
            return str(super().digest(f"substr({text}, 33)"))

    class HalvesDown(base):  # type: ignore[valid-type, misc]
        def quotient(self, numerator: str, divisor: int) -> str:
            return str(super().quotient(f"{numerator} - 1", divisor))

    class BackwardList(base):  # type: ignore[valid-type, misc]
        def position(self, text: str, codes: Sequence[str]) -> str:
            return str(super().position(text, codes[::-1]))

    class AnyCap(base):  # type: ignore[valid-type, misc]
        def pick(self, numbers: Sequence[int], position: str) -> str:
            return str(super().pick(sorted(numbers), position))

    class LoosePattern(base):  # type: ignore[valid-type, misc]
        def matches(self, text: str, pattern: str) -> str:
            return str(super().matches(text, f"(?:{pattern})[0-9.]*"))

    class BankersRounding(base):  # type: ignore[valid-type, misc]
        def quotient(self, numerator: str, divisor: int) -> str:
            whole = super().quotient(numerator, divisor)
            tie = f"({numerator}) % {divisor} = 0 AND {whole} % 2 = 1"
            return f"({whole} - CASE WHEN {tie} THEN 1 ELSE 0 END)"

    class NativeFloats(base):  # type: ignore[valid-type, misc]
        def float_text(self, raw: str, form: Form) -> str:
            return f"CASE WHEN abs({raw}) < 1e308 THEN CAST({raw} AS {self.text_type}) END"

    faults = (
        NoTrim,
        NoComposition,
        NoSalt,
        HalvesDown,
        BackwardList,
        AnyCap,
        LoosePattern,
        BankersRounding,
        NativeFloats,
    )
    return {fault.__name__: fault() for fault in faults}


# The types that each fault shows itself on; a card over all of them would take minutes on Spark.
USUAL = ("num", "txt", "code")
SHOWS = {"NativeFloats": ("dbl", "flt")}
POSTGRES_FAULTS = planted(Postgres)


class LastForAbsent(Spark):
    def pick(self, numbers: Sequence[int], position: str) -> str:
        return f"element_at(array({', '.join(f'{number}L' for number in numbers)}), CAST({position} + 1 AS int))"


SPARK_FAULTS = {**planted(Spark), "LastForAbsent": LastForAbsent()}
