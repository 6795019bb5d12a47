"""An open workspace: folder, ledger and engine together. The command line and Python both come through here.

    import discreet
    with discreet.open("my-workspace") as house:
        answer = house.query("SELECT province, COUNT(*) FROM survey GROUP BY province", epsilon="0.5")
    answer.rows, answer.intervals

Whoever can read the workspace folder is its custodian (docs/promise.md); `Session` runs in that role on behalf of a
named analyst.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from discreet.cards import Card, read_card
from discreet.catalogue import Phrase, say
from discreet.errors import (
    ChargedNotAnswered,
    CustodianOnly,
    ParameterInvalid,
    PathInvalid,
    PopulationConflict,
    Refused,
    UnknownName,
)
from discreet.guarantees import ExactLike, Language, PopulationTerms, as_given, checked, exact
from discreet.ledger import (
    BudgetState,
    Hold,
    Ledger,
    LedgerConfig,
    PastQuestion,
    Verification,
    check_name,
    create_ledger,
    name_request,
    open_ledger,
)
from discreet.paths import AnyPath, as_path
from discreet.workspace import (
    Dataset,
    GiveVersion,
    LedgerSettings,
    NewPopulation,
    Report,
    RowSource,
    Workspace,
    WorkspaceSettings,
    WorkspaceView,
    find_elsewhere,
    find_workspace,
    note_populations,
    read_report,
)

if TYPE_CHECKING:
    from discreet.engines import Engine, EngineShelf
    from discreet.release import Apportionment, Explanation, Workload
    from discreet.results import Heading, Release
    from discreet.sources import Frame, FrameSource
    from discreet.tables import AskedTable, TableDesk
    from discreet.workspace import PublicTable

__all__ = ["NewPopulation", "Session", "create", "default_analyst", "open"]

_LEAST_OF_TABLES: Final = frozenset({"dataset", "by", "epsilon"})
_OF_TABLES: Final = frozenset({"epsilon", "level", "noise", "suppress_above", "calibrate"})


@checked
def open(path: AnyPath | None = None) -> Session:
    """The workspace in `path`, else in DISCREET_WORKSPACE, else in the current folder."""
    workspace = Workspace.open(find_workspace(path))
    return Session(workspace, open_ledger(ledger_config(workspace)))


@checked
def create(path: AnyPath) -> Session:
    """A new workspace in the folder `path`, which is made; `Session.create` has more to choose."""
    return Session.create(path)


def default_analyst() -> str:
    """DISCREET_ANALYST, else the operating system's user (in letters that names here may have)."""
    if named := os.environ.get("DISCREET_ANALYST"):
        return named
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # containers run under numbers without a name
        user = f"uid{os.getuid()}"
    return re.sub(r"[^A-Za-z0-9._@-]", "-", user).lstrip("._@-")[:63] or "analyst"


def _open_frame(frame: Frame, **options: str | None) -> FrameSource:
    """A table in memory as a source of rows; what says how a text is read says nothing of it."""
    from discreet.sources import FrameSource

    for name, option in options.items():
        if option is not None:
            raise ParameterInvalid(
                parameter=name, rule=say("goes with text files only"), given=say("a table in memory")
            )
    return FrameSource(frame)


