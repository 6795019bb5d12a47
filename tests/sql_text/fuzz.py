"""The fuzz: statements by their seeds, each read, priced and measured by the product and worked out by the interpreter.

`run` gives a `Result` that says how many statements were answered, what they were made of, and every place where the
product and the interpreter disagree. Product functions may be patched around a run: nothing of the product is kept from
one run to the next, but for the engine that is handed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Final

from discreet.engines.dialects import DUCKDB, Dialect
from discreet.engines.embedded import EmbeddedEngine
from discreet.engines.engine import Engine
from discreet.errors import DiscreetError
from discreet.release.measurement import pricing
from discreet.release.measurement.pricing import Pricing
from discreet.sql.reader import questions
from discreet.sql.statement import Statement
from tests.conformance.engines.plans import write_prepared
from tests.sql_text.comparison import (
    Mismatch,
    Probe,
    compare,
    keep_complete,
    probes_of,
    real_cells,
    require_listed,
    units_probe,
)
from tests.sql_text.interpreter import Interpreter, Seen, leaves_of
from tests.sql_text.model import Question
from tests.sql_text.neighbours import require_bounds, states_of
from tests.sql_text.populations import Owned, Population, population
from tests.sql_text.statements import WILD, random_question

__all__ = ["Engines", "Result", "Violation", "embedded", "read_only", "run"]

EPSILON: Final = Decimal(1)
DELTA: Final = Decimal("1e-7")
ATTACKED: Final = 2
STATES: Final = 6

Engines = Callable[[Population], Engine]


@dataclass(frozen=True, slots=True)
class Violation:
    """A statement that the product gets wrong, and what differs."""

    question: Question
    what: str

    def __str__(self) -> str:
        return f"seed {self.question.seed}, population {self.question.population}: {self.what}\n    {self.question.sql}"


@dataclass(slots=True)
class Result:
    """What a run saw. `operators` counts in how many answered statements each occurs."""

    statements: int = 0
    answered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.answered / self.statements if self.statements else 0.0

    def __str__(self) -> str:
        rare = ", ".join(f"{name} {number}" for name, number in self.operators.most_common()[:-9:-1])
        refused = ", ".join(f"{number} × {why}" for why, number in self.refused.most_common(8))
        lines = [
            f"{self.statements} statements, {self.answered} answered ({self.share:.0%})",
            f"refused: {refused or 'none'}",
            f"rarest operators among those answered: {rare}",
            f"{len(self.violations)} violations",
            *map(str, self.violations[:10]),
        ]
        return "\n".join(lines)


def embedded(folder: Path, dialect: Dialect = DUCKDB) -> Engines:
    """DuckDB over the prepared rows of each population, written once."""
    opened: dict[int, Engine] = {}

    def find(people: Population) -> Engine:
        if people.number not in opened:
            files = {
                name: (write_prepared(folder / f"{name}-{people.number}.parquet", card, people.table(name)), card)
                for name, card in people.cards.items()
            }
            opened[people.number] = EmbeddedEngine(files, dialect=dialect)
        return opened[people.number]

    return find


def run(
    seeds: Iterable[int],
    engines: Engines,
    *,
    wild: float = WILD,
    attacked: int = ATTACKED,
    states: int = STATES,
    until: int | None = None,
) -> Result:
    """Every statement of the seeds against the product.

    `wild` is the share of statements whose names may hold any sign; `attacked` units in so many `states` each are
    searched. The run ends early after `until` violations.
    """
    result = Result()
    for seed in seeds:
        if until is not None and len(result.violations) >= until:
            break
        question = random_question(seed, wild=wild)
        result.statements += 1
        people = population(question.population)
        try:
            read = _read(question, people, result)
            if read is None:
                continue
            _examine(question, people, *read, engines(people), attacked=attacked, states=states)
        except Mismatch as error:
            result.violations.append(Violation(question, str(error)))
        except Exception as error:  # whatever the product raises after it has agreed to answer is a fault
            first = str(error).splitlines()[0] if str(error) else ""
            result.violations.append(Violation(question, f"{type(error).__name__}: {first}"))
    return result


def read_only(seeds: Iterable[int], *, wild: float = WILD) -> Result:
    """What is answered and what is refused, without an engine."""
    result = Result()
    for seed in seeds:
        question = random_question(seed, wild=wild)
        result.statements += 1
        try:
            _read(question, population(question.population), result)
        except Exception as error:
            result.violations.append(Violation(question, f"{type(error).__name__}: {error}"))
    return result


def _read(question: Question, people: Population, result: Result) -> tuple[Statement, Pricing] | None:
    """The statement as the product reads it, and its price; None when it refuses."""
    try:
        statement, cards = questions.read_statement(question.sql, people)
        priced = pricing.price(statement, cards, epsilon=EPSILON, delta=DELTA)
    except DiscreetError as error:
        result.refused[_reason(error)] += 1
        return None
    result.answered += 1
    result.operators.update(question.operators)
    return statement, priced


def _reason(error: DiscreetError) -> str:
    """The first words of a refusal, without the names in it."""
    words = [word for word in str(error).split() if "'" not in word and '"' not in word]
    return f"{type(error).__name__}: {' '.join(words[:7])}"


def _examine(
    question: Question,
    people: Population,
    statement: Statement,
    priced: Pricing,
    engine: Engine,
    *,
    attacked: int,
    states: int,
) -> None:
    """Mismatch where the engine's numbers or the derived bounds are not those of the statement."""
    interpreter = Interpreter(question, people.cards)
    probes = _every_probe(question, statement)

    def see(owned: Owned) -> Seen:
        return keep_complete(statement, people.cards, owned, interpreter.seen(owned))

    seen = {unit: see(owned) for unit, owned in people.units.items()}
    measured = engine.measure(statement.plan)
    cells, everybody = real_cells(statement, measured), list(seen.values())
    require_listed(cells, everybody)
    middles: dict[int, Fraction] = {}
    for probe in probes:
        compare(probe, cells, measured, everybody, middles)
    random = Random(f"neighbours {question.seed}")
    for unit in random.sample(list(seen), attacked):
        drawn = states_of(random, people, question, unit, states)
        variants = list(map(see, drawn))
        others = [one for other, one in seen.items() if other != unit]
        for probe in probes:
            if not probe.centred or probe.leaf in middles:
                middle = middles.get(probe.leaf, Fraction(0))
                bound = priced.measures[probe.place]
                require_bounds(statement, probe, bound, variants, others, middle, replacing=people.replacing)


def _every_probe(question: Question, statement: Statement) -> list[Probe]:
    probes = list(probes_of(question, statement))
    covered = {probe.place for probe in probes}
    counted = units_probe(statement, len(leaves_of(question)))
    if counted is not None:
        probes.append(counted)
        covered.add(counted.place)
    if missing := {*range(len(statement.plan.measures))} - covered:
        raise Mismatch(f"measures {sorted(missing)} belong to no output")
    return probes
