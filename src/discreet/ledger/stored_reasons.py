"""Reasons that stand on the ledger: kept in English whatever language is spoken, and told in the reader's."""

from __future__ import annotations

import re
from typing import Final

from discreet.catalogue import Phrase, language, translate

__all__ = [
    "ANSWER_GIVEN",
    "FAILED_AFTER_CHARGE",
    "FAILED_DURING_BOOTSTRAP",
    "FAILED_DURING_UNPROVEN",
    "tell_stored",
    "word_from_rows",
]

FAILED_AFTER_CHARGE: Final = Phrase("the engine or the mechanism failed after a charge").en
FAILED_DURING_UNPROVEN: Final = Phrase("the engine or the mechanism failed during an unproven answer").en
FAILED_DURING_BOOTSTRAP: Final = Phrase("the engine or the mechanism failed during a bootstrap table").en
"""Why a dataset is suspended."""

ANSWER_GIVEN: Final = Phrase("a stored answer was given").en
"""Why a hold ends that was not charged."""


def word_from_rows(columns: str) -> Phrase:
    """Why a release is not proven to be private whose keys, bounds or categories were read from the rows."""
    return Phrase(
        "the categories or bounds of {columns} were read from the rows (provenance: from_rows)", columns=columns
    )


def tell_stored(stored: str) -> str:
    """A reason as it was stored, in the language of this moment; as it stands where it is somebody's own words."""
    found = _FROM_ROWS.fullmatch(stored)
    return translate(stored, language()) if found is None else str(word_from_rows(found[1]))


_FROM_ROWS: Final = re.compile(re.escape(word_from_rows("@").en).replace("@", "(.+)"), re.DOTALL)
