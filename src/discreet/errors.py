"""Every way Discreet says no, in one tree.

    DiscreetError
    ├── UsageError               exit 2: the words of the call are off; nothing was read or charged
    │   ├── ParameterInvalid     a privacy parameter is not an exact, finite, positive decimal
    │   ├── PathInvalid          a file or folder is absent, outside the allowed roots, or of the wrong sort
    │   ├── ExtraMissing         an optional part is not installed
    │   ├── RequestInvalid       a request to a server is not what the server takes
    │   └── WorkspaceMissing     the folder is not a workspace
    ├── Refused                  exit 1: understood, and not done; nothing was released or charged
    │   ├── CardInvalid          the card breaks a rule of its own language
    │   ├── CardUndecided        the card still holds what only a person may decide
    │   ├── WorkloadInvalid      the file of a workload breaks a rule of its own language
    │   ├── StudyInvalid         the file of a study breaks a rule of its own language, or does not fit its data
    │   ├── ManifestInvalid      the manifest of a survey breaks a rule of its own language
    │   ├── AgreementInvalid     the agreement on linked counts breaks a rule of its own language
    │   ├── SignatureInvalid     a signed file or an envelope was altered, or is signed by somebody else
    │   ├── FileRefused          a data file breaks a limit or cannot be read as its kind
    │   ├── PopulationConflict   a card disagrees with its population, or a new population is unconfirmed
    │   ├── UnknownName          a dataset, column, category, analyst or population does not exist
    │   ├── QueryRefused         the question cannot be answered privately
    │   ├── CustodianOnly        the view needs --custodian
    │   ├── BudgetExceeded       the charge does not fit
    │   ├── RequestConflict      another plan was charged under the same request id
    │   ├── EngineUnavailable    the engine that holds the rows cannot be reached or used
    │   ├── DatasetSuspended     an engine failed after a charge; the custodian must look
    │   ├── NotSignedIn          nobody is known by this token, session, link or password
    │   ├── NotAllowed           the person who asks has no role that may do this
    │   ├── TooManyRequests      asked too often; later it is answered
    │   ├── RecordsUnavailable   what an office keeps beside its ledger cannot be read or written
    │   ├── LedgerUnavailable    the ledger is missing, locked away, read-only or full
    │   │   └── LedgerUnanchored the event stands, but its anchor could not be written
    │   └── LedgerDamaged        the ledger's chain, head or anchor does not hold
    └── ChargedNotAnswered       exit 3: the charge stands, no answer left the house

Messages name the thing, the rule, what was given and the next step. They echo public parameters and schema only: never
a cell, a row, a key or an exact aggregate; and whether an error occurs never depends on confidential rows (errors met
while a custodian adds a file are the exception, and are shown to the custodian alone). Whatever was given is made
`legible` here, once for all of them: it steers no terminal, and its middle is cut out where it is long.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from discreet.catalogue import Labels, Phrase, say

__all__ = [
    "AgreementInvalid",
    "BudgetExceeded",
    "CardInvalid",
    "CardUndecided",
    "ChargedNotAnswered",
    "CustodianOnly",
    "DatasetSuspended",
    "DiscreetError",
    "EngineUnavailable",
    "ExtraMissing",
    "FileRefused",
    "LedgerDamaged",
    "LedgerUnanchored",
    "LedgerUnavailable",
    "ManifestInvalid",
    "NotAllowed",
    "NotSignedIn",
    "ParameterInvalid",
    "PathInvalid",
    "PopulationConflict",
    "QueryRefused",
    "RecordsUnavailable",
    "Refused",
    "RequestConflict",
    "RequestInvalid",
    "SignatureInvalid",
    "StudyInvalid",
    "TooManyRequests",
    "UnknownName",
    "UsageError",
    "WorkloadInvalid",
    "WorkspaceMissing",
    "legible",
    "nearest",
    "tell_point",
]

LONGEST_LINE: Final = 1_000
MOST_LINES: Final = 100
_LONGEST_WORD: Final = 240
_COMMA: Final = re.compile(r"[+-]?\d{0,30},\d{1,30}", re.ASCII)
_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_LIMITS: Final = {"population": Phrase("population"), "analyst": Phrase("analyst")}
_LONG_WORD: Final = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")
# Controls, marks without a width or that reorder what is seen, halves of characters, and line ends of other alphabets.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class DiscreetError(Exception):
    """Root of the tree. `message` is one or two sentences, or several lines; `fields` are the typed facts behind it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str | Sequence[str], /, **fields: str | int | None) -> None:
        lines = [message] if isinstance(message, str) else message
        more = [say("… and {more:,} more", more=len(lines) - MOST_LINES)] if len(lines) > MOST_LINES else []
        self.message = "\n".join([*map(legible, lines[:MOST_LINES]), *more])
        super().__init__(self.message)
        self.fields: Mapping[str, str | int | None] = {
            name: legible(fact) if isinstance(fact, str) else fact for name, fact in fields.items()
        }

    @property
    def name(self) -> str:
        return type(self).__name__

    def to_dict(self) -> dict[str, object]:
        """The one shape in which machines see an error."""
        return {"error": self.name, "message": self.message, "fields": dict(self.fields)}


