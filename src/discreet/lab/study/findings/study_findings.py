"""What a finished study found, read from its folder: for each query, what every model answered at every ε.

Verdicts, figures and the report all read these objects and nothing else.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import FRENCH, Phrase, language, say
from discreet.errors import PathInvalid
from discreet.lab.study.findings.series_names import tell_mechanism, tell_model

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = [
    "MODELS",
    "TOLD_BY_MECHANISM",
    "Asked",
    "Findings",
    "QueryPanel",
    "Row",
    "Series",
    "Sized",
    "read_findings",
]

# In the order in which they are shown; the last is kept for comparison only.
MODELS: Final = ("central", "table", "shuffle", "local", "hybrid", "naive")
# Variants of these models are told apart by their mechanisms.
TOLD_BY_MECHANISM: Final = ("shuffle", "naive")
# Local randomisers of numbers that are biased: to compare with, never to choose.
_BIASED: Final = frozenset({"clip", "modulo", "abs"})
_BRACKETS: Final = re.compile(r"\((.*)\)$")
_MOST_FIGURES: Final = 6
# Of a column's shape: what lies outside its bins.
_ENDS: Final = {"below": Phrase("below"), "above": Phrase("above"), "not in the list": Phrase("not in the list")}

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Series:
    """One model with one mechanism, as the results name them."""

    model: str
    mechanism: str

    @classmethod
    def called(cls, name: str) -> Series:
        """The series of a name."""
        model, _, mechanism = name.removesuffix(")").partition(" (")
        return cls(model, mechanism)

    @property
    def family(self) -> str:
        """The model itself: a study with several variants of one names them 'local oue' and the like."""
        return self.model.split(" ", 1)[0]

    @property
    def order(self) -> tuple[int, str, str]:
        index = MODELS.index(self.family) if self.family in MODELS else len(MODELS)
        # Laplace noise is what others run along: it is drawn first
        first = self.mechanism == "laplace" and self.family in {"central", "table"}
        return (index, self.model, "" if first else self.mechanism)

    @property
    def name(self) -> str:
        """By which it is known, whatever language is spoken."""
        return f"{self.model} ({self.mechanism})" if self.mechanism else self.model

    @property
    def label(self) -> str:
        """What readers see."""
        model = tell_model(self.model)
        return f"{model} ({tell_mechanism(self.mechanism)})" if self.mechanism else model

    @property
    def variant(self) -> str:
        """What tells it from others of its model: the choices in brackets behind the mechanism, or the mechanism."""
        found = _BRACKETS.search(self.mechanism)
        return found.group(1) if found else self.mechanism

    @property
    def biased(self) -> bool:
        """Whether a local randomiser of numbers is one of those kept to show their bias."""
        return self.family == "local" and not _BIASED.isdisjoint(re.split(r"[ ,()]+", self.mechanism))

    @property
    def compared_only(self) -> bool:
        """Whether this is a recipe shown for comparison, not one to choose."""
        return self.biased or self.family not in MODELS[:-1]


@dataclass(frozen=True, slots=True)
class QueryPanel:
    """A query under one series at one ε: groups × runs, and the error that theory expects in each group."""

    truth: NDArray[float64]
    estimates: NDArray[float64]
    low: NDArray[float64]
    high: NDArray[float64]
    expected: NDArray[float64] | None

    def measured(self) -> NDArray[float64]:
        """The mean absolute error of each group over the runs."""
        return _row_means(np.abs(self.estimates - self.truth[:, None]))

    def error(self) -> NDArray[float64]:
        """What error to reckon with in each group: theory's where there is one, else the measured."""
        return self.measured() if self.expected is None else self.expected

    def relative(self) -> NDArray[float64]:
        """The error of each group as a share of its true value; nan where that is zero or unknown."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares: NDArray[float64] = np.where(self.truth != 0, self._reckoned() / np.abs(self.truth), np.nan)
        return shares

    def separates(self) -> bool:
        """Whether the error of the group in the middle is smaller than the spread between groups."""
        known = np.isfinite(self.truth)
        return bool(np.median(self._reckoned()[known]) < np.std(self.truth[known])) if known.sum() > 1 else True

    def _reckoned(self) -> NDArray[float64]:
        """The error of each group, infinite where it has no answer in most runs.

        A protocol may not serve so small a group, and a release shows no mean where it could be one of nobody.
        """
        hidden = np.isnan(self.estimates).mean(axis=1) > 0.5
        return np.where(np.isnan(self.error()) | hidden, np.inf, self.error())

    def typical(self) -> float:
        """The relative error of the group in the middle."""
        shares = self.relative()
        known = shares[~np.isnan(shares)]
        return float(np.median(known)) if known.size else math.nan

    def covered(self) -> tuple[int, int]:
        """How many intervals hold the truth, and how many intervals there are."""
        known = ~(np.isnan(self.low) | np.isnan(self.high)) & np.isfinite(self.truth)[:, None]
        held = known & (self.low <= self.truth[:, None]) & (self.truth[:, None] <= self.high)
        return int(held.sum()), int(known.sum())


@dataclass(frozen=True, slots=True)
class Asked:
    """One query and all its panels. `groups` are in the order of the study."""

    name: str
    label: str
    statistic: str
    groups: tuple[str, ...]
    truth: NDArray[float64]
    epsilons: tuple[float, ...]
    panels: Mapping[tuple[Series, float], QueryPanel]

    @property
    def series(self) -> tuple[Series, ...]:
        return tuple(sorted({item for item, _ in self.panels}, key=lambda item: item.order))

    def label_of(self, series: Series) -> str:
        """The model's name, with what tells its variants apart where it has several here.

        That is the same in every query, even if the mechanism behind it is not.
        """
        return self._among_rivals(series).label

    def name_of(self, series: Series) -> str:
        """The same whatever language is spoken."""
        return self._among_rivals(series).name

    def _among_rivals(self, series: Series) -> Series:
        rivals = sum(1 for other in self.series if other.model == series.model)
        return Series(series.model, series.variant if rivals > 1 else "")


@dataclass(frozen=True, slots=True)
class Sized:
    """The study repeated on fewer respondents; `drawn` is how far their true figures lie from those of all.

    That is the mean over groups and runs, by name of the query: what a smaller sample costs without any protection.
    """

    respondents: int
    asked: tuple[Asked, ...]
    drawn: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything a study's folder holds, ready to be shown. Missing tables are empty.

    Collections in which some answer in clear stand apart in `hybrids`: they are many, and not there to be chosen.
    """

    folder: Path
    info: Mapping[str, Any]
    configuration: str
    asked: tuple[Asked, ...]
    coverage: Mapping[tuple[Series, float], tuple[int, int]]
    quality: tuple[Row, ...]
    shapes: tuple[Row, ...]
    correlations: tuple[Row, ...]
    linkage: tuple[Row, ...]
    sizes: tuple[Sized, ...] = ()
    hybrids: tuple[Asked, ...] = ()

    @property
    def config(self) -> Mapping[str, Any]:
        found = self.info.get("config")
        return found if isinstance(found, Mapping) else {}

    def fact(self, name: str) -> Any:
        """What the study says of itself under that name, as it was run or else as it was configured."""
        found = self.info.get(name)
        return self.config.get(name) if found is None else found

    @property
    def epsilons(self) -> tuple[float, ...]:
        every = {epsilon for item in self.asked for epsilon in item.epsilons}
        return tuple(sorted(every, reverse=True))

    @property
    def level(self) -> float:
        return float(self.config.get("level", 0.95))

    @property
    def runs(self) -> int:
        return int(self.config.get("runs", 1))

    @property
    def labels(self) -> Mapping[str, str]:
        """What columns are called, by name; studies of earlier versions do not tell."""
        return {**(self.info.get("labels") or {}), **_translated(self.info, "labels")}

    def tell_bin(self, column: str, index: int, label: str) -> str:
        """What a bin of a column's shape is called: of a category the label, of a number where it begins."""
        if label in _ENDS:
            return str(_ENDS[label])
        found = list((_translated(self.info, "categories").get(column) or {}).values())
        return str(found[index]) if 0 <= index < len(found) else label

    @property
    def title(self) -> str:
        return str(self.fact("title") or self.fact("study") or say("A study of privacy models"))


