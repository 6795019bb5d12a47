"""A published table as SDMX-CSV 2.0, the exchange format of statistical offices, written by pysdmx.

Dimensions are the keys in upper case with the codes of the card; OBS_VALUE is the published value. `_T` is a total and
`_U` no value, after the SDMX guidelines for code lists; OBS_STATUS and CONF_STATUS are of the cross-domain lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.pages.spreadsheets import is_formula, neutralise
from discreet.tables.factwords import tell_cover, tell_neighbours, tell_unit
from discreet.tables.listing import name_free
from discreet.tables.table import Entry, Heading, Quality, Shown, Table

__all__ = ["TOTAL", "UNKNOWN", "require_codes", "to_sdmx_csv"]

TOTAL: Final = "_T"
UNKNOWN: Final = "_U"

# CL_OBS_STATUS: A normal, U low reliability, Q missing value; suppressed, O missing value. QUALITY says it more finely.
_STATUS: Final = {
    Quality.GOOD: "A",
    Quality.CAUTION: "A",
    Quality.UNRELIABLE: "U",
    Quality.SUPPRESSED: "Q",
    Quality.TOO_SMALL: "O",
    Quality.NOT_RATED: "A",
    Quality.PUBLIC: "A",
}
_FREE: Final = "F"  # CL_CONF_STATUS: free for publication
_AGENCY: Final = "DISCREET"
_VERSION: Final = "1.0"

_OBSERVED: Final = ("OBS_STATUS", "CONF_STATUS", "LOWER_BOUND", "UPPER_BOUND", "OBS_RAW", "OBS_UNCALIBRATED", "QUALITY")
_ATTACHED: Final = ("UNIT_MEASURE", "UNIT_MULT", "DECIMALS", "TITLE", "GUARANTEE", "INTERVAL_LEVEL", "COMMENT_DSET")
_TAKEN: Final = frozenset(
    {"STRUCTURE", "STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "OBS_KEY", "SERIES_KEY", "OBS_VALUE"}
    | set(_OBSERVED)
    | set(_ATTACHED)
)
_NUMBERS: Final = frozenset({"OBS_VALUE", "LOWER_BOUND", "UPPER_BOUND", "OBS_RAW", "OBS_UNCALIBRATED"})


def require_codes(headings: Sequence[Heading]) -> None:
    """Codes stand here exactly as in the card, so one that a spreadsheet would run as a formula is refused."""
    for heading in headings:
        for code in heading.face.codes:
            if is_formula(code):
                raise ParameterInvalid(
                    parameter=f"a category of '{heading.name}' in SDMX-CSV",
                    rule="keeps its exact code, and so must not be what a spreadsheet would run as a formula (one that "
                    "begins with =, +, -, @, | or a tab). Rename it in the card, or write CSV, which puts an "
                    "apostrophe before it",
                    came=repr(code),
                )


def to_sdmx_csv(table: Table, language: str) -> str:
    """The whole file: one observation for each figure, what holds for all of them repeated on every line."""
    try:
        from pandas import DataFrame
        from pysdmx.io.csv.sdmx20.writer import write
        from pysdmx.io.pd import PandasDataset
    except ImportError:
        raise ExtraMissing(needed_for="the format sdmx-csv", extra="tables") from None
    require_codes(table.headings)
    dimensions = list(_name_dimensions(table.headings))
    observed = dict(_observations(table, dimensions))
    attached = _attached(table, language)
    frame = DataFrame(
        {**observed, **{name: [value] * len(observed["OBS_VALUE"]) for name, value in attached.items()}}, dtype=object
    )
    structure = _describe(table, dimensions, [name for name in frame.columns if name not in dimensions])
    text: str = write([PandasDataset(structure=structure, data=frame)])
    return text


def _name_dimensions(headings: Sequence[Heading]) -> Iterator[str]:
    taken = set(_TAKEN)
    for heading in headings:
        name = name_free(heading.name.upper(), taken)
        taken.add(name)
        yield name


# --- structure -------------------------------------------------------------------------------------------------------


def _describe(table: Table, dimensions: Sequence[str], others: Sequence[str]) -> Any:
    """The data structure; its identifier names the dimensions, because tables of one dataset differ in them."""
    from pysdmx.model import Components, Schema

    return Schema(
        context="datastructure",
        agency=_AGENCY,
        id="_".join([table.dataset.upper(), "BY", *dimensions]),
        version=_VERSION,
        components=Components([_component(name, table, dimensions) for name in (*dimensions, *others)]),
    )


def _component(name: str, table: Table, dimensions: Sequence[str]) -> Any:
    from pysdmx.model import Component, Concept, DataType, Role

    kind = DataType.STRING
    if name in _NUMBERS and name not in dimensions:
        # Whole numbers as such, or pysdmx would write them with a decimal point.
        kind = DataType.BIG_INTEGER if name == "OBS_VALUE" and table.whole else DataType.DOUBLE
    if name in dimensions:
        role, level = Role.DIMENSION, None
    elif name == "OBS_VALUE":
        role, level = Role.MEASURE, None
    else:
        role, level = Role.ATTRIBUTE, "D" if name in _ATTACHED else "O"
    required = name in dimensions or name in ("OBS_VALUE", "OBS_STATUS", "CONF_STATUS")
    return Component(
        id=name, required=required, role=role, concept=Concept(id=name), local_dtype=kind, attachment_level=level
    )


# --- observations ----------------------------------------------------------------------------------------------------


def _observations(table: Table, dimensions: Sequence[str]) -> Iterator[tuple[str, list[Shown]]]:
    entries = list(table.entries())
    for place, name in enumerate(dimensions):
        yield name, _codes(entries, place)
    yield "OBS_VALUE", [entry.value for entry in entries]
    yield "OBS_STATUS", [_STATUS[entry.quality] for entry in entries]
    yield "CONF_STATUS", [_FREE] * len(entries)
    yield "LOWER_BOUND", [entry.low for entry in entries]
    yield "UPPER_BOUND", [entry.high for entry in entries]
    yield "OBS_RAW", [entry.raw for entry in entries]
    if table.calibration is not None:
        yield "OBS_UNCALIBRATED", [entry.uncalibrated for entry in entries]
    yield "QUALITY", [str(entry.quality) for entry in entries]


def _codes(entries: Sequence[Entry], place: int) -> list[Shown]:
    own = {str(entry.codes[place]) for entry in entries if entry.codes[place] is not None}
    # A card may use a conventional code for something else; its own codes are never changed.
    total, unknown = name_free(TOTAL, own), name_free(UNKNOWN, own)
    return [
        total if place in entry.over else unknown if entry.codes[place] is None else str(entry.codes[place])
        for entry in entries
    ]


def _attached(table: Table, language: str) -> Mapping[str, str]:
    """What holds for the whole file."""
    decimals = "" if table.step is None else str(len(table.step.partition(".")[2]))
    return {
        "UNIT_MEASURE": neutralise(str(table.description.get("unit_measure") or _unit_of(table))),
        "UNIT_MULT": "0",
        "DECIMALS": decimals,
        "TITLE": neutralise(table.title.text(language)),
        "GUARANTEE": str(table.guarantee),
        "INTERVAL_LEVEL": table.level,
        "COMMENT_DSET": neutralise(_comment(table, language)),
    }


def _comment(table: Table, language: str) -> str:
    """Whom the guarantee protects, against what, and what an interval covers."""
    told = (tell_unit(table, language), tell_neighbours(table, language), tell_cover(table, language))
    return "; ".join(one for one in told if one)


def _unit_of(table: Table) -> str:
    return "NUMBER" if table.description.get("value") is None else UNKNOWN
