"""Reports as they arrive: untrusted lines of JSON, checked one by one, refused and counted by reason.

A line is taken whole or not at all. Whatever it holds, reading goes on: nobody can stop a collection with a line.
Copies of one line count once, so that replaying a line does nothing; two different lines under one mark are both
refused, because nothing tells which of them is the respondent's.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.cards import Column
from discreet.catalogue import Phrase, say
from discreet.collect.estimates.estimators.sums import LARGEST_ROWS
from discreet.collect.reporting.assignment import randomiser_for
from discreet.collect.reporting.manifest import Manifest, Missing, WeightScale
from discreet.collect.reporting.signing import SignedManifest
from discreet.errors import FileRefused, PathInvalid
from discreet.paths import open_regular, tell_reason

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

__all__ = ["LINE_LIMIT", "REASONS", "AcceptedReports", "QuestionReports", "Refusal", "read_collected"]

LINE_LIMIT: Final = 1 << 17

_DECODER: Final = json.JSONDecoder()
_GZIP: Final = b"\x1f\x8b"
_MARK: Final = re.compile(r"[0-9a-f]{32}")


class Refusal(StrEnum):
    """Why a line was not taken, in the order of the checks."""

    TOO_LONG = "line too long"
    NOT_JSON = "not JSON"
    WRONG_FIELDS = "wrong fields"
    OTHER_SURVEY = "another survey"
    OTHER_VERSION = "another version"
    OTHER_MANIFEST = "another manifest"
    BAD_MARK = "respondent mark malformed"
    BAD_GROUP = "group outside its categories"
    BAD_WEIGHT = "weight outside its range"
    UNKNOWN_QUESTION = "unknown question"
    WRONG_NUMBER = "wrong number of questions"
    OUT_OF_DOMAIN = "report out of domain"
    COPY = "copy of a line already taken"
    CONFLICT = "different lines under one respondent"
    CLEAR = "respondent also answered in clear"


REASONS: Final = {
    Refusal.TOO_LONG: Phrase("line too long"),
    Refusal.NOT_JSON: Phrase("not JSON"),
    Refusal.WRONG_FIELDS: Phrase("wrong fields"),
    Refusal.OTHER_SURVEY: Phrase("another survey"),
    Refusal.OTHER_VERSION: Phrase("another version"),
    Refusal.OTHER_MANIFEST: Phrase("another manifest"),
    Refusal.BAD_MARK: Phrase("respondent mark malformed"),
    Refusal.BAD_GROUP: Phrase("group outside its categories"),
    Refusal.BAD_WEIGHT: Phrase("weight outside its range"),
    Refusal.UNKNOWN_QUESTION: Phrase("unknown question"),
    Refusal.WRONG_NUMBER: Phrase("wrong number of questions"),
    Refusal.OUT_OF_DOMAIN: Phrase("report out of domain"),
    Refusal.COPY: Phrase("copy of a line already taken"),
    Refusal.CONFLICT: Phrase("different lines under one respondent"),
    Refusal.CLEAR: Phrase("respondent also answered in clear"),
}


@dataclass(frozen=True, slots=True, eq=False)
class QuestionReports:
    """The reports on one question: `rows` are the places of their respondents; `absent` are missing in public."""

    reports: NDArray[Any]
    rows: NDArray[int64]
    absent: NDArray[int64]


@dataclass(frozen=True, slots=True, eq=False)
class AcceptedReports:
    """The lines that were taken, one respondent each, and how many were refused for which reason."""

    marks: tuple[str, ...]
    groups: Mapping[str, NDArray[int64]]
    weights: NDArray[int64]
    questions: Mapping[str, QuestionReports]
    refused: Mapping[Refusal, int]

    @property
    def respondents(self) -> int:
        return len(self.marks)


def read_collected(file: Path, signed: SignedManifest, *, clear: frozenset[str] = frozenset()) -> AcceptedReports:
    """Every line of a file of reports; `clear` holds the marks of respondents who answered in clear as well.

    A file without any report is an error: nothing could be estimated from it.
    """
    lines = _Lines(signed)
    for line in _read_lines(file):
        refusal = lines.take(line)
        if refusal is not None:
            lines.refused[refusal] += 1
    collected = lines.settle(clear)
    if not collected.respondents and Refusal.CLEAR not in collected.refused:
        raise _no_reports(file, signed, collected)
    return collected


def _no_reports(file: Path, signed: SignedManifest, collected: AcceptedReports) -> FileRefused:
    reasons = "; ".join(
        say("{reason}: {count:,}", reason=REASONS[reason], count=count) for reason, count in collected.refused.items()
    )
    if reasons:
        fault = say(
            "'{name}' holds no reports, so there is nothing to estimate: none of its lines is a report of survey "
            "'{survey}' ({reasons}). Give the file that `discreet local encode` wrote with this manifest, or wait for "
            "the first reports.",
            name=file.name,
            survey=signed.manifest.survey,
            reasons=reasons,
        )
    else:
        fault = say(
            "'{name}' holds no reports, so there is nothing to estimate: it is empty. Give the file that "
            "`discreet local encode` wrote with this manifest, or wait for the first reports.",
            name=file.name,
        )
    return FileRefused(fault, file=file.name)


def _read_lines(file: Path) -> Iterator[bytes | None]:
    """The lines without their ends, None for one that is too long; blank ones are passed over."""
    count = 0
    try:
        with open_regular(file) as stream:
            if stream.peek(2)[:2] == _GZIP:
                raise FileRefused(
                    say("'{name}' is compressed; unpack it first, as with gunzip.", name=file.name), file=file.name
                )
            while line := stream.readline(LINE_LIMIT + 1):
                if len(line) > LINE_LIMIT and not line.endswith(b"\n"):
                    while (rest := stream.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
                        pass
                    yield None
                elif stripped := line.strip():
                    yield stripped
                count += 1
                if count > LARGEST_ROWS:
                    raise FileRefused(
                        say(
                            "'{name}' has more than {most:,} lines; estimate parts of it.",
                            name=file.name,
                            most=LARGEST_ROWS,
                        ),
                        file=file.name,
                    )
    except OSError as error:
        raise PathInvalid(
            say("'{name}' cannot be read: {reason}.", name=file.name, reason=tell_reason(error)), path=str(file)
        ) from None


@dataclass(slots=True)
class _Pile:
    """The raw reports on one question, with the line each came from."""

    values: list[object] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)
    takes_absent: bool = False


class _Lines:
    """Checks lines against a manifest and keeps those that pass."""

    def __init__(self, signed: SignedManifest) -> None:
        manifest = signed.manifest
        self._manifest: Manifest = manifest
        self._mark = signed.mark
        self._fields = {"survey", "version", "manifest", "respondent", "reports"}
        self._fields |= ({"groups"} if manifest.groups else set()) | ({"weight"} if manifest.weight else set())
        self._codes = {group.name: _places(group) for group in manifest.groups}
        self._caps = None if manifest.weight is None else _caps(manifest.weight, manifest)
        self._classes: list[frozenset[int]] = []
        if manifest.weight is not None and self._caps is not None and manifest.weight.classes is not None:
            self._classes = [frozenset({0, *manifest.weight.class_steps(cap)}) for cap in self._caps[1]]
        self._piles = {
            question.name: _Pile(takes_absent=question.missing is Missing.PUBLIC) for question in manifest.questions
        }
        self._marks: list[str] = []
        self._lines: list[bytes] = []
        self._groups: dict[str, list[int]] = {group.name: [] for group in manifest.groups}
        self._weights: list[int] = []
        self.refused: Counter[Refusal] = Counter()

    def take(self, line: bytes | None) -> Refusal | None:
        """Keep the line, or say why not."""
        if line is None:
            return Refusal.TOO_LONG
        try:
            text = line.decode("utf-8")
            found, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return Refusal.NOT_JSON
        if end != len(text):
            return Refusal.NOT_JSON
        refusal = self._opening(found)
        if refusal is not None:
            return refusal
        places = self._labels(found.get("groups", {}))
        if places is None:
            return Refusal.BAD_GROUP
        weight = self._weight(found.get("weight", 1), places)
        if weight is None:
            return Refusal.BAD_WEIGHT
        refusal = self._reports(found["reports"])
        if refusal is not None:
            return refusal
        row = len(self._marks)
        self._marks.append(found["respondent"])
        self._lines.append(line)
        self._weights.append(weight)
        for name, index in places.items():
            self._groups[name].append(index)
        for name, value in found["reports"].items():
            pile = self._piles[name]
            if value is None:
                pile.absent.append(row)
            else:
                pile.values.append(value)
                pile.rows.append(row)
        return None

    def _opening(self, found: Any) -> Refusal | None:
        if not isinstance(found, dict) or found.keys() != self._fields:
            return Refusal.WRONG_FIELDS
        manifest, version, mark = self._manifest, found["version"], found["respondent"]
        if found["survey"] != manifest.survey:
            return Refusal.OTHER_SURVEY
        if type(version) is not int or version != manifest.version:
            return Refusal.OTHER_VERSION
        if found["manifest"] != self._mark:
            return Refusal.OTHER_MANIFEST
        if not isinstance(mark, str) or _MARK.fullmatch(mark) is None:
            return Refusal.BAD_MARK
        return None

    def _labels(self, labels: Any) -> dict[str, int] | None:
        if not isinstance(labels, dict) or labels.keys() != self._codes.keys():
            return None
        indices: dict[str, int] = {}
        for name, code in labels.items():
            index = self._codes[name].get(code) if isinstance(code, str) else None
            if index is None:
                return None
            indices[name] = index
        return indices

    def _weight(self, weight: Any, indices: Mapping[str, int]) -> int | None:
        if type(weight) is not int:
            return None
        if self._caps is None:
            return weight
        by, caps = self._caps
        index = indices[by] if by else 0
        if self._classes and weight not in self._classes[index]:
            return None
        return weight if 0 <= weight <= caps[index] else None

    def _reports(self, reports: Any) -> Refusal | None:
        if not isinstance(reports, dict) or not reports.keys() <= self._piles.keys():
            return Refusal.UNKNOWN_QUESTION
        if len(reports) != self._manifest.asked:
            return Refusal.WRONG_NUMBER
        if None in reports.values():
            absent = (name for name, value in reports.items() if value is None)
            if not all(self._piles[name].takes_absent for name in absent):
                return Refusal.OUT_OF_DOMAIN
        return None

    def settle(self, clear: frozenset[str]) -> AcceptedReports:
        """Domains of the reports, then copies and conflicts among what is left."""
        kept = np.ones(len(self._marks), dtype=np.bool_)
        drawn: dict[str, tuple[NDArray[Any], NDArray[int64]]] = {}
        for question in self._manifest.questions:
            pile = self._piles[question.name]
            reports, valid = randomiser_for(question).read_reports(pile.values)
            rows = np.array(pile.rows, dtype=np.int64)
            kept[rows[~valid]] = False
            drawn[question.name] = (reports, rows)
        self.refused[Refusal.OUT_OF_DOMAIN] += int(np.count_nonzero(~kept))
        self._settle_marks(kept, clear)
        index = np.cumsum(kept) - 1
        questions = {}
        for name, (reports, rows) in drawn.items():
            absent = np.array(self._piles[name].absent, dtype=np.int64)
            stays = kept[rows]
            questions[name] = QuestionReports(reports[stays], index[rows[stays]], index[absent[kept[absent]]])
        return AcceptedReports(
            marks=tuple(mark for mark, stays in zip(self._marks, kept.tolist(), strict=True) if stays),
            groups={name: np.array(codes, dtype=np.int64)[kept] for name, codes in self._groups.items()},
            weights=np.array(self._weights, dtype=np.int64)[kept],
            questions=questions,
            refused={reason: self.refused[reason] for reason in Refusal if self.refused[reason]},
        )

    def _settle_marks(self, kept: NDArray[bool_], clear: frozenset[str]) -> None:
        first: dict[str, int] = {}
        conflicts: set[str] = set()
        for row in np.flatnonzero(kept).tolist():
            mark = self._marks[row]
            if mark in clear:
                kept[row] = False
                self.refused[Refusal.CLEAR] += 1
                continue
            earlier = first.setdefault(mark, row)
            if earlier == row:
                continue
            kept[row] = False
            if self._lines[row] == self._lines[earlier]:
                self.refused[Refusal.COPY] += 1
            else:
                conflicts.add(mark)
                self.refused[Refusal.CONFLICT] += 1
        for mark in conflicts:
            kept[first[mark]] = False
            self.refused[Refusal.CONFLICT] += 1


def _places(group: Column) -> dict[str, int]:
    return {category.code: index for index, category in enumerate(group.categories)}


def _caps(weight: WeightScale, manifest: Manifest) -> tuple[str, list[int]]:
    """The group that decides the cap, or no group, and the caps in steps by its positions."""
    by = weight.rule.by
    if by is None:
        return "", [weight.largest_steps]
    return by, [weight.cap_steps(category.code) for category in manifest.group(by).categories]
