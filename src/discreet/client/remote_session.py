"""A session with an office's server: the verbs of a session of a workspace, for whoever asks.

    import discreet
    with discreet.connect("https://office.example") as office:      # the token is in DISCREET_TOKEN
        answer = office.query("SELECT province, COUNT(*) FROM survey GROUP BY province", epsilon="0.5")
    answer.rows, answer.intervals

Who asks is whose token it is. What needs the workspace itself, or a custodian, is refused in words that say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

from discreet.catalogue import say
from discreet.client.access_token import Token, take_token
from discreet.client.asked_words import WorkloadLike, word_query, word_workload
from discreet.client.exchanges import ANSWER, LONGEST_WAIT, Call, Exchange
from discreet.client.patience import Notes, PatientServer
from discreet.client.remote_budget import RemoteBudget
from discreet.client.remote_explanation import RemoteExplanation, RemotePlan
from discreet.client.remote_questions import RemoteQuestion
from discreet.client.remote_tables import RemoteTable, RemoteTableDesk
from discreet.client.server_address import check_address
from discreet.client.server_desk import Progress, ServerDesk
from discreet.client.told_faces import read_face
from discreet.client.told_values import take
from discreet.errors import NotAllowed, ParameterInvalid, Refused
from discreet.guarantees import ExactLike, Language, as_given, check_name, checked, name_request
from discreet.paths import AnyPath
from discreet.results import Release

__all__ = ["OF_A_WORKSPACE", "RemoteDataset", "RemoteSession", "connect"]

OF_A_WORKSPACE: Final = frozenset(
    {
        *("acting_for", "create", "ledger", "open_engine", "public_table", "public_tables", "workspace"),
        *("add", "add_analyst", "add_public_table", "add_table", "change_population", "hold", "incomplete"),
        *("refresh", "report", "resume", "verify"),
    }
)
"""What only a session of a workspace has."""

_MOST_LISTED: Final = 1_000
_DAY: Final = 86_400


@checked
def connect(
    url: str,
    token: Token | None = None,
    *,
    insecure: bool = False,
    timeout: float = 60,
    patience: float = 60,
    wait: float = _DAY,
    progress: Progress | None = None,
    notes: Notes | None = None,
) -> RemoteSession:
    """A session with the server at `url`, for whose token it is: `token`, else that in DISCREET_TOKEN.

    Nothing is sent yet. `timeout` are the seconds for a server to take or say the next part of something, and for a
    request in all; an answer may take thirty times as long in all. What fails is asked again, under its id, for
    `patience` seconds. A question that becomes a job is waited for, `wait` seconds long, and `progress` hears how far
    it is. `notes` hear sentences for a person who waits: that a server does not answer yet, and the key of a question
    that was left. `insecure` lets the token go over plain http to other machines.
    """
    address = check_address(url, insecure=insecure)
    seconds = {"timeout": timeout, "patience": patience, "wait": wait}
    for name, given in seconds.items():
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
            raise ParameterInvalid(parameter=name, rule=say("must be seconds above 0"), given=as_given(given))
    if timeout > LONGEST_WAIT:
        rule = say("must be at most {most:,} seconds", most=LONGEST_WAIT)
        raise ParameterInvalid(parameter="timeout", rule=rule, given=as_given(timeout))
    server = PatientServer(Exchange(address, take_token(token), timeout=timeout), patience=patience, notes=notes)
    return RemoteSession(ServerDesk(server, wait=wait, progress=progress, notes=notes))


@dataclass(frozen=True, slots=True)
class RemoteDataset:
    """A dataset that was granted, in its current version; `describe` tells the rest."""

    name: str
    version: int
    population: str
    title: str
    unit: str
    columns: int
    suspended: bool

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> Self:
        """The dataset that these facts are; without a title where a list has none."""
        titled = "title" in told
        return cls(
            name=take(told, "name", str),
            version=take(told, "version", int),
            population=take(told, "population", str),
            title=take(told, "title", str) if titled else "",
            unit=take(told, "unit", str) if titled else "",
            columns=take(told, "columns", int) if titled else 0,
            suspended=take(told, "suspended", bool),
        )


class RemoteSession:
    """A server as whoever asks sees it. Threads may share it."""

    def __init__(self, desk: ServerDesk) -> None:
        self._desk = desk
        self._who: str | None = None

    def __repr__(self) -> str:
        return f"<RemoteSession with {self._desk.address!r}{', closed' if self._desk.closed else ''}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of every connection; from then on nothing is asked."""
        self._desk.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in OF_A_WORKSPACE:
                raise Refused(
                    say(
                        "'{name}' is for whoever has the workspace itself (discreet.open); the server at '{host}' does "
                        "not offer it.",
                        name=name,
                        host=self._desk.host,
                    ),
                    name=name,
                )
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    @property
    def who(self) -> str:
        """Whose token it is."""
        if self._who is None:
            self._who = self._desk.find(Call("GET", ("me",)), lambda told: take(told, "name", str))
        return self._who

    def _require_self(self, analyst: str | None) -> None:
        """Who asks is known by the token: another may be named nowhere."""
        if analyst is not None and check_name(analyst, parameter="analyst") != self.who:
            raise NotAllowed(
                say(
                    "the token is {who}'s, and nobody can ask as '{analyst}' with it. Leave the name out.",
                    who=self.who,
                    analyst=analyst,
                ),
                analyst=analyst,
            )

    # --- questions --------------------------------------------------------------------------------------------------

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
        confirm: Callable[[RemoteExplanation], bool] | None = None,
    ) -> Release:
        """Answer one statement; `epsilon` is the total it may cost, or `within` says how close it must be.

        `confirm` sees what it will cost and how far off it will be, and may still say no.
        """
        self._require_self(analyst)
        named = name_request(request_id)
        body = word_query(sql, epsilon=epsilon, delta=delta, within=within, assume=assume, level=level, fresh=fresh)
        if confirm is not None and not confirm(self._explain(body)):
            raise Refused(say("Not asked. Nothing was released or charged."))
        return self._desk.spend(("queries",), body, request_id=named)

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
    ) -> RemoteExplanation:
        """What asking would measure, add, charge and leave. The data are not opened."""
        self._require_self(analyst)
        return self._explain(
            word_query(sql, epsilon=epsilon, delta=delta, within=within, assume=assume, level=level, fresh=fresh)
        )

    def _explain(self, body: Mapping[str, object]) -> RemoteExplanation:
        return self._desk.find(Call("POST", ("explanations",), body=body), RemoteExplanation.read)

    @checked
    def plan(
        self, workload: AnyPath | WorkloadLike, *, epsilon: ExactLike | None = None, analyst: str | None = None
    ) -> RemotePlan:
        """How a workload's budget is shared, what it reaches and leaves. Nothing is charged; `epsilon` is the total."""
        self._require_self(analyst)
        return self._plan(word_workload(workload, epsilon=epsilon))

    def _plan(self, body: Mapping[str, object]) -> RemotePlan:
        return self._desk.find(Call("POST", ("workloads", "plan"), body=body), RemotePlan.read)

    @checked
    def run(
        self,
        workload: AnyPath | WorkloadLike,
        *,
        epsilon: ExactLike | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        confirm: Callable[[RemotePlan], bool] | None = None,
    ) -> Release:
        """Answer every question of a workload under one charge. `confirm` sees the plan and may still say no."""
        self._require_self(analyst)
        named, body = name_request(request_id), word_workload(workload, epsilon=epsilon)
        if confirm is not None and not confirm(self._plan(body)):
            raise Refused(say("Not asked. Nothing was released or charged."))
        return self._desk.spend(("workloads",), body, request_id=named)

    # --- tables -----------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> RemoteTableDesk:
        """Where tables are asked for with all their options, and explained."""
        return RemoteTableDesk(self._desk)

    @checked
    def read_table(self, words: Mapping[str, Any], *, analyst: str | None = None) -> RemoteTable:
        """A table as its words say it: what `table` takes, and how its noise is chosen. Nothing is charged."""
        self._require_self(analyst)
        return RemoteTable(words)

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
        """A protected table: cells and margins that add up, with an interval on each. `epsilon` is what it costs."""
        words = {
            "dataset": dataset,
            "by": by,
            "epsilon": epsilon,
            "value": value,
            "mean": mean,
            "weighted": weighted,
            "where": where,
            "edges": edges,
            "margins": margins,
            "no_missing": no_missing,
            "leave_out": leave_out,
            "level": level,
        }
        return self.tables.release(self.read_table(words, analyst=analyst), request_id=request_id, fresh=fresh)

    # --- what there is ----------------------------------------------------------------------------------------------

    def datasets(self) -> tuple[RemoteDataset, ...]:
        """Those that were granted, in their current versions, by name."""
        return tuple(found if found.title else self._complete(found) for found in self._list())

    def _list(self) -> list[RemoteDataset]:
        return self._desk.find(
            Call("GET", ("datasets",)), lambda told: [RemoteDataset.read(one) for one in take(told, "datasets", list)]
        )

    def _complete(self, listed: RemoteDataset) -> RemoteDataset:
        """With what a server says of it alone, where its list has no titles."""
        return self._desk.find(
            Call("GET", ("datasets", listed.name)),
            lambda face: replace(
                listed,
                title=take(face, "title", str),
                unit=take(take(face, "unit", dict), "column", str),
                columns=len(take(face, "columns", list)),
            ),
        )

    @checked
    def describe(self, dataset: str, language: Language = "en") -> dict[str, object]:
        """The public face of a dataset: what its card says and what its budget holds, never a value from the rows."""
        return self._desk.find(Call("GET", ("datasets", dataset), language=language), read_face)

    @checked
    def budget(self, population: str) -> RemoteBudget:
        """What was spent on a population and what remains; of the shares, only one's own."""
        return self._desk.find(Call("GET", ("populations", population, "budget")), RemoteBudget.read)

    def populations(self) -> tuple[str, ...]:
        """Those of the datasets that were granted."""
        return tuple(sorted({listed.population for listed in self._list()}))

    @checked
    def history(self, *, analyst: str | None = None, limit: int | None = None) -> list[RemoteQuestion]:
        """One's own questions, the newest first; a server lists at most a thousand."""
        self._require_self(analyst)
        if limit is not None and limit < 1:
            raise ParameterInvalid(parameter="limit", rule=say("must be 1 or more"), given=str(limit))
        most = _MOST_LISTED if limit is None else min(limit, _MOST_LISTED)
        return self._desk.find(
            Call("GET", ("history",), query={"limit": str(most)}),
            lambda told: [RemoteQuestion.read(item) for item in take(told, "history", list)],
        )

    @checked
    def recall(self, number: int, *, analyst: str | None = None) -> Release:
        """An answer that was given before, by its number in the history. Nothing is charged or drawn."""
        self._require_self(analyst)
        return self._desk.fetch(Call("GET", ("answers", str(number)), accept=ANSWER))
