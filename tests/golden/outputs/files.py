"""Files as text that a reader can compare: workbooks cell by cell, Parquet by schema and rows, JSON field by field."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

__all__ = ["show_file", "show_json"]

_LONGEST_LIST: Final = 100


def show_file(path: Path) -> str:
    """What a file holds."""
    if path.suffix == ".xlsx":
        return "".join(_show_workbook(path))
    if path.suffix == ".parquet":
        return "".join(_show_parquet(path))
    text = path.read_text(encoding="utf-8")
    return _show_page(text) if path.suffix in (".html", ".svg") else show_json(text)


def show_json(text: str) -> str:
    """JSON, whole or line by line, with every field on a line of its own; other text as it is."""
    if not text.startswith("{"):
        return text
    try:
        return _spread(json.loads(text))
    except json.JSONDecodeError:
        return "".join(_spread(json.loads(line)) if line.startswith("{") else f"{line}\n" for line in text.splitlines())


def _spread(value: Any) -> str:
    return f"{_lay_out(value, 0)}\n"


def _lay_out(value: Any, depth: int) -> str:
    """Short lists of plain values stay on one line."""
    plain = json.dumps(value, ensure_ascii=False)
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, dict) and value:
        fields = [
            f"{json.dumps(name, ensure_ascii=False)}: {_lay_out(part, depth + 1)}" for name, part in value.items()
        ]
        return "{" + ",".join(pad + field for field in fields) + pad[:-1] + "}"
    if isinstance(value, list) and (len(plain) > _LONGEST_LIST or any(isinstance(part, dict) for part in value)):
        return "[" + ",".join(pad + _lay_out(part, depth + 1) for part in value) + pad[:-1] + "]"
    return plain


def _show_page(text: str) -> str:
    """One element a line; of styles and lines of a drawing only a digest, of what is written there all."""
    text = re.sub(r"(?<=<style>).*?(?=</style>)", lambda found: _digest(found[0]), text, flags=re.DOTALL)
    text = re.sub(r"<svg.*?</svg>", lambda found: _show_drawing(found[0]), text, flags=re.DOTALL)
    return text.replace("><", ">\n<")


def _show_drawing(text: str) -> str:
    words = re.findall(r"<(?:text|title|desc)[ >].*?</(?:text|title|desc)>", text, flags=re.DOTALL)
    drawn = re.sub(r">[^<]*<", "><", text)
    shown = [re.sub("<(text|title|desc)[^>]*>", r"<\1>", word) for word in words]
    return "\n".join([f"<svg> drawn as {_digest(drawn)}", *shown, "</svg>"])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _show_workbook(path: Path) -> Iterator[str]:
    import openpyxl

    book = openpyxl.load_workbook(path)
    yield f"title: {book.properties.title}\n"
    for sheet in book:
        yield f"sheet {sheet.title}: {sheet.dimensions}, frozen at {sheet.freeze_panes}\n"
        for row in sheet.iter_rows():
            cells = [_show_cell(cell) for cell in row if cell.value is not None]
            yield f"  {' | '.join(cells)}\n" if cells else ""


def _show_cell(cell: Any) -> str:
    shape = "" if cell.number_format == "General" else f" {{{cell.number_format}}}"
    return f"{cell.coordinate} {cell.value!r}{' bold' if cell.font.bold else ''}{shape}"


def _show_parquet(path: Path) -> Iterator[str]:
    from pyarrow import parquet

    table = parquet.read_table(path)
    for field in table.schema:
        yield f"{field.name}: {field.type}\n"
    for name, fact in (table.schema.metadata or {}).items():
        yield f"{name.decode()} = {show_json(fact.decode())}\n"
    for row in table.to_pylist():
        yield f"{json.dumps(row, ensure_ascii=False)}\n"
