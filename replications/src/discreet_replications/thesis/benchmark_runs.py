"""The runs of the benchmark: every query answered every way, many times, with fresh noise from the operating system."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from discreet.catalogue import Phrase, say
from discreet.engines import engine_for
from discreet.guarantees import Unproven
from discreet.lab.strategies.contest import Trials, draw_trials
from discreet.lab.strategies.generated_columns import DEFAULT_SAMPLE
from discreet.lab.strategies.generated_strategy import Generated
from discreet.lab.strategies.released_strategies import RememberingEngine
from discreet.lab.strategies.replacement import REASON, Replacement
from discreet.lab.strategies.strategy_comparison import ComparedQuery as Statement
from discreet.lab.strategies.strategy_comparison import StrategyBench
from discreet_replications.thesis.data.arff import KidneyReading
from discreet_replications.thesis.data.thesis_cards import Variant, queries_of
from discreet_replications.thesis.data.thesis_workspace import prepare
from discreet_replications.thesis.methods import PATIENT_METHODS, ThesisMethod, list_methods
from discreet_replications.thesis.run_records import Record, Records
from discreet_replications.thesis.thesis_truth import Truth, find_truth

if TYPE_CHECKING:
    from discreet.lab.generator.generator_rows import GeneratorRows
    from discreet.lab.generator.shelf import Shelved
    from discreet.lab.strategies.subject import SensitivityStrategy
    from discreet.workspace import Workspace
    from discreet_replications.thesis.data.readings import Readings
    from discreet_replications.thesis.data.thesis_queries import ThesisQuery
    from discreet_replications.thesis.setting import ThesisSetting

__all__ = ["House", "Progress", "run_all", "run_patients"]

Progress = Callable[[str, int, int], None]

# A sample as large as diabetes takes seconds, and its answers hardly differ from one to the next.
_LARGE: Final = 10_000
_LARGE_RUNS: Final = 10


class House:
    """The data on every set of terms that is asked for, each prepared once, in a folder that the caller removes."""

    def __init__(
        self, folder: Path, readings: Readings, *, reading: KidneyReading = KidneyReading.CLEAN, progress: Progress
    ) -> None:
        self.tables = readings.tables(reading)
        self._folder, self._readings, self._reading, self._progress = folder, readings, reading, progress
        self._workspaces: dict[tuple[Variant, bool], Workspace] = {}
        self._engines: dict[tuple[Variant, str], RememberingEngine] = {}
        self._truths: dict[int, Truth] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def workspace(self, variant: Variant, *, wide: bool = False) -> Workspace:
        """The data on these terms: the columns that are asked about, or all of them when `wide`."""
        if (variant, wide) not in self._workspaces:
            only = {"diabetes"} if variant.by_patient else set(self.tables)
            rows = sum(table.rows for name, table in self.tables.items() if name in only)
            self._workspaces[variant, wide] = prepare(
                self._folder / (f"{variant}-wide" if wide else variant),
                self._readings,
                variant,
                reading=self._reading,
                only=only,
                narrow=not wide,
                progress=lambda name, done: self._progress(
                    say("reading {name} on the terms {terms}", name=name, terms=variant.label), done, rows
                ),
            )
        return self._workspaces[variant, wide]

    def engine(self, variant: Variant, dataset: str) -> RememberingEngine:
        """One engine for all queries of a data set, which runs each plan once."""
        if (variant, dataset) not in self._engines:
            workspace = self.workspace(variant)
            opened = engine_for({dataset: workspace.dataset(dataset)}, salt=workspace.salt)
            self._open.callback(opened.close)
            self._engines[variant, dataset] = RememberingEngine(opened)
        return self._engines[variant, dataset]

    def truth(self, query: ThesisQuery) -> Truth:
        """The exact answer of the rows as they are."""
        if query.number not in self._truths:
            self._truths[query.number] = find_truth(query, self.tables[query.dataset])
        return self._truths[query.number]

    def queries(self, variant: Variant) -> tuple[ThesisQuery, ...]:
        """What can be asked on these terms of the data that were read."""
        asked = (query for query in queries_of(variant) if query.dataset in self.tables)
        return tuple(query for query in asked if not variant.by_patient or query.dataset == "diabetes")

    def bench(
        self, sql: str, variant: Variant, dataset: str, *, epsilon: str, model: Shelved | None, size: int | None = None
    ) -> StrategyBench:
        statement = Statement.read(sql, self.workspace(variant), epsilon=epsilon)
        return StrategyBench(
            statement,
            self.engine(variant, dataset),
            model=lambda: _there(model),
            sample_size=size or DEFAULT_SAMPLE,
        )


def _there(model: Shelved | None) -> Shelved:
    assert model is not None, "ways that need a generator are skipped without one"
    return model


def run_all(
    house: House, setting: ThesisSetting, models: Mapping[str, Shelved], *, why: Phrase, progress: Progress
) -> Records:
    """Every query, every way, at every epsilon. `why` tells why generators are missing, where they are."""
    methods = list_methods(setting.sample_sizes)
    usable = [method for method in methods if models or not method.needs_model]
    skipped = tuple((method, why) for method in methods if method not in usable)
    noisy = [method for method in usable if method.spends]
    found = list(_run(house, noisy, setting, models, progress))
    for method in usable:
        if not method.spends:
            found += _replace(house, method, setting.runs, models, progress)
    return Records(tuple(found), skipped)


def run_patients(house: House, setting: ThesisSetting, *, progress: Progress) -> Records:
    """The diabetes queries with the patient as unit; nothing where these data were not read."""
    methods = PATIENT_METHODS if "diabetes" in house.tables else ()
    return Records(tuple(_run(house, methods, setting, {}, progress)))


def _run(
    house: House,
    methods: Iterable[ThesisMethod],
    setting: ThesisSetting,
    models: Mapping[str, Shelved],
    progress: Progress,
) -> Iterator[Record]:
    tasks = [
        (method, query, epsilon)
        for method in methods
        for query in house.queries(method.variant)
        for epsilon in setting.epsilons
    ]
    for done, (method, query, epsilon) in enumerate(tasks):
        progress(say("drawing {strategy}", strategy=method.label), done, len(tasks))
        bench = house.bench(
            query.sql,
            method.variant,
            query.dataset,
            epsilon=epsilon,
            model=models.get(query.dataset),
            size=method.sample_size,
        )
        truth, made = house.truth(query), Made(bench, method.strategy)
        trials = draw_trials(made, truth.result, setting.runs, bench.engine)
        generated = float(made.strategy.generated) if isinstance(made.strategy, Generated) else None
        yield Record(truth, method, epsilon, made.strategy.guarantee, trials, generated)


class Made:
    """Makes a strategy ready when it is called, inside the time that is taken, and keeps it."""

    def __init__(self, bench: StrategyBench, name: str) -> None:
        self._bench, self._name = bench, name

    def __call__(self) -> SensitivityStrategy:
        self.strategy = self._bench.ready(self._name)
        return self.strategy


# --- replaced rows --------------------------------------------------------------------------------------------------


def _replace(
    house: House, method: ThesisMethod, runs: int, models: Mapping[str, Shelved], progress: Progress
) -> Iterator[Record]:
    """All queries of a data set are put to the same generated rows, as in the thesis; every run makes others."""
    for dataset, shelved in models.items():
        queries = [query for query in house.queries(method.variant) if query.dataset == dataset]
        # Any epsilon will do to read the statements: none of it is spent.
        statements = [Statement.read(query.sql, house.workspace(method.variant), epsilon=1) for query in queries]
        model, rows = shelved.load(), house.tables[dataset].rows
        times = min(runs, _LARGE_RUNS) if rows > _LARGE else runs
        drawn: list[list[tuple[float, float]]] = [[] for _ in queries]
        for run in range(times):
            progress(say("replacing {dataset}", dataset=dataset), run, times)
            start = time.perf_counter()
            sample = model.sample(rows)
            sampled = time.perf_counter() - start
            for index, statement in enumerate(statements):
                start = time.perf_counter()
                asked = Replacement(statement.plain, statement.card, partial(_same, sample), absolute=True)
                result = asked.draw().result
                drawn[index].append((result, sampled + time.perf_counter() - start))
        for query, series in zip(queries, drawn, strict=True):
            truth = house.truth(query)
            yield Record(truth, method, None, Unproven(REASON), _trials(truth.result, series))


def _same(sample: GeneratorRows) -> GeneratorRows:
    return sample


def _trials(truth: Fraction, series: list[tuple[float, float]]) -> Trials:
    results, seconds = zip(*series, strict=True)
    return Trials(float(truth), tuple(results), (math.nan,) * len(results), tuple(seconds))
