"""The journal of releases: one line each, on the disk before the release leaves, and held by one at a time."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from discreet.errors import Refused
from discreet.release.journals.journal import Journal


@dataclass(frozen=True)
class Line:
    who: str
    request_id: str
    asked: str
    marker: int = 1

    @property
    def question(self) -> tuple[object, ...]:
        return (self.asked,)

    def to_line(self) -> str:
        return json.dumps(asdict(self)) + "\n"


FIRST, SECOND = Line("ana", "one", "a count"), Line("bob", "one", "a sum")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@pytest.fixture
def journal(file: Path) -> Journal[Line]:
    made: Journal[Line] = Journal(file, lambda text: Line(**json.loads(text)))
    with made.held():
        made.append(FIRST)
    return made


def test_a_line_is_on_the_disk_before_the_release_leaves(
    journal: Journal[Line], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk, sync = [], os.fsync

    def note(descriptor: int) -> None:
        sync(descriptor)
        on_disk.append(file.read_text())

    monkeypatch.setattr("discreet.release.journals.journal.os.fsync", note)
    journal.append(SECOND)
    assert on_disk == [FIRST.to_line() + SECOND.to_line()]


def test_a_request_id_is_an_analysts_own(journal: Journal[Line]) -> None:
    assert journal.find_request(who="ana", request_id="one") == FIRST
    assert journal.find_request(who="bob", request_id="one") is None
    journal.append(SECOND)
    assert journal.find_request(who="bob", request_id="one") == SECOND


def test_a_question_is_found_by_any_of_its_names(journal: Journal[Line]) -> None:
    assert journal.find(("a mean",), ("a count",)) == FIRST
    assert journal.find(("a mean",)) is None


def test_a_line_cut_short_is_passed_over_and_dropped(journal: Journal[Line], file: Path) -> None:
    with file.open("a") as stream:
        stream.write(SECOND.to_line()[:-5])
    assert journal.entries() == [FIRST]
    journal.append(SECOND)
    assert journal.entries() == [FIRST, SECOND]


def test_a_damaged_line_refuses_and_is_not_quoted(journal: Journal[Line], file: Path) -> None:
    with file.open("a") as stream:
        stream.write('{"secret": 9000}\n')
    with pytest.raises(Refused, match=r"line 2 of 'journal\.jsonl'") as caught:
        journal.entries()
    assert "9000" not in str(caught.value.to_dict())


def test_nobody_else_holds_it_meanwhile(journal: Journal[Line], file: Path) -> None:
    with journal.held(), file.open("rb") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
