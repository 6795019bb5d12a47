"""Scenes of `discreet person`, `discreet token` and `discreet grant`. Secrets are masked wherever they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from discreet.people import People, Role
from discreet.session import open as open_session
from tests.golden.outputs.recording import Scene

__all__ = ["PEOPLE_SCENES", "TWO", "propose"]

FIRST: Final = ("person add -w w ana --role custodian --role analyst", "person add -w w maria --role analyst")
TWO: Final = (*FIRST, "person add -w w kim --role custodian")
PROPOSED: Final = (*TWO, "person suspend -w w kim", "grant add -w w maria clinic", "person give -w w maria custodian")
TOKENS: Final = (*FIRST, "token new -w w maria --days 30", "token new -w w ana")


def propose(folder: Path) -> None:
    """Something that kim proposes and ana may confirm, and something of ana's own."""
    with open_session(folder / "w") as session:
        people = People(session.workspace, session.ledger)
        people.give_role("maria", Role.CUSTODIAN, who="kim")
        people.suspend("kim", who="ana")
        people.close()


def _forms(command: str) -> list[str]:
    """For people in both languages, and for machines."""
    return [command, f"{command} --lang fr", f"{command} --format json"]


PEOPLE_SCENES: Final[Mapping[str, Sequence[Scene]]] = {
    "person add": [
        Scene(
            "person-add",
            [
                *FIRST,
                "person add -w w joe --role auditor --format json",
                "person add -w w kim --role custodian --lang fr",
                "person add -w w zoe --role custodian --role reviewer",
                "person add -w w lea --role custodian --lang fr",
                "person add -w w Maria --role analyst",
                "person add -w w eve --role boss",
                "person add -w w 'two words' --role analyst",
                "person add -w w eve",
            ],
            together=True,
        )
    ],
    "person list": [
        Scene("person-list", _forms("person list -w w"), before=PROPOSED),
        Scene("person-list-none", _forms("person list -w w")),
    ],
    "person give": [
        Scene("person-give", _forms("person give -w w maria reviewer"), before=FIRST),
        Scene(
            "person-give-proposed",
            [*_forms("person give -w w maria custodian"), "person give -w w maria analyst"],
            before=TWO,
        ),
    ],
    "person take": [
        Scene(
            "person-take", [*_forms("person take -w w maria analyst"), "person take -w w ana custodian"], before=FIRST
        ),
        Scene("person-take-proposed", _forms("person take -w w kim custodian"), before=TWO),
    ],
    "person suspend": [
        Scene("person-suspend", [*_forms("person suspend -w w maria"), "person suspend -w w marie"], before=FIRST),
        Scene("person-suspend-proposed", _forms("person suspend -w w kim"), before=TWO),
    ],
    "person restore": [
        Scene("person-restore", _forms("person restore -w w maria"), before=[*FIRST, "person suspend -w w maria"]),
        Scene("person-restore-nobody", ["person restore -w w maria"], before=FIRST),
    ],
    "person confirm": [
        Scene(
            "person-confirm",
            [
                *_forms("person confirm -w w 13"),
                "person confirm -w w 14",
                "person confirm -w w 14 --lang fr",
                "person confirm -w w 12",
            ],
            before=TWO,
            prepare=propose,
        ),
    ],
    "person decline": [
        Scene(
            "person-decline",
            [*_forms("person decline -w w 14"), "person decline -w w 12 --lang fr"],
            before=TWO,
            prepare=propose,
        ),
    ],
    "person link": [
        Scene(
            "person-link",
            [
                *_forms("person link -w w maria --at https://privacy.example.org"),
                "person link -w w maria",
                "person link -w w maria --at privacy.example.org",
                "person link -w w eve",
            ],
            before=FIRST,
        ),
    ],
    "person password": [
        Scene(
            "person-password",
            ["person password -w w maria", "person password -w w maria --lang fr", "person password -w w eve"],
            before=FIRST,
            stdin="correct horse battery\n",
        ),
        Scene("person-password-short", ["person password -w w maria"], before=FIRST, stdin="swordfish\n"),
    ],
    "token new": [
        Scene(
            "token-new",
            [*_forms("token new -w w maria --days 30"), "token new -w w maria --days 366", "token new -w w eve"],
            before=FIRST,
        ),
    ],
    "token list": [
        Scene("token-list", [*_forms("token list -w w"), "token list -w w maria"], before=TOKENS),
        Scene("token-list-none", _forms("token list -w w"), before=FIRST),
    ],
    "token revoke": [
        Scene(
            "token-revoke",
            [*_forms("token revoke -w w 0123456789abcdef"), "token revoke -w w x --lang fr"],
            before=TOKENS,
        ),
    ],
    "grant add": [
        Scene(
            "grant-add",
            [*_forms("grant add -w w maria clinic"), "grant add -w w maria clinics", "grant add -w w eve clinic"],
            before=FIRST,
        ),
    ],
    "grant remove": [
        Scene(
            "grant-remove",
            [*_forms("grant remove -w w maria clinic"), "grant remove -w w maria visits"],
            before=[*FIRST, "grant add -w w maria clinic"],
        ),
    ],
    "grant list": [
        Scene("grant-list", _forms("grant list -w w"), before=[*FIRST, "grant add -w w maria clinic"]),
        Scene("grant-list-none", _forms("grant list -w w")),
    ],
}
