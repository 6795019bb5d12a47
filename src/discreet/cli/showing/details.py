"""What is the same for every answer: one short line or none, and the whole of it with `--details`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.catalogue import Phrase, language, say
from discreet.cli.help_screens import SHARED

if TYPE_CHECKING:
    from discreet.results import Coverage, Note, Release

__all__ = ["DetailsOption", "tell_cover", "tell_neighbours", "tell_sentences"]

DetailsOption = Annotated[
    bool,
    typer.Option("--details", help="explain intervals, neighbours and how figures were made", rich_help_panel=SHARED),
]

_COVERS: Final = {
    "cell": Phrase("privacy noise only"),
    "raw": Phrase("privacy noise only, around the raw estimate"),
    "calibrated": Phrase("privacy noise only, around the calibrated figure and with about the stated probability"),
}
"""By what an interval is of; other intervals are always explained."""
_SENTENCES: Final = {
    "capped-weights": Phrase("They are cut at their cap, which leaves a bias outside the intervals."),
    "means-not-shown": Phrase("Where – is shown, the noisy size of the group is too small."),
}
"""By the code of a note."""
_OF_EVERY_TABLE: Final = {
    "calibrated", "graded-means", "margins-add-up", "margins-are-means", "not-negative", "strategy",
}  # fmt: skip
"""Codes of notes that tell how tables are made, whatever was asked."""
_NEIGHBOURS: Final = {
    "add-remove": Phrase("add-remove neighbours: one unit more or less"),
    "replace-one": Phrase("replace-one neighbours: one unit in the place of another"),
}


def tell_cover(release: "Release", *, details: bool) -> str:
    """What the intervals of an answer hold."""
    from discreet.results import Coverage

    return next((_tell_note(note, details=details) for note in release.notes if isinstance(note, Coverage)), "")


def tell_neighbours(release: "Release") -> str:
    """Which two sets of data cannot be told apart, explained."""
    return str(_NEIGHBOURS[release.claim.neighbours or "replace-one"])


def tell_sentences(release: "Release", *, details: bool) -> list[str]:
    """The notes of a table, each with its heading, without what is said of the population."""
    from discreet.present import list_messages
    from discreet.results import Coverage, Unbounded

    notes = [note for note in release.notes if not isinstance(note, Unbounded)]
    return [
        say("intervals: {cover}", cover=_tell_note(note, details=details))
        if isinstance(note, Coverage)
        else say("{heading}: {sentence}", heading=heading.text(language()), sentence=_tell_note(note, details=details))
        for note, (heading, _) in zip(notes, list_messages(release), strict=True)
        if details or note.code not in _OF_EVERY_TABLE
    ]


def _tell_note(note: "Note", *, details: bool) -> str:
    from discreet.present import say_message
    from discreet.results import Coverage

    if not details and isinstance(note, Coverage) and note.of in _COVERS:
        return say("{cover} (--details says more)", cover=say("; ").join(_shorten(note)))
    if not details and note.code in _SENTENCES:
        return str(_SENTENCES[note.code])
    return say_message(note)[1].text(language())


def _shorten(note: "Coverage") -> Iterator[str]:
    yield str(_COVERS[note.of])
    if note.ranks:
        yield say("for quantiles, MIN and MAX the ends of the range")
    if note.selected:
        yield say("before HAVING or LIMIT chose which cells are shown")
    if note.least is not None:
        yield say("only keys whose noisy count of units is at least {least:,} are shown", least=note.least)
    yield say("sampling and measurement error come on top")
