"""Every command of `discreet`, and the scenes in which its output is kept; or why it is not.

A scene is a file of this folder. `python -m tests.golden.outputs.write` writes them anew, all or those that are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final

from tests.golden.outputs.objects import OBJECTS
from tests.golden.outputs.recording import Scene

__all__ = ["ERRORS", "LEFT_OUT", "SCENES", "list_scenes"]


def ways(command: str, formats: str = "table json csv", languages: str = "en fr") -> list[str]:
    """The command in every format and language; table and English are what it gives unasked."""
    return [
        command
        + ("" if format == "table" else f" --format {format}")
        + ("" if language == "en" else f" --lang {language}")
        for format, language in product(formats.split(), languages.split())
    ]


def written(command: str, endings: str, languages: str = "en fr") -> list[str]:
    """The command with a file of every ending, in every language."""
    pairs = product(endings.split(), languages.split())
    return [f"{command} --out t.{ending}" + ("" if language == "en" else " --lang fr") for ending, language in pairs]


def query(name: str, sql: str, more: str = "--epsilon 1", *, before: Sequence[str] = ()) -> Scene:
    """One question, for people in both languages and for machines."""
    asked = f'query -w w "{sql}" {more}'
    return Scene(f"query-{name}", [*ways(asked, "table"), *ways(asked, "json", "en")], before=before)


def table(command: str) -> list[str]:
    """One table, for people in both languages and for machines."""
    return [*ways(command, "table"), *ways(command, "json csv", "en")]


BY_TOWN: Final = "SELECT town, COUNT(*) AS people FROM clinic GROUP BY town"
MEANS: Final = (
    "SELECT smokes, AVG(age) AS age, SUM(age) / COUNT(age) AS ratio, MEDIAN(age) AS middle FROM clinic GROUP BY smokes"
)
REASONS: Final = "SELECT reason, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY reason"
JOINED: Final = "SELECT region, SUM(weight) AS people FROM clinic JOIN towns USING (town) GROUP BY region"
FARMED: Final = "SELECT AVG(output) AS mean FROM farms"
ASKED: Final = f'query -w w "{BY_TOWN}" --epsilon 1'
UNPROVEN: Final = f'query -w w "{FARMED}" --epsilon 1 --strategy local'

TOWNS: Final = "table -w w clinic --by town,smokes --epsilon 1"
BOOTSTRAP: Final = "table -w w farms --by status --value output --method bootstrap --epsilon 1"
TABLE_ENDINGS: Final = "txt json csv sdmx.csv xlsx parquet html"
FILES: Final = tuple(f"t.{ending}" for ending in TABLE_ENDINGS.split())

SCENES: Final[Mapping[str, Sequence[Scene]]] = {
    "query": [
        Scene("query-grouped", ways(ASKED)),
        Scene("query-means", ways(f'query -w w "{MEANS}" --epsilon 3')),
        Scene("query-unproven", ways(UNPROVEN)),
        query("scalar", "SELECT COUNT(*) AS n FROM clinic WHERE age >= 65", "--epsilon 0.5 --request-id mine"),
        query("weighted", "SELECT town, SUM(weight) AS people, WAVG(age) AS age FROM clinic GROUP BY town"),
        query("open-keys", REASONS, "--epsilon 2 --delta 1e-7"),
        query("private-bounds", "SELECT AVG(income) AS income FROM clinic", "--epsilon 2"),
        query("bounds-not-found", "SELECT SUM(income) AS income FROM clinic", "--epsilon 0.01"),
        query("from-rows", "SELECT SUM(gain) AS gain FROM clinic"),
        query("joined", JOINED),
        query("public-size", "SELECT COUNT(*) AS farms FROM farms"),
        query("within", BY_TOWN, "--within people=10"),
        query("replayed", BY_TOWN, before=[ASKED]),
        query("unproven-replayed", FARMED, "--epsilon 1 --strategy local", before=[UNPROVEN]),
        Scene("query-explain", ways(f'query -w w "{MEANS}" --epsilon 1 --explain --assume n=60')),
        Scene("query-explain-weighted", ways(f'query -w w "{JOINED}" --epsilon 1 --explain', "table json", "en")),
        Scene(
            "query-explain-open-keys",
            ways(f'query -w w "{REASONS}" --epsilon 1 --delta 1e-7 --explain', "table json", "en"),
        ),
        Scene("query-explain-too-dear", ways(f'query -w w "{BY_TOWN}" --epsilon 5 --explain', "table json", "en")),
        Scene("query-declined", [ASKED], terminal=True, stdin="n\n"),
        Scene("query-confirmed", [ASKED], terminal=True, stdin="y\n"),
    ],
    "table": [
        Scene("table-count", ways(TOWNS, "table json csv sdmx-csv")),
        Scene("table-count-files", written(TOWNS, "txt xlsx parquet html"), files=FILES),
        Scene("table-weighted", table(f"{TOWNS} --weighted --calibrate none")),
        Scene("table-calibrated", ways(f"{TOWNS} --weighted", "table json csv sdmx-csv")),
        Scene("table-calibrated-files", written(f"{TOWNS} --weighted", "txt xlsx html"), files=FILES),
        Scene("table-mean", ways("table -w w clinic --by town --value age --mean --epsilon 1")),
        Scene(
            "table-mean-files",
            written("table -w w clinic --by town --value age --mean --epsilon 1", "txt xlsx html"),
            files=FILES,
        ),
        Scene("table-total", table("table -w w clinic --by town,age --value age --where \"smokes = '1'\" --epsilon 1")),
        Scene(
            "table-suppressed", ways(f"{TOWNS} --suppress-above 0.1 --no-missing --leave-out town=S", languages="en")
        ),
        Scene("table-gaussian", table("table -w w visits --by ward --epsilon 1 --noise gaussian")),
        Scene("table-replayed", ways(TOWNS, "table json"), before=[TOWNS]),
        Scene("table-bootstrap", ways(BOOTSTRAP)),
        Scene("table-bootstrap-files", written(BOOTSTRAP, "txt xlsx html"), files=FILES),
        Scene("table-bootstrap-replayed", ways(BOOTSTRAP, "table json"), before=[BOOTSTRAP]),
        Scene("table-explain", ways(f"{TOWNS} --explain", "table json")),
        Scene("table-explain-weighted", ways(f"{TOWNS} --weighted --explain", "table json", "en")),
    ],
    "plan": [
        Scene("plan", ways("plan -w w work.yaml", "table json")),
        Scene("plan-run", ways("plan -w w work.yaml --run --request-id all", "table json")),
        Scene("plan-run-shares", ways("plan -w w shared.yaml --run", "table json")),
        Scene(
            "plan-run-replayed",
            ways("plan -w w work.yaml --run --request-id all", "table json", "en"),
            before=["plan -w w work.yaml --run --request-id all"],
        ),
        Scene("plan-too-dear", ways("plan -w w work.yaml --epsilon 0.1", "table json", "en")),
    ],
    "caps": [
        Scene("caps", ways("caps -w w clinic --epsilon 4")),
        Scene("caps-explain", ways("caps -w w clinic --epsilon 4 --explain", "table json", "en")),
    ],
    "budget": [
        Scene(
            "budget",
            ways("budget -w w", "table json", "en"),
            before=[
                ASKED,
                UNPROVEN,
                BOOTSTRAP,
            ],
        ),
    ],
    "local estimate": [
        Scene("local-estimate", ways("local estimate survey.json reports.jsonl --trust survey.key.pub")),
        Scene("local-estimate-by", ways("local estimate survey.json reports.jsonl --by town")),
    ],
}

LEFT_OUT: Final[Mapping[str, str]] = {}
ERRORS: Final[Sequence[Scene]] = ()


def list_scenes() -> list[Scene]:
    """All of them."""
    objects = [Scene(f"python-{name}", python=show) for name, show in OBJECTS.items()]
    return [*(scene for scenes in SCENES.values() for scene in scenes), *ERRORS, *objects]
