"""The parts of a run: one file for each finished task, so that an interrupted study goes on where it stopped.

A part holds several named tables, each as an Arrow stream, in one file that appears whole or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.files import staged_file
from discreet.guarantees import text as plain_text

__all__ = ["StudyTask", "has_part", "read_part", "write_part"]


@dataclass(frozen=True, slots=True)
class StudyTask:
    """One run of one model at one ε, on all respondents or on so many `rows` of them; `place` is the model's."""

    place: int
    epsilon: Decimal
    run: int
    rows: int | None = None

    @property
    def file(self) -> str:
        """The name of its part."""
        written = f"{self.place}|{plain_text(self.epsilon)}|{self.run}" + ("" if self.rows is None else f"|{self.rows}")
        return f"{hashlib.sha256(written.encode()).hexdigest()[:24]}.arrow"


def write_part(folder: Path, task: StudyTask, tables: Mapping[str, Any]) -> None:
    import pyarrow as pa

    streams = {name: _stream(table) for name, table in tables.items()}
    packed = pa.table({"table": list(streams), "stream": pa.array(streams.values(), type=pa.large_binary())})
    with (
        staged_file(folder / task.file, durable=False) as staged,
        pa.OSFile(str(staged), "wb") as sink,
        pa.ipc.new_file(sink, packed.schema) as writer,
    ):
        writer.write_table(packed)


def read_part(folder: Path, task: StudyTask) -> dict[str, Any]:
    """The tables of a finished task, by name."""
    import pyarrow as pa

    with pa.OSFile(str(folder / task.file), "rb") as source:
        packed = pa.ipc.open_file(source).read_all()
    names, streams = packed.column("table").to_pylist(), packed.column("stream")
    return {
        name: pa.ipc.open_stream(stream.as_buffer()).read_all() for name, stream in zip(names, streams, strict=True)
    }


def has_part(folder: Path, task: StudyTask) -> bool:
    """Whether the task is finished; a part that cannot be read is as good as none."""
    import pyarrow as pa

    try:
        read_part(folder, task)
    except (OSError, pa.ArrowException):
        return False
    return True


def _stream(table: Any) -> Any:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