class UsageError(DiscreetError):
    """The words of the call are off."""

    exit_code = 2


class Refused(DiscreetError):
    """Understood, and not done. Nothing was released or charged."""

    exit_code = 1


class ChargedNotAnswered(DiscreetError):
    """The charge stands, but no answer was given. Sentences are fixed, because the cause may follow from the rows."""

    exit_code = 3

    def __init__(self, *, dataset: str, request_id: str, suspended: bool) -> None:
        if suspended:
            message = say(
                "the question was charged but could not be answered, and '{dataset}' is suspended. "
                "Ask the custodian; nothing more can be said here.",
                dataset=dataset,
            )
        else:
            message = say(
                "the question was charged, but its answer was not given. Ask again with --request-id {request_id}, "
                "once the ledger can be written: it costs nothing more.",
                request_id=request_id,
            )
        super().__init__(message, dataset=dataset, request_id=request_id)


class ParameterInvalid(UsageError):
    """A privacy parameter is not an exact, finite, positive decimal on the grid."""

    def __init__(self, *, parameter: str | Labels, rule: str, given: str) -> None:
        message = say("{parameter} {rule}; received {given}.", parameter=parameter, rule=rule, given=given)
        # `came` is what earlier releases called `given`; scripts may read it.
        super().__init__(message, parameter=_code(parameter), rule=rule, given=given, came=given)


class PathInvalid(UsageError):
    """A file or folder is absent, outside the allowed roots, or of the wrong sort."""


class ExtraMissing(UsageError):
    """An optional part is not installed."""

    def __init__(self, *, needed_for: str | Labels, extra: str) -> None:
        super().__init__(
            say(
                "{needed_for} needs the extra '{extra}'. Install it with: pip install 'discreet[{extra}]'",
                needed_for=needed_for,
                extra=extra,
            ),
            needed_for=_code(needed_for),
            extra=extra,
        )


class RequestInvalid(UsageError):
    """A request to a server is not what the server takes. What was sent is not repeated."""


class WorkspaceMissing(UsageError):
    """The folder is not a workspace."""


class CardInvalid(Refused):
    """The card breaks a rule of its own language. `problems` lists every one found, each 'file:line: text'."""

    def __init__(self, *, file: str, problems: Iterable[str]) -> None:
        self.problems = tuple(map(legible, problems))
        super().__init__(self.problems, file=file, problems=len(self.problems))

    def to_dict(self) -> dict[str, object]:
        return {**super().to_dict(), "problems": list(self.problems)}


class CardUndecided(CardInvalid):
    """The card still holds what only a person may decide."""


class WorkloadInvalid(CardInvalid):
    """The file of a workload breaks a rule of its own language."""


class StudyInvalid(CardInvalid):
    """The file of a study breaks a rule of its own language, or does not fit its data."""


class ManifestInvalid(CardInvalid):
    """The manifest of a survey breaks a rule of its own language."""


class AgreementInvalid(CardInvalid):
    """The file of an agreement on linked counts breaks a rule of its own language."""


class SignatureInvalid(Refused):
    """A signed file or envelope was altered, or comes from somebody else than the one whose key is trusted."""


class FileRefused(Refused):
    """A data file breaks a limit or cannot be read as its kind. Shown to the custodian who adds it."""


class PopulationConflict(Refused):
    """A card disagrees with its population, or a new population has not been confirmed."""


class UnknownName(Refused):
    """A dataset, column, category, analyst or population does not exist."""

    def __init__(
        self,
        *,
        sort: str | Labels,
        name: str,
        where: str | Labels,
        known: Iterable[str] = (),
        guess: str | None = None,
        called: str = "",
        otherwise: str = "",
        advice: str = "",
    ) -> None:
        """`guess` is what was meant where the caller knows better than by spelling, and `called` what that stands for;
        `otherwise` is said where nothing is near."""
        guess = guess or nearest(name, known)
        unknown = say("{sort} '{name}' is not in {where}.", sort=sort, name=name, where=where)
        hint = _ask_whether(guess, called) if guess else otherwise
        told = " ".join(filter(None, (unknown, hint, advice)))
        super().__init__(told, sort=_code(sort), unknown=name, nearest=guess)


