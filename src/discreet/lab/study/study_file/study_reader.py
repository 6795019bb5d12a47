"""From the YAML of a study to a `StudyConfig`, as strictly as cards are read: every problem with its line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

from discreet.cards import (
    MappingNode,
    Node,
    Record,
    ScalarNode,
    SchemaReader,
    SequenceNode,
    normal_text,
    parse_yaml,
    read_yaml_text,
)
from discreet.catalogue import say
from discreet.errors import StudyInvalid
from discreet.lab.study.study_file.study_config import (
    DEFAULT_MODELS,
    DEFAULT_SHARES,
    METRICS,
    MODELS,
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
from discreet.lab.study.study_file.study_schema import STUDY

__all__ = ["parse_study", "read_study"]

# Whose mechanism is the noise that a custodian adds.
_NOISY: Final = ("central", "table")
_NAIVE: Final = tuple(name for name in MODELS["naive"] if name != "all")


def read_study(path: Path) -> StudyConfig:
    """The study in a file, or StudyInvalid with every problem."""
    return parse_study(read_yaml_text(path, sort="study", invalid=StudyInvalid), file=path.name)


def parse_study(text: str, *, file: str) -> StudyConfig:
    """The study in a text; `file` is the name that messages show."""
    root = parse_yaml(text, file=file, invalid=StudyInvalid)
    reader = SchemaReader()
    built = _build_study(reader, reader.read_file(STUDY, root))
    reader.settle(file=file, invalid=StudyInvalid)
    return StudyConfig(**built, file=file, text=text, lines=dict(_find_lines(root)))


def _build_study(reader: SchemaReader, found: Record) -> dict[str, Any]:
    """What the study's file says, by the names of `StudyConfig`; what it does not say is left out."""
    rows = found["rows"]
    built = {
        "study": found["study"],
        "title": found["title"] or found["study"],
        "data": _build_data(reader, found),
        "multiplier": found["weights"] and found["weights"]["multiplier"],
        "models": _build_models(reader, found),
        "rows": rows and tuple(sorted(rows)),
        "queries": found["queries"] and _build_questions(reader, found["queries"]),
        "metrics": _in_order(found["metrics"]),
    }
    same = "strata static columns epsilon epsilon_is delta neighbours runs level figures seed"
    built |= {name: found[name] for name in same.split()}
    return {name: value for name, value in built.items() if value is not None}


