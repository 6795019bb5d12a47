"""An office that serves in a thread, and both ways into it: its folder, and its address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from discreet.client.exchanges import Exchange
from discreet.client.patience import PatientServer
from discreet.client.remote_session import RemoteSession, connect
from discreet.client.server_address import check_address
from discreet.client.server_desk import Progress, ServerDesk
from discreet.errors import DiscreetError
from discreet.session import Session
from discreet.session import open as open_session
from tests.unit.client.hostile import Watch
from tests.unit.server.serving import Asker, House, furnish, serving

__all__ = ["BY_TOWN", "COUNT", "DATASETS", "Office", "told", "working"]

COUNT = "SELECT COUNT(*) AS people FROM clinic"
BY_TOWN = "SELECT town, COUNT(*) AS people, AVG(age) AS age FROM clinic GROUP BY town"
DATASETS = frozenset({"clinic"})


class Office:
    """`here` and `there` are the same person's: `ada` and `bob` may ask about 'clinic' alone."""

    def __init__(self, house: House, ask: Asker, home: Session) -> None:
        self.house = house
        self.ask = ask
        self.home = home
        self.opened = ExitStack()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ask.port}"

    def here(self, who: str = "ada") -> Session:
        """On the workspace, for one person."""
        return self.home.acting_for(who, datasets=DATASETS)

    def there(self, who: str = "ada", **terms: Any) -> RemoteSession:
        """On the server, as anybody connects."""
        return self.opened.enter_context(connect(self.url, self.house.tokens[who], **terms))

    def patient(
        self,
        url: str,
        watch: Watch,
        *,
        who: str = "ada",
        patience: float = 60,
        wait: float = 600,
        progress: Progress | None = None,
    ) -> RemoteSession:
        """By a clock of the test's own, at any address."""
        exchange = Exchange(check_address(url), self.house.tokens[who], timeout=20)
        server = PatientServer(exchange, patience=patience, clock=watch.clock, sleep=watch.sleep)
        return self.opened.enter_context(RemoteSession(ServerDesk(server, wait=wait, progress=progress)))

    def charges(self, who: str = "ada", request_id: str | None = None) -> int:
        """How often somebody was charged: in all, or under one id."""
        if request_id is None:
            share = self.home.budget("patients").analysts.get(who)
            return 0 if share is None else share.charges
        return sum(asked.request_id == request_id for asked in self.home.history(analyst=who))


@contextmanager
def working(folder: Path, *, house: House | None = None, **settings: Any) -> Iterator[Office]:
    """An office with a budget that does not run out."""
    house = house or furnish(folder, budget="1000", per_analyst="500")
    limits = {"per_person": 100_000, "per_address": 100_000}
    with serving(house, **{**limits, **settings}) as ask, open_session(house.path) as home:
        office = Office(house, ask, home)
        with office.opened:
            yield office


def told(error: pytest.ExceptionInfo[DiscreetError]) -> dict[str, object]:
    """All that whoever catches it can see."""
    found = error.value
    return {
        "sort": type(found),
        "words": str(found),
        "exit": found.exit_code,
        "problems": getattr(found, "problems", None),
        **found.to_dict(),
    }
