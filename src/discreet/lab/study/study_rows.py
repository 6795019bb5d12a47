"""The rows of a study, made ready once: prepared as its card says, sorted by unit, where workers can read them.

Preparing may leave rows in any order, and a study's noise goes by row; sorted by unit, the same data give the same
frame on every machine. What is written here are true rows: the folder is closed to others and removed afterwards.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.cards import Card, parse_card, read_card
from discreet.catalogue import say
from discreet.errors import PathInvalid, Refused
from discreet.lab.study.study_file.queries import StudyDesign, derive
from discreet.lab.study.study_file.study_config import FileData, SampleData, StudyConfig
from discreet.paths import allowed_roots, open_regular, resolve_inside
from discreet.workspace import ORDER_COLUMN, Report, read_report

if TYPE_CHECKING:
    from discreet.lab.study.frame import StudyFrame
    from discreet.lab.study.raw_rows import RawRows
    from discreet.workspace import Dataset

__all__ = ["StudyRows", "digest_data", "make_frame", "make_raw_rows", "prepare_rows", "study_card"]

# One order of rows within a unit for every study of a file; nothing released depends on it.
_SALT: Final = "73747564790a"
_DATA: Final = "rows.parquet"


@dataclass(frozen=True, slots=True)
class StudyRows:
    """Prepared rows on disk, their card, the file as it was written, and the share of weight that caps cut."""

    card: Card
    data: Path
    raw: Path | None
    share_cut: float | None


def study_card(config: StudyConfig, folder: Path) -> Card:
    """The card of the study's data; nothing else is read."""
    if isinstance(config.data, SampleData):
        from discreet.samples import survey_card

        return parse_card(survey_card(rows=config.data.rows, seed=config.data.seed), file="survey.yaml")
    if isinstance(config.data, FileData):
        return read_card(resolve_inside(folder / config.data.card, allowed_roots()))
    return _dataset(config, folder).card


def digest_data(config: StudyConfig, folder: Path) -> str:
    """A digest of the data's files, so that a study is never continued on other rows; empty for a sample."""
    if isinstance(config.data, SampleData):
        return ""
    if isinstance(config.data, FileData):
        files = [folder / config.data.card, folder / config.data.file]
    else:
        found = _dataset(config, folder)
        files = [found.data.parent / "card.yaml", found.data]
    digest = hashlib.sha256()
    for file in files:
        with open_regular(resolve_inside(file, allowed_roots())) as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def prepare_rows(config: StudyConfig, folder: Path, scratch: Path) -> StudyRows:
    """Put the prepared rows of the study into `scratch`; paths of the study start at `folder`."""
    card = study_card(config, folder)
    if isinstance(config.data, SampleData):
        from discreet.samples import write_survey

        raw, _ = write_survey(scratch, rows=config.data.rows, seed=config.data.seed, overwrite=True)
        return _prepare_file(raw, card, scratch)
    if isinstance(config.data, FileData):
        return _prepare_file(resolve_inside(folder / config.data.file, allowed_roots()), card, scratch)
    found = _dataset(config, folder)
    data = _sort(found.data, card, scratch / _DATA)
    return StudyRows(card, data, None, _share(read_report(found.report)))


def make_frame(rows: StudyRows, config: StudyConfig, design: StudyDesign) -> StudyFrame:
    """The frame that every model sees, derived columns included."""
    from discreet.lab.study.frame import load_frame

    frame = load_frame(
        rows.data,
        rows.card,
        strata=design.strata,
        static=design.static,
        columns=design.needed,
        multiplier=Fraction(config.multiplier),
    )
    return derive(frame, design)


def make_raw_rows(rows: StudyRows, config: StudyConfig, design: StudyDesign) -> RawRows:
    """The file as it was written, for the report's recipe; columns that the study derives are not in it."""
    from discreet.lab.study.raw_rows import load_raw_rows

    if rows.raw is None:
        raise Refused(
            say("Model naive reads a file as it was written; a workspace keeps prepared rows only. Name the file.")
        )
    derived = {item.column.name for item in design.derived}
    columns = [name for name in design.columns if name not in derived]
    return load_raw_rows(rows.raw, rows.card, columns=columns, multiplier=float(config.multiplier))


def _prepare_file(file: Path, card: Card, scratch: Path) -> StudyRows:
    from discreet.sources import open_source
    from discreet.workspace import prepare

    work = scratch / "work"
    work.mkdir(mode=0o700)
    unsorted = work / "unsorted.parquet"
    report = prepare(open_source(file), card, salt=_SALT, data=unsorted, work=work)
    data = _sort(unsorted, card, scratch / _DATA)
    unsorted.unlink()
    return StudyRows(card, data, file, _share(report))


def _sort(data: Path, card: Card, target: Path) -> Path:
    """The rows that count, by unit and by their order within it."""
    import pyarrow.parquet as pq

    table = pq.ParquetFile(data).read()
    table = table.sort_by([(card.unit.column, "ascending"), (ORDER_COLUMN, "ascending")])
    pq.write_table(table, target, compression="none")  # gone in a minute, and read by every worker
    return target


def _share(report: Report) -> float | None:
    return report.weight.share_cut if report.weight is not None else None


def _dataset(config: StudyConfig, folder: Path) -> Dataset:
    from discreet.lab.study.study_file.study_config import WorkspaceData
    from discreet.workspace import Workspace

    assert isinstance(config.data, WorkspaceData)
    result = Workspace.open(folder / config.data.workspace).dataset(config.data.name)
    if not result.data.is_file():
        raise PathInvalid(
            say(
                "The rows of '{name}' stay in their own engine; a study needs a file. Name a card and a file.",
                name=result.name,
            )
        )
    return result
