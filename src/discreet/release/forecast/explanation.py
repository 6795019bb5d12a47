"""An explanation as data and as text: what would be measured, with which noise, at which width and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from discreet.catalogue import language, localise, numeral, say
from discreet.guarantees import Neighbours, text
from discreet.ledger import promise_of
from discreet.present import Listed
from discreet.release.forecast.outlook import Outlook
from discreet.sql import word_number

__all__ = ["Explanation", "MeasureFigures", "OutputFigures", "Slice", "about"]


@dataclass(frozen=True, slots=True)
class Slice:
    """The noise of a measure in the cells of one value of a public key, or in all cells (`cell` None).

    `scale` and the half-width are in the units of the measure; for a choice by rank they count rows and `scale` is
    None.
    """

    cell: str | None
    sensitivity: Fraction
    derivation: str
    parameters: dict[str, str]
    scale: Fraction | None
    expected: float
    half_width: Fraction


@dataclass(frozen=True, slots=True)
class MeasureFigures:
    """One measure: its words, its share of epsilon, its mechanism, and its noise slice by slice."""

    text: str
    epsilon: Decimal
    mechanism: str
    step: Fraction
    ranked: bool
    slices: tuple[Slice, ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "measure": self.text,
            "epsilon": text(self.epsilon),
            "mechanism": self.mechanism,
            "step": word_number(self.step).replace(",", ""),
            "slices": [
                {
                    "cell": part.cell,
                    "sensitivity": _plain(part.sensitivity if self.ranked else part.sensitivity * self.step),
                    "sensitivity_in_steps": _plain(part.sensitivity),
                    "derivation": part.derivation,
                    **part.parameters,
                    **({} if part.scale is None else {"scale_in_units": float(part.scale)}),
                    "expected_error": part.expected,
                    "half_width": _plain(part.half_width),
                }
                for part in self.slices
            ],
        }

    def lines(self, level: Decimal) -> list[str]:
        if not self.slices and self.mechanism != "exact-public":
            return [
                self.text,
                say(
                    "  {mechanism}, epsilon {epsilon}; scale by the bounds found",
                    mechanism=self.mechanism,
                    epsilon=text(self.epsilon),
                ),
            ]
        if self.mechanism == "exact-public":
            return [self.text, say("  fixed by what is public: given exactly")]
        return [self.text, self._tell_sensitivity(), *(self._tell_choice(level) if self.ranked else self._tell(level))]

    def _tell_sensitivity(self) -> str:
        worst = max(self.slices, key=lambda part: part.sensitivity)
        moved = _range([part.sensitivity for part in self.slices])
        if self.ranked:
            amount = say("{moved} in score", moved=moved)
        elif self.step == 1:
            amount = moved
        else:
            whole = _range([part.sensitivity * self.step for part in self.slices])
            amount = say("{moved}, which is {steps} steps", moved=whole, steps=moved)
        if worst.cell is None:
            return say("  sensitivity {amount}: {why}", amount=amount, why=worst.derivation)
        return say(
            "  sensitivity {amount}: {why} (largest of {count}, at {cell})",
            amount=amount,
            why=worst.derivation,
            count=len(self.slices),
            cell=worst.cell,
        )

    def _tell_choice(self, level: Decimal) -> list[str]:
        """The noise of a choice by rank."""
        return [
            say("  {mechanism}, epsilon {epsilon}", mechanism=self.mechanism, epsilon=text(self.epsilon)),
            say(
                "  expected error {error}; {level} within {rows} rows of the rank asked",
                error=_range([part.expected for part in self.slices]),
                level=percent(level),
                rows=_range([part.half_width for part in self.slices]),
            ),
        ]

    def _tell(self, level: Decimal) -> list[str]:
        """The noise of a count or a sum."""
        return [
            say(
                "  {mechanism}, epsilon {epsilon}, scale {scale}",
                mechanism=self.mechanism,
                epsilon=text(self.epsilon),
                scale=_range([part.scale for part in self.slices if part.scale is not None]),
            ),
            say(
                "  expected error {error}; {level} interval ± {width}",
                error=_range([part.expected for part in self.slices]),
                level=percent(level),
                width=_range([part.half_width for part in self.slices]),
            ),
        ]


@dataclass(frozen=True, slots=True)
class OutputFigures:
    """One column of the answer. `depends` says what must be assumed before a width can be told.

    Half-widths stand slice by slice; None where nothing bounds the output. `ranked` ones count rows.
    """

    name: str
    cells: tuple[str | None, ...] = (None,)
    expected: tuple[float, ...] = ()
    half_widths: tuple[Fraction | None, ...] = ()
    exact: bool = False
    ranked: bool = False
    depends: str | None = None

    @property
    def widest(self) -> Fraction | None:
        """The largest half-width over all cells; None when one has no bound or none is known."""
        known = [width for width in self.half_widths if width is not None]
        return max(known) if known and len(known) == len(self.half_widths) else None

    def to_dict(self) -> dict[str, object]:
        if self.depends is not None:
            return {"output": self.name, "depends": self.depends}
        widths = zip(self.cells, self.expected, self.half_widths, strict=True)
        return {
            "output": self.name,
            "in": "ranks" if self.ranked else "units",
            "expected_error_is": "exact" if self.exact else "at most",
            "slices": [
                {
                    "cell": cell,
                    "expected_error": expected if expected != float("inf") else None,
                    "half_width": None if width is None else _plain(width),
                }
                for cell, expected, width in widths
            ],
        }

    def told(self, level: Decimal) -> str:
        """Error and width in one line."""
        if self.depends is not None:
            return self.depends
        if any(width is None for width in self.half_widths):
            return say(
                "no {level} interval bounds it: what it is divided by may be 0 within the noise", level=percent(level)
            )
        widths = _range([width for width in self.half_widths if width is not None])
        if self.ranked:
            return say("{level} sure to lie within {rows} rows of the rank asked", level=percent(level), rows=widths)
        error = _range(self.expected)
        if self.exact:
            return say(
                "expected error {error}; {level} interval ± {width}", error=error, level=percent(level), width=widths
            )
        return say(
            "expected error at most {error}; {level} interval ± {width}",
            error=error,
            level=percent(level),
            width=widths,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Listed):
    """What asking would do. It depends on the statement, the cards and the ledger alone."""

    plan: tuple[str, ...]
    plan_hash: str
    population: str
    unit: str
    neighbours: str
    level: Decimal
    measures: tuple[MeasureFigures, ...]
    outputs: tuple[OutputFigures, ...]
    threshold: str | None
    assumed: tuple[str, ...]
    notes: tuple[str, ...]
    outlook: Outlook

    def to_dict(self) -> dict[str, object]:
        return {
            "plan": list(self.plan),
            "plan_hash": self.plan_hash,
            "population": self.population,
            "unit": self.unit,
            "neighbours": self.neighbours,
            "level": text(self.level),
            "assumed": list(self.assumed),
            "measures": [measure.to_dict() for measure in self.measures],
            "outputs": [output.to_dict() for output in self.outputs],
            "threshold": self.threshold,
            "charge": self.outlook.cost(),
            "guarantee": str(self.outlook.guarantee),
            **self.outlook.to_dict(),
            "notes": self._notes(),
        }

    def __str__(self) -> str:
        return self.to_text()

    @property
    def rows(self) -> list[dict[str, str | float | None]]:
        """How far off each output would be, cell by cell; None where nothing bounds it or something must be assumed."""
        return [
            {
                "output": output.name,
                "cell": cell,
                "expected_error": None if expected == float("inf") else expected,
                "half_width": None if width is None else float(width),
            }
            for output in self.outputs
            for cell, expected, width in (
                zip(output.cells, output.expected, output.half_widths, strict=True)
                if output.depends is None
                else [(None, float("inf"), None)]
            )
        ]

    def heading(self) -> str:
        return say(
            "Explanation of {outputs}: {guarantee}",
            outputs=", ".join(output.name for output in self.outputs),
            guarantee=promise_of(self.outlook.guarantee),
        )

    def _lines(self) -> list[str]:
        return self.summary()

    def to_text(self) -> str:
        """For people, one screen for a usual question."""
        protects = say(
            "{unit}; neighbours: {neighbours}; population '{population}'",
            unit=self.unit,
            neighbours=tell_neighbours(self.neighbours),
            population=self.population,
        )
        sections = [
            (say("Plan"), list(self.plan)),
            (say("Protects"), [protects]),
            (say("Measures"), [line for measure in self.measures for line in measure.lines(self.level)]),
            (say("Outputs"), self._told_outputs()),
            (say("Keys"), [] if self.threshold is None else [self.threshold]),
            (say("Assumed in every cell"), [] if not self.assumed else [", ".join(self.assumed)]),
            (say("Budget"), self.outlook.lines()),
            (say("Notes"), list(self.notes)),
            (say("Plan hash"), [self.plan_hash]),
        ]
        return "\n".join("\n".join([heading, *(f"  {line}" for line in lines)]) for heading, lines in sections if lines)

    def summary(self) -> list[str]:
        """What it costs and how far off it will be, in a few lines."""
        return [*self._told_outputs(), *self.outlook.lines()]

    def _told_outputs(self) -> list[str]:
        return [
            say("{output}: {accuracy}", output=output.name, accuracy=output.told(self.level)) for output in self.outputs
        ]

    def _notes(self) -> list[str]:
        refusal = self.outlook.refusal
        return [*self.notes, *([] if refusal is None else [refusal])]


def tell_neighbours(neighbours: str) -> str:
    """The relation between neighbouring data sets, in words."""
    return say("replace-one") if neighbours == Neighbours.REPLACE_ONE else say("add-remove")


def percent(level: Decimal) -> str:
    return localise(f"{text(level * 100)}%", language())


def about(number: Fraction | float) -> str:
    """A number for people: whole when it is, else with four significant digits."""
    if isinstance(number, Fraction) and number.denominator == 1:
        return numeral(number.numerator)
    value = float(number)
    return numeral(value, ",.0f" if abs(value) >= 9_999.5 else ",.4g")


def _range(numbers: Sequence[Fraction | float]) -> str:
    low, high = about(min(numbers)), about(max(numbers))
    return low if low == high else say("{low} to {high}", low=low, high=high)


def _plain(number: Fraction) -> int | float:
    return number.numerator if number.denominator == 1 else float(number)
