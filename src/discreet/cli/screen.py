"""What people see: tables, JSON, banners and errors. Results go to standard output, everything else beside it."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Sequence

from discreet.errors import DiscreetError

__all__ = ["show_banner", "show_error", "show_fault", "show_json", "show_note", "show_pairs", "show_table"]


def show_json(value: object) -> None:
    """Exactly what Python would give, as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def show_table(
    title: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[str]],
    *,
    footer: Sequence[str] = (),
) -> None:
    """A table; each column is (heading, 'left' or 'right'). Lines of the footer follow it, whole."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading, justify in columns:
        table.add_column(Text(heading), justify="right" if justify == "right" else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    page = io.StringIO()
    Console(file=page, width=_width(), highlight=False, markup=False, emoji=False).print(table)
    lines = [*([title] if title else []), *page.getvalue().splitlines(), *footer]
    sys.stdout.write("\n".join(line.rstrip() for line in lines) + "\n")


def show_pairs(title: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Facts, one a line."""
    width = max((len(name) for name, _ in pairs), default=0)
    sys.stdout.write("\n".join([title, *(f"  {name.ljust(width)}  {value}" for name, value in pairs)]) + "\n")


def show_note(text: str) -> None:
    """A line for the person at the terminal, on standard error."""
    sys.stderr.write(text + "\n")


def show_banner() -> None:
    """Stands above everything that only a custodian may see."""
    line = "CUSTODIAN VIEW: depends on confidential rows. Not for release. This view is logged."
    sys.stderr.write(f"{'=' * len(line)}\n{line}\n{'=' * len(line)}\n")


def show_error(error: DiscreetError, *, as_json: bool) -> None:
    """One shape for every refusal."""
    if as_json:
        sys.stderr.write(json.dumps(error.to_dict(), ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"{error.name}: {error.message}\n")


def show_fault(fault: Exception) -> None:
    sys.stderr.write(
        f"InternalFault: discreet met an unforeseen {type(fault).__name__}. Nothing more is shown, because the details "
        "may depend on rows. The custodian can set DISCREET_DEBUG=1 and try again.\n"
    )


def _width() -> int:
    """The terminal's width; a pipe has none, and gets one that a page can hold."""
    return shutil.get_terminal_size((120, 24)).columns
