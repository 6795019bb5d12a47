"""One session for many people and threads: every act names who did it (RULES 26), and engines are shared."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import discreet
from discreet.engines import EmbeddedEngine
from discreet.errors import CustodianOnly, Refused, UnknownName
from discreet.guarantees import Unproven
from discreet.ledger import LogFilter
from discreet.session import Session
from tests.cli.clinic import CARD, ROWS
from tests.workspaces import fill

COUNT = "SELECT COUNT(*) AS people FROM {dataset}"


def make_house(folder: Path) -> None:
    with Session.create(folder / "w") as session:
        for name in ("clinic", "ward"):
            card = CARD.replace("dataset: clinic", f"dataset: {name}").replace("epsilon: 3, per", "epsilon: 300, per")
            (folder / f"{name}.yaml").write_text(card.replace("per_analyst: 1", "per_analyst: 200"), encoding="utf-8")
            (folder / f"{name}.csv").write_text(ROWS, encoding="utf-8")
            session.add(folder / f"{name}.csv", confirm=lambda _: True)
        session.add_analyst("zoe")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    fill(tmp_path, "two datasets and two analysts", make_house)
    with discreet.open(tmp_path / "w") as found:
        yield found


def test_every_act_names_who_did_it(session: Session, tmp_path: Path) -> None:
    """Not the user of the process, which is `ana` here."""
    before, zoe = session.ledger.head()[0], session.acting_for("zoe")
    zoe.add_analyst("max")
    zoe.query(COUNT.format(dataset="clinic"), epsilon="0.1")
    zoe.query(COUNT.format(dataset="clinic"), epsilon="0.1")  # replayed
    zoe.table("clinic", by="town", epsilon="0.1")
    zoe.report("clinic", custodian=True)
    zoe.incomplete("clinic", custodian=True)
    zoe.hold(COUNT.format(dataset="ward"), epsilon="0.1", request_id="held", custodian=True)
    zoe.add(tmp_path / "ward.csv", replace=True)
    (tmp_path / "ward.yaml").write_text(
        (tmp_path / "ward.yaml").read_text(encoding="utf-8").replace("epsilon: 300", "epsilon: 400"), encoding="utf-8"
    )
    zoe.change_population(tmp_path / "ward.yaml", custodian=True)
    session.ledger.suspend("clinic", population="patients", reason="for this test", who="zoe")
    zoe.resume("clinic", custodian=True)
    made = list(session.ledger.log(LogFilter(after=before)))
    assert len({event.kind for event in made}) > 6
    assert {event.who for event in made} == {"zoe"}
    assert all(event.payload.get("analyst", "zoe") in ("zoe", "max") for event in made)


def test_who_asks_for_somebody_else_is_named(session: Session) -> None:
    """By whichever way they ask; what was asked is the other's."""
    session.add_analyst("max")
    before, zoe = session.ledger.head()[0], session.acting_for("zoe")
    workload = "questions:\n  - name: n\n    sql: SELECT COUNT(*) AS n FROM clinic\nepsilon: 1\n"
    (session.workspace.path / "asked.yaml").write_text(workload, encoding="utf-8")
    zoe.query(COUNT.format(dataset="clinic"), epsilon="0.1", analyst="max")
    zoe.query(COUNT.format(dataset="clinic"), epsilon="0.1", analyst="max")  # replayed
    zoe.table("clinic", by="town", epsilon="0.1", analyst="max")
    zoe.run(session.workspace.path / "asked.yaml", analyst="max")
    made = list(session.ledger.log(LogFilter(after=before)))
    assert {event.kind.value for event in made} == {"charge", "answer", "replay"}
    assert {event.who for event in made} == {"zoe"}
    assert {event.payload["analyst"] for event in made if "analyst" in event.payload} == {"max"}
    assert len(session.history(analyst="max")) == 4


