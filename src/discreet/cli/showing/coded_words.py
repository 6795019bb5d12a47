"""Codes of ours in the reader's words: names of facts, kinds of columns, sorts of neighbours, grades of figures."""

from __future__ import annotations

from typing import Final

from discreet.catalogue import Phrase

__all__ = ["word"]

_WORDS: Final = {
    phrase.template: phrase
    for phrase in (
        # neighbours, and whether a size is known
        Phrase("add-remove"),
        Phrase("replace-one"),
        Phrase("private"),
        Phrase("public"),
        # whom a bootstrap release compares, and what grades count
        Phrase("replace-one, by rows of the observed data"),
        Phrase("replace-one, by rows of the observed data and of a declared sub-population"),
        Phrase("replace-one, by rows of the observed data and of synthetic individuals"),
        Phrase("privacy noise"),
        Phrase("privacy noise and sampling"),
        Phrase("nothing: a bootstrap release does not show its noise"),
        # kinds of columns
        Phrase("id"),
        Phrase("category"),
        Phrase("integer"),
        Phrase("number"),
        Phrase("text"),
        # grades of figures
        Phrase("good"),
        Phrase("caution"),
        Phrase("unreliable"),
        Phrase("suppressed"),
        Phrase("too small"),
        Phrase("not rated"),
        # terms of a population
        Phrase("population"),
        Phrase("epsilon"),
        Phrase("delta"),
        Phrase("per analyst"),
        Phrase("per analyst delta"),
        Phrase("neighbours"),
        Phrase("unit column"),
        Phrase("unit type"),
        # belief
        Phrase("solved for"),
        Phrase("prior"),
        Phrase("sensitivity"),
        Phrase("odds ratio"),
        Phrase("belief"),
        Phrase("scale"),
        Phrase("queries"),
        Phrase("epsilon used"),
        Phrase("belief reached"),
        # a ledger that was walked
        Phrase("events"),
        Phrase("head"),
        Phrase("charges"),
        Phrase("answers"),
        Phrase("anchors"),
        Phrase("anchored"),
        # what ingest did to the values of a column
        Phrase("blank"),
        Phrase("missing"),
        Phrase("unparsable"),
        Phrase("not listed"),
        Phrase("clamped low"),
        Phrase("clamped high"),
        Phrase("null"),
        # what the doctor looks at
        Phrase("python"),
        Phrase("package"),
        Phrase("extra"),
        Phrase("randomness"),
        Phrase("workspace"),
        Phrase("writable"),
        Phrase("spill"),
        Phrase("disk"),
        Phrase("key"),
        Phrase("anchor"),
        Phrase("ledger"),
        Phrase("chain"),
        Phrase("dataset"),
        Phrase("budget"),
        Phrase("hold"),
        # a collection of protected answers
        Phrase("survey"),
        Phrase("version"),
        Phrase("manifest"),
        Phrase("guarantee"),
        Phrase("accepted"),
        Phrase("refused"),
        Phrase("answered in clear"),
        Phrase("level"),
        Phrase("variance"),
        # why a report was refused
        Phrase("line too long"),
        Phrase("not JSON"),
        Phrase("wrong fields"),
        Phrase("another survey"),
        Phrase("another version"),
        Phrase("another manifest"),
        Phrase("respondent mark malformed"),
        Phrase("group outside its categories"),
        Phrase("weight outside its range"),
        Phrase("unknown question"),
        Phrase("wrong number of questions"),
        Phrase("report out of domain"),
        Phrase("copy of a line already taken"),
        Phrase("different lines under one respondent"),
        Phrase("respondent also answered in clear"),
    )
}


def word(code: str) -> str:
    """A code in the language of this moment; one that is not ours stays as it is."""
    return str(_WORDS.get(code.replace("_", " "), code))
