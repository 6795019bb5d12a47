"""From answers to reports: every answer is randomised here, once, and only reports leave.

Guarantee: local DP, at most the manifest's total epsilon for each respondent over all questions together.
Requires:  each respondent is encoded once; a second draw on the same answers costs the same again.
Proof:     docs/proofs/local-estimates.md (sharing epsilon); one note per randomiser.
Refs:      docs/local.md states the lines as they are written.

Draws come from the operating system; there is no seed and no way to give one. Lines are written in a random order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import say
from discreet.collect.estimates.column_sampling import SamplingPlan
from discreet.collect.reporting.answers import ABSENT, GivenAnswers, mark_of_token, read_answers
from discreet.collect.reporting.assignment import randomiser_for
from discreet.collect.reporting.lines import close_up, place_side_by_side, write_numbers, write_texts, write_values
from discreet.collect.reporting.manifest import Manifest, Missing, SurveyQuestion
from discreet.collect.reporting.signing import SignedManifest
from discreet.collect.reporting.weight_steps import draw_classes
from discreet.errors import PathInvalid, Refused
from discreet.files import write_whole
from discreet.noise import SystemEntropy
from discreet.paths import tell_reason

if TYPE_CHECKING:
    from numpy import bool_, int64, uint8
    from numpy.typing import NDArray

__all__ = ["Encoding", "encode_answers", "encode_file", "record_of"]

_MARK_BYTES: Final = 16
_CHUNK: Final = 1 << 24  # bytes of lines put together at a time
_FEWEST_LINES: Final = 256
_NULL: Final = b"null"
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


def encode_file(signed: SignedManifest, answers: Path, *, out: Path, encoding: str | None = None) -> Encoding:
    """Randomise every answer of a file and write the reports, all or nothing, once."""
    record = record_of(answers)
    _refuse_second_draw(answers, record, out)
    read = read_answers(answers, signed.manifest, encoding=encoding)
    # the record comes before the first draw: a machine that stops in between leaves the answers locked, not drawn twice
    _write_record(record, signed, out)
    try:
        write_whole(out, encode_answers(signed, read), fresh=True)
    except BaseException as error:
        # what was drawn is destroyed already: the answers are free for another draw
        if not out.exists():
            record.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise PathInvalid(
                say("'{name}' cannot be written: {reason}.", name=out.name, reason=tell_reason(error)), path=str(out)
            ) from None
        raise
    return Encoding(read.respondents, out, record)


def encode_answers(signed: SignedManifest, answers: GivenAnswers) -> Iterator[bytes]:
    """The lines of all reports, some thousands at a time. Each call is a new draw: see `encode_file`."""
    manifest, count = signed.manifest, answers.respondents
    marks, order = _marks(signed, answers)
    asked = SamplingPlan(epsilon=manifest.epsilon, columns=len(manifest.questions), asked=manifest.asked).draw(
        SystemEntropy(), respondents=count
    )
    columns = [
        _draw(question, answers.positions[question.name][order], asked[:, index])
        for index, question in enumerate(manifest.questions)
    ]
    head, labels = _head(signed), _labels(manifest, answers, order)
    step = max(_FEWEST_LINES, _CHUNK // (1_000 + manifest.asked * max(column.width for column in columns)))
    for start in range(0, count, step):
        part = slice(start, min(start + step, count))
        rows = part.stop - start
        reports = _write_reports(columns, asked[part], start)
        public = [label[part] for label in labels]
        yield close_up(
            place_side_by_side(head, marks[part], b'"', *public, b',"reports":{', reports, b"}}\n", rows=rows)
        )


# --- parts of lines -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """The reports on one question, as they are sent, and the lines they stand on, rising."""

    name: bytes
    sent: NDArray[Any]
    lines: NDArray[int64]

    @property
    def width(self) -> int:
        """The most bytes that one report may take."""
        numbers = self.sent.shape[1] if self.sent.ndim == 2 else 1
        return len(self.name) + (self.sent.dtype.itemsize if self.sent.dtype.kind == "S" else 22 * numbers)

    def write(self, lines: NDArray[int64]) -> NDArray[uint8]:
        """'"name":report' for these lines, rising; null where an answer is missing in public."""
        first, last = np.searchsorted(self.lines, (lines[0], lines[-1] + 1)) if lines.size else (0, 0)
        values = write_values(self.sent[first:last])
        matrix = np.zeros((lines.size, max(values.shape[1], len(_NULL))), dtype=np.uint8)
        matrix[:, : len(_NULL)] = np.frombuffer(_NULL, dtype=np.uint8)
        reported = np.searchsorted(lines, self.lines[first:last])
        matrix[reported] = 0
        matrix[reported, : values.shape[1]] = values
        return place_side_by_side(self.name, matrix, rows=lines.size)


def _draw(question: SurveyQuestion, positions: NDArray[int64], asked: NDArray[bool_]) -> _Drawn:
    """One report for each respondent who was asked, except where the answer is missing and that is public."""
    public = (positions == ABSENT) & (question.missing is Missing.PUBLIC)
    lines = np.flatnonzero(asked & ~public)
    randomiser = randomiser_for(question)
    sent = randomiser.wire_form(randomiser.randomise(SystemEntropy(), positions[lines]))
    return _Drawn(f"{_JSON.encode(question.name)}:".encode(), sent, lines)


def _write_reports(columns: Sequence[_Drawn], asked: NDArray[bool_], start: int) -> NDArray[uint8]:
    """The reports on the lines from `start`; every line has as many places as its respondent was asked questions."""
    indices = np.cumsum(asked, axis=1) - 1
    lines = [np.flatnonzero(part) for part in asked.T]
    texts = [column.write(shown + start) for column, shown in zip(columns, lines, strict=True)]
    width = max(text.shape[1] for text in texts)
    matrix = np.zeros((len(asked), int(asked[0].sum()), 1 + width), dtype=np.uint8)
    matrix[:, 1:, 0] = ord(",")
    for number, (shown, text) in enumerate(zip(lines, texts, strict=True)):
        matrix[shown, indices[shown, number], 1 : 1 + text.shape[1]] = text
    return matrix.reshape(len(asked), -1)


def _head(signed: SignedManifest) -> bytes:
    manifest = signed.manifest
    opening = {"survey": manifest.survey, "version": manifest.version, "manifest": signed.mark}
    return f'{_JSON.encode(opening)[:-1]},"respondent":"'.encode()


def _marks(signed: SignedManifest, answers: GivenAnswers) -> tuple[NDArray[uint8], NDArray[int64]]:
    """A mark for each line, and the order in which respondents are written: one that tells nothing of the file's."""
    entropy, count = SystemEntropy(), answers.respondents
    keys = np.frombuffer(entropy.read(8 * count), dtype=np.uint64)
    order = np.argsort(keys, kind="stable").astype(np.int64)
    if answers.tokens:
        digits = "".join([mark_of_token(signed.digest, answers.tokens[index]) for index in order.tolist()])
    else:
        digits = entropy.read(_MARK_BYTES * count).hex()
    return np.frombuffer(digits.encode("ascii"), dtype=np.uint8).reshape(count, 2 * _MARK_BYTES), order