def read_findings(folder: Path) -> Findings:
    """The findings of a study's folder; PathInvalid when it holds no finished study."""
    results, about = folder / "results.parquet", folder / "study.json"
    if not results.is_file() or not about.is_file():
        raise PathInvalid(
            say("'{name}' holds no finished study. Run it first: discreet study run STUDY.yaml.", name=folder.name)
        )
    info = json.loads(about.read_text(encoding="utf-8"))
    written = folder / "study.yaml"
    table = _read(results)
    plain, hybrids = _set_apart(table)
    return Findings(
        folder=folder,
        info=info,
        configuration=written.read_text(encoding="utf-8") if written.is_file() else "",
        asked=_read_asked(plain, _read(folder / "theory.parquet"), info),
        coverage=_count_coverage(table, info),
        quality=_rows(folder / "quality.parquet"),
        shapes=_rows(folder / "shapes.parquet"),
        correlations=_rows(folder / "correlations.parquet"),
        linkage=_rows(folder / "linkage.parquet"),
        sizes=_read_sizes(_read(folder / "sizes.parquet"), info),
        hybrids=_read_asked(hybrids, None, info),
    )


def _set_apart(results: Any) -> tuple[Any, Any]:
    """The results of all other models, and those of hybrids."""
    import pyarrow.compute as pc

    clear = pc.equal(results["model"], "hybrid")
    return results.filter(pc.invert(clear)), results.filter(clear)


