"""A release as SDMX-CSV 2.0, the exchange format of statistical offices, written by pysdmx.

Dimensions are the keys in upper case with the codes of the card; OBS_VALUE is the published value. `_T` is a total,
`_U` no value and `_Z` a key that a part does not have, after the SDMX guidelines for code lists; OBS_STATUS and
CONF_STATUS are of the cross-domain lists. A workload and a collection have a dimension for the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.guarantees import text
from discreet.present.long_list import name_free
from discreet.present.pages.csv_text import is_formula, neutralise
from discreet.present.words import tell_cover, tell_neighbours, tell_unit
from discreet.results import Figure, Heading, Quality, Release, ReleaseKind, Shown

__all__ = ["TOTAL", "UNKNOWN", "require_codes", "to_sdmx_csv"]

TOTAL: Final = "_T"
UNKNOWN: Final = "_U"
NOT_APPLICABLE: Final = "_Z"
_QUESTION, _ROW, _STATISTIC = "question of a workload", "number of a row", "name of a statistic"

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
                    parameter=Phrase("a category of '{column}' in SDMX-CSV", column=heading.name),
                    rule=say(
                        "keeps its exact code, and so must not be what a spreadsheet would run as a formula (one that "
                        "begins with =, +, -, @, | or a tab). Rename it in the card, or write CSV, which puts an "
                        "apostrophe before it"
                    ),
                    given=repr(code),
                )


def to_sdmx_csv(release: Release, language: str) -> str:
    """The whole file: one observation for each figure, what holds for all of them repeated on every line."""
    try:
        from pandas import DataFrame
        from pysdmx.io.csv.sdmx20.writer import write
        from pysdmx.io.pd import PandasDataset
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("the format sdmx-csv"), extra="tables") from None
    views = [_view(name, part) for name, part in (release.parts or {"": release}).items()]
    for view in views:
        require_codes(view.release.headings)
    dimensions = _name_dimensions(views)
    columns = _observations(views, dimensions)
    attached = _attached(release, language)
    observed = [*columns]
    columns |= {name: [value] * len(columns["OBS_VALUE"]) for name, value in attached.items()}
    others = [*(name for name in observed if name not in dimensions.values()), *attached]
    structure = _describe(release, views, list(dimensions.values()), others)
    written: str = write([PandasDataset(structure=structure, data=DataFrame(columns, dtype=object))])
    return written


@dataclass(frozen=True, slots=True)
class _View:
    """A release, or a part of one under its name; `numbered` where its keys do not tell its rows apart."""

    name: str
    release: Release
    numbered: bool


def _view(name: str, release: Release) -> _View:
    if not release.statistics:
        raise ParameterInvalid(
            parameter=Phrase("an answer in SDMX-CSV"),
            rule=say("shows at least one aggregate"),
            given=", ".join(release.columns),
        )
    codes = [figure.codes for figure in release.cells]
    return _View(name, release, numbered=len(set(codes)) < len(codes))


def _name_dimensions(views: Sequence[_View]) -> dict[str, str]:
    """The dimensions by what they are: keys by name; question, row and statistic only where they tell figures apart."""
    wanted = {_QUESTION: "QUESTION"} if views[0].name else {}
    wanted |= {heading.name: heading.name.upper() for view in views for heading in view.release.headings}
    wanted |= {_ROW: "ROW"} if any(view.numbered for view in views) else {}
    wanted |= {_STATISTIC: "STATISTIC"} if any(len(view.release.statistics) > 1 for view in views) else {}
    taken, named = set(_TAKEN), {}
    for what, name in wanted.items():
        named[what] = name_free(name, taken)
        taken.add(named[what])
    return named


# --- structure -------------------------------------------------------------------------------------------------------


def _describe(release: Release, views: Sequence[_View], dimensions: Sequence[str], others: Sequence[str]) -> Any:
    """The data structure; its identifier names the dimensions, because tables of one dataset differ in them."""
    from pysdmx.model import Components, Schema

    return Schema(
        context="datastructure",
        agency=_AGENCY,
        id="_".join([release.source.dataset.upper(), "BY", *dimensions]),
        version=_VERSION,
        components=Components([_component(name, views, dimensions) for name in (*dimensions, *others)]),
    )


def _component(name: str, views: Sequence[_View], dimensions: Sequence[str]) -> Any:
    from pysdmx.model import Component, Concept, DataType, Role

    kind = DataType.STRING
    if name in _NUMBERS and name not in dimensions:
        # Whole numbers as such, or pysdmx would write them with a decimal point.
        whole = name == "OBS_VALUE" and all(item.whole for view in views for item in view.release.statistics)
        kind = DataType.BIG_INTEGER if whole else DataType.DOUBLE
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


def _observations(views: Sequence[_View], dimensions: Mapping[str, str]) -> dict[str, list[Shown]]:
    """Every figure of every statistic of every part."""
    indices = [
        (view, statistic, row, figure)
        for view in views
        for statistic in view.release.statistics
        for row, figure in enumerate(statistic.figures, start=1)
    ]
    entries = [figure for *_, figure in indices]
    found: dict[str, list[Shown]] = {}
    for what, name in dimensions.items():
        if what == _QUESTION:
            found[name] = [view.name for view, *_ in indices]
        elif what == _ROW:
            found[name] = [str(row) for _, _, row, _ in indices]
        elif what == _STATISTIC:
            found[name] = [statistic.name for _, statistic, _, _ in indices]
        else:
            found[name] = _codes(views, what)
    return {
        **found,
        "OBS_VALUE": [figure.value for figure in entries],
        "OBS_STATUS": [_status(figure) for figure in entries],
        "CONF_STATUS": [_FREE] * len(entries),
        "LOWER_BOUND": [figure.low for figure in entries],
        "UPPER_BOUND": [figure.high for figure in entries],
        "OBS_RAW": [figure.raw for figure in entries],
        **(
            {"OBS_UNCALIBRATED": [figure.uncalibrated for figure in entries]}
            if views[0].release.calibration is not None
            else {}
        ),
        "QUALITY": [str(figure.quality) for figure in entries],
    }


def _status(figure: Figure) -> str:
    return "O" if figure.value is None and figure.quality is Quality.NOT_RATED else _STATUS[figure.quality]


def _codes(views: Sequence[_View], key: str) -> list[Shown]:
    """The codes of one key; parts without it are marked as such."""
    shown: list[tuple[bool, Shown] | None] = []
    for view in views:
        names = [heading.name for heading in view.release.headings]
        figures = chain.from_iterable(item.figures for item in view.release.statistics)
        if key not in names:
            shown += [None for _ in figures]
            continue
        index = names.index(key)
        shown += [(index in figure.over, figure.codes[index]) for figure in figures]
    own = {str(item[1]) for item in shown if item is not None and item[1] is not None}
    # A card may use a conventional code for something else; its own codes are never changed.
    total, unknown, without = (name_free(code, own) for code in (TOTAL, UNKNOWN, NOT_APPLICABLE))
    return [
        without if item is None else total if item[0] else unknown if item[1] in (None, "") else str(item[1])
        for item in shown
    ]


def _attached(release: Release, language: str) -> Mapping[str, str]:
    """What holds for the whole file."""
    steps = {item.step for part in release.parts.values() or (release,) for item in part.statistics}
    step = steps.pop() if len(steps) == 1 else None
    decimals = "" if step is None else str(len(step.partition(".")[2]))
    return {
        "UNIT_MEASURE": neutralise(str(release.asked.get("unit_measure") or _unit_of(release))),
        "UNIT_MULT": "0",
        "DECIMALS": decimals,
        "TITLE": neutralise(release.title.text(language)),
        "GUARANTEE": str(release.guarantee),
        "INTERVAL_LEVEL": "" if release.level is None else text(release.level),
        "COMMENT_DSET": neutralise(_comment(release, language)),
    }


def _comment(release: Release, language: str) -> str:
    """Whom the guarantee protects, against what, and what an interval covers."""
    lines = (tell_unit(release, language), tell_neighbours(release, language), tell_cover(release, language))
    return "; ".join(item for item in lines if item)


def _unit_of(release: Release) -> str:
    counts = release.kind in (ReleaseKind.TABLE, ReleaseKind.BOOTSTRAP) and release.asked.get("value") is None
    return "NUMBER" if counts else UNKNOWN