def _labels(manifest: Manifest, answers: GivenAnswers, order: NDArray[int64]) -> list[NDArray[uint8]]:
    """The public part of each line: groups and weight."""
    parts = []
    for index, group in enumerate(manifest.groups):
        opening = ',"groups":{' if index == 0 else ","
        closing = "}" if index == len(manifest.groups) - 1 else ""
        name = _JSON.encode(group.name)
        labels = [f"{opening}{name}:{_JSON.encode(category.code)}{closing}".encode() for category in group.categories]
        parts.append(write_texts(np.array(labels, dtype=np.bytes_)[answers.groups[group.name][order]]))
    if manifest.weight is not None:
        weights = draw_classes(SystemEntropy(), answers.weights, manifest=manifest, groups=answers.groups)[order]
        parts.append(place_side_by_side(b',"weight":', write_numbers(weights), rows=answers.respondents))
    return parts


# --- one draw only --------------------------------------------------------------------------------------------------


def _refuse_second_draw(answers: Path, record: Path, out: Path) -> None:
    if record.exists():
        raise Refused(
            say(
                "'{name}' was encoded before ('{record}' says where to). A second draw on the same answers costs "
                "every respondent the same epsilon again, so none is made: send the first reports. Only if they "
                "never left this machine, delete them (also what an interrupted run left in hidden files that "
                "end in .partial) and '{record}', and encode again.",
                name=answers.name,
                record=record.name,
            ),
            record=record.name,
        )
    if out.exists():
        raise PathInvalid(
            say("'{name}' exists; reports are never overwritten. Choose another --out.", name=out.name), path=str(out)
        )


def _write_record(record: Path, signed: SignedManifest, out: Path) -> None:
    manifest = signed.manifest
    said = {"survey": manifest.survey, "version": manifest.version, "manifest": signed.digest, "reports": out.name}
    try:
        write_whole(record, json.dumps(said, indent=1) + "\n", fresh=True)
    except OSError as error:
        raise PathInvalid(
            say(
                "'{name}', which keeps the answers from a second draw, cannot be written: {reason}. Put the "
                "answers in a folder of their own where files can be written.",
                name=record.name,
                reason=tell_reason(error),
            ),
            path=str(record),
        ) from None
