"""The kinds of file that people write, each with the room that declares its language, loaded when asked for."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from discreet.cards import FileSchema

__all__ = ["FileKind", "load_schema"]


class FileKind(StrEnum):
    """A kind of file, in the order of the reference page."""

    CARD = "card"
    WORKLOAD = "workload"
    MANIFEST = "manifest"
    STUDY = "study"
    AGREEMENT = "agreement"


# By name, because wings stand above the command line.
_HOMES: Final = {
    FileKind.CARD: "discreet.cards",
    FileKind.WORKLOAD: "discreet.release",
    FileKind.MANIFEST: "discreet.collect",
    FileKind.STUDY: "discreet.lab",
    FileKind.AGREEMENT: "discreet.linkage",
}


def load_schema(kind: FileKind) -> FileSchema:
    """The declared language of a kind of file."""
    schema: FileSchema = getattr(import_module(_HOMES[kind]), kind.name)
    return schema
