"""From the YAML of a study to a `StudyConfig`, as strictly as cards are read: every problem with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, Final

from discreet.data.columns import is_well_named
from discreet.data.nodereader import NodeReader
from discreet.data.sample.destination import FEWEST, MOST
from discreet.data.yamltext import MappingNode, Node, ScalarNode, SequenceNode, parse_yaml, read_yaml_text
from discreet.errors import ParameterInvalid, StudyInvalid, nearest
from discreet.guarantees.numbers import exact
from discreet.guarantees.types import Neighbours
from discreet.study.config import (
    DEFAULT_MODELS,
    DEFAULT_SHARES,
    LARGEST_EPSILON,
    MOST_EPSILONS,
    MOST_RUNS,
    MOST_SIZES,
    Custom,
    FileData,
    ModelChoice,
    Named,
    Questions,
    SampleData,
    Selection,
    StudyConfig,
    WorkspaceData,
)
from discreet.study.configkeys import (
    ALLOCATIONS,
    AUTOMATIC,
    CALIBRATIONS,
    CATEGORY_RANDOMISERS,
    COUNTS,
    CUSTOM_KEYS,
    DATASET_KEYS,
    METRICS,
    MISSING,
    MODEL_KEYS,
    MODELS,
    NAMED_KEYS,
    NUMBER_RANDOMISERS,
    QUERY_KEYS,
    RELATIONS,
    SAMPLE_KEYS,
    SELECTION_KEYS,
    STUDY_KEYS,
    WEIGHT_KEYS,
)

__all__ = ["parse_study", "read_study"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
_LARGEST_SEED: Final = 2**63 - 1

# Which keys beside `model` go with which model; the values that lists of each may hold.
_KEYS_OF: Final = {
    "central": ("noise", "mechanism"),
    "table": ("noise", "calibrate", "mechanism"),
    "local": ("categories", "numbers", "allocation", "missing", "counts"),
    "hybrid": ("share", "selection", "relation", "categories", "numbers", "allocation"),
    "shuffle": ("mechanism",),
    "naive": ("mechanism",),
}
# Whose mechanism is the noise that a custodian adds.
_NOISY: Final = ("central", "table")
_NAIVE: Final = tuple(name for name in MODELS["naive"] if name != "all")


def read_study(path: Path) -> StudyConfig:
    """The study in a file, or StudyInvalid with every problem."""
    return parse_study(read_yaml_text(path, sort="study", invalid=StudyInvalid), file=path.name)


def parse_study(text: str, *, file: str) -> StudyConfig:
    """The study in a text; `file` is the name that messages show."""
    root = parse_yaml(text, file=file, invalid=StudyInvalid)
    reader = _StudyReader()
    read = reader.read(root)
    reader.settle(file=file, invalid=StudyInvalid)
    assert read is not None
    return StudyConfig(**read, file=file, text=text, lines=reader.lines)


class _StudyReader(NodeReader):
    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}
        self._noise: tuple[str, ...] = ()

    def read(self, root: Node) -> dict[str, Any] | None:
        fields = self.fields(root, STUDY_KEYS, "the study")
        if fields is None:
            return None
        self.lines |= {name: node.line for name, node in fields.items()}
        if "noise" in fields:
            self._noise = self._several(fields["noise"], "noise", MODELS["central"])
        rule = "letters, digits and . _ - (at most 63)"
        name = self.optional(fields, "study", lambda node: self.named(node, "study", _NAME, rule))
        read = {
            "study": name,
            "title": self.optional(fields, "title", lambda node: self.text(node, "title")) or name,
            "data": self._data(root, fields),
            "multiplier": self.optional(fields, "weights", self._multiplier),
            "strata": self.optional(fields, "strata", lambda node: self._names(node, "strata")),
            "static": self.optional(fields, "static", lambda node: self._names(node, "static")),
            "columns": self.optional(fields, "columns", lambda node: self._names(node, "columns")),
            "models": self._models(fields["models"]) if "models" in fields else self._default_models(),
            "epsilon": self.optional(fields, "epsilon", self._epsilons),
            "epsilon_is": self.optional(
                fields, "epsilon_is", lambda node: self._among(node, "epsilon_is", ("per-column", "total"))
            ),
            "delta": self.optional(fields, "delta", lambda node: self._exact(node, "delta", below=1)),
            "neighbours": self.optional(fields, "neighbours", lambda node: self.choice(node, Neighbours, "neighbours")),
            "runs": self.optional(fields, "runs", lambda node: self._whole(node, "runs", 1, MOST_RUNS)),
            "rows": self.optional(fields, "rows", self._sizes),
            "level": self.optional(fields, "level", lambda node: self._exact(node, "level", below=1)),
            "queries": self.optional(fields, "queries", self._questions),
            "figures": self.optional(fields, "figures", lambda node: self._names(node, "figures")),
            "metrics": self.optional(fields, "metrics", self._metrics),
            "seed": self.optional(fields, "seed", lambda node: self._whole(node, "seed", 0, _LARGEST_SEED)),
        }
        if self.problems or self.undecided:
            return None
        return {key: value for key, value in read.items() if value is not None}

    # Data.

    def _data(self, root: Node, fields: Mapping[str, Node]) -> SampleData | FileData | WorkspaceData | None:
        if ("sample" in fields) == ("dataset" in fields):
            line = fields["dataset"].line if "dataset" in fields else root.line
            self.note(line, "a study has exactly one of sample and dataset")
            return None
        return self._sample(fields["sample"]) if "sample" in fields else self._dataset(fields["dataset"])

    def _sample(self, node: Node) -> SampleData | None:
        fields = self.fields(node, SAMPLE_KEYS, "sample")
        if fields is None:
            return None
        rows = self.optional(fields, "rows", lambda part: self._whole(part, "rows", FEWEST, MOST))
        seed = self.optional(fields, "seed", lambda part: self._whole(part, "seed", 0, _LARGEST_SEED))
        return SampleData(rows or SampleData().rows, SampleData().seed if seed is None else seed)

    def _dataset(self, node: Node) -> FileData | WorkspaceData | None:
        fields = self.fields(node, DATASET_KEYS, "dataset")
        if fields is None:
            return None
        read = {key: self.text(part, key) for key, part in fields.items()}
        if set(read) == {"card", "file"} and read["card"] and read["file"]:
            return FileData(read["card"], read["file"])
        if set(read) == {"workspace", "name"} and read["workspace"] and read["name"]:
            return WorkspaceData(read["workspace"], read["name"])
        self.note(node.line, "dataset is {card, file} or {workspace, name}")
        return None

    def _multiplier(self, node: Node) -> Decimal | None:
        fields = self.fields(node, WEIGHT_KEYS, "weights")
        if fields is None:
            return None
        return self.optional(fields, "multiplier", lambda part: self._exact(part, "multiplier"))

    # Models.

    def _models(self, node: Node) -> tuple[ModelChoice, ...] | None:
        if not isinstance(node, SequenceNode) or not node.items:
            self.note(node.line, "models are a list of names or of {model: name, ...}")
            return None
        found: dict[ModelChoice, None] = {}
        for item in node.items:
            for choice in self._variants(item):
                if choice in found:
                    self.note(item.line, f"model '{choice.model}' is listed twice with the same choices")
                found[choice] = None
        if self._noise and not any(choice.model in _NOISY for choice in found):
            self.note(node.line, "noise is for models central and table, which are not among the models")
        return tuple(found)

    def _default_models(self) -> tuple[ModelChoice, ...]:
        central = tuple(ModelChoice("central", mechanism=noise) for noise in self._noise)
        return (central or DEFAULT_MODELS[:1]) + DEFAULT_MODELS[1:]

    def _variants(self, node: Node) -> list[ModelChoice]:
        """One choice for each combination of what the lists of a model hold."""
        if isinstance(node, ScalarNode):
            node = MappingNode(((ScalarNode("model", node.line), node),), node.line)
        fields = self.fields(node, MODEL_KEYS, "a model")
        if fields is None or "model" not in fields:
            return []
        name = self._among(fields["model"], "model", tuple(MODELS))
        if name is None:
            return []
        allowed: dict[str, tuple[str, ...]] = {
            "mechanism": MODELS[name],
            "noise": MODELS[name],
            "relation": RELATIONS,
            "counts": COUNTS,
            "calibrate": CALIBRATIONS,
            "categories": (AUTOMATIC, *CATEGORY_RANDOMISERS),
            "numbers": (AUTOMATIC, *NUMBER_RANDOMISERS),
            "allocation": ALLOCATIONS,
            "missing": MISSING,
        }
        lists: dict[str, tuple[Any, ...]] = {}
        for key, part in fields.items():
            if key != "model" and key not in _KEYS_OF[name]:
                self.note(part.line, f"'{key}' does not go with model {name}; it takes {', '.join(_KEYS_OF[name])}")
            elif key == "share":
                lists[key] = self._shares(part)
            elif key == "selection":
                lists[key] = self._selections(part)
            elif key == "noise" and "mechanism" in fields:
                self.note(part.line, f"noise and mechanism of {name} are the same thing; give one of them")
            elif key != "model":
                lists["mechanism" if key == "noise" else key] = self._several(part, f"{key} of {name}", allowed[key])
        if name == "naive" and lists.get("mechanism", ("all",)) == ("all",):
            lists["mechanism"] = _NAIVE
        if name in _NOISY and self._noise:
            lists.setdefault("mechanism", self._noise)
        if name == "hybrid":
            lists.setdefault("share", DEFAULT_SHARES)
        return [ModelChoice(name, **dict(zip(lists, values, strict=True))) for values in product(*lists.values())]

    def _several(self, node: Node, what: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
        items = node.items if isinstance(node, SequenceNode) else (node,)
        if not items:
            self.note(node.line, f"{what} is empty")
        found = [self._among(item, what, allowed) for item in items]
        return tuple(value for value in found if value is not None)

    def _shares(self, node: Node) -> tuple[Decimal, ...]:
        items = node.items if isinstance(node, SequenceNode) else (node,)
        found = [self._exact(item, "share", below=1, zero=True) for item in items]
        if not items or len(set(found)) < len(found):
            self.note(node.line, "share is a list of different numbers from 0 and below 1")
        return tuple(dict.fromkeys(share for share in found if share is not None))

    def _selections(self, node: Node) -> tuple[Selection | None, ...]:
        items = node.items if isinstance(node, SequenceNode) else (node,)
        return tuple(self._selection(item) for item in items) or (None,)

    def _selection(self, node: Node) -> Selection | None:
        if isinstance(node, ScalarNode):
            self._among(node, "selection", ("none",))
            return None
        fields = self.fields(node, SELECTION_KEYS, "selection")
        if fields is None or ("codes" in fields) == ("above" in fields):
            self.note(node.line, "a selection is {column, codes, times} or {column, above, times}")
            return None
        column = self.optional(fields, "column", lambda part: self.text(part, "column"))
        codes = self.optional(fields, "codes", lambda part: self.texts(part, "codes")) or ()
        above = self.optional(fields, "above", lambda part: self.number(part, "above"))
        times = self.optional(fields, "times", lambda part: self._exact(part, "times"))
        return Selection(column, times, codes, above) if column and times else None

    # Queries.

    def _questions(self, node: Node) -> Questions | None:
        fields = self.fields(node, QUERY_KEYS, "queries")
        if fields is None:
            return None
        self.lines |= {f"queries.{name}": part.line for name, part in fields.items()}
        words = ("all", "none")
        categories = self.optional(fields, "categories", lambda part: self._among(part, "categories", words))
        means = self.optional(fields, "means", lambda part: self._among(part, "means", words))
        sums = self.optional(fields, "sums", lambda part: self._among(part, "sums", words))
        return Questions(
            categories=categories != "none",
            means=means != "none",
            sums=sums == "all",
            named=self._each(fields, "named", self._named),
            custom=self._each(fields, "custom", self._custom),
        )

    def _each(self, fields: Mapping[str, Node], key: str, read: Any) -> tuple[Any, ...]:
        if key not in fields:
            return ()
        node = fields[key]
        if not isinstance(node, SequenceNode):
            self.note(node.line, f"{key} queries are a list of mappings")
            return ()
        self.lines |= {f"queries.{key}.{place}": item.line for place, item in enumerate(node.items)}
        found = [read(item) for item in node.items]
        return tuple(one for one in found if one is not None)

    def _named(self, node: Node) -> Named | None:
        fields = self.fields(node, NAMED_KEYS, "a named query")
        if fields is None:
            return None
        read = {key: self.text(part, key) for key, part in fields.items()}
        if set(read) == {"column", "category"} and read["column"]:
            return Named(read["column"], read["category"])
        for statistic in ("mean", "sum"):
            if set(read) == {statistic} and (column := read[statistic]):
                return Named(column, total=statistic == "sum")
        self.note(node.line, "a named query is {column, category} or {mean: column} or {sum: column}")
        return None

    def _custom(self, node: Node) -> Custom | None:
        fields = self.fields(node, CUSTOM_KEYS, "a custom query")
        if fields is None:
            return None
        name = self.optional(fields, "name", lambda part: self.text(part, "name"))
        if name is not None and not is_well_named(name):
            self.note(fields["name"].line, f"name '{name[:70]}' must be letters, digits and _, no digit first")
            return None
        where = self.optional(fields, "where", self._conditions)
        mean = self.optional(fields, "mean", lambda part: self.text(part, "mean"))
        total = self.optional(fields, "sum", lambda part: self.text(part, "sum"))
        label = self.optional(fields, "label", lambda part: self.text(part, "label"))
        if mean and total:
            self.note(node.line, "a custom query asks for a mean or a sum, not both; write two")
        return Custom(name, where, mean, label, total) if name and where else None

    def _conditions(self, node: Node) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
        if not isinstance(node, MappingNode) or not node.entries:
            self.note(node.line, "where is a mapping of columns to codes, such as {smoking: [1, 2]}")
            return None
        read = [(key.text, self.texts(value, f"codes of '{key.text[:40]}'")) for key, value in node.entries]
        if any(codes == () for _, codes in read):
            self.note(node.line, "a condition names at least one code")
        return tuple((name, codes) for name, codes in read if codes)

    # Words and numbers.

    def _epsilons(self, node: Node) -> tuple[Decimal, ...] | None:
        items = node.items if isinstance(node, SequenceNode) else (node,)
        found = [self._exact(item, "epsilon") for item in items]
        known = tuple(number for number in found if number is not None)
        if not 1 <= len(items) <= MOST_EPSILONS or len(set(known)) < len(known):
            self.note(node.line, f"epsilon is a list of 1 to {MOST_EPSILONS} different numbers")
        if any(number > LARGEST_EPSILON for number in known):
            self.note(node.line, f"epsilon is at most {LARGEST_EPSILON}: beyond it nothing is hidden")
        return known

    def _sizes(self, node: Node) -> tuple[int, ...]:
        items = node.items if isinstance(node, SequenceNode) else (node,)
        found = [self._whole(item, "rows", 1, MOST) for item in items]
        if not 1 <= len(items) <= MOST_SIZES or len(set(found)) < len(found):
            self.note(node.line, f"rows is a list of 1 to {MOST_SIZES} different numbers of respondents")
        return tuple(sorted(size for size in found if size is not None))

    def _metrics(self, node: Node) -> tuple[str, ...]:
        items = node.items if isinstance(node, SequenceNode) else (node,)
        found = [self._among(item, "metrics", METRICS) for item in items]
        return tuple(name for name in METRICS if name in found)

    def _names(self, node: Node, what: str) -> tuple[str, ...] | None:
        names = self.texts(node, what)
        if names is not None and isinstance(node, SequenceNode):
            if len(set(names)) < len(names):
                self.note(node.line, f"{what} names something twice")
            self.lines |= {f"{what}.{name}": item.line for name, item in zip(names, node.items, strict=True)}
        return names

    def _among(self, node: Node, what: str, allowed: Iterable[str]) -> str | None:
        text, words = self.text(node, what), tuple(allowed)
        if text is None or text in words:
            return text
        guess = nearest(text, words)
        hint = f"; did you mean '{guess}'?" if guess else ""
        self.note(node.line, f"{what} must be {' or '.join(words)}; '{text[:40]}' came{hint}")
        return None

    def _whole(self, node: Node, what: str, low: int, high: int) -> int | None:
        number = self.number(node, what)
        if number is None:
            return None
        if number % 1 or not low <= number <= high:
            self.note(node.line, f"{what} must be a whole number from {low:,} to {high:,}")
            return None
        return int(number)

    def _exact(self, node: Node, what: str, *, below: int | None = None, zero: bool = False) -> Decimal | None:
        number = self.number(node, what)
        if number is None:
            return None
        try:
            return exact(number, parameter=what, below=below, zero=zero)
        except ParameterInvalid as error:
            self.note(node.line, error.message)
            return None