def test_what_was_not_granted_is_not_there(session: Session) -> None:
    zoe = session.acting_for("zoe", datasets=["clinic"])
    assert [dataset.name for dataset in zoe.datasets()] == ["clinic"]
    told = []
    for name in ("ward", "nowhere"):
        for ask in (
            lambda name: zoe.query(COUNT.format(dataset=name), epsilon="0.1"),
            lambda name: zoe.explain(COUNT.format(dataset=name), epsilon="0.1"),
            lambda name: zoe.table(name, by="town", epsilon="0.1"),
            zoe.describe,
        ):
            with pytest.raises(UnknownName) as refused:
                ask(name)
            told.append(str(refused.value).replace(name, "…"))
    assert told[:4] == told[4:]
    wider = zoe.acting_for("zoe", datasets=["clinic", "ward"])
    assert [dataset.name for dataset in wider.datasets()] == ["clinic"], "no view shows more than what it is a view of"


def test_of_others_markers_a_view_shows_that_they_are_there(session: Session) -> None:
    for name, dataset in (("ana", "ward"), ("zoe", "clinic")):
        session.ledger.mark(
            "patients" if dataset == "clinic" else session.workspace.dataset(dataset).card.population,
            guarantee=Unproven("bounds of 'age' were read from the rows"),
            analyst=name,
            plan_hash="a" * 64,
            dataset=dataset,
            version=1,
        )
    whole, mine = (seen.budget("patients") for seen in (session, session.acting_for("zoe", datasets=["clinic"])))
    assert [marker.analyst for marker in mine.markers] == ["zoe"]
    assert "ward" not in str(mine.to_dict())
    assert (mine.warnings(), mine.bounds_everything) == (whole.warnings(), False)
    others = session.acting_for("ana", datasets=["clinic"]).budget("patients")
    assert (others.markers, others.bounds_everything) == (tuple(m for m in whole.markers if m.analyst == "ana"), False)


def test_every_engine_is_closed_also_where_one_cannot_be(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("clinic", "ward"):
        session.query(COUNT.format(dataset=name), epsilon="0.1")
    tried = []

    def refuse(engine: EmbeddedEngine) -> None:
        tried.append(engine)
        raise OSError("in use")

    monkeypatch.setattr(EmbeddedEngine, "close", refuse)
    with pytest.raises(OSError, match="in use"):
        session.close()
    assert len(tried) == 2
    with pytest.raises(Refused, match="is closed"):
        session.datasets()


def test_a_view_ends_with_its_session(session: Session) -> None:
    zoe = session.acting_for("zoe")
    zoe.close()
    with pytest.raises(Refused, match="is closed"):
        zoe.datasets()
    session.acting_for("zoe").query(COUNT.format(dataset="clinic"), epsilon="0.1")
    other = session.acting_for("zoe")
    session.close()
    with pytest.raises(Refused, match="is closed"):
        other.datasets()


def test_twenty_threads_open_one_engine(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[EmbeddedEngine] = []
    begin = EmbeddedEngine.__init__

    def note(engine: EmbeddedEngine, *words: object, **terms: object) -> None:
        opened.append(engine)
        begin(engine, *words, **terms)  # type: ignore[arg-type]

    monkeypatch.setattr(EmbeddedEngine, "__init__", note)
    together = Barrier(20)

    def ask(number: int) -> object:
        zoe = session.acting_for("zoe")
        together.wait(30)
        return zoe.query(COUNT.format(dataset="clinic"), epsilon="0.1", request_id=f"r{number}", fresh=True).rows

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(ask, range(20)))
    assert (len(opened), len(answers)) == (1, 20)
    assert session.budget("patients").charges == 20


def test_of_many_versions_the_engines_that_were_asked_last_stay_open(session: Session, tmp_path: Path) -> None:
    session.query(COUNT.format(dataset="ward"), epsilon="0.1")
    for _ in range(12):
        session.add(tmp_path / "clinic.csv", replace=True)
        session.query(COUNT.format(dataset="clinic"), epsilon="0.1")
        session.query(COUNT.format(dataset="ward"), epsilon="0.1", fresh=True)
    gc.collect()
    mine = [one for one in gc.get_objects() if isinstance(one, EmbeddedEngine) and str(tmp_path) in str(one._paths)]
    assert 2 <= len(mine) <= 8


def test_a_view_is_for_one_person(session: Session) -> None:
    with pytest.raises(CustodianOnly):
        session.acting_for("zoe").report("clinic", custodian=False)
    assert session.acting_for("zoe").who == "zoe"
    assert repr(session.acting_for("zoe")).endswith("analyst 'zoe'>")
