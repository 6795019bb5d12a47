"""Spellings of earlier releases: understood, and said to be old.

`discreet table` once had four lives: releasing, explaining, comparing and examining, and a bootstrap method. What did
nothing in one of them is left out; what was refused is refused.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from discreet.catalogue import say
from discreet.errors import UsageError

__all__ = ["translate"]

_OLD: Final = frozenset(
    [
        "--compare",
        "--examine",
        "--explain",
        "--method",
        "--bootstrap-method",
        "--no-margins",
        "--margin",
        "--no-missing",
        "--heat-map",
        "--bars",
        "--custodian",
        "--trials",
        "--gamma",
        "--pool",
        "--pool-kind",
        "--membership-public",
    ]
)
_FLAGS: Final = frozenset(
    [
        "--mean",
        "--weighted",
        "--no-margins",
        "--no-missing",
        "--explain",
        "--compare",
        "--examine",
        "--membership-public",
        "--custodian",
        "--fresh",
        "--yes",
        "-y",
        "--help",
    ]
)
_SPELT: Final = {
    "--no-margins": ("--margins", "none"),
    "--no-missing": ("--leave-out", "missing"),
    "--margin": ("--margins", ""),
    "--heat-map": ("--out", "heat-map="),
    "--bars": ("--out", "bars="),
    "--bootstrap-method": ("--method", ""),
}
_ASKING: Final = [
    "--yes",
    "-y",
    "--request-id",
    "--level",
    "--fresh",
    "--lang",
    "--noise",
    "--suppress-above",
    "--calibrate",
    "--sampling",
]
_FILES: Final = ("--out", "--heat-map", "--bars")
_BOOTSTRAP: Final = ("--bootstrap-method", "--membership-public", "--pool", "--pool-kind", "--gamma")
# What each command of today leaves out, because it did nothing there.
_IDLE: Final = {
    ("table",): frozenset(("--trials", "--gamma", "--custodian", "--pool-kind")),
    ("table", "explain"): frozenset(
        ("--trials", "--gamma", "--custodian", "--pool-kind", "--yes", "-y", "--request-id", *_FILES)
    ),
    ("lab", "compare"): frozenset((*_ASKING, *_BOOTSTRAP)),
    ("lab", "examine"): frozenset((*_ASKING, *_FILES, "--trials", "--bootstrap-method")),
    ("lab", "bootstrap"): frozenset(("--level", "--trials", "--gamma", "--custodian")),
}

Word = tuple[str, str | None]
"""An option with its value, a flag with None, or '' with a positional argument."""


def translate(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """The words of a command as they are written today, and a sentence where they were written otherwise."""
    match list(arguments):
        case ["table", *rest]:
            today = _table(rest)
        case ["query", *rest]:
            today = _query(rest)
        case _:
            return list(arguments), None
    if today == list(arguments):
        return today, None
    written = [name for name, _ in _read(arguments[1:]) if name.startswith("--")]
    changed = next((name for name in written if name in _OLD or name not in today), "")
    old = f"{arguments[0]} {changed}".strip()
    remark = say("'discreet {old}' is an old spelling. Today it is: discreet {today}", old=old, today=shlex.join(today))
    return today, remark


def _read(arguments: Sequence[str], *, dataset: bool = False) -> Iterator[Word]:
    """Options with their values, whether they are written `--name value` or `--name=value`.

    `dataset` says whether the dataset was named before.
    """
    left = list(arguments)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            yield from (("--", argument) for argument in left)
            return
        if not word.startswith("-") or word == "-":
            dataset = True
            yield "", word
        elif name in _FLAGS or (name == "--margins" and not equals and not _is_margins(left, dataset)):
            yield name, None
        elif name.startswith("--") and equals:
            yield name, value
        elif name.startswith("--") or len(word) == 2:
            yield word, left.pop(0) if left else None
        else:
            yield word, None  # -wDIR


def _is_margins(left: Sequence[str], dataset: bool) -> bool:
    """Whether `--margins` has a value, as today; it was a flag, and what follows a flag may be the dataset."""
    if not left or left[0].startswith("-"):
        return False
    return left[0] in {"all", "none", "total"} or dataset or any(not name for name, _ in _read(left[1:], dataset=True))


def _write(words: Sequence[Word]) -> Iterator[str]:
    ended = False
    for name, value in words:
        if name and not ended:
            ended = name == "--"
            yield name
        if value is not None:
            yield value


def _table(arguments: Sequence[str]) -> list[str]:
    if arguments[:1] == ["explain"]:
        return ["table", *arguments]
    words = list(_read(arguments))
    if not any(name in _OLD or (name == "--margins" and value is None) for name, value in words):
        return ["table", *arguments]
    command, given = _life(words), dict(words)
    if command[0] == "table" and given.get("--bootstrap-method", "i") != "i":
        raise UsageError(say("--bootstrap-method does not go with --method dp. Nothing was released or charged."))
    idle = _IDLE[command] | {"--bootstrap-method"} if command[0] == "table" else _IDLE[command]
    if command == ("table", "explain") and given.get("--format") != "json":
        idle |= {"--format"}
    today: list[Word] = []
    for name, value in words:
        if _is_said(name, value) or name in idle:
            continue
        spelt, before = _SPELT.get(name, (name, ""))
        today.append((spelt, before + (value or "") if before or value is not None else None))
    return [*command, *_write(today)]


def _is_said(name: str, value: str | None) -> bool:
    """Whether the command's own name says it today, or its absence."""
    return (
        name in {"--compare", "--examine", "--explain"}
        or (name == "--method" and value in {"dp", "bootstrap"})
        or (name == "--margins" and value is None)
    )


def _life(words: Sequence[Word]) -> tuple[str, ...]:
    """The command of today that does what these words asked for."""
    names, bootstrap = {name for name, _ in words}, ("--method", "bootstrap") in words
    if "--compare" in names:
        return "lab", "compare"
    if "--examine" in names:
        return "lab", "examine"
    if bootstrap and "--explain" in names:
        raise UsageError(
            say(
                "--explain does not go with --method bootstrap. 'discreet lab examine --custodian' shows what it "
                "would do. Nothing was released or charged."
            )
        )
    if bootstrap:
        return "lab", "bootstrap"
    return ("table", "explain") if "--explain" in names else ("table",)


def _query(arguments: Sequence[str]) -> list[str]:
    words = list(_read(arguments))
    strategies = [value for name, value in words if name == "--strategy"]
    if not strategies:
        return ["query", *arguments]
    if strategies[-1] != "public":
        return ["lab", "ask", *_write(words)]
    return ["query", *_write([(name, value) for name, value in words if name != "--strategy"])]
