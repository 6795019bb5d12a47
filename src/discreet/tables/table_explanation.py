"""What a table would cost and how far off it would be, told before it is asked. No row is looked at.

Every strategy is shown with its expected error for each published margin, so that the choice can be checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from discreet.catalogue import language, say, say_count
from discreet.guarantees import text
from discreet.ledger import PopulationStanding, StoredAnswer, promise_of
from discreet.present import Listed, cover_of, say_strategy
from discreet.release import NoisyMeasure, Outlook, Pricing, about, foresee, percent, tell_neighbours
from discreet.results import Coverage
from discreet.sql import plan_hash, word_statement
from discreet.tables.calibration import Target
from discreet.tables.linear.layout import Margin
from discreet.tables.table_design import Component, Design
from discreet.tables.table_figures import EstimatedMeasure
from discreet.tables.table_notes import describe_design, name_margin, note_strategy, strategy_rows

__all__ = ["TableExplanation", "estimate_unseen", "explain_table"]


@dataclass(frozen=True, repr=False)
class TableExplanation(Listed):
    """What asking would do. It depends on the request, the cards and the ledger alone.

    `half_widths` are those of the chosen strategy, for every measure and margin: the least and the largest. `errors`
    are how far off its figures are on average, one for each of the laws that the noise of a margin has.
    `other` is where the other kind of noise would lead, where both were offered.
    """

    design: Design
    plan: tuple[str, ...]
    level: Decimal
    half_widths: tuple[Mapping[Margin, tuple[float, float]], ...]
    errors: tuple[Mapping[Margin, tuple[float, ...]], ...]
    outlook: Outlook
    other: Outlook | None
    targets: tuple[Target, ...] = ()

    @property
    def plan_hash(self) -> str:
        """Identifies the plan and the datasets."""
        return plan_hash(self.design.statement.plan)

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known beside the figures."""
        return (*self._calibration(), *self._notes())

    @property
    def rows(self) -> list[dict[str, str | int | float]]:
        """The chosen strategy's half-widths, for every measure and margin: the least and the largest."""
        formed = self.design.formed
        return [
            {
                "measure": component.face.told,
                "margin": name_margin(formed, margin),
                "figures": component.layout.count(margin),
                "least_half_width": low * float(component.face.step),
                "largest_half_width": high * float(component.face.step),
            }
            for component, widths in zip(self.design.components, self.half_widths, strict=True)
            for margin, (low, high) in widths.items()
        ]

    def heading(self) -> str:
        return say(
            "Explanation of a table, {title}: {guarantee}",
            title=self.design.formed.title,
            guarantee=promise_of(self.outlook.guarantee),
        )

    def _lines(self) -> list[str]:
        return self.summary()

    def summary(self) -> list[str]:
        """How far off figures will be, and what they cost."""
        each = zip(self.design.components, self.half_widths, strict=True)
        return [*(self._intervals(component, widths) for component, widths in each), *self.outlook.lines()]

    def to_dict(self) -> dict[str, object]:
        formed = self.design.formed
        return {
            "plan": list(self.plan),
            "plan_hash": self.plan_hash,
            "sql": formed.request.to_sql(formed.card),
            "table": describe_design(self.design, None),
            "cells": int(np.prod(formed.sizes)),
            "level": text(self.level),
            "interval_meaning": cover_of([Coverage("raw")], language()),
            "expected_error_is": say(
                "the mean over published margins, the cells among them, of the variance of a figure"
            ),
            "measures": [
                {
                    "measure": component.face.told,
                    "part": float(component.part),
                    "chosen": component.chosen.name,
                    "noise": component.chosen.noise,
                    "strategies": strategy_rows(formed, component),
                    "half_widths": [
                        {
                            "keeps": [formed.request.by[index] for index in margin],
                            "figures": component.layout.count(margin),
                            "least": low * float(component.face.step),
                            "largest": high * float(component.face.step),
                        }
                        for margin, (low, high) in widths.items()
                    ],
                    "expected_errors": [
                        {
                            "keeps": [formed.request.by[index] for index in margin],
                            "least": min(each) * float(component.face.step),
                            "largest": max(each) * float(component.face.step),
                        }
                        for margin, each in errors.items()
                    ],
                }
                for component, widths, errors in zip(self.design.components, self.half_widths, self.errors, strict=True)
            ],
            "charge": self.outlook.cost(),
            "guarantee": str(self.outlook.guarantee),
            **self.outlook.to_dict(),
            "notes": [*self.notes, *([] if self.outlook.refusal is None else [self.outlook.refusal])],
        }

    def _calibration(self) -> list[str]:
        """That figures will be calibrated, which changes errors in a way that depends on the noisy figures."""
        if not self.targets:
            return []
        formed = self.design.formed
        names = ", ".join(f"{target.name} ({name_margin(formed, target.kept)})" for target in self.targets)
        said = [
            say(
                "Figures will meet {totals}; the errors above are those before calibration (--calibrate none).",
                totals=names,
            )
        ]
        several = {index for index, size in enumerate(formed.sizes) if size > 1}
        if any(several <= set(target.kept) for target in self.targets):
            said.append(say("Every figure of this table is a public total: asking buys nothing. Add a column to --by."))
        return said

    def _notes(self) -> list[str]:
        if self.other is None or self.outlook.refusal is not None or self.other.refusal is not None:
            return []
        now, then = text(self.outlook.epsilon_left), text(self.other.epsilon_left)
        if self.design.rho is not None:
            return [
                say(
                    "Gaussian noise is charged in rho: after it the largest single question is epsilon {now}; after "
                    "Laplace noise, which errs more, it would be {then}.",
                    now=now,
                    then=then,
                )
            ]
        return [
            say(
                "Gaussian noise would err less, and leave epsilon {then} for the largest single question instead of "
                "{now}: --noise gaussian takes it, and auto where the card says accounting: rho.",
                then=then,
                now=now,
            )
        ]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """For people, one screen for a usual table."""
        card = self.design.formed.card
        protects = say(
            "{unit}; neighbours: {neighbours}; population '{population}'",
            unit=say_count(
                "{column} (at most {count} row each)",
                "{column} (at most {count} rows each)",
                card.unit.rows,
                column=card.unit.column,
            ),
            neighbours=tell_neighbours(card.neighbours),
            population=card.population,
        )
        sections = [(say("Plan"), list(self.plan)), (say("Protects"), [protects])]
        for component, widths in zip(self.design.components, self.half_widths, strict=True):
            title = say(
                "Strategies for {measure}: expected standard error of a figure, by margin", measure=component.face.told
            )
            sections.append((title, [*self._strategies(component), *self._chosen(component, widths)]))
        sections += [
            *([(say("Calibration"), calibration)] if (calibration := self._calibration()) else []),
            (say("Budget"), [*self.outlook.lines(), *self._notes()]),
            (say("Plan hash"), [self.plan_hash]),
        ]
        return "\n".join("\n".join([heading, *(f"  {line}" for line in lines)]) for heading, lines in sections)

    def _strategies(self, component: Component) -> list[str]:
        """A small table: one line for each margin, one column for each strategy, the chosen one marked."""
        formed, step = self.design.formed, float(component.face.step)
        offered = component.strategies
        marks = ["→ " if strategy == component.chosen else "" for strategy in offered]
        lines = [
            ["", *(strategy.noise for strategy in offered)],
            [say("margin"), *(f"{mark}{strategy.name}" for mark, strategy in zip(marks, offered, strict=True))],
        ]
        for margin in component.layout.margins:
            errors = [about(strategy.expected[margin] ** 0.5 * step) for strategy in offered]
            lines.append([name_margin(formed, margin), *errors])
        lines.append([say("mean variance"), *(about(strategy.mean * step**2) for strategy in offered)])
        widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
        return [
            "  ".join(
                cell.rjust(width) if column else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]

    def _chosen(self, component: Component, widths: Mapping[Margin, tuple[float, float]]) -> list[str]:
        used = say_strategy(note_strategy(self.design.formed, component))
        return [used.text(language()), self._intervals(component, widths)]

    def _intervals(self, component: Component, widths: Mapping[Margin, tuple[float, float]]) -> str:
        formed, step = self.design.formed, float(component.face.step)
        spans = say("; ").join(
            f"{name_margin(formed, margin)} ± {_span(low * step, high * step)}"
            for margin, (low, high) in widths.items()
        )
        return say("{level} intervals: {spans}", level=percent(self.level), spans=spans)


def _span(low: float, high: float) -> str:
    return about(low) if about(low) == about(high) else say("{low} to {high}", low=about(low), high=about(high))


def explain_table(
    design: Design,
    *,
    level: Decimal,
    standing: PopulationStanding,
    analyst: str,
    other: Design | None = None,
    stored: StoredAnswer | None = None,
    targets: Sequence[Target] = (),
) -> TableExplanation:
    """What asking for the table would do; that the budget would be exceeded is a note, not a refusal."""
    pricing = design.price()
    unseen = estimate_unseen(design, pricing)
    beside = None if other is None or stored is not None else other.price().guarantee
    return TableExplanation(
        design=design,
        plan=word_statement(design.formed.statement, design.formed.cards),
        level=level,
        half_widths=tuple(_half_widths(one, level) for one in unseen),
        errors=tuple(
            {margin: tuple(one.mean_errors(margin).tolist()) for margin in one.layout.margins} for one in unseen
        ),
        outlook=foresee(pricing.guarantee, standing, analyst, stored),
        other=None if beside is None else foresee(beside, standing, analyst),
        targets=tuple(targets),
    )


def estimate_unseen(design: Design, pricing: Pricing) -> list[EstimatedMeasure]:
    """The measures of a table as they will be estimated, without values: their errors follow from mechanisms alone."""
    priced = iter(pricing.measures)
    return [
        EstimatedMeasure(
            component.layout,
            component.chosen.measured,
            [
                NoisyMeasure("", item.epsilon, item.sensitivities.key, item.mechanisms, (), item.rho)
                for item in (next(priced) for _ in component.chosen.measured)
            ],
        )
        for component in design.components
    ]


def _half_widths(estimated: EstimatedMeasure, level: Decimal) -> Mapping[Margin, tuple[float, float]]:
    """The least and the largest of every margin."""
    reach = {margin: estimated.half_widths(margin, level) for margin in estimated.layout.margins}
    return {margin: (float(item.min()), float(item.max())) for margin, item in reach.items()}
