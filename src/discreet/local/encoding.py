"""From answers to reports: every answer is randomised here, once, and only reports leave.

Guarantee: local DP, at most the manifest's total epsilon for each respondent over all questions together.
Requires:  each respondent is encoded once; a second draw on the same answers costs the same again.
Proof:     docs/proofs/local-estimates.md (sharing epsilon); one note per randomiser.
Refs:      docs/local.md states the lines as they are written.

Draws come from the operating system; there is no seed and no way to give one. Lines are written in a random order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from discreet.errors import PathInvalid, Refused
from discreet.local.answers import ABSENT, Answers, mark_of_token, read_answers
from discreet.local.assignment import randomiser_for
from discreet.local.manifest import Manifest, Missing, Question
from discreet.local.randomiser import Report
from discreet.local.sampling import Plan
from discreet.local.signing import SignedManifest
from discreet.noise.entropy import SystemEntropy

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

__all__ = ["Encoding", "encode_answers", "encode_file", "record_of"]

_MARK_BYTES: Final = 16
_CHUNK: Final = 50_000
_JSON: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Encoding:
    """What was written: how many respondents, where, and the record that keeps the answers from a second draw."""

    respondents: int
    out: Path
    record: Path


def record_of(answers: Path) -> Path:
    """The small file beside the answers that says they were encoded. It holds nothing about them."""
    return answers.with_name(f"{answers.name}.encoded")


def encode_file(signed: SignedManifest, answers: Path, *, out: Path) -> Encoding:
    """Randomise every answer of a file and write the reports, all or nothing, once."""
    record = record_of(answers)
    _refuse_second_draw(answers, record, out)
    read = read_answers(answers, signed.manifest)
    partial = out.with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        with partial.open("x", encoding="utf-8", newline="\n") as stream:
            for lines in encode_answers(signed, read):
                stream.write(lines)
            stream.flush()
            os.fsync(stream.fileno())
        # the record comes first: if the machine stops between the two, answers stay locked rather than drawn twice
        _write_record(record, signed, out)
        partial.rename(out)
    except OSError as error:
        raise PathInvalid(f"'{out.name}' cannot be written: {error.strerror}.", path=str(out)) from None
    finally:
        partial.unlink(missing_ok=True)
    return Encoding(read.respondents, out, record)


def encode_answers(signed: SignedManifest, answers: Answers) -> Iterator[str]:
    """The lines of all reports, some thousands at a time. Each call is a new draw: see `encode_file`."""
    manifest, count = signed.manifest, answers.respondents
    marks, order = _marks(signed, answers)
    asked = Plan(epsilon=manifest.epsilon, columns=len(manifest.questions), asked=manifest.asked).draw(
        SystemEntropy(), respondents=count
    )
    columns = [
        _report_fragments(question, answers.positions[question.name][order], asked[:, place])
        for place, question in enumerate(manifest.questions)
    ]
    reports = columns[0] if len(columns) == 1 else [",".join(filter(None, row)) for row in zip(*columns, strict=True)]
    head, labels = _head(signed), _label_fragments(manifest, answers, order)
    for start in range(0, count, _CHUNK):
        part = slice(start, start + _CHUNK)
        yield "".join(
            [
                f'{head}{mark}"{label},"reports":{{{report}}}}}\n'
                for mark, label, report in zip(marks[part], labels[part], reports[part], strict=True)
            ]
        )


# --- fragments of lines ---------------------------------------------------------------------------------------------


def _head(signed: SignedManifest) -> str:
    manifest = signed.manifest
    opening = {"survey": manifest.survey, "version": manifest.version, "manifest": signed.mark}
    return f'{_JSON.encode(opening)[:-1]},"respondent":"'


def _marks(signed: SignedManifest, answers: Answers) -> tuple[list[str], NDArray[int64]]:
    """A mark for each line, and the order in which respondents are written: one that tells nothing of the file's."""
    entropy, count = SystemEntropy(), answers.respondents
    keys = np.frombuffer(entropy.read(8 * count), dtype=np.uint64)
    order = np.argsort(keys, kind="stable").astype(np.int64)
    if answers.tokens:
        return [mark_of_token(signed.digest, answers.tokens[place]) for place in order], order
    digits, width = entropy.read(_MARK_BYTES * count).hex(), 2 * _MARK_BYTES
    return [digits[start : start + width] for start in range(0, width * count, width)], order


def _report_fragments(question: Question, positions: NDArray[int64], asked: NDArray[bool_]) -> list[str]:
    """'"name":report' for those asked, '"name":null' for a missing answer that is public, else nothing."""
    name = _JSON.encode(question.name)
    public = (positions == ABSENT) & (question.missing is Missing.PUBLIC)
    drawn = np.flatnonzero(asked & ~public)
    randomiser = randomiser_for(question)
    reports = randomiser.write_reports(randomiser.randomise(SystemEntropy(), positions[drawn]))
    written = [f"{name}:{value}" for value in _values(reports)]
    if drawn.size == positions.size:
        return written
    fragments = [""] * positions.size
    for place in np.flatnonzero(asked & public).tolist():
        fragments[place] = f"{name}:null"
    for place, fragment in zip(drawn.tolist(), written, strict=True):
        fragments[place] = fragment
    return fragments


def _values(reports: Sequence[Report]) -> Iterator[str]:
    """Each report as JSON. Thousands are encoded at once and cut apart where one ends, which no report's text holds."""
    for start in range(0, len(reports), _CHUNK):
        part = reports[start : start + _CHUNK]
        text = _JSON.encode(part)
        if isinstance(part[0], list):
            yield from (f"[{inner}]" for inner in text[2:-2].split("],["))
        else:
            yield from text[1:-1].split(",")


def _label_fragments(manifest: Manifest, answers: Answers, order: NDArray[int64]) -> list[str]:
    """The public part of each line: groups and weight."""
    parts: list[list[str]] = []
    for place, group in enumerate(manifest.groups):
        opening = ',"groups":{' if place == 0 else ","
        closing = "}" if place == len(manifest.groups) - 1 else ""
        name = _JSON.encode(group.name)
        labels = [f"{opening}{name}:{_JSON.encode(category.code)}{closing}" for category in group.categories]
        parts.append([labels[position] for position in answers.groups[group.name][order].tolist()])
    if manifest.weight is not None:
        parts.append([f',"weight":{steps}' for steps in answers.weights[order].tolist()])
    return ["".join(row) for row in zip(*parts, strict=True)] if parts else [""] * answers.respondents


# --- one draw only --------------------------------------------------------------------------------------------------


def _refuse_second_draw(answers: Path, record: Path, out: Path) -> None:
    if record.exists():
        raise Refused(
            f"'{answers.name}' was encoded before ('{record.name}' says where to). A second draw on the same answers "
            "costs every respondent the same epsilon again, so none is made: send the first reports. Only if they "
            f"never left this machine, delete them and '{record.name}', and encode again.",
            record=record.name,
        )
    if out.exists():
        raise PathInvalid(f"'{out.name}' exists; reports are never overwritten. Choose another --out.", path=str(out))


def _write_record(record: Path, signed: SignedManifest, out: Path) -> None:
    manifest = signed.manifest
    said = {"survey": manifest.survey, "version": manifest.version, "manifest": signed.digest, "reports": out.name}
    with record.open("x", encoding="utf-8") as stream:
        stream.write(json.dumps(said, indent=1) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
