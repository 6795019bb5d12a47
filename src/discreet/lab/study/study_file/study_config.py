"""What a study compares, as its file says it: data, models, privacy parameters, queries.

The types check what can be checked without the data; `discreet.lab.study.study_file.queries` fits them to a card.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any, Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid
from discreet.guarantees import Neighbours
from discreet.guarantees import text as plain_text

__all__ = [
    "ALLOCATIONS",
    "AUTOMATIC",
    "CALIBRATIONS",
    "CATEGORY_RANDOMISERS",
    "COUNTS",
    "DEFAULT_MODELS",
    "DEFAULT_SHARES",
    "LARGEST_EPSILON",
    "METRICS",
    "MISSING",
    "MODELS",
    "MOST_EPSILONS",
    "MOST_RUNS",
    "MOST_SIZES",
    "NUMBER_RANDOMISERS",
    "RELATIONS",
    "Custom",
    "FileData",
    "ModelChoice",
    "Named",
    "Questions",
    "SampleData",
    "Selection",
    "StudyConfig",
    "WorkspaceData",
]

AUTOMATIC: Final = "automatic"
ALLOCATIONS: Final = ("sampling", "split")
MISSING: Final = ("public", "category")
RELATIONS: Final = ("samples", "strata")
COUNTS: Final = ("total", "ratio")
CALIBRATIONS: Final = ("none", "card")
METRICS: Final = ("ks-complement", "correlation-similarity", "coverage", "linkage")

# The names of the randomisers in `collect`; a test compares them.
CATEGORY_RANDOMISERS: Final = ("grr", "oue", "rappor", "olh", "subset", "hadamard")
NUMBER_RANDOMISERS: Final = (
    "laplace",
    "duchi",
    "piecewise",
    "piecewise-wide",
    "hybrid",
    "bounded-laplace",
    "clip",
    "modulo",
    "abs",
)

# What each model may be told, and the mechanisms it knows; the first is taken when none is named.
MODELS: Final = {
    "central": ("laplace", "gaussian"),
    "table": ("laplace", "gaussian"),
    "local": (),
    "hybrid": (),
    "shuffle": ("single-message", "multi-message", "vector-sum"),
    "naive": ("all", "central", "local", "shuffle"),
}

MOST_RUNS: Final = 10_000
MOST_EPSILONS: Final = 100
MOST_SIZES: Final = 20
LARGEST_EPSILON: Final = 50  # of every randomiser
# Who answers in clear where a study does not say.
DEFAULT_SHARES: Final = (Decimal("0.1"), Decimal("0.3"), Decimal("0.5"))


@dataclass(frozen=True, slots=True)
class SampleData:
    """The sample survey, drawn anew for the study."""

    rows: int = 113_290
    seed: int = 1


@dataclass(frozen=True, slots=True)
class FileData:
    """A data file and its card; paths as written, from the study's folder."""

    card: str
    file: str


@dataclass(frozen=True, slots=True)
class WorkspaceData:
    """The current version of a dataset in a workspace."""

    workspace: str
    name: str


