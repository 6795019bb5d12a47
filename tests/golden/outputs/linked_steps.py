"""A study of linked counts before it is open, and while a request is on its way: offices whose keys are known."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from discreet.linkage import LinkedKind, OfficeRole, create_office, open_office, write_agreement
from tests.unit.linkage.three_offices import (
    HEALTH_CARD,
    PEOPLE_CARD,
    make_workspace,
    open_offices,
    people_rows,
    sign_all,
    terms_text,
)

__all__ = ["agree", "ask_and_draw", "make_offices"]


def make_offices(folder: Path) -> None:
    """Three offices, two workspaces, and terms; nothing is agreed on yet."""
    health, people, homes = people_rows()
    for name, card, rows in (("h", HEALTH_CARD, health), ("r", PEOPLE_CARD, people)):
        make_workspace(folder / name / "workspace", card, rows).close()
    (folder / "households.csv").write_text(homes, encoding="utf-8")
    (folder / "terms.yaml").write_text(terms_text(), encoding="utf-8")
    (folder / "wrong.yaml").write_text(terms_text(people="people: many", ids="", quota="qouta: 5"), encoding="utf-8")
    for number, role in enumerate(OfficeRole, start=1):
        seed = bytes([number]) * 32
        with (
            patch.object(Ed25519PrivateKey, "generate", lambda seed=seed: Ed25519PrivateKey.from_private_bytes(seed)),
            patch.object(X25519PrivateKey, "generate", lambda seed=seed: X25519PrivateKey.from_private_bytes(seed)),
        ):
            create_office(folder / role.value, role=role, name=role.value.title())


def agree(folder: Path) -> None:
    """The same, with an agreement that all three have signed, and one that nobody has."""
    make_offices(folder)
    offices = [open_office(folder / role.value) for role in OfficeRole]
    write_agreement(sign_all(terms_text(), offices, folder), folder / "agreement.json")
    write_agreement(sign_all(terms_text(), [], folder, parties=offices), folder / "unsigned.json")


def ask_and_draw(folder: Path) -> None:
    """A study that is open, a request to the holder, and a sample to the registry."""
    offices = open_offices(folder)
    names = SimpleNamespace(token_hex=lambda _: "ab" * 16)
    with patch("discreet.linkage.offices.researcher_desk.secrets", names):
        asked = offices.researcher.ask(
            property="francophone", kind=LinkedKind.COUNT, scale=30, where="ill = 'yes' AND age >= 20"
        )
    (folder / "request.env").write_bytes(asked.envelope)
    (folder / "sample.env").write_bytes(offices.holder.draw(asked.envelope).sample)
    (folder / "junk.env").write_bytes(b"not an envelope")
    offices.close()
