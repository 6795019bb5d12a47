"""One script, two lines to begin it with: on a workspace and on a server it gives the same things of the same sorts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.catalogue import speaking
from discreet.client.remote_session import OF_A_WORKSPACE, RemoteSession
from discreet.errors import ParameterInvalid, Refused
from discreet.release.workloads.workload import Workload, WorkloadQuestion
from discreet.results import Release, write_release
from discreet.session import Session
from discreet.tables import TableDesk
from tests.unit.client.offices import BY_TOWN, COUNT, DATASETS, Office

WORKLOAD = f"questions:\n  - name: towns\n    sql: {BY_TOWN}\n  - name: all\n    sql: {COUNT}\nepsilon: 1\n"
TABLE = {"dataset": "clinic", "by": ["town", "smokes"], "epsilon": "0.5"}
BANDED = {
    "dataset": "clinic",
    "by": "age, town",
    "epsilon": Fraction(1, 4),
    "edges": {"age": [0, 40, Decimal(111)]},
    "margins": [["town"], "total"],
    "leave_out": {"town": ["S"]},
    "where": "smokes = 1",
    "level": 0.9,
}
ONE_LINE = ("workspace", "server")


def script(session: Any, folder: Path, run: str) -> dict[str, Any]:
    """What somebody wrote for one of the two. Every id is of this `run`, so that the same again is the same answer, and
    what another run was answered is not taken."""
    (folder / "tables.yaml").write_text(WORKLOAD, encoding="utf-8")
    workload = folder / "tables.yaml"
    releases = {
        "query": session.query(BY_TOWN, epsilon="0.5", request_id=f"{run}-1", fresh=True),
        "within": session.query(COUNT, within={"people": 40}, request_id=f"{run}-2", fresh=True),
        "table": session.table(**TABLE, request_id=f"{run}-4", fresh=True),
        "banded": session.table(**BANDED, request_id=f"{run}-5", fresh=True),
        "asked table": session.tables.release(
            session.read_table({**TABLE, "noise": "laplace", "suppress_above": "0.3"}),
            request_id=f"{run}-6",
            fresh=True,
        ),
        "workload": session.run(workload, request_id=f"{run}-7"),
        "workload of less": session.run(str(workload), epsilon=0.25, request_id=f"{run}-8"),
    }
    history = session.history(limit=100)
    latest = session.history(limit=2)
    found = next(item for item in history if item.request_id == f"{run}-1")
    return {
        "releases": releases,
        "explanation": session.explain(BY_TOWN, epsilon="0.5"),
        "explanation within": session.explain(BY_TOWN, within="people=40,age=2", assume=500),
        "explanation assuming": session.explain("SELECT AVG(age) AS age FROM clinic", epsilon=1, assume={"n": 300}),
        "table explanation": session.tables.explain(session.read_table(TABLE)),
        "plan": session.plan(workload),
        "budget": session.budget("patients"),
        "datasets": session.datasets(),
        "faces": [session.describe("clinic"), session.describe("clinic", "fr")],
        "history": history,
        "latest": latest,
        "recalled": session.recall(found.number),
        "populations": session.populations(),
        "who": session.who,
    }


@pytest.fixture(scope="module")
def both(office: Office, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Any]]:
    """The script's findings on a workspace and on a server, by where it ran first: the other then replays."""
    found = {}
    for first in ONE_LINE:
        folder = tmp_path_factory.mktemp(first)
        begun: dict[str, Any] = {"workspace": office.here(), "server": office.there()}
        order = ONE_LINE if first == "workspace" else ONE_LINE[::-1]
        given = {where: script(begun[where], folder, first) for where in order}
        found[first] = (given["workspace"], given["server"])
    return found


@pytest.fixture(params=ONE_LINE)
def findings(request: pytest.FixtureRequest, both: Mapping[str, tuple[Any, Any]]) -> tuple[Any, Any]:
    return both[request.param]


