"""What a session asks of its server: facts for nothing, and answers, which are waited for where they are jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from discreet.catalogue import say
from discreet.client.exchanges import ANSWER, JSON, Call, Reply
from discreet.client.patience import Notes, PatientServer
from discreet.client.remote_jobs import RemoteJob
from discreet.client.told_errors import answered_unreadably, charged_perhaps, key_of, not_understood, still_working
from discreet.client.told_values import UNREADABLE, read_json, read_sent, take
from discreet.errors import Refused
from discreet.results import Release

__all__ = ["Progress", "ServerDesk"]

T = TypeVar("T")

Progress = Callable[[RemoteJob], None]

_FIRST: Final = 0.5
_LONGEST: Final = 10.0


class ServerDesk:
    """One server, and whoever hears how far its jobs are. `wait` are the seconds that a job is waited for; `notes` hear
    under which key a question goes on that somebody leaves.
    """

    def __init__(
        self, server: PatientServer, *, wait: float, progress: Progress | None = None, notes: Notes | None = None
    ) -> None:
        self._server = server
        self._wait = wait
        self._progress = progress
        self._notes = notes
        self._closed = False

    @property
    def host(self) -> str:
        return self._server.host

    @property
    def address(self) -> str:
        """What people know the server by."""
        return self._server.address

    @property
    def closed(self) -> bool:
        """Whether nothing is asked any more."""
        return self._closed

    def close(self) -> None:
        """Let go of every connection; from then on nothing is asked."""
        self._closed = True
        self._server.close()

    def find(self, call: Call, read: Callable[[Mapping[str, Any]], T]) -> T:
        """Something that costs nothing, as `read` takes it from the object that comes."""
        reply = self._ask(call)
        try:
            return _understand(lambda: read(_facts(reply)))
        except _Unread:
            raise not_understood(self.host, status=reply.status) from None

    def fetch(self, call: Call) -> Release:
        """A release that costs nothing."""
        reply = self._ask(call)
        try:
            return _understand(lambda: _release(reply))
        except _Unread:
            raise not_understood(self.host, status=reply.status) from None

    def spend(self, pieces: tuple[str, ...], body: Mapping[str, object], *, request_id: str) -> Release:
        """The answer to a question that spends, whether it comes at once or as a job. Whoever interrupts it is told the
        key under which it costs nothing more.
        """
        try:
            return self._spend(pieces, body, request_id)
        except KeyboardInterrupt as left:
            left.add_note(key_of(request_id))
            if self._notes is not None:
                self._notes(key_of(request_id))
            raise

    def _spend(self, pieces: tuple[str, ...], body: Mapping[str, object], request_id: str) -> Release:
        reply = self._ask(Call("POST", pieces, body=body, accept=ANSWER, request_id=request_id))
        try:
            if reply.status == 202:
                job = _understand(lambda: _job(take(_facts(reply), "job", dict), request_id))
                number = self._follow(job, request_id)
                reply = self._ask(Call("GET", ("answers", str(number)), accept=ANSWER, request_id=request_id))
                reply = replace(reply, answer=number)
            release = _understand(lambda: _release(reply))
        except _Unread:
            if reply.status == 200 and reply.media == ANSWER:
                raise answered_unreadably(self.address, self.host, request_id, number=reply.answer) from None
            raise charged_perhaps(self.host, request_id) from None
        if release.request_id != request_id:
            raise charged_perhaps(self.host, request_id)
        return release

    def _follow(self, job: RemoteJob, request_id: str) -> int:
        """The number of a job's answer, once it is there; else what kept it from one."""
        until, pause = self._server.clock() + self._wait, _FIRST
        self._tell(job)
        while not job.ended:
            if self._server.clock() + pause > until:
                raise still_working(self.host, request_id)
            self._server.sleep(pause)
            pause = min(1.5 * pause, _LONGEST)
            job = self._look(job.id, request_id)
            self._tell(job)
        if job.problem is not None:
            raise job.problem
        if job.answer is None:
            raise Refused(say("this was cancelled before it was asked. Nothing was charged."))
        return job.answer

    def _look(self, job: str, request_id: str) -> RemoteJob:
        reply = self._ask(Call("GET", ("jobs", job), request_id=request_id))
        return _understand(lambda: _job(_facts(reply), request_id))

    def _tell(self, job: RemoteJob) -> None:
        if self._progress is not None:
            self._progress(job)

    def _ask(self, call: Call) -> Reply:
        if self._closed:
            raise Refused(
                say("this session with '{host}' is closed. Connect again with discreet.connect.", host=self.host),
                host=self.host,
            )
        return self._server.ask(call)


class _Unread(Exception):
    """What came is not as agreed."""


def _understand(read: Callable[[], T]) -> T:
    """What is read of a reply; _Unread where it cannot be. Only reading stands within: errors of callers are theirs."""
    try:
        return read()
    except (*UNREADABLE, Refused):
        raise _Unread from None


def _facts(reply: Reply) -> Mapping[str, Any]:
    if reply.media != JSON:
        raise ValueError("not JSON")
    return read_json(reply.body)


def _job(told: Mapping[str, Any], request_id: str) -> RemoteJob:
    """The job of this question, and of no other."""
    found = RemoteJob.read(told)
    if found.request_id != request_id:
        raise ValueError("the job is another question's")
    return found


def _release(reply: Reply) -> Release:
    if reply.media != ANSWER or reply.status != 200:
        raise ValueError("not a release")
    return read_sent(reply.body)
