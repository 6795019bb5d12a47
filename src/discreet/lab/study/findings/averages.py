"""The averaged tables of a study as CSV: errors by query, estimates by group, quality by column.

Files for spreadsheets: plain columns, a heading line, and a last column that says what they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import Phrase
from discreet.files import write_whole
from discreet.lab.study.findings.tidy_tables import NOTICE, SIZES
from discreet.present import csv_text

__all__ = ["SHORT_NOTICE", "write_averages"]

SHORT_NOTICE: Final = "study on true data; not a release"
_WHO: Final = ["model", "mechanism", "epsilon"]
_QUERY: Final = ["statistic", "column", "category"]
_Key = tuple[str, str, str | None]
_ABOUT: Final = Phrase(
    """\
{notice}

errors.csv     mean absolute error of each query over groups and runs, the error that theory expects, the share of
               intervals that hold the true value, by model, mechanism and epsilon
estimates.csv  each query in each group: the true value, the mean of the estimates and of their errors over runs
quality.csv    quality metrics by column, mean over runs; static columns, which no model changes, are marked
sizes.csv      where fewer respondents were studied: the errors by number of respondents, and how far the true figures
               of the respondents drawn lie from those of all
hybrid.csv     where some answer in clear: error and bias (mean of the estimates less the true value) of each group, by
               the share in clear, who chooses to, and how the two groups are joined
""",
    notice=NOTICE,
)


def write_averages(
    tables: Mapping[str, Any],
    labels: Mapping[_Key, str],
    folder: Path,
    *,
    coverage: bool,
    hybrids: Mapping[str, Mapping[str, Any]],
) -> None:
    """Write the tables. `labels` tells what a query of (statistic, column, category) is called, `hybrids` by mechanism
    who answers in clear.
    """
    folder.mkdir(exist_ok=True, mode=0o700)
    write_whole(folder / "README.txt", str(_ABOUT), durable=False)
    _write(folder / "errors.csv", _errors(tables, labels, coverage=coverage))
    _write(folder / "estimates.csv", _estimates(tables["results"], labels))
    _write(folder / "quality.csv", _quality(tables["quality"]))
    if SIZES in tables:
        _write(folder / "sizes.csv", _sizes(tables[SIZES], labels))
    if hybrids:
        _write(folder / "hybrid.csv", _hybrids(tables["results"], labels, hybrids))


def _hybrids(
    results: Any, labels: Mapping[_Key, str], hybrids: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    import pyarrow.compute as pc

    clear = results.filter(pc.equal(results.column("model"), "hybrid"))
    off = pc.subtract(clear.column("estimate"), clear.column("truth"))
    table = _with_coverage(clear).append_column("off", off)
    return [
        {
            **{key: hybrids[row["mechanism"]][key] for key in ("share", "selection", "relation")},
            "epsilon": row["epsilon"],
            "label": _label(row, labels),
            **{key: row[key] for key in (*_QUERY, "group")},
            "truth": row["truth_mean"],
            "mean_absolute_error": row["error_mean"],
            "bias": row["off_mean"],
            "coverage": row["covered_mean"],
        }
        for row in _mean(table, [*_WHO, *_QUERY, "group"], ["truth", "error", "off", "covered"])
    ]


def _sizes(sizes: Any, labels: Mapping[_Key, str]) -> list[dict[str, Any]]:
    import pyarrow.compute as pc

    keys = [*_WHO, "respondents", *_QUERY]
    apart = pc.abs(pc.subtract(sizes.column("truth"), sizes.column("whole")))
    table = _with_coverage(sizes).append_column("drawn", apart)
    return [
        {
            **{key: row[key] for key in (*_WHO, "respondents")},
            "label": _label(row, labels),
            **{key: row[key] for key in _QUERY},
            "mean_absolute_error": row["error_mean"],
            "coverage": row["covered_mean"],
            "error_of_the_sample": row["drawn_mean"],
        }
        for row in _mean(table, keys, ["error", "covered", "drawn"])
    ]


def _errors(tables: Mapping[str, Any], labels: Mapping[_Key, str], *, coverage: bool) -> list[dict[str, Any]]:
    expected = {
        tuple(row[key] for key in (*_WHO, *_QUERY)): row["expected_error_mean"]
        for row in _mean(tables["theory"], [*_WHO, *_QUERY], ["expected_error"])
    }
    rows = []
    for row in _mean(_with_coverage(tables["results"]), [*_WHO, *_QUERY], ["error", "covered"]):
        query = {"label": _label(row, labels), **{key: row[key] for key in _QUERY}}
        found = expected.get(tuple(row[key] for key in (*_WHO, *_QUERY)))
        measured = {"mean_absolute_error": row["error_mean"], "expected_error": found}
        if coverage:
            measured["coverage"] = row["covered_mean"]
        rows.append({**{key: row[key] for key in _WHO}, **query, **measured})
    return rows


def _label(row: Mapping[str, Any], labels: Mapping[_Key, str]) -> str:
    return labels[row["statistic"], row["column"], row["category"]]


def _estimates(results: Any, labels: Mapping[_Key, str]) -> list[dict[str, Any]]:
    keys = [*_WHO, *_QUERY, "group"]
    return [
        {
            **{key: row[key] for key in _WHO},
            "label": _label(row, labels),
            **{key: row[key] for key in (*_QUERY, "group")},
            "truth": row["truth_mean"],
            "mean_estimate": row["estimate_mean"],
            "mean_absolute_error": row["error_mean"],
        }
        for row in _mean(results, keys, ["truth", "estimate", "error"])
    ]


def _quality(quality: Any) -> list[dict[str, Any]]:
    keys = ["model", "mechanism", "epsilon", "column", "static", "metric", "basis"]
    return [{**{key: row[key] for key in keys}, "value": row["value_mean"]} for row in _mean(quality, keys, ["value"])]


def _with_coverage(results: Any) -> Any:
    """With 1 where the interval holds the true value, 0 where not, nothing where there is no interval."""
    import pyarrow.compute as pc

    low, high, truth = (results.column(name) for name in ("low", "high", "truth"))
    inside = pc.and_(pc.less_equal(low, truth), pc.less_equal(truth, high)).cast("float64")
    known = pc.and_(pc.is_valid(low), pc.invert(pc.or_(pc.is_nan(low), pc.is_nan(truth))))
    return results.append_column("covered", pc.if_else(known, inside, None))


def _mean(table: Any, keys: Sequence[str], values: Sequence[str]) -> Iterable[dict[str, Any]]:
    """Means by key over what is there, in the order in which keys first occur. One thread: sums are repeatable."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in values:
        index = table.schema.get_field_index(name)
        column = table.column(name)
        table = table.set_column(index, name, pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column))
    grouped = table.group_by(list(keys), use_threads=False).aggregate([(name, "mean") for name in values])
    return list(grouped.to_pylist())


def _write(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = csv_text([*rows[0], "notice"], ((*row.values(), SHORT_NOTICE) for row in rows)) if rows else ""
    write_whole(file, text, durable=False)
