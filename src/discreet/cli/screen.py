"""What people see: tables, JSON, banners and errors. Results go to standard output, everything else beside it."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import numeral, say
from discreet.cli.hints import repeat, repeat_in
from discreet.cli.misuses import say_misuse
from discreet.errors import DiscreetError, legible, tell_point
from discreet.present import borne_decimals, screen_width

if TYPE_CHECKING:
    from typer.exceptions import TyperException

__all__ = [
    "on_terminal",
    "show_banner",
    "show_columns",
    "show_error",
    "show_estimates",
    "show_fault",
    "show_json",
    "show_misuse",
    "show_note",
    "show_pairs",
    "show_table",
]

_GAP: Final = "   "
_WIDE: Final = Context(prec=400)
_NARROWEST: Final = 12
_STRETCH: Final = 4_096
_QUOTED_NUMBER: Final = re.compile(r"'([\d,.+-]{1,40})' is not a valid float")


def on_terminal() -> bool:
    """Whether a person sits here: both ends are a terminal, so a question would be seen and could be answered."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def show_estimates(
    values: Sequence[Any], intervals: Sequence[tuple[Any, ...]], *, decimals: int | None = None
) -> tuple[list[str], list[str]]:
    """Values and their intervals with one number of decimals: as many as the narrowest interval bears.

    Whole numbers have none; intervals are rounded outwards.
    """
    if {*map(type, values), *map(type, chain.from_iterable(intervals))} == {int}:
        return list(map(numeral, values)), [_range(numeral(low), numeral(high)) for low, high in intervals]
    widths = [high - low for low, high in intervals if low is not None and high is not None]
    if all(value is None or isinstance(value, int) for value in values):
        decimals = 0
    elif decimals is None:
        decimals = borne_decimals(widths)

    grid = Decimal(1).scaleb(-decimals)

    def show(number: float | None, otherwise: str, rounding: str) -> str:
        if number is None or isinstance(number, int):
            return otherwise if number is None else numeral(number)
        return numeral(Decimal(str(number)).quantize(grid, rounding, _WIDE), ",f")

    return (
        [show(value, "–", ROUND_HALF_EVEN) for value in values],
        [
            "–"
            if value is low is high is None
            else _range(show(low, "−∞", ROUND_FLOOR), show(high, "∞", ROUND_CEILING))
            for value, (low, high) in zip(values, intervals, strict=True)
        ],
    )


def _range(low: str, high: str) -> str:
    return say("{low} to {high}", low=low, high=high)


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
    cells = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in columns]
    show_columns(title, columns, cells, footer=footer)


def show_columns(
    title: str,
    columns: Sequence[tuple[str, str]],
    cells: Sequence[Sequence[str]],
    *,
    footer: Sequence[str] = (),
) -> None:
    """The same from the cells of each column; lines leave as they are made."""
    headings = [heading for heading, _ in columns]
    widths = _widths([[heading, *column] for heading, column in zip(headings, cells, strict=True)])
    lines = [title] if title else []
    lines += [*_lines(headings, columns, widths), "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))]
    sys.stdout.write("\n".join(lines) + "\n")
    for start in range(0, len(cells[0]) if cells else 0, _STRETCH):
        sys.stdout.write(_stretch([column[start : start + _STRETCH] for column in cells], columns, widths))
    sys.stdout.write("".join(f"{repeat(line)}\n" for line in footer))


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """As wide as the cells; where that is wider than the screen, the widest column gives way and wraps."""
    widths = [max(map(len if "".join(column).isascii() else screen_width, column)) for column in columns]
    room = shutil.get_terminal_size((120, 24)).columns - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widest = widths.index(max(widths))
        widths[widest] = max(_NARROWEST, widths[widest] - (sum(widths) - room), sorted(widths)[-2] - 1)
    return widths


def _stretch(cells: Sequence[Sequence[str]], columns: Sequence[tuple[str, str]], widths: Sequence[int]) -> str:
    """The lines of some rows; column by column where no cell wraps."""
    if not all(_is_plain(column, width) for column, width in zip(cells, widths, strict=True)):
        return "".join(f"{line}\n" for row in zip(*cells, strict=True) for line in _lines(row, columns, widths))
    padded = [
        [cell.rjust(width) for cell in column] if side == "right" else [cell.ljust(width) for cell in column]
        for column, (_, side), width in zip(cells, columns, widths, strict=True)
    ]
    return "".join([_GAP.join(row).rstrip() + "\n" for row in zip(*padded, strict=True)])


def _is_plain(column: Sequence[str], width: int) -> bool:
    together = "".join(column)
    fits = together.isascii() and together.isprintable() and max(map(len, column)) <= width
    return fits and list(map(str.strip, column)) == list(column)


def _lines(row: Sequence[str], columns: Sequence[tuple[str, str]], widths: Sequence[int]) -> list[str]:
    wrapped = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
    lines = []
    for number in range(max(len(cell) for cell in wrapped)):
        parts = []
        for cell, (_, side), width in zip(wrapped, columns, widths, strict=True):
            text = cell[number] if number < len(cell) else ""
            padding = " " * (width - screen_width(text))
            parts.append(padding + text if side == "right" else text + padding)
        lines.append(_GAP.join(parts).rstrip())
    return lines


def show_pairs(title: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Facts, one a line."""
    width = max((len(name) for name, _ in pairs), default=0)
    sys.stdout.write("\n".join([title, *(f"  {name.ljust(width)}  {repeat(value)}" for name, value in pairs)]) + "\n")


def show_note(text: str) -> None:
    """Lines for the person at the terminal, on standard error."""
    sys.stderr.write("\n".join(map(legible, repeat(text).split("\n"))) + "\n")


def show_banner() -> None:
    """Stands above everything that only a custodian may see."""
    line = say("CUSTODIAN VIEW: depends on confidential rows. Not for release. This view is logged.")
    sys.stderr.write(f"{'=' * len(line)}\n{line}\n{'=' * len(line)}\n")


def show_error(error: DiscreetError, *, as_json: bool) -> None:
    """One shape for every refusal."""
    if as_json:
        sys.stderr.write(json.dumps(repeat_in(error.to_dict()), ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"{error.name}: {repeat(error.message)}\n")


def show_misuse(misuse: TyperException) -> None:
    """What Typer says of words it cannot parse; it repeats them as they came."""
    text = io.StringIO()
    show = getattr(misuse, "show", None)
    if show is None:
        text.write(f"Error: {misuse.format_message()}\n")
    else:
        show(file=text)
    for number in _QUOTED_NUMBER.findall(text.getvalue()):
        text.write(f"{tell_point(number).capitalize()}.\n" if tell_point(number) else "")
    sys.stderr.write("\n".join(map(legible, say_misuse(text.getvalue()).split("\n"))))


def show_fault(fault: Exception) -> None:
    line = say(
        "discreet met an unforeseen {fault}. Nothing more is shown, because the details may depend on rows. The "
        "custodian can set DISCREET_DEBUG=1 and try again.",
        fault=type(fault).__name__,
    )
    sys.stderr.write(f"InternalFault: {line}\n")
