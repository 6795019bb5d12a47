"""The generators of the benchmark: one for each data set, trained on all its columns, kept and used again.

    models/DATASET/model.json …     the model itself (discreet.lab.generator.generator_model)
    models/DATASET/made.json        hashes of the rows and of the model, settings of the training

A model of other rows or settings, or a damaged one, is trained anew. What is kept is for the custodian alone.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import say
from discreet.errors import FileRefused
from discreet.files import write_whole
from discreet.lab.generator.generator_rows import GeneratorRows, read_rows
from discreet.lab.generator.shelf import Origin, Shelved
from discreet.lab.generator.training_settings import Settings
from discreet.paths import read_regular

if TYPE_CHECKING:
    from discreet.workspace import Dataset

__all__ = [
    "EPOCHS",
    "SECONDS",
    "expect_seconds",
    "find_generator",
    "hash_rows",
    "have_torch",
    "settings_for",
    "train_generator",
]

EPOCHS: Final[Mapping[str, int]] = {"kidney": 300, "breast": 300, "diabetes": 5}
# On two cores: about the time of an epoch, and of what comes before the first.
SECONDS: Final[Mapping[str, tuple[float, float]]] = {
    "kidney": (0.2, 2.0),
    "breast": (0.25, 4.0),
    "diabetes": (12.0, 10.0),
}
_MADE: Final = "made.json"
_SCHEMA: Final = 1

Progress = Callable[[str, int, int], None]


def have_torch() -> bool:
    """Whether the extra `gan` is installed."""
    return all(find_spec(name) is not None for name in ("torch", "safetensors"))


def settings_for(dataset: str, epochs: int | None) -> Settings:
    return Settings(epochs=EPOCHS[dataset] if epochs is None else epochs)


def expect_seconds(dataset: str, settings: Settings) -> float:
    """About how long a training takes, so that nobody waits unawares."""
    each, before = SECONDS[dataset]
    return before + each * settings.epochs


def find_generator(dataset: Dataset, home: Path, settings: Settings) -> Shelved | None:
    """The generator that an earlier run left in `home`, when it is of these rows and settings."""
    folder = home / dataset.name
    try:
        made = json.loads(read_regular(folder / _MADE))
        if made["asked"] != _asked(read_rows(dataset), settings):
            return None
        shelved = Shelved(dataset.name, folder, Origin(**made["origin"]))
        shelved.load()
    except (OSError, ValueError, TypeError, KeyError, FileRefused):
        return None
    return shelved


def train_generator(dataset: Dataset, home: Path, settings: Settings, *, progress: Progress) -> Shelved:
    """A generator of all columns, kept in `home` in the place of another; a crash leaves the old one."""
    from discreet.lab.generator.training import train

    rows = read_rows(dataset)
    stage = say("training on {dataset}", dataset=dataset.name)
    progress(stage, 0, settings.epochs)
    model = train(rows, settings, progress=lambda epoch: progress(stage, epoch.number, epoch.of))
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    staged = Path(mkdtemp(prefix=".new-", dir=home))
    try:
        model.save(staged)
        origin = Origin(
            dataset=dataset.name,
            version=dataset.version,
            rows_sha256=hash_rows(rows),
            model_sha256=hashlib.sha256((staged / "model.json").read_bytes()).hexdigest(),
            guarantee=str(model.guarantee),
            differentially_private=False,
            trained="for the benchmark",
        )
        made = {"asked": _asked(rows, settings), "origin": asdict(origin)}
        write_whole(staged / _MADE, json.dumps(made, indent=1) + "\n", durable=False)
        shutil.rmtree(home / dataset.name, ignore_errors=True)
        staged.rename(home / dataset.name)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return Shelved(dataset.name, home / dataset.name, origin)


def _asked(rows: GeneratorRows, settings: Settings) -> dict[str, Any]:
    return {"schema": _SCHEMA, "rows": hash_rows(rows), "settings": asdict(settings)}


def hash_rows(rows: GeneratorRows) -> str:
    """Of the rows as the generator sees them, in whatever order: large files are not prepared in the same one twice."""
    digest = hashlib.sha256(repr(rows.shapes).encode())
    order = np.lexsort(list(rows.values.values()))
    for values in rows.values.values():
        digest.update(values[order].tobytes())
    return digest.hexdigest()