def _in_order(metrics: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if metrics is None else tuple(name for name in METRICS if name in metrics)


def _find_lines(node: Node, path: str = "") -> Iterator[tuple[str, int]]:
    """Where each part stands, by its dotted path; words of a list by themselves, other items by their number."""
    parts: list[tuple[str, Node]] = []
    if isinstance(node, MappingNode):
        parts = [(key.text, part) for key, part in node.entries]
    elif isinstance(node, SequenceNode):
        words = [normal_text(item.text) if isinstance(item, ScalarNode) else "" for item in node.items]
        parts = [(word or str(index), item) for index, (word, item) in enumerate(zip(words, node.items, strict=True))]
    for name, part in parts:
        yield f"{path}{name}", part.line
        yield from _find_lines(part, f"{path}{name}.")


def _build_data(reader: SchemaReader, found: Record) -> SampleData | FileData | WorkspaceData | None:
    if ("sample" in found) == ("dataset" in found):
        line = found.nodes["dataset"].line if "dataset" in found else found.node.line
        reader.note(line, say("a study has exactly one of sample and dataset"))
        return None
    if "sample" in found:
        return SampleData(**found["sample"].values) if found["sample"].whole else None
    given: Record = found["dataset"]
    if not given.whole:
        return None
    if set(given.nodes) == {"card", "file"}:
        return FileData(given["card"], given["file"])
    if set(given.nodes) == {"workspace", "name"}:
        return WorkspaceData(given["workspace"], given["name"])
    reader.note(given.node.line, say("dataset is {{card, file}} or {{workspace, name}}"))
    return None


# --- models ---------------------------------------------------------------------------------------------------------


def _build_models(reader: SchemaReader, found: Record) -> tuple[ModelChoice, ...] | None:
    noise = found["noise"] or ()
    node = found.nodes.get("models")
    if node is None:
        central = tuple(ModelChoice("central", mechanism=name) for name in noise)
        return (central or DEFAULT_MODELS[:1]) + DEFAULT_MODELS[1:]
    if found["models"] is None or not isinstance(node, SequenceNode):
        return None
    choices: dict[ModelChoice, None] = {}
    for item, part in zip(found["models"], node.items, strict=True):
        for choice in _list_variants(reader, item, noise):
            if choice in choices:
                reader.note(part.line, say("model '{model}' is listed twice with the same choices", model=choice.model))
            choices[choice] = None
    if noise and not any(choice.model in _NOISY for choice in choices):
        reader.note(node.line, say("noise is for models central and table, which are not among the models"))
    return tuple(choices)


def _list_variants(reader: SchemaReader, item: Record | str, noise: tuple[str, ...]) -> list[ModelChoice]:
    """One choice for each combination of what the lists of a model hold, in the order of the file."""
    lists: dict[str, tuple[Any, ...]] = {}
    name: str | None = item["model"] if isinstance(item, Record) else item
    if name is None:
        return []
    if isinstance(item, Record):
        if "noise" in item and "mechanism" in item:
            line = item.nodes["noise"].line
            reader.note(line, say("noise and mechanism of {model} are the same thing; give one of them", model=name))
        for key in item.nodes:
            if key != "model" and item[key] is not None:
                lists["mechanism" if key == "noise" else key] = item[key]
        if "selection" in lists:
            lists["selection"] = tuple(_build_selection(reader, part) for part in lists["selection"]) or (None,)
    if name == "naive" and lists.get("mechanism", ("all",)) == ("all",):
        lists["mechanism"] = _NAIVE
    if name in _NOISY and noise:
        lists.setdefault("mechanism", noise)
    if name == "hybrid":
        lists.setdefault("share", DEFAULT_SHARES)
    return [ModelChoice(name, **dict(zip(lists, values, strict=True))) for values in product(*lists.values())]


def _build_selection(reader: SchemaReader, found: Record | str) -> Selection | None:
    if not isinstance(found, Record):
        return None
    if found.whole and ("codes" in found) == ("above" in found):
        reader.note(found.node.line, say("a selection is {{column, codes, times}} or {{column, above, times}}"))
    return Selection(found["column"], found["times"], found["codes"] or (), found["above"]) if found.whole else None


# --- queries --------------------------------------------------------------------------------------------------------


def _build_questions(reader: SchemaReader, found: Record) -> Questions:
    named = [_build_named(reader, item) for item in found["named"] or ()]
    custom = [_build_custom(reader, item) for item in found["custom"] or ()]
    return Questions(
        categories=found["categories"] == "all",
        means=found["means"] == "all",
        sums=found["sums"] == "all",
        named=tuple(query for query in named if query is not None),
        custom=tuple(query for query in custom if query is not None),
    )


def _build_named(reader: SchemaReader, found: Record) -> Named | None:
    if not found.whole:
        return None
    if set(found.nodes) == {"column", "category"}:
        return Named(found["column"], found["category"])
    for statistic in ("mean", "sum"):
        if set(found.nodes) == {statistic}:
            return Named(found[statistic], total=statistic == "sum")
    reader.note(found.node.line, say("a named query is {{column, category}} or {{mean: column}} or {{sum: column}}"))
    return None


def _build_custom(reader: SchemaReader, found: Record) -> Custom | None:
    if found["mean"] and found["sum"]:
        reader.note(found.node.line, say("a custom query asks for a mean or a sum, not both; write two"))
    if not found.whole:
        return None
    where = tuple((entry.name, entry.value) for entry in found["where"])
    return Custom(found["name"], where, found["mean"], found["label"], found["sum"])