@pytest.fixture(params=["query", "within", "table", "banded", "asked table", "workload", "workload of less"])
def pair(request: pytest.FixtureRequest, findings: tuple[Any, Any]) -> tuple[Release, Release]:
    here, there = findings
    return here["releases"][request.param], there["releases"][request.param]


def test_the_line_that_differs_is_the_one_of_the_page(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the token in the environment, and `with` around it."""
    monkeypatch.setenv("DISCREET_TOKEN", office.house.tokens["ada"])
    with discreet.open(office.house.path) as home, discreet.connect(office.url) as away:
        here = home.acting_for("ada", datasets=DATASETS)
        assert here.query(COUNT, epsilon="0.1", request_id="line").rows == (
            away.query(COUNT, epsilon="0.1", request_id="line").rows
        )


# --- releases -------------------------------------------------------------------------------------------------------


def test_a_release_comes_back_as_a_release(pair: tuple[Release, Release]) -> None:
    here, there = pair
    assert type(here) is type(there) is Release
    assert (here.kind, here.columns, here.level, len(here)) == (there.kind, there.columns, there.level, len(there))
    assert (here.claim, here.source, here.guarantee) == (there.claim, there.source, there.guarantee)
    assert repr(here) == repr(there)


def test_a_stored_answer_is_the_same_to_the_last_digit(pair: tuple[Release, Release]) -> None:
    here, there = pair
    assert here.rows == there.rows
    assert here.intervals == there.intervals
    assert here.value == there.value


def test_only_the_first_is_charged(pair: tuple[Release, Release]) -> None:
    costs = sorted(Decimal(release.charge["epsilon"]) for release in pair)
    assert costs[0] == 0 < costs[1]
    assert sorted(release.replayed for release in pair) == [False, True]


def test_a_replay_is_the_same_message(office: Office, tmp_path: Path) -> None:
    """Both sides once more, when neither is charged: not a byte differs."""
    script(office.here(), tmp_path, "workspace")
    here, there = (script(begin(), tmp_path, "workspace")["releases"] for begin in (office.here, office.there))
    assert {name: write_release(one) for name, one in here.items()} == {
        name: write_release(one) for name, one in there.items()
    }


@pytest.fixture(scope="module")
def replayed(office: Office) -> dict[str, tuple[Any, Any]]:
    """Answers that were stored before, from both sides: their prices are the same too."""
    office.there().query(BY_TOWN, epsilon="0.5", request_id="saved-1")
    sides(office)[1].table(**TABLE, request_id="saved-2")
    return {
        "query": tuple(one.query(BY_TOWN, epsilon="0.5", request_id="saved-1") for one in sides(office)),
        "table": tuple(one.table(**TABLE, request_id="saved-2") for one in sides(office)),
    }


def sides(office: Office) -> tuple[Any, Any]:
    return office.here(), office.there()


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("kind", ["query", "table"])
def test_it_is_saved_the_same_in_every_format(
    replayed: dict[str, tuple[Any, Any]], kind: str, language: str, tmp_path: Path
) -> None:
    for ending in ("xlsx", "html", "csv", "parquet", "sdmx.csv", "json", "svg", "txt"):
        for place, release in zip(ONE_LINE, replayed[kind], strict=True):
            release.save(tmp_path / f"{place}.{ending}", language=language)
        files = [(tmp_path / f"{place}.{ending}").read_bytes() for place in ONE_LINE]
        assert files[0], ending
        assert files[0] == files[1], ending


def test_it_is_drawn_the_same(replayed: dict[str, tuple[Any, Any]], tmp_path: Path, a_font: None) -> None:
    here, there = replayed["query"]
    for place, release in (("workspace", here), ("server", there)):
        release.save(tmp_path / f"{place}.png")
        release.save(tmp_path / f"{place}.pdf")  # whose document has an id of its own
    assert (tmp_path / "workspace.png").read_bytes() == (tmp_path / "server.png").read_bytes()
    sizes = {(tmp_path / f"{place}.pdf").stat().st_size for place in ONE_LINE}
    assert max(sizes) - min(sizes) < 100


def test_it_becomes_the_same_frames(replayed: dict[str, tuple[Any, Any]]) -> None:
    for here, there in replayed.values():
        assert here.to_arrow().equals(there.to_arrow())
        assert here.to_pandas().equals(there.to_pandas())
        assert here.to_dict() == there.to_dict()


def test_what_was_answered_is_recalled(findings: tuple[Any, Any]) -> None:
    for found in findings:
        assert type(found["recalled"]) is Release
        assert found["recalled"].rows == found["releases"]["query"].rows
        assert found["recalled"].replayed


# --- what is told for nothing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["explanation", "explanation within", "explanation assuming", "table explanation"])
def test_an_explanation_says_the_same(both: dict[str, tuple[Any, Any]], name: str) -> None:
    here, there = (found[name] for found in both["workspace"])
    assert here.level == there.level
    assert here.plan == there.plan
    assert str(here).splitlines()[:3] == str(there).splitlines()[:3]
    assert here.to_dict().keys() == there.to_dict().keys()
    same = {"plan", "plan_hash", "charge", "guarantee", "outputs", "measures", "level", "sql", "table", "cells"}
    told = [{name: fact for name, fact in one.to_dict().items() if name in same} for one in (here, there)]
    assert told[0] == told[1]
    assert here.rows == there.rows
    assert repr(here) == repr(there)


def test_a_plan_says_the_same(both: dict[str, tuple[Any, Any]]) -> None:
    here, there = (found["plan"] for found in both["workspace"])
    assert (here.epsilon, here.level, here.plan_hash, here.shortfall) == (
        there.epsilon, there.level, there.plan_hash, there.shortfall,
    )  # fmt: skip
    assert here.to_dict()["questions"] == there.to_dict()["questions"]
    widths = [item.told(part_of.level) for part_of in [here] for part in here.parts for item in part.outputs]
    assert [row["accuracy"] for row in there.rows] == widths
    assert here.rows == there.rows


def test_a_query_s_explanation_is_read_by_the_same_names(both: dict[str, tuple[Any, Any]]) -> None:
    here, there = (found["explanation"] for found in both["workspace"])
    for name in ("population", "unit", "neighbours", "assumed", "plan_hash", "notes"):
        assert getattr(here, name) == getattr(there, name), name
    for name in ("name", "cells", "expected", "half_widths", "exact", "ranked", "depends", "widest"):
        assert [getattr(one, name) for one in here.outputs] == [getattr(one, name) for one in there.outputs], name
    for name in ("text", "epsilon", "mechanism", "step", "ranked"):
        assert [getattr(one, name) for one in here.measures] == [getattr(one, name) for one in there.measures], name
    for one, other in zip(here.measures, there.measures, strict=True):
        for name in ("cell", "sensitivity", "derivation", "parameters", "scale", "expected", "half_width"):
            assert [getattr(part, name) for part in one.slices] == [getattr(part, name) for part in other.slices], name


def test_a_table_s_explanation_is_read_by_the_same_names(office: Office) -> None:
    for epsilon in ("0.5", "900"):
        here, there = (one.tables.explain(one.read_table({**TABLE, "epsilon": epsilon})) for one in sides(office))
        assert (here.plan_hash, here.notes, here.summary()) == (there.plan_hash, there.notes, there.summary())
        assert here._repr_html_() == there._repr_html_()
        assert [row["figures"] for row in there.rows] == [9, 3, 3, 1]


def test_an_explanation_is_headed_in_the_language_of_whoever_asks(office: Office) -> None:
    with speaking("fr"):
        asked: list[Callable[[Any], Any]] = [
            lambda one: one.explain(BY_TOWN, epsilon="0.5"),
            lambda one: one.tables.explain(one.read_table(TABLE)),
        ]
        for ask in asked:
            here, there = (repr(ask(one)) for one in sides(office))
            assert here == there
            assert there.startswith("<Explication")
            assert there.endswith("epsilon = 0,5>")


def test_a_workload_may_be_handed_in_as_it_was_read(office: Office) -> None:
    within = {"people": Fraction(81, 2)}
    questions = (WorkloadQuestion("all", COUNT, within=within), WorkloadQuestion("towns", BY_TOWN))
    asked = Workload(questions, epsilon=Decimal(1))
    here, there = (one.plan(asked) for one in sides(office))
    assert (here.plan_hash, here.rows, here.epsilon) == (there.plan_hash, there.rows, there.epsilon)
    assert office.there().run(asked, request_id="handed-in").answers.keys() == {"all", "towns"}
    for one in sides(office):
        with pytest.raises(ParameterInvalid, match="must be a workload, or the path of its file"):
            one.plan(5)


def test_nothing_that_costs_nothing_differs_at_one_moment(office: Office) -> None:
    """Asked one after the other, with no charge in between."""
    here, there = sides(office)
    assert here.budget("patients").to_dict() == there.budget("patients").to_dict()
    assert here.explain(BY_TOWN, epsilon="0.5").to_dict() == there.explain(BY_TOWN, epsilon="0.5").to_dict()
    assert here.explain(BY_TOWN, epsilon="0.5").summary() == there.explain(BY_TOWN, epsilon="0.5").summary()
    assert here.explain(BY_TOWN, epsilon="0.5").to_text() == there.explain(BY_TOWN, epsilon="0.5").to_text()
    for lang in ("en", "fr"):
        assert here.describe("clinic", lang) == there.describe("clinic", lang)


def test_a_budget_is_read_by_the_same_names(office: Office) -> None:
    office.here().query(COUNT, epsilon="0.1")
    here, there = (one.budget("patients") for one in sides(office))
    for name in ("terms", "population", "charges", "bounds_everything", "rows"):
        assert getattr(here, name) == getattr(there, name), name
    assert dict(here.analysts) == dict(there.analysts)
    assert there.analysts.keys() == {"ada"}
    assert (here.warnings(), repr(here)) == (there.warnings(), repr(there))
    assert here.to_arrow().equals(there.to_arrow())
    assert here.population.questions_left == there.population.questions_left


def test_a_hold_is_seen_by_whom_it_is_for(office: Office) -> None:
    held = office.home.hold(COUNT, epsilon="0.3", request_id="held", analyst="ada", custodian=True)
    here, there = (one.budget("patients").holds for one in sides(office))
    assert [hold.request_id for hold in here] == [hold.request_id for hold in there] == ["held"]
    for name in ("sequence", "analyst", "dataset", "version", "plan_hash", "guarantee"):
        assert getattr(here[0], name) == getattr(there[0], name), name
    others = office.there("bob").budget("patients").holds
    assert "held" not in [hold.request_id for hold in others]
    assert office.there().query(COUNT, epsilon="0.3", request_id="held").charge["epsilon"] == "0.3"
    assert [hold.sequence for hold in office.home.budget("patients").holds] == []
    assert held.analyst == "ada"


def test_datasets_are_those_that_were_granted(findings: tuple[Any, Any]) -> None:
    here, there = (found["datasets"] for found in findings)
    assert type(here) is type(there) is tuple
    names = ("name", "version", "title", "population", "unit", "columns")
    assert [[getattr(one, name) for name in names] for one in here] == [
        [getattr(one, name) for name in names] for one in there
    ]
    assert [(one.name, one.version) for one in there] == [("clinic", 1)]
    assert findings[0]["populations"] == findings[1]["populations"] == ("patients",)
    assert findings[0]["who"] == findings[1]["who"] == "ada"
    assert findings[0]["faces"][1]["title"] == "Clinique"


def test_the_history_has_the_same_questions(office: Office, both: dict[str, tuple[Any, Any]]) -> None:
    """Only numbers are each side's own: a server counts one's own questions, and tells nobody how many others asked."""
    here, there = (one.history() for one in sides(office))
    numbers = {"answer"}
    listed = [[{name: fact for name, fact in item.to_dict().items() if name not in numbers} for item in one]
              for one in (here, there)]  # fmt: skip
    assert listed[0] == listed[1]
    assert [item.number for item in there] == list(range(len(there), 0, -1))
    for found in both["server"]:
        assert len(found["latest"]) == 2
        assert [item.request_id for item in found["latest"]] == [item.request_id for item in found["history"][:2]]


# --- what there is --------------------------------------------------------------------------------------------------


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


def test_both_have_the_same_names_but_for_what_needs_the_folder() -> None:
    assert public(Session) - public(RemoteSession) == OF_A_WORKSPACE
    assert public(RemoteSession) - public(Session) == set()


@pytest.mark.parametrize("name", sorted(public(Session) - OF_A_WORKSPACE))
def test_both_are_called_in_the_same_words(name: str) -> None:
    here, there = getattr(Session, name), getattr(RemoteSession, name)
    assert isinstance(here, property) == isinstance(there, property)
    if isinstance(here, property):
        return
    words, sent = (inspect.signature(one).parameters for one in (here, there))
    assert words.keys() - sent.keys() <= {"check"}, "what would be written of keys is looked at where they are"
    assert sent.keys() <= words.keys()
    for parameter in sent:
        assert sent[parameter].default == words[parameter].default, parameter
        assert sent[parameter].kind == words[parameter].kind, parameter


def test_desks_of_tables_are_called_in_the_same_words(office: Office) -> None:
    here, there = (inspect.signature(desk.release).parameters for desk in (TableDesk, type(office.there().tables)))
    assert {*there} - {"table"} <= here.keys()
    assert "confirm" in there


def test_what_needs_the_folder_is_refused_in_words(office: Office) -> None:
    away = office.there()
    for name in OF_A_WORKSPACE:
        with pytest.raises(Refused, match=rf"'{name}' is for whoever has the workspace itself"):
            getattr(away, name)
    assert not hasattr(RemoteSession, "nowhere")
    with pytest.raises(AttributeError, match="nowhere"):
        away.nowhere  # type: ignore[attr-defined]  # noqa: B018


def test_what_is_asked_may_be_looked_at_first_and_declined(office: Office, tmp_path: Path) -> None:
    (tmp_path / "tables.yaml").write_text(WORKLOAD, encoding="utf-8")
    before, shown = office.charges(), list[Any]()

    def decline(explained: Any) -> bool:
        shown.append(explained.to_dict())
        return False

    asks: list[Callable[[Any], Any]] = [
        lambda one: one.query(COUNT, epsilon="0.17", confirm=decline),
        lambda one: one.run(tmp_path / "tables.yaml", confirm=decline),
        lambda one: one.tables.release(one.read_table(TABLE), confirm=decline),
    ]
    for session in sides(office):
        for ask in asks:
            with pytest.raises(Refused, match=r"^Not asked\. Nothing was released or charged\.$"):
                ask(session)
    assert shown[:3] == shown[3:]
    assert office.charges() == before
    assert office.there().query(COUNT, epsilon="0.17", confirm=lambda seen: seen.to_dict()["charge"] is not None).rows


def test_a_session_that_was_closed_asks_nothing(office: Office) -> None:
    away = discreet.connect(office.url, office.house.tokens["ada"])
    with away:
        assert away.who == "ada"
    assert "closed" in repr(away)
    with pytest.raises(Refused, match=r"closed\. Connect again with discreet\.connect"):
        away.query(COUNT, epsilon="0.1")


def test_threads_may_share_a_session(office: Office) -> None:
    away, before = office.there(), office.charges()
    with ThreadPoolExecutor(10) as pool:
        rows = list(
            pool.map(lambda _: away.query(COUNT, epsilon="0.19", request_id="shared", fresh=True).rows, range(30))
        )
    assert all(found == rows[0] for found in rows)
    assert office.charges() == before + 1