class QueryRefused(Refused):
    """The question cannot be answered privately; decided from text, card and ledger only."""


class CustodianOnly(Refused):
    """The view needs --custodian."""

    def __init__(self, *, view: str | Labels) -> None:
        message = say("{view} shows what only a custodian may see. Add --custodian; the view is logged.", view=view)
        super().__init__(message, view=_code(view))


class BudgetExceeded(Refused):
    """The charge does not fit. `limit` is 'population' or 'analyst'; amounts are exact decimal text."""

    def __init__(self, *, cost: str | Labels, remaining: str | Labels, limit: str, holder: str) -> None:
        super().__init__(
            say(
                "this costs {cost}; {remaining} remains for {limit} '{holder}'. Nothing was released or charged.",
                cost=cost,
                remaining=remaining,
                limit=_LIMITS.get(limit, limit),
                holder=holder,
            ),
            cost=_code(cost),
            remaining=_code(remaining),
            limit=limit,
            holder=holder,
        )


class RequestConflict(Refused):
    """Another plan was charged under the same request id."""


class EngineUnavailable(Refused):
    """The engine that holds the rows cannot be reached or used. Met before a charge, and whatever the rows hold."""


class DatasetSuspended(Refused):
    """An engine failed after a charge; the custodian must look before anything more is asked."""

    def __init__(self, *, dataset: str) -> None:
        super().__init__(
            say(
                "'{dataset}' is suspended until the custodian has looked at it "
                "(discreet resume {dataset} --custodian).",
                dataset=dataset,
            ),
            dataset=dataset,
        )


class NotSignedIn(Refused):
    """Nobody is known by this token, session, link or password: always in the same words."""

    def __init__(self) -> None:
        super().__init__(say("Sign in first: this needs a token or a session that is known here and still holds."))


class NotAllowed(Refused):
    """The person who asks has no role that may do this."""


class TooManyRequests(Refused):
    """Asked too often. `seconds` says when it may be tried again."""

    def __init__(self, *, seconds: int) -> None:
        super().__init__(
            say("that was too often. Nothing was charged; try again in {seconds} s.", seconds=seconds), seconds=seconds
        )


class RecordsUnavailable(Refused):
    """What an office keeps beside its ledger cannot be read or written. It fails closed: nothing is answered."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            say(
                "what this office keeps of people and jobs cannot be used: {reason}. Nothing was answered.",
                reason=reason,
            ),
            reason=reason,
        )


class LedgerUnavailable(Refused):
    """The ledger is missing, locked away, read-only or full. It fails closed: nothing is answered."""


class LedgerUnanchored(LedgerUnavailable):
    """The event stands, but its anchor could not be written. Nothing that the event paid for may leave."""


class LedgerDamaged(Refused):
    """The ledger's chain, head or anchor does not hold. It fails closed: nothing is answered."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word a typist most likely meant, or None when nothing is close."""
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def tell_point(text: str) -> str:
    """What to write for a number with a decimal comma; nothing for other texts."""
    if not _COMMA.fullmatch(text.strip()):
        return ""
    plain = text.strip()
    decimal, whole = plain.replace(",", "."), plain.replace(",", "")
    if _THOUSANDS.fullmatch(plain):
        return say("use a point: write {decimal}, or {whole} for thousands", decimal=decimal, whole=whole)
    return say("use a point: write {decimal}", decimal=decimal)


def _ask_whether(guess: str, called: str) -> str:
    if called:
        return say("Did you mean '{guess}' ({called})?", guess=guess, called=called)
    return say("Did you mean '{guess}'?", guess=guess)


def _code(named: str | Labels) -> str:
    """What machines read: a thing that is named in the reader's language stays in English for them."""
    return named.en if isinstance(named, Labels) else named


def legible(text: str) -> str:
    """The text on one line that steers no terminal: what is not seen is escaped, and long words and lines are cut."""
    text = _cut(text, LONGEST_LINE)
    if not (text.isascii() and text.isprintable()):
        text = "".join(_escape(one) if unicodedata.category(one) in _UNSEEN else one for one in text)
    return _cut(_LONG_WORD.sub(lambda word: _cut(word[0], _LONGEST_WORD), text), LONGEST_LINE)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _cut(text: str, most: int) -> str:
    """At most so many characters: the beginning and the end, where a sentence has its thing and its next step."""
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 1]}…{text[-tail:]}"