class Session:
    """A workspace with its ledger."""

    def __init__(self, workspace: Workspace, ledger: Ledger) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._engines: EngineShelf | None = None
        self._shelving = threading.Lock()
        self._who: str | None = None
        self._home: Session | None = None
        self._closed = False

    @checked
    def acting_for(self, who: str, *, datasets: Collection[str] | None = None) -> Session:
        """The same workspace for one person: every event names `who`, and questions are theirs unless another is named.

        With `datasets`, the others are as if they were not there. Ledger and engines are shared, and closed with the
        session that this was called on.
        """
        view = Session(self.workspace, self.ledger)
        if datasets is not None:
            if isinstance(datasets, str) or not _are_names(datasets):
                raise ParameterInvalid(parameter="datasets", rule=say("must be names"), given=as_given(datasets))
            view._workspace = WorkspaceView.of(self.workspace, shown=frozenset(datasets))
        view._who = check_name(who, parameter="who")
        view._home = self._home or self
        return view

    def _at(self, versions: Mapping[str, int]) -> Session:
        """The same, with datasets in the versions that they had."""
        view = Session(WorkspaceView.of(self.workspace, versions=versions), self.ledger)
        view._who, view._home = self._who, self._home or self
        return view

    @property
    def who(self) -> str:
        """Who acts: whom this session acts for, else the analyst of the environment."""
        return default_analyst() if self._who is None else self._who

    def _asker(self, analyst: str | None) -> str:
        """Who asks, in letters that names may have; an empty name is nobody's, not the default's."""
        return check_name(self.who if analyst is None else analyst, parameter="analyst")

    @property
    def workspace(self) -> Workspace:
        """The folder; Refused once the session is closed."""
        self._require_open()
        return self._workspace

    @property
    def ledger(self) -> Ledger:
        """The ledger; Refused once the session is closed."""
        self._require_open()
        return self._ledger

    def _require_open(self) -> None:
        if self._closed or (self._home is not None and self._home._closed):
            folder = str(self._workspace.path)
            raise Refused(
                say(
                    "this session of '{folder}' is closed. Open the workspace again with discreet.open.", folder=folder
                ),
                path=folder,
            )

    def __repr__(self) -> str:
        ending = ", closed" if self._closed else ""
        return f"<Session of {str(self._workspace.path)!r}, analyst {self.who!r}{ending}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the ledger and of every engine; from then on nothing is answered."""
        self._closed = True
        if self._home is None:
            with closing(self._ledger):
                if self._engines is not None:
                    self._engines.close()

    # --- the custodian's side -------------------------------------------------------------------------------------

    @classmethod
    @checked
    def create(
        cls,
        path: AnyPath,
        *,
        ledger_dsn_env: str | None = None,
        key: AnyPath | None = None,
        anchor: AnyPath | None = None,
    ) -> Session:
        """A new workspace with an empty ledger, and the default analyst registered."""
        analyst = check_name(default_analyst(), parameter="analyst name")
        store = "postgres" if ledger_dsn_env is not None else "sqlite"
        settings = WorkspaceSettings(LedgerSettings(store, ledger_dsn_env), key=key, anchor=anchor)
        workspace = Workspace.create(path, settings=settings)
        try:
            ledger = create_ledger(ledger_config(workspace), who=analyst)
        except BaseException:
            shutil.rmtree(workspace.path)  # made a moment ago, and nothing without its ledger
            raise
        session = cls(workspace, ledger)
        session.add_analyst(analyst)
        return session

    @checked
    def add(
        self,
        file: AnyPath | Frame,
        *,
        card: AnyPath | None = None,
        replace: bool = False,
        confirm: Callable[[NewPopulation], bool] | None = None,
        encoding: str | None = None,
        delimiter: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Dataset:
        """Ingest a file, a folder of Parquet files, or a table of pandas, polars or Arrow, as a card describes it.

        The card is the one beside the file unless another is named. `confirm` is asked before a population gets a
        budget of its own; unless it is given, the first of a workspace does, where no other workspace knows of it.
        """
        from discreet.workspace import add_file, add_rows

        store: Callable[..., Dataset]
        if isinstance(file, str | os.PathLike):
            read = read_card(card_beside(as_path(file, "file")) if card is None else card)
            store = partial(add_file, self.workspace, file, read, encoding=encoding, delimiter=delimiter)
        else:
            if card is None:
                raise ParameterInvalid(parameter="card", rule=say("must be named for a table in memory"), given="None")
            source = _open_frame(file, encoding=encoding, delimiter=delimiter)
            read = read_card(card)
            store = partial(add_rows, self.workspace, source, read)
        return self._enter(read, confirm, lambda give: store(replace=replace, give=give, progress=progress))

    @checked
    def add_table(
        self,
        source: RowSource,
        *,
        card: AnyPath,
        replace: bool = False,
        confirm: Callable[[NewPopulation], bool] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Dataset:
        """Register a table in PostgreSQL or Spark, described by a card; else as `add`.

        Its rows stay raw, or the engine prepares them where `source.materialise` says; `progress` hears each stage.
        """
        from discreet.engines import add_table

        if not isinstance(source, RowSource):
            raise ParameterInvalid(parameter="source", rule=say("must be a RowSource"), given=as_given(source))
        read = read_card(card)
        return self._enter(
            read,
            confirm,
            lambda give: add_table(self.workspace, source, read, replace=replace, give=give, progress=progress),
        )

    @checked
    def refresh(self, dataset: str, *, whole: bool = False, progress: Callable[[str], None] | None = None) -> Dataset:
        """Make the next version of a table in PostgreSQL or Spark as it is now, under the same budget and card.

        Where the engine prepares the rows and a change column was named, only units that have changed are prepared
        again, unless `whole`.
        """
        from discreet.engines import add_table

        found = self.workspace.dataset(dataset)
        if found.source.engine == "duckdb":
            raise Refused(
                say("the rows of '{dataset}' came from a file. Add the new file with --replace.", dataset=dataset),
                dataset=dataset,
            )
        store = partial(
            add_table, self.workspace, replace(found.source, stored=None, types=()), found.card, replace=True
        )
        return self._enter(found.card, None, lambda give: store(give=give, whole=whole, progress=progress))

    def _enter(
        self, card: Card, confirm: Callable[[NewPopulation], bool] | None, store: Callable[[GiveVersion], Dataset]
    ) -> Dataset:
        """Check a card against the ledger, then store its rows or where they are, as the version the ledger gives.

        What fails before its rows are complete leaves nothing on the ledger.
        """
        terms = card.terms()
        self._check_dataset(card)
        new = self._check_population(terms, confirm or NewPopulation.alone)

        def give(present: int) -> int:
            self._note_populations(new)
            self.ledger.register(terms, who=self.who)
            return self.ledger.give_version(card.population, card.dataset, above=present, who=self.who)

        return store(give)

    @checked
    def add_public_table(
        self,
        file: AnyPath | Frame,
        *,
        key: str,
        name: str | None = None,
        replace: bool = False,
        encoding: str | None = None,
        delimiter: str | None = None,
    ) -> PublicTable:
        """Store a small file that holds nothing confidential, or such a table in memory, to join with on `key`.

        A table of pandas, polars or Arrow is named; a file has its own name unless another is given.
        """
        from discreet.workspace import add_public_file, add_public_rows

        if isinstance(file, str | os.PathLike):
            return add_public_file(
                self.workspace, file, key=key, name=name, replace=replace, encoding=encoding, delimiter=delimiter
            )
        if name is None:
            raise ParameterInvalid(parameter="name", rule=say("must be given for a table in memory"), given="None")
        source = _open_frame(file, encoding=encoding, delimiter=delimiter)
        return add_public_rows(self.workspace, source, key=key, name=name, replace=replace)

    @checked
    def add_analyst(self, name: str) -> None:
        """Register an analyst; only registered analysts are answered."""
        self.ledger.add_analyst(check_name(name, parameter="analyst name"), who=self.who)

    @checked
    def change_population(self, card: AnyPath, *, custodian: bool) -> PopulationTerms:
        """Let a card's terms replace those its population has: an event on the ledger."""
        if not custodian:
            raise CustodianOnly(view=Phrase("changing the terms of a population"))
        terms = read_card(card).terms()
        self.ledger.change(terms, who=self.who)
        self._note_populations(None)
        return terms

    @checked
    def resume(self, dataset: str, *, custodian: bool) -> None:
        """Lift the suspension of a dataset after the custodian has looked."""
        if not custodian:
            raise CustodianOnly(view=Phrase("lifting a suspension"))
        self.ledger.resume(self.workspace.dataset(dataset).name, who=self.who)

    @checked
    def report(self, dataset: str, *, custodian: bool) -> Report:
        """What ingest coerced, counted. Depends on the rows: for the custodian, and logged."""
        if not custodian:
            raise CustodianOnly(view=Phrase("the ingest report"))
        found = self.workspace.dataset(dataset)
        if found.source.engine != "duckdb":
            raise Refused(
                say(
                    "'{name}' has no ingest report: its rows stay in {where} and are prepared in every query.",
                    name=found.name,
                    where=found.source.where,
                ),
                dataset=found.name,
            )
        self.ledger.record_view(f"ingest report of {found.name} version {found.version}", who=self.who)
        return read_report(found.report)

    @checked
    def incomplete(self, dataset: str, *, custodian: bool) -> dict[str, int]:
        """Rows that lack what the card calls complete, by column. For the custodian, and logged."""
        if not custodian:
            raise CustodianOnly(view=Phrase("the number of rows that break a card"))
        from discreet.engines import count_incomplete

        found = self.workspace.dataset(dataset)
        self.ledger.record_view(f"incomplete rows of {found.name} version {found.version}", who=self.who)
        return count_incomplete(found.card, self.open_engine({found.name: found}))

    @checked
    def verify(self, *, anchor: str | None = None) -> Verification:
        """Walk the whole ledger."""
        return self.ledger.verify(anchor=anchor)

    # --- the analyst's side ---------------------------------------------------------------------------------------

    @checked
    def query(
        self,
        sql: str,
        *,
        epsilon: ExactLike | None = None,
        delta: ExactLike = 0,
        within: Mapping[str, ExactLike] | str | None = None,
        assume: Mapping[str, ExactLike] | str | int | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        level: ExactLike = "0.95",
        fresh: bool = False,
        confirm: Callable[[Explanation], bool] | None = None,
        check: Callable[[Sequence[Heading]], None] | None = None,
    ) -> Release:
        """Answer one statement; `epsilon` is the total it may cost, split over its measures.

        With `within` instead, such as {"people": 500}, the least epsilon that reaches these half-widths is asked with.
        `confirm` sees what it will cost and how far off it will be, and may still say no; `check` sees the keys that
        will be shown, and may refuse what cannot be written of them.
        """
        from discreet.release import answer_ask, explain_ask, read_ask

        asked = read_ask(
            sql,
            self.workspace,
            self.ledger,
            analyst=self._asker(analyst),
            epsilon=epsilon,
            delta=delta,
            within=within,
            assume=assume,
            level=level,
            who=self.who,
            request_id=request_id,
            fresh=fresh,
        )
        if check is not None:
            check(asked.headings)
        if confirm is not None and not confirm(explain_ask(asked, self.ledger)):
            raise Refused(say("Not asked. Nothing was released or charged."))
        return answer_ask(asked, self.ledger, self.open_engine)

    @checked
    def hold(
        self,
        sql: str,
        *,
        request_id: str,
        custodian: bool,
        epsilon: ExactLike,
        delta: ExactLike = 0,
        analyst: str | None = None,
        expires: datetime | None = None,
    ) -> Hold:
        """Check a question and set its price aside. Asked under the same request id, its charge takes that place."""
        if not custodian:
            raise CustodianOnly(view=Phrase("holding a part of the budget"))
        if expires is not None and not isinstance(expires, datetime):
            raise ParameterInvalid(parameter="expires", rule=say("must be a time"), given=as_given(expires))
        from discreet.release import Question, hold, read_ask

        asked = read_ask(
            sql,
            self.workspace,
            self.ledger,
            analyst=self._asker(analyst),
            epsilon=epsilon,
            delta=delta,
            who=self.who,
            request_id=request_id,
        )
        return hold(Question(asked, self.open_engine), self.ledger, who=self.who, expires=expires)

    @checked
    def explain(
        self,
        sql: str,
        *,
        epsilon: ExactLike | None = None,
        delta: ExactLike = 0,
        within: Mapping[str, ExactLike] | str | None = None,
        assume: Mapping[str, ExactLike] | str | int | None = None,
        analyst: str | None = None,
        level: ExactLike = "0.95",
        fresh: bool = False,
    ) -> Explanation:
        """What asking would measure, add, charge and leave. The data are not opened."""
        from discreet.release import explain_ask, read_ask

        asked = read_ask(
            sql,
            self.workspace,
            self.ledger,
            analyst=self._asker(analyst),
            epsilon=epsilon,
            delta=delta,
            within=within,
            assume=assume,
            level=level,
            fresh=fresh,
        )
        return explain_ask(asked, self.ledger)

    @checked
    def plan(
        self, workload: Workload | AnyPath, *, epsilon: ExactLike | None = None, analyst: str | None = None
    ) -> Apportionment:
        """How a workload's budget is shared, what it reaches and leaves. Nothing is charged; `epsilon` is the total."""
        from discreet.release import plan_workload, take_workload

        found = take_workload(workload)
        if epsilon is not None:
            found = replace(found, epsilon=exact(epsilon, parameter="epsilon"))
        asking = self._asker(found.analyst if analyst is None else analyst)
        return plan_workload(found, self.workspace, self.ledger, analyst=asking)

    @checked
    def run(
        self,
        workload: Workload | AnyPath,
        *,
        epsilon: ExactLike | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        confirm: Callable[[Apportionment], bool] | None = None,
    ) -> Release:
        """Answer every question of a workload under one charge. `confirm` sees the plan and may still say no."""
        from discreet.release import run_workload

        planned = self.plan(workload, epsilon=epsilon, analyst=analyst)
        if confirm is not None and not confirm(planned):
            raise Refused(say("Not asked. Nothing was released or charged."))
        return run_workload(
            planned, self.ledger, request_id=name_request(request_id), open_engine=self.open_engine, who=self.who
        )

    @property
    def tables(self) -> TableDesk:
        """Where tables are asked for with all their options, and explained."""
        from discreet.tables import TableDesk

        return TableDesk(self.workspace, self.ledger, self.open_engine, self._asker(None))

    @checked
    def table(
        self,
        dataset: str,
        *,
        by: Sequence[str] | str,
        epsilon: ExactLike,
        value: str | None = None,
        mean: bool = False,
        weighted: bool = False,
        where: str | None = None,
        edges: Mapping[str, Sequence[ExactLike]] | None = None,
        margins: bool | Sequence[Sequence[str] | str] = True,
        no_missing: bool = False,
        leave_out: Mapping[str, Sequence[object]] | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        level: ExactLike = "0.95",
        fresh: bool = False,
    ) -> Release:
        """A protected table: cells and margins that add up, with an interval on each. `epsilon` is what it costs.

        `margins` are all of them, none, or those that keep the named columns, as in ["province", "total"]. `no_missing`
        and `leave_out`, as in {"province": ["60"]}, leave people out of cells and margins alike.
        """
        from discreet.tables import table_request

        asked = table_request(
            dataset,
            by,
            value=value,
            mean=mean,
            weighted=weighted,
            where=where,
            edges=edges,
            margins=margins,
            no_missing=no_missing,
            leave_out=leave_out,
        )
        return self.tables.release(
            asked, epsilon=epsilon, analyst=analyst, request_id=request_id, level=level, fresh=fresh
        )

    @checked
    def history(self, *, analyst: str | None = None, limit: int | None = None) -> list[PastQuestion]:
        """What was asked, the newest first: by one analyst, or by everybody where none is named and all are shown."""
        if analyst is not None or self._shown is not None:
            analyst = self._asker(analyst)
        return self.ledger.questions(analyst=analyst, limit=limit)

    @checked
    def recall(self, number: int, *, analyst: str | None = None) -> Release:
        """An answer that was given before, by its number in the history. Nothing is charged or drawn."""
        asking = self._asker(analyst)
        found = self.ledger.question(number=number)
        if found is None or found.analyst != asking:
            raise UnknownName(
                sort=Phrase("Answer"),
                name=str(number),
                where=Phrase("your history"),
                advice=say("See its numbers with: discreet history"),
            )
        if not found.answered:
            raise ChargedNotAnswered(dataset=found.dataset, request_id=found.request_id, suspended=False)
        if found.words is None:
            raise Refused(
                say(
                    "answer {number} was given by an earlier version of Discreet, which did not keep its question. Ask "
                    "it again with --request-id {request_id}: it costs nothing more.",
                    number=str(number),
                    request_id=found.request_id,
                )
            )
        return self._at(found.versions)._ask_again(found)

    def _ask_again(self, found: PastQuestion) -> Release:
        """The same words under the same request id: the ledger has its answer, and nothing else can be met."""
        words: dict[str, Any] = {**(found.words or {})}
        words.pop("versions", None)
        analyst, request_id = found.analyst, found.request_id
        match words.pop("kind", None):
            case "query":
                return self.query(**words, analyst=analyst, request_id=request_id)
            case "workload":
                from discreet.release import recall_workload

                return self.run(recall_workload(words), analyst=analyst, request_id=request_id)
            case "table":
                return self.tables.release(self.read_table(words, analyst=analyst), request_id=request_id)
        raise Refused(say("answer {number} is of a sort that this version does not know.", number=str(found.number)))

    @checked
    def read_table(self, words: Mapping[str, Any], *, analyst: str | None = None) -> AskedTable:
        """A table as its words say it: what `table` takes, and how its noise is chosen. Nothing is charged."""
        from discreet.tables import table_request

        if not isinstance(words, Mapping) or not words.keys() >= _LEAST_OF_TABLES:
            raise ParameterInvalid(parameter="words", rule=say("must be those of a table"), given=as_given(words))
        apart = {name: words[name] for name in _OF_TABLES if name in words}
        rest = {name: value for name, value in words.items() if name not in _OF_TABLES}
        return self.tables.read(table_request(**rest), **apart, analyst=self._asker(analyst))

    def open_engine(self, datasets: Mapping[str, Dataset]) -> Engine:
        """One engine per set of versions, kept open: opening it takes longer than most questions."""
        return (self._home or self)._shelf().open(datasets)

    def _shelf(self) -> EngineShelf:
        from discreet.engines import EngineShelf

        with self._shelving:
            if self._engines is None:
                self._engines = EngineShelf(salt=self.workspace.salt)
            return self._engines

    def datasets(self) -> tuple[Dataset, ...]:
        """The current version of every dataset, by name."""
        return self.workspace.datasets()

    def public_tables(self) -> tuple[PublicTable, ...]:
        """The current version of every public table, by name."""
        from discreet.workspace import list_public_tables

        return list_public_tables(self.workspace)

    @checked
    def public_table(self, name: str) -> PublicTable:
        """A public table in its current version, or UnknownName with the nearest one."""
        from discreet.workspace import read_public_table

        return read_public_table(self.workspace, name)

    @checked
    def describe(self, dataset: str, language: Language = "en") -> dict[str, object]:
        """The public face of a dataset: what its card says and what its budget holds, never a value from the rows."""
        from discreet.cards import describe_card

        found = self.workspace.dataset(dataset)
        card = found.card
        return {
            **describe_card(card, language),
            "version": found.version,
            "suspended": self.ledger.suspended(card.dataset),
            "budget": self.budget(card.population).to_dict(),
        }

    @checked
    def budget(self, population: str) -> BudgetState:
        """What was spent on a population and what remains. Where not all is shown, of the shares only one's own."""
        self._require_shown(population)
        state = self.ledger.state(population)
        return state if self._shown is None else state.share_of(self.who)

    def populations(self) -> tuple[str, ...]:
        """The populations that have a budget here."""
        shown = self._shown_populations()
        return self.ledger.populations() if shown is None else shown

    @property
    def _shown(self) -> frozenset[str] | None:
        """The datasets that are shown; None where all are."""
        return self.workspace.shown if isinstance(self.workspace, WorkspaceView) else None

    def _shown_populations(self) -> tuple[str, ...] | None:
        """Those of the datasets that are shown; None where all are."""
        if self._shown is None:
            return None
        return tuple(sorted({dataset.card.population for dataset in self.workspace.datasets()}))

    def _require_shown(self, population: str) -> None:
        shown = self._shown_populations()
        if shown is not None and population not in shown:
            raise UnknownName(sort=Phrase("Population"), name=population, where=Phrase("the workspace"), known=shown)

    def _check_dataset(self, card: Card) -> None:
        """A dataset has a name of its own and stays in its population: before a row is read, not after."""
        if card.dataset in self.workspace.public_names():
            raise Refused(
                say(
                    "'{dataset}' is a public table of this workspace, and a dataset cannot share its name. Choose "
                    "another name in the card.",
                    dataset=card.dataset,
                ),
                dataset=card.dataset,
            )
        if card.dataset not in self.workspace.names():
            return
        home = self.workspace.dataset(card.dataset).card.population
        if home != card.population:
            raise PopulationConflict(
                say(
                    "'{dataset}' belongs to population '{home}' and cannot move to '{population}'. Add the file "
                    "under another dataset name.",
                    dataset=card.dataset,
                    home=home,
                    population=card.population,
                ),
                dataset=card.dataset,
                population=home,
            )

    def _check_population(
        self, terms: PopulationTerms, confirm: Callable[[NewPopulation], bool]
    ) -> NewPopulation | None:
        """Hold a card's terms against the population's; a population that is new here is confirmed, or refused."""
        known = self.ledger.populations()
        if terms.population in known:
            self.ledger.register(terms)  # says what differs, or nothing
            return None
        new = NewPopulation(terms, first=not known, elsewhere=find_elsewhere(self.workspace, terms.population))
        if not confirm(new):
            raise new.refusal()
        return new

    def _note_populations(self, new: NewPopulation | None) -> None:
        """Tell workspaces with keys in the same folder which populations are here, before a new one is registered."""
        here = [self.ledger.terms(name) for name in self.ledger.populations()]
        if new is None:
            with suppress(PathInvalid):  # no population begins, and they could be told as little before
                note_populations(self.workspace, here)
            return
        note_populations(self.workspace, [*here, new.terms])
        # Of two that begin at the same time, at least one finds the other's note.
        found = find_elsewhere(self.workspace, new.terms.population)
        if not set(found) <= set(new.elsewhere):
            note_populations(self.workspace, here)
            raise replace(new, elsewhere=found).refusal()


def ledger_config(workspace: Workspace) -> LedgerConfig:
    """Where the ledger of a workspace lives."""
    shared = workspace.ledger.store == "postgres"
    return LedgerConfig(
        workspace_id=workspace.id,
        store="postgres" if shared else "sqlite",
        path=None if shared else workspace.path / "ledger.sqlite",
        dsn_env=workspace.ledger.dsn_env,
        key_path=workspace.key,
        anchor_path=workspace.anchor,
    )


def _are_names(given: object) -> bool:
    return isinstance(given, Collection) and all(isinstance(name, str) for name in given)


def card_name(file: Path) -> str:
    """survey.yaml for survey.parquet, survey.csv.gz, …"""
    return file.name.split(".")[0] + ".yaml"


def card_beside(file: Path) -> Path:
    """The card that stands beside a data file or folder."""
    file = file if file.name else file.absolute()
    named = file.with_name(card_name(file))
    for beside in (named, named.with_suffix(".yml")):
        if beside.exists():
            return beside
    raise PathInvalid(
        say(
            "no card {card} stands beside {file}. Name one with --card, or draft one with: discreet card init {file}",
            card=named.name,
            file=file.name,
        )
    )
