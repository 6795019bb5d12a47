"""A question to the person at the terminal, answered in their own language."""

from __future__ import annotations

import typer

from discreet.catalogue import ENGLISH, language, say

__all__ = ["confirm_at_terminal"]


def confirm_at_terminal(question: str) -> bool:
    """Whether the person says yes; Return alone is no. English words are understood in every language."""
    if language() == ENGLISH:
        return typer.confirm(question, default=False, err=True)
    yes, no = (say("yes"), "yes"), (say("no"), "no")
    while True:
        asked = say("{question} [y/N]", question=question)
        given = str(typer.prompt(asked, default="", show_default=False, err=True)).strip().casefold()
        if given in {word[:length] for word in yes for length in (1, len(word))}:
            return True
        if given in {"", *(word[:length] for word in no for length in (1, len(word)))}:
            return False
        typer.echo(say("Answer y or n."), err=True)