@dataclass(frozen=True, slots=True)
class Selection:
    """Self-selection: those with one of these codes, or a number above, answer in clear `times` as often as others."""

    column: str
    times: Decimal
    codes: tuple[str, ...] = ()
    above: Decimal | None = None

    @property
    def words(self) -> str:
        """As readers see it: 'smoking = 1, 0.4 times as often'."""
        who = f"> {plain_text(self.above)}" if self.above is not None else f"= {' or '.join(self.codes)}"
        return f"{self.column} {who}, {plain_text(self.times)} times as often"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One variant of a model. What a model does not know stays None."""

    model: str
    mechanism: str | None = None
    categories: str | None = None
    numbers: str | None = None
    allocation: str | None = None
    missing: str | None = None
    share: Decimal | None = None
    selection: Selection | None = None
    relation: str | None = None
    counts: str | None = None
    calibrate: str | None = None

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ParameterInvalid(
                parameter="model", rule=say("must be {models}", models=say(" or ").join(MODELS)), given=self.model
            )
        defaults: dict[str, object] = {"mechanism": next(iter(MODELS[self.model]), None)}
        if self.model in {"local", "hybrid"}:
            defaults |= dict.fromkeys(("categories", "numbers"), AUTOMATIC)
            defaults |= {"allocation": ALLOCATIONS[0], "missing": MISSING[0]}
        if self.model == "table":
            defaults |= {"calibrate": CALIBRATIONS[0]}
        if self.model == "hybrid":
            defaults |= {"share": DEFAULT_SHARES[0], "relation": RELATIONS[0]}
        for name, value in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, object]:
        """What the model was told, and what it takes where it was not; numbers are exact decimal text."""
        return {name: value for name, value in _plain(asdict(self)).items() if value is not None}


def _plain(found: Mapping[str, object]) -> dict[str, Any]:
    """Without what a later version added and nobody asked for: an earlier study keeps its hash."""
    return {name: _plain_value(value) for name, value in found.items() if not (name in _LATER and not value)}


def _plain_value(value: object) -> object:
    if isinstance(value, Decimal):
        return plain_text(value)
    if isinstance(value, Mapping):
        return _plain(value)
    return [_plain_value(item) for item in value] if isinstance(value, list | tuple) else value


_LATER: Final = frozenset({"sum", "sums", "total", "above", "codes"})

DEFAULT_MODELS: Final = (
    ModelChoice("central"),
    ModelChoice("local"),
    ModelChoice("shuffle", mechanism="single-message"),
    ModelChoice("shuffle", mechanism="multi-message"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """A query by its column: the count of a category, or the mean, or the total, when there is none."""

    column: str
    category: str | None = None
    total: bool = False

    @property
    def statistic(self) -> str:
        """What is asked of a number."""
        return "sum" if self.total else "mean"


@dataclass(frozen=True, slots=True)
class Custom:
    """A query of one's own: those who meet all conditions are counted, or the mean or sum of a number among them."""

    name: str
    where: tuple[tuple[str, tuple[str, ...]], ...]
    mean: str | None = None
    label: str | None = None
    sum: str | None = None

    @property
    def number(self) -> str | None:
        """The number of which something is asked."""
        return self.mean or self.sum

    @property
    def statistic(self) -> str:
        return "sum" if self.sum else "mean" if self.mean else "count"


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked of every model."""

    categories: bool = True
    means: bool = True
    named: tuple[Named, ...] = ()
    custom: tuple[Custom, ...] = ()
    sums: bool = False


@dataclass(frozen=True, slots=True)
class StudyConfig:
    """A whole study. `lines` says where each part stands in the file, for messages; `text` is the file itself."""

    study: str
    title: str
    data: SampleData | FileData | WorkspaceData
    epsilon: tuple[Decimal, ...]
    epsilon_is: str
    multiplier: Decimal = Decimal(1)
    strata: tuple[str, ...] = ()
    static: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    models: tuple[ModelChoice, ...] = DEFAULT_MODELS
    delta: Decimal = Decimal("0.000001")
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    runs: int = 5
    rows: tuple[int, ...] = ()
    level: Decimal = Decimal("0.95")
    queries: Questions = field(default_factory=Questions)
    figures: tuple[str, ...] | None = None
    metrics: tuple[str, ...] = METRICS
    seed: int = 1
    file: str = field(default="study.yaml", compare=False)
    text: str = field(default="", compare=False, repr=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.epsilon) <= MOST_EPSILONS or len(set(self.epsilon)) < len(self.epsilon):
            raise ParameterInvalid(
                parameter="epsilon",
                rule=say("must be 1 to {most_epsilons} different numbers", most_epsilons=MOST_EPSILONS),
                given=str(len(self.epsilon)),
            )
        if not 1 <= self.runs <= MOST_RUNS:
            raise ParameterInvalid(
                parameter="runs", rule=say("must be 1 to {most_runs:,}", most_runs=MOST_RUNS), given=str(self.runs)
            )
        if not self.models or len(set(self.models)) < len(self.models):
            raise ParameterInvalid(
                parameter="models", rule=say("must be at least one, all different"), given=str(len(self.models))
            )

    def to_dict(self) -> dict[str, object]:
        """The study with every default written out; numbers are exact decimal text."""
        source = {type(self.data).__name__.removesuffix("Data").lower(): asdict(self.data)}
        later = {"rows": list(self.rows)} if self.rows else {}
        return {
            "study": self.study,
            "title": self.title,
            "data": source,
            "weights": {"multiplier": plain_text(self.multiplier)},
            "strata": list(self.strata),
            "static": list(self.static),
            "columns": None if self.columns is None else list(self.columns),
            "models": [item.to_dict() for item in self.models],
            "epsilon": [plain_text(item) for item in self.epsilon],
            "epsilon_is": self.epsilon_is,
            "delta": plain_text(self.delta),
            "neighbours": self.neighbours.value,
            "runs": self.runs,
            **later,
            "level": plain_text(self.level),
            "queries": _plain(asdict(self.queries)),
            "figures": None if self.figures is None else list(self.figures),
            "metrics": list(self.metrics),
            "seed": self.seed,
        }

    def hash(self, data: str) -> str:
        """What tells two studies apart: everything above and a digest of the data's files."""
        written = json.dumps([self.to_dict(), data], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(written.encode()).hexdigest()
