"""A client that a measurement can trust to do little: one connection that is kept, and the standard library."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

__all__ = ["HttpAsker", "HttpReply", "NotReached"]

_UNWELL: Final = frozenset({429, 500, 502, 503, 504})
_PAUSE: Final = 0.05


class NotReached(Exception):
    """No answer came: nobody listened, or the connection broke on the way."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What came back, and after how many seconds."""

    status: int
    body: bytes
    seconds: float

    @property
    def found(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def figures(self) -> tuple[Any, Any]:
        """What an answer says of the data: the same for every reading of one draw."""
        found = self.found
        return found["rows"], found["intervals"]

    @property
    def error(self) -> str:
        return "" if self.status < 400 else str(self.found.get("error", ""))


class HttpAsker:
    """Asks one server for one person. A connection that the server ended is opened anew, once."""

    def __init__(self, port: int, token: str | None, *, seconds: float) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
        self._headers = {} if token is None else {"authorization": f"Bearer {token}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def send(
        self, method: str, path: str, body: Mapping[str, object] | None = None, *, key: str | None = None
    ) -> HttpReply:
        """One request; NotReached where no whole answer came."""
        headers = dict(self._headers)
        if key is not None:
            headers["idempotency-key"] = key
        sent = None
        if body is not None:
            sent = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        begun = time.perf_counter()
        try:
            self._connection.request(method, path, sent, headers)
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as failure:
            self._connection.close()
            raise NotReached(type(failure).__name__) from None
        return HttpReply(answer.status, content, time.perf_counter() - begun)

    def query(self, sql: str, *, epsilon: str, key: str, fresh: bool = True) -> HttpReply:
        """A question, asked once."""
        return self.send("POST", "/v1/queries", {"sql": sql, "epsilon": epsilon, "fresh": fresh}, key=key)

    def insist(self, sql: str, *, epsilon: str, key: str, seconds: float, fresh: bool = True) -> HttpReply:
        """A question, asked again under its key until it is answered or refused; `seconds` are all that it took."""
        begun = time.perf_counter()
        while True:
            try:
                reply = self.query(sql, epsilon=epsilon, key=key, fresh=fresh)
            except NotReached as failure:
                told = str(failure)
            else:
                if reply.status not in _UNWELL:
                    return HttpReply(reply.status, reply.body, time.perf_counter() - begun)
                told = f"{reply.status} {reply.error}"
            if time.perf_counter() - begun > seconds:
                raise NotReached(told)
            time.sleep(_PAUSE)