def _read(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path).read() if path.is_file() else None


def _rows(path: Path) -> tuple[Row, ...]:
    table = _read(path)
    return () if table is None else tuple(table.to_pylist())


def _shown(info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The queries that get figures: those the study names, else the first few."""
    queries = list(info.get("queries") or [])
    config = info.get("config") or {}
    wanted = list(info.get("figures") or config.get("figures") or [])
    chosen = [query for name in wanted for query in queries if query.get("name") == name]
    return chosen or queries[:_MOST_FIGURES]


def _read_asked(results: Any, theory: Any, info: Mapping[str, Any]) -> tuple[Asked, ...]:
    asked = []
    for query in _shown(info):
        rows = _pick(results, query)
        if rows:
            asked.append(_assemble(query, rows, _pick(theory, query), info))
    return tuple(asked)


def _read_sizes(table: Any, info: Mapping[str, Any]) -> tuple[Sized, ...]:
    if table is None:
        return ()
    import pyarrow.compute as pc

    found = []
    for size in sorted(pc.unique(table["respondents"]).to_pylist()):
        its = table.filter(pc.equal(table["respondents"], size))
        drawn = {}
        for query in _shown(info):
            rows = [(row["truth"], row["whole"]) for row in _pick(its, query)]
            apart = np.abs(np.array([_number(truth) - _number(whole) for truth, whole in rows]))
            known = apart[np.isfinite(apart)]
            drawn[str(query["name"])] = float(known.mean()) if known.size else math.nan
        found.append(Sized(size, _read_asked(its, its, info), drawn))
    return tuple(found)


def _pick(table: Any, query: Mapping[str, Any]) -> list[Row]:
    """The rows of one query."""
    if table is None:
        return []
    import pyarrow.compute as pc

    category = query.get("category")
    same = pc.and_(pc.equal(table["column"], query["column"]), pc.equal(table["statistic"], query["statistic"]))
    its = pc.is_null(table["category"]) if category is None else pc.equal(table["category"], str(category))
    result: list[Row] = table.filter(pc.and_(same, pc.fill_null(its, False))).to_pylist()
    return result


def _assemble(query: Mapping[str, Any], rows: Sequence[Row], theory: Sequence[Row], info: Mapping[str, Any]) -> Asked:
    occurring = dict.fromkeys(row["group"] for row in rows)
    groups = [group for group in info.get("groups") or [] if group in occurring] or list(occurring)
    series = _name_series(rows)
    cells, expected = _gather(rows, groups, series), _gather(theory, groups, series)
    panels = {key: _Cells(its).panel(_Cells(expected[key]) if key in expected else None) for key, its in cells.items()}
    honest = sorted(panels, key=lambda key: (key[0].order, key[1]))
    epsilons = tuple(sorted({epsilon for _, epsilon in panels}, reverse=True))
    told, truth = _translated(info, "groups"), panels[honest[0]].truth
    names = tuple(str(told.get(group, group)) for group in groups)
    return Asked(str(query["name"]), _label(query, info), str(query["statistic"]), names, truth, epsilons, panels)


def _label(query: Mapping[str, Any], info: Mapping[str, Any]) -> str:
    """What readers see of a query. One of the study's own is called as its column is."""
    label, name = str(query.get("label") or query["name"]), query["column"]
    column = _translated(info, "labels").get(name)
    if column is None or label == (info.get("labels") or {}).get(name):
        return str(column or label)
    if query.get("category") is not None:
        found = (_translated(info, "categories").get(name) or {}).get(query["category"], query["category"])
        return say("{column}: {category}", column=column, category=found)
    if query["statistic"] == "mean":
        return say("Mean of {column}", column=column)
    return say("Sum of {column}", column=column)


def _translated(info: Mapping[str, Any], sort: str) -> Mapping[str, Any]:
    """What the card calls things in French, where that is spoken and the study tells."""
    return (info.get("french") or {}).get(sort) or {} if language() == FRENCH else {}


def _name_series(rows: Sequence[Row]) -> dict[tuple[str, str], Series]:
    """By model and mechanism. A model that takes one mechanism at each ε is one series, even if it takes turns.

    So is one of several variants of a model.
    """
    used: dict[str, dict[str, set[float]]] = {}
    for row in rows:
        used.setdefault(row["model"], {}).setdefault(row["mechanism"], set()).add(row["epsilon"])
    series = {}
    for model, at in used.items():
        variants: dict[str, list[str]] = {}
        for name in sorted(at):
            variants.setdefault("" if _take_turns(at, at) else Series(model, name).variant, []).append(name)
        for variant, names in variants.items():
            turns = _take_turns(names, at)
            for name in names:
                series[model, name] = Series(model, _join_names(names, variant) if turns else name)
    return series


def _take_turns(names: Iterable[str], at: Mapping[str, set[float]]) -> bool:
    """Whether no two of these mechanisms were used at one ε."""
    every = [epsilon for name in names for epsilon in at[name]]
    return len(every) == len(set(every))


def _join_names(names: Sequence[str], variant: str) -> str:
    """'hybrid or piecewise (automatic)'."""
    if len(names) == 1:
        return names[0]
    plain = [name.removesuffix(f" ({variant})") for name in names]
    return " or ".join(plain) + (f" ({variant})" if variant else "")


Gathered = dict[tuple[Series, float], list[list[Row]]]


def _gather(rows: Sequence[Row], groups: Sequence[str], series: Mapping[tuple[str, str], Series]) -> Gathered:
    """The rows of each series at each ε, group by group, in the order of the runs."""
    indices = {group: index for index, group in enumerate(groups)}
    gathered: Gathered = {}
    for row in rows:
        its = series.get((row["model"], row["mechanism"]))
        if its is not None and row["group"] in indices:
            cells = gathered.setdefault((its, float(row["epsilon"])), [[] for _ in groups])
            cells[indices[row["group"]]].append(row)
    return gathered


@dataclass(frozen=True, slots=True)
class _Cells:
    """The rows of one series at one ε, group by group."""

    cells: Sequence[list[Row]]

    def panel(self, theory: _Cells | None) -> QueryPanel:
        """A recipe kept for comparison may hold something else for true, so each panel has a truth of its own."""
        truth = self.first("truth")
        expected = None if theory is None else theory.first("expected_error")
        if expected is not None and np.isnan(expected).all():
            expected = None
        return QueryPanel(truth, self.spread("estimate"), self.spread("low"), self.spread("high"), expected)

    def first(self, name: str) -> NDArray[float64]:
        return np.array([_number(cell[0][name]) if cell else math.nan for cell in self.cells])

    def spread(self, name: str) -> NDArray[float64]:
        """Groups × runs, nan where a run has no row."""
        held = np.full((len(self.cells), max(len(cell) for cell in self.cells)), np.nan)
        for index, cell in enumerate(self.cells):
            ordered = sorted(cell, key=lambda row: int(row["run"]))
            held[index, : len(cell)] = [_number(row[name]) for row in ordered]
        return held


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _row_means(values: NDArray[float64]) -> NDArray[float64]:
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        means: NDArray[float64] = np.where(known, values, 0).sum(axis=1) / known.sum(axis=1)
    return means


def _count_coverage(results: Any, info: Mapping[str, Any]) -> dict[tuple[Series, float], tuple[int, int]]:
    """For each series and ε, over all queries: intervals that hold the truth, and intervals.

    Mechanisms are kept apart only where they tell variants of a model apart; elsewhere they differ from column to
    column.
    """
    import pyarrow.compute as pc

    models = [item["model"] for item in (info.get("config") or {}).get("models") or []]
    several = frozenset(model for model in models if models.count(model) > 1)
    keys, (low, high, truth) = ["model", "mechanism", "epsilon"], results.select(["low", "high", "truth"]).columns
    held = pc.and_(pc.less_equal(low, truth), pc.less_equal(truth, high))
    unknown = pc.or_(pc.or_(pc.is_nan(low), pc.is_nan(high)), pc.is_nan(truth))
    text = results.select(keys).append_column("held", held).filter(pc.invert(unknown))
    counted: dict[tuple[Series, float], tuple[int, int]] = {}
    for row in text.group_by(keys, use_threads=False).aggregate([("held", "sum"), ("held", "count")]).to_pylist():
        key = (_covering(row["model"], row["mechanism"], several), float(row["epsilon"]))
        hits, number = counted.get(key, (0, 0))
        counted[key] = (hits + row["held_sum"], number + row["held_count"])
    return counted


def _covering(model: str, mechanism: str, several: frozenset[str]) -> Series:
    series = Series(model, mechanism)
    if model in TOLD_BY_MECHANISM or series.biased:
        return Series(model, series.variant)
    return Series(model, series.variant if model in several else "")
