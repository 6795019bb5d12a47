"""The models of a workspace: which there are, which rows each was trained on, and a write that is whole or not at all.

    models/DATASET/NAME/current.json      which version holds; replaced in one step
    models/DATASET/NAME/vN/model.json …   the model itself (discreet.lab.generator.generator_model)
    models/DATASET/NAME/vN/origin.json    whose rows, hashes of the rows and of the model, guarantee, date

`origin.json` is read without torch, so models can be listed wherever Discreet runs. It is bound to its model by a hash.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, say
from discreet.errors import FileRefused, ParameterInvalid, Refused, UnknownName
from discreet.files import write_whole
from discreet.paths import open_regular, read_regular

if TYPE_CHECKING:
    from discreet.lab.generator.generator_model import GeneratorModel
    from discreet.workspace import Dataset, Workspace

__all__ = [
    "DEFAULT_NAME",
    "Origin",
    "Shelved",
    "check_model_name",
    "find_model",
    "hash_rows",
    "list_models",
    "shelve",
]

DEFAULT_NAME: Final = "default"
_ORIGIN: Final = "origin.json"
_MODEL: Final = "model.json"
# No capitals: 'A' and 'a' are one folder on some systems.
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a model was trained on and what it promises, as text. Hashes are SHA-256 in hexadecimal digits.

    `unit` and `neighbours` are those of the training, whatever the population's terms have become since. `plan_sha256`
    is under what the ledger holds the charge of a private training.
    """

    dataset: str
    version: int
    rows_sha256: str
    model_sha256: str
    guarantee: str
    differentially_private: bool
    trained: str
    unit: str = ""
    neighbours: str = ""
    plan_sha256: str = ""

    def __post_init__(self) -> None:
        texts = (self.dataset, self.rows_sha256, self.model_sha256, self.guarantee, self.trained)
        terms = (self.unit, self.neighbours)
        if not all(isinstance(part, str) and part for part in texts + (terms if self.differentially_private else ())):
            raise ValueError("an origin is told in words, and whom a guarantee protects as well")
        if not all(isinstance(part, str) for part in (*terms, self.plan_sha256)):
            raise ValueError("an origin is told in words")
        if type(self.version) is not int or self.version < 1 or type(self.differentially_private) is not bool:
            raise ValueError("versions are counted from 1, and a guarantee is one or is none")


@dataclass(frozen=True, slots=True)
class Shelved:
    """A model as it stands in the workspace, not yet loaded."""

    name: str
    folder: Path
    origin: Origin

    def load(self) -> GeneratorModel:
        """The model itself, checked against its hash; needs the extra `gan`."""
        if _hash_file(self.folder / _MODEL) != self.origin.model_sha256:
            raise _damaged(self.name)
        from discreet.lab.generator.generator_model import load_model

        return load_model(self.folder)

    def tell_age(self, dataset: Dataset) -> str | None:
        """What a reader must know when the dataset has changed since the training; None when it has not."""
        if self.origin.version == dataset.version:
            return None
        return say(
            "model '{name}' was trained on version {version} of '{dataset}'; version {current} is current.",
            name=self.name,
            version=self.origin.version,
            dataset=dataset.name,
            current=dataset.version,
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values. The hashes stay behind: they would tell whether rows are the same as others."""
        shown = asdict(self.origin)
        return {"name": self.name, **{name: fact for name, fact in shown.items() if not name.endswith("_sha256")}}


def check_model_name(name: str) -> str:
    """A name that a model may have, or ParameterInvalid."""
    if not _NAME.fullmatch(name):
        rule = say("must be small letters, digits, _ and - (at most 40, no _ or - first)")
        raise ParameterInvalid(parameter=Phrase("model name"), rule=rule, given=ascii(name[:40]))
    return name


def hash_rows(dataset: Dataset) -> str:
    """The hash of the prepared rows of a dataset: what a model remembers of what it was trained on."""
    return _hash_file(dataset.data)


def shelve(
    workspace: Workspace,
    dataset: Dataset,
    model: GeneratorModel,
    *,
    name: str = DEFAULT_NAME,
    plan_hash: str = "",
    before: Callable[[str], None] | None = None,
) -> Shelved:
    """Store a model in place of the one of that name; a crash leaves the old one.

    `plan_hash` is that of the charge, where there was one. `before` is told the hash of the model once it is written
    and before anybody can find it.
    """
    check_model_name(name)
    with workspace.stage() as staged:
        model.save(staged)
        origin = Origin(
            dataset=dataset.name,
            version=dataset.version,
            unit=str(dataset.card.unit),
            neighbours=str(dataset.card.neighbours),
            rows_sha256=hash_rows(dataset),
            model_sha256=_hash_file(staged / _MODEL),
            plan_sha256=plan_hash,
            guarantee=str(model.guarantee),
            differentially_private=model.guarantee.differentially_private,
            trained=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        write_whole(staged / _ORIGIN, json.dumps(asdict(origin), indent=2) + "\n")
        if before is not None:
            before(origin.model_sha256)
        return Shelved(name, workspace.publish_model(dataset.name, name, staged), origin)


def list_models(workspace: Workspace, dataset: str | None = None) -> tuple[Shelved, ...]:
    """Every model of one dataset, or of all, by name. A damaged one is refused when it is asked for, not here."""
    chosen: Iterable[str] = workspace.names() if dataset is None else [workspace.dataset(dataset).name]
    found = ((home, name) for home in chosen for name in workspace.models(home))
    shelved = (_read(workspace, home, name) for home, name in found)
    return tuple(item for item in shelved if item is not None)


def find_model(workspace: Workspace, dataset: str, name: str = DEFAULT_NAME) -> Shelved:
    """The model of that name, or UnknownName with the nearest one."""
    home = workspace.dataset(dataset).name
    known = workspace.models(home)
    if name not in known:
        if name == DEFAULT_NAME:
            advice = say("Train one with: discreet gan train {dataset}", dataset=home)
        else:
            advice = say("Train one with: discreet gan train {dataset} --name NAME", dataset=home)
        raise UnknownName(
            sort=Phrase("Model"),
            name=name,
            where=say("the models of '{dataset}'", dataset=home),
            known=known,
            advice=advice,
        )
    shelved = _read(workspace, home, name)
    if shelved is None:
        raise _damaged(name)
    return shelved


def _read(workspace: Workspace, dataset: str, name: str) -> Shelved | None:
    """The model of a name that is there, or None when it cannot be one."""
    try:
        folder = workspace.model_folder(dataset, name)
        origin = Origin(**json.loads(read_regular(folder / _ORIGIN)))
    except (Refused, OSError, ValueError, TypeError):
        return None
    # A folder that was copied from another dataset's shelf is no model of this one.
    return Shelved(name, folder, origin) if origin.dataset == dataset else None


def _hash_file(path: Path) -> str:
    try:
        with open_regular(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        raise FileRefused(
            say("'{name}' cannot be read; add the dataset or train the model again.", name=path.name)
        ) from None


def _damaged(name: str) -> FileRefused:
    return FileRefused(
        say("model '{name}' is damaged or was made by something else. Train it again under the same name.", name=name),
        model=name,
    )
