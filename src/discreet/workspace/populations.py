"""Populations of other workspaces: what those that keep their keys in one folder know of each other.

    KEYS/WORKSPACE-ID.populations    schema, workspace, path, and each population's name, unit, neighbours and budget

The same people under a budget in each of two workspaces lose the sum of both, and neither ledger can know. So each
workspace leaves a note beside its key, and a population that is new in one of them is looked for in the notes of the
others. A note outlives its workspace: what was answered there stays answered.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, PathInvalid, PopulationConflict
from discreet.files import write_whole
from discreet.guarantees import Budget, PopulationTerms
from discreet.paths import open_regular, tell_reason
from discreet.workspace.folder import Workspace

__all__ = ["Elsewhere", "NewPopulation", "find_elsewhere", "note_populations"]

SCHEMA: Final = 1
_SUFFIX: Final = ".populations"
_MOST_BYTES: Final = 1 << 20
_LONGEST: Final = 200
_SHOWN: Final = 3
_BUDGET: Final = re.compile(r"epsilon (\S+?)(?:, delta (\S+?))?; per analyst epsilon (\S+)")


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A note that speaks of a population of the same name, or (without a budget) one that cannot be read."""

    place: str
    budget: str | None = None

    def __str__(self) -> str:
        if self.budget is None:
            return say(
                "'{place}' in the folder of the ledger's key cannot be read, so that the populations of another "
                "workspace are not known.",
                place=self.place,
            )
        facts = {"place": self.place, "budget": _tell_budget(self.budget)}
        return say("Workspace '{place}' has a population of this name already ({budget}).", **facts)


@dataclass(frozen=True, slots=True)
class NewPopulation:
    """A population that would get a budget of its own: what a custodian confirms. `first` of its workspace or not."""

    terms: PopulationTerms
    first: bool
    elsewhere: tuple[Elsewhere, ...] = ()

    def alone(self) -> bool:
        """Whether it is the first that anybody knows of: then there is nothing to confirm."""
        return self.first and not self.elsewhere

    @property
    def question(self) -> str:
        """What is asked at a terminal."""
        facts = {"name": self.terms.population, "budget": self.terms.budget.tell()}
        begin = say("'{name}' is a new population with its own budget ({budget}).", **facts)
        return " ".join([begin, *self._told(), say("Are its people in no other population whose data you publish?")])

    def refusal(self) -> PopulationConflict:
        """What is said when it is not confirmed."""
        name = self.terms.population
        budget = self.terms.budget.tell()
        begin = say("'{name}' would be a new population with a budget of its own ({budget}).", name=name, budget=budget)
        if any(found.budget is not None for found in self.elsewhere):
            next_step = say(
                "Budgets of the same people add up: if they are the same, add them to that workspace instead."
            )
        elif self.elsewhere:
            next_step = say(
                "Budgets of the same people add up: restore that file or, if it is not a note of Discreet, remove it."
            )
        else:
            next_step = say(
                "If these people are already in another population of this workspace, their budgets add up: name that "
                "population in the card instead."
            )
        confirm = say("To confirm that they are others, add --yes (in Python: confirm=lambda _: True).")
        return PopulationConflict(
            " ".join([begin, *self._told(), next_step, confirm]),
            population=name,
            elsewhere=self.elsewhere[0].place if self.elsewhere else None,
        )

    def _told(self) -> list[str]:
        shown = [str(found) for found in self.elsewhere[:_SHOWN]]
        more = len(self.elsewhere) - _SHOWN
        return [*shown, say("There are {more} more like these.", more=more)] if more > 0 else shown


def note_populations(workspace: Workspace, populations: Iterable[PopulationTerms]) -> None:
    """Write down, beside the key, which populations this workspace has; PathInvalid where that cannot be done."""
    found = sorted(populations, key=lambda terms: terms.population)
    note = {
        "schema": SCHEMA,
        "workspace": workspace.id,
        "path": str(workspace.path),
        "populations": [
            {
                "population": terms.population,
                "unit": terms.unit_column,
                "type": terms.unit_type,
                "neighbours": terms.neighbours.value,
                "budget": str(terms.budget),
            }
            for terms in found
        ],
    }
    path, text = _note(workspace), json.dumps(note, indent=2) + "\n"
    try:
        if _read(path) == text:
            return
    except (OSError, ValueError):
        pass  # absent or damaged: it is written anew
    try:
        write_whole(path, text)
    except OSError as error:
        raise PathInvalid(
            say(
                "'{path}', which tells other workspaces of this one's populations, cannot be written: "
                "{reason}. Make the folder of the ledger's key writable.",
                path=path,
                reason=tell_reason(error),
            ),
            path=str(path),
        ) from None


def find_elsewhere(workspace: Workspace, population: str) -> tuple[Elsewhere, ...]:
    """The notes of other workspaces that speak of a population of this name, and those that cannot be read."""
    own = _note(workspace)
    try:
        notes = sorted(path for path in own.parent.iterdir() if path.name.endswith(_SUFFIX) and path.name != own.name)
    except OSError:
        return (Elsewhere(_printable(str(own.parent))),)
    found: list[Elsewhere] = []
    for path in notes:
        try:
            known = _parse(_read(path))
        except FileNotFoundError:
            continue  # gone since the folder was listed
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            found.append(Elsewhere(_printable(path.name)))
        else:
            found.extend(known.get(_folded(population), ()))
    return tuple(sorted(found, key=lambda item: (item.budget is None, item.place)))


def _note(workspace: Workspace) -> Path:
    return workspace.key.with_name(f"{workspace.id}{_SUFFIX}")


def _read(path: Path) -> str:
    """A small regular file as text. Anything else is a ValueError or an OSError: a pipe would not end."""
    with open_regular(path) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError("too large")
    return content.decode("utf-8")


def _parse(text: str) -> dict[str, list[Elsewhere]]:
    """What a note says, by folded name. Any of the errors that `find_elsewhere` expects when it is none."""
    note = json.loads(text)
    if note["schema"] != SCHEMA:
        raise ValueError("another schema")
    folder = _printable(_text(note["path"]))
    known: dict[str, list[Elsewhere]] = {}
    for item in note["populations"]:
        elsewhere = Elsewhere(folder, _printable(_text(item["budget"])))
        known.setdefault(_folded(_text(item["population"])), []).append(elsewhere)
    return known


def _tell_budget(noted: str) -> str:
    """A budget as another workspace noted it, in the reader's language; what cannot be read stays as it stands."""
    if (found := _BUDGET.fullmatch(noted)) is None:
        return noted
    epsilon, delta, share = found.groups("0")
    try:
        return Budget(epsilon=epsilon, delta=delta, per_analyst=share).tell()
    except ParameterInvalid:
        return noted


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip().casefold())


def _printable(text: str) -> str:
    """What another program wrote, fit for a terminal."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
