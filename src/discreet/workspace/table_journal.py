"""What Discreet has made in other engines for a dataset: written down before it is made, so that none is forgotten."""

from __future__ import annotations

import json
from dataclasses import dataclass

from discreet.catalogue import say
from discreet.errors import Refused
from discreet.files import write_whole
from discreet.paths import AnyPath, as_path, read_regular

__all__ = ["TableJournal"]


@dataclass(frozen=True, slots=True)
class TableJournal:
    """The tables and folders of a dataset, each with the place where it is. Whoever holds it holds its lock."""

    file: AnyPath

    def add(self, place: str, name: str) -> str:
        """Note a name that is about to be made; on the disk when this returns."""
        self._keep({**self._read(), name: place})
        return name

    def names(self, place: str) -> set[str]:
        return {name for name, where in self._read().items() if where == place}

    def forget(self, name: str) -> None:
        self._keep({known: place for known, place in self._read().items() if known != name})

    def _read(self) -> dict[str, str]:
        file = as_path(self.file, "file")
        try:
            return {str(name): str(place) for name, place in json.loads(read_regular(file)).items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, AttributeError):
            raise Refused(say("'{name}' is damaged; restore it from a copy, or remove it.", name=file.name)) from None

    def _keep(self, found: dict[str, str]) -> None:
        write_whole(as_path(self.file, "file"), json.dumps(found, indent=2) + "\n")
