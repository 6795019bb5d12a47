"""A study of linked counts, open at three offices, with requests in every state; and what may befall it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

from discreet.linkage import AskedGroup, LinkedKind
from discreet.linkage.envelopes import EnvelopeKind
from discreet.linkage.office_network.mailbox import Mailbox
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, terms_text

__all__ = ["lose_accounts", "open_study"]

TITLED = {
    "title": "title: {en: Languages of the ill, fr: Langues des malades}",
    "closing": "closing: {share: 0.1, epsilon: 0.5}",
    "quota": "quota: 20000",
}
NAMED = "francophone: {label: {en: French and not English, fr: Français et non anglais}, where"
DESK = "discreet.linkage.offices.registry_desk"


def open_study(folder: Path) -> None:
    """Without noise, and with requests whose names are known."""
    numbers = iter(range(1, 100))
    names = SimpleNamespace(token_hex=lambda _: f"{next(numbers):02x}" * 16)
    with (
        patch("discreet.linkage.offices.researcher_desk.secrets", names),
        patch(f"{DESK}.discrete_laplace", lambda *_, **__: 0),
        patch(f"{DESK}.discrete_laplace_array", lambda *_, count, **__: np.zeros(count, dtype=np.int64)),
    ):
        _fill(open_offices(folder, terms=terms_text(**TITLED).replace("francophone: {where", NAMED)))


def _fill(offices: ThreeOffices) -> None:
    old_and_young = [AskedGroup("young", "age < 30", Decimal(1)), AskedGroup("old", "age >= 30", Decimal(1))]
    asked = [
        {"property": "francophone", "kind": LinkedKind.COUNT, "scale": 30, "where": "ill = 'yes'"},
        {"property": "tongue", "kind": LinkedKind.HISTOGRAM, "scale": 30, "where": "ill = 'yes'"},
        {"property": "francophone", "kind": LinkedKind.COUNT_AND_SIZE, "scale": 10, "where": None},
        {"property": "francophone", "kind": LinkedKind.COUNT, "scale": 30, "where": "ill = 'yes'"},
    ]
    for number, words in enumerate(asked):
        now = datetime(2026, 11, 17, 9, number, tzinfo=UTC)
        groups = old_and_young if words["where"] is None else []
        request = offices.researcher.ask(**words, groups=groups, now=now)  # type: ignore[arg-type]
        drawn = offices.holder.draw(request.envelope, now=now)
        answer = offices.registry.count(drawn.sample, now=now).answer
        offices.researcher.read(answer, drawn.labels, now=now)
    now = datetime.now(UTC)
    for where, rate in (("age >= 65", "1"), ("age >= 65 AND ill = 'no'", "0.25")):
        request = offices.researcher.ask(
            property="francophone", kind=LinkedKind.COUNT, scale=100, where=where, rate=Decimal(rate), now=now
        )
        if rate == "1":
            Mailbox(offices.holder.study).receive(
                EnvelopeKind.REQUEST, request.request, request.envelope, body=b"", asked=now, now=now
            )
    offices.close()


def lose_accounts(folder: Path) -> None:
    """The accounts of both properties, each in another way."""
    open_study(folder)
    first, second = sorted((folder / "registry" / "pools").iterdir(), key=_uses)
    (first / "accounts.bin").unlink()
    (second / "digest.key").unlink()


def _uses(pool: Path) -> int:
    return int(np.frombuffer((pool / "accounts.bin").read_bytes().partition(b"\n")[2], dtype="<u2").max())
