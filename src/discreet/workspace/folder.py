"""The workspace: one folder that holds prepared datasets, their cards and what it takes to find the ledger.

    workspace.json                   id, schema, ledger settings, key and anchor paths, salt, allowed roots
    datasets/NAME/current.json       which version answers questions; replaced in one step
    datasets/NAME/vN/                card.yaml, data.parquet, report.json; never changed once there
                                     (card.yaml and source.json when the rows stay in their own engine)
    datasets/.NAME.tables.json       what was made for it in other engines, so that it can be removed
    public/NAME/vN.json              a public table to join with; the highest version holds
    models/DATASET/NAME/             a trained generator: current.json and vN/, where only the current one is kept
    staging/                         what is being added, and what engines cannot hold in memory; swept by the next one

Whoever can read the folder is the custodian, so it is closed to everyone else.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.cards import Card, read_card
from discreet.catalogue import Phrase, language, say
from discreet.errors import PathInvalid, Refused, UnknownName, UsageError, WorkspaceMissing
from discreet.files import locked, sync, write_whole
from discreet.paths import AnyPath, as_path, read_regular, tell_reason
from discreet.workspace.row_source import RowSource, read_row_source

if TYPE_CHECKING:
    from discreet.workspace.table_journal import TableJournal

__all__ = [
    "SCHEMA",
    "Dataset",
    "GiveVersion",
    "LedgerSettings",
    "PrivateFolder",
    "Workspace",
    "WorkspaceSettings",
    "count_on",
    "find_workspace",
]

SCHEMA: Final = 1
_SETTINGS: Final = "workspace.json"
_VERSION: Final = re.compile(r"v([1-9]\d{0,8})", re.ASCII)
_PUBLIC_VERSION: Final = re.compile(r"v([1-9]\d{0,8})\.json", re.ASCII)
# Says the number of a new version, given the highest that is in the folder; called once the version is complete.
GiveVersion = Callable[[int], int]
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """Where the ledger lives: SQLite in the workspace, or PostgreSQL by a DSN in an environment variable."""

    store: str = "sqlite"
    dsn_env: str | None = None

    def __post_init__(self) -> None:
        if self.store not in {"sqlite", "postgres"}:
            raise UsageError(
                say("ledger store must be sqlite or postgres; received '{store}'.", store=self.store), store=self.store
            )
        if (self.store == "postgres") != (self.dsn_env is not None):
            raise UsageError(
                say("a PostgreSQL ledger, and only that, names the environment variable that holds its DSN."),
                store=self.store,
            )
        # The DSN may hold a password: only the name of a variable is ever stored.
        if self.dsn_env is not None and not _VARIABLE.fullmatch(self.dsn_env):
            raise UsageError(say("the DSN is given by the name of an environment variable, such as DISCREET_DSN."))


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """What `init` may set. Paths left out get their place under the user's state folder."""

    ledger: LedgerSettings = field(default_factory=LedgerSettings)
    key: AnyPath | None = None
    anchor: AnyPath | None = None
    roots: tuple[AnyPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """One version of a dataset: prepared rows in the workspace, or a table that stays in its engine (`source`)."""

    name: str
    version: int
    card: Card
    data: Path
    report: Path
    source: RowSource

    @property
    def title(self) -> str:
        """What its card calls it, in the language of the moment."""
        return self.card.title.text(language())

    @property
    def population(self) -> str:
        """Whose budget pays for it."""
        return self.card.population

    @property
    def unit(self) -> str:
        """The column that tells protected units apart."""
        return self.card.unit.column

    @property
    def columns(self) -> int:
        """How many its card describes."""
        return len(self.card.columns)

    @property
    def staging(self) -> Path:
        """The folder of its workspace in which private folders are made."""
        return self.data.parent.parent.parent.parent / "staging"


class PrivateFolder:
    """A folder for work in progress, closed to everyone else. What a crash leaves behind is swept by the next one."""

    def __init__(self, staging: AnyPath) -> None:
        staging = as_path(staging, "staging")
        staging.mkdir(mode=0o700, exist_ok=True)
        _sweep(staging)
        self.path = staging / secrets.token_hex(8)
        self._lock = ExitStack()
        self._lock.enter_context(locked(self.path.with_suffix(".lock")))
        self.path.mkdir(mode=0o700)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.with_suffix(".lock").unlink(missing_ok=True)
        self._lock.close()


def _sweep(staging: Path) -> None:
    """Remove what a crash left behind: folders whose lock nobody holds."""
    for folder in [found for found in staging.iterdir() if found.is_dir()]:
        with suppress(BlockingIOError), locked(folder.with_suffix(".lock"), wait=False):
            shutil.rmtree(folder, ignore_errors=True)
            folder.with_suffix(".lock").unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Workspace:
    """An open workspace. `key` and `anchor` are paths only; the ledger makes and checks the files."""

    path: Path
    id: str
    ledger: LedgerSettings
    key: Path
    anchor: Path
    salt: str
    roots: tuple[Path, ...] = ()

    @classmethod
    def create(cls, path: AnyPath, *, settings: WorkspaceSettings | None = None) -> Workspace:
        """Make a workspace in an absent or empty folder."""
        path = as_path(path, "workspace")
        settings = settings or WorkspaceSettings()
        if (path / _SETTINGS).exists():
            raise Refused(say("'{path}' is a workspace already; nothing was changed.", path=path), path=str(path))
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise PathInvalid(say("'{path}' is not an empty folder. Choose a new one.", path=path), path=str(path))
        identity = str(uuid.uuid4())
        keys = _key_folder()
        workspace = cls(
            path=path.resolve(),
            id=identity,
            ledger=settings.ledger,
            key=_choose(settings.key, keys / f"{identity}.key", "key"),
            anchor=_choose(settings.anchor, keys / f"{identity}.anchor", "anchor"),
            salt=secrets.token_hex(16),
            roots=tuple(as_path(root, "root").resolve() for root in settings.roots),
        )
        try:
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(0o700)
            for folder in (workspace._datasets, workspace.staging):
                folder.mkdir(mode=0o700)
            write_whole(workspace.path / _SETTINGS, workspace._to_json())
        except OSError as error:
            raise PathInvalid(
                say("'{path}' cannot be made: {reason}.", path=path, reason=tell_reason(error)), path=str(path)
            ) from None
        return workspace

    @classmethod
    def open(cls, path: AnyPath) -> Workspace:
        """The workspace in a folder, or WorkspaceMissing."""
        path = as_path(path, "workspace")
        try:
            found = json.loads(read_regular(path / _SETTINGS))
        except (FileNotFoundError, NotADirectoryError):
            raise WorkspaceMissing(
                say(
                    "'{path}' is not a workspace. Make one with: discreet init {quoted}",
                    path=path,
                    quoted=shlex.quote(str(path)),
                ),
                path=str(path),
            ) from None
        except (OSError, ValueError):
            raise Refused(
                say("'{file}' in '{path}' cannot be read; restore it from a copy.", file=_SETTINGS, path=path),
                path=str(path),
            ) from None
        return cls._from_json(path.resolve(), found)

    def settle_anchor(self, path: AnyPath) -> None:
        """From now on the ledger's anchor is in `path`."""
        write_whole(self.path / _SETTINGS, replace(self, anchor=as_path(path, "anchor"))._to_json())

    def datasets(self) -> tuple[Dataset, ...]:
        """Every dataset in its current version, by name."""
        return tuple(self.dataset(name) for name in self.names())

    def names(self) -> tuple[str, ...]:
        """The datasets that have a current version, without opening their cards."""
        return _current_names(self._datasets)

    def dataset(self, name: str) -> Dataset:
        """A dataset in its current version, or UnknownName with the nearest one."""
        version = self.current_version(name)
        if version is None:
            raise UnknownName(sort=Phrase("Dataset"), name=name, where=Phrase("the workspace"), known=self.names())
        return self._version(name, version)

    def current_version(self, name: str) -> int | None:
        """The number of the version that answers questions, or None when there is no such dataset."""
        if not _has_current(self._datasets, name):
            return None
        version = _current_version(self._datasets / name)
        if version is None:
            raise Refused(
                say("the current version of '{name}' cannot be read; add the file again with --replace.", name=name)
            )
        return version

    def has_version(self, name: str, version: int) -> bool:
        """Whether a version, perhaps not the current one, is still in the folder."""
        return (self._datasets / name / f"v{version}" / "card.yaml").is_file()

    @contextmanager
    def stage(self) -> Iterator[Path]:
        """A private folder for work in progress, gone at the end unless it was published."""
        folder = PrivateFolder(self.staging)
        try:
            yield folder.path
        finally:
            folder.remove()

    def publish(self, name: str, staged: AnyPath, *, give: GiveVersion) -> Dataset:
        """Make a staged folder the next version, whose number `give` says. Until the last step the old one stays."""
        return self._version(name, _advance(self._datasets / name, as_path(staged), give=give))

    @contextmanager
    def journal(self, name: str) -> Iterator[TableJournal]:
        """What was made for a dataset in other engines, for the one process that makes more; Refused to others."""
        from discreet.workspace.table_journal import TableJournal

        with ExitStack() as held:
            try:
                held.enter_context(locked(self._datasets / f".{name}.making.lock", wait=False))
            except BlockingIOError:
                raise Refused(
                    say("dataset '{name}' is being prepared by another command; wait for it.", name=name)
                ) from None
            yield TableJournal(self._datasets / f".{name}.tables.json")

    def models(self, dataset: str) -> tuple[str, ...]:
        """The names of a dataset's trained generators."""
        return _current_names(self.path / "models" / dataset)

    def model_folder(self, dataset: str, name: str) -> Path:
        """Where a trained generator is stored; it must be one of `models`."""
        home = self.path / "models" / dataset / name
        version = _current_version(home)
        if version is None:
            raise Refused(
                say("the current version of model '{name}' cannot be read; train it again.", name=name), model=name
            )
        return home / f"v{version}"

    def publish_model(self, dataset: str, name: str, staged: AnyPath) -> Path:
        """Make a staged folder the trained generator of that name. Until the last step the old one stays."""
        home = self.path / "models" / dataset / name
        for folder in (home.parent.parent, home.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        return home / f"v{_advance(home, as_path(staged), keep=False)}"

    def public_names(self) -> tuple[str, ...]:
        """The public tables that may be joined with, by name."""
        if not self._public.is_dir():
            return ()
        return tuple(sorted(f.name for f in self._public.iterdir() if f.is_dir() and self.public_version(f.name)))

    def public_version(self, name: str) -> int | None:
        """The highest version of a public table, or None when there is no such table."""
        home = self._public / name
        found = [_PUBLIC_VERSION.fullmatch(f.name) for f in home.iterdir()] if home.is_dir() else []
        return max((int(match[1]) for match in found if match), default=None)

    def public_file(self, name: str, version: int) -> Path:
        """Where a version of a public table is stored."""
        return self._public / name / f"v{version}.json"

    def publish_public(self, name: str, text: str, *, replace: bool) -> int:
        """Store a public table as its next version, whole or not at all; versions before it stay."""
        self._public.mkdir(mode=0o700, exist_ok=True)
        with locked(self._public / f".{name}.lock"):
            present = self.public_version(name)
            if present is not None and not replace:
                raise Refused(
                    say(
                        "public table '{name}' is in the workspace already. Use --replace to add a new version of it.",
                        name=name,
                    ),
                    table=name,
                )
            if present is None and replace:
                raise Refused(
                    say("public table '{name}' is not in the workspace. Leave out --replace to add it.", name=name)
                )
            version = (present or 0) + 1
            (self._public / name).mkdir(mode=0o700, exist_ok=True)
            write_whole(self.public_file(name, version), text)
            sync(self._public)
            sync(self.path)
        return version

    def _version(self, name: str, version: int) -> Dataset:
        folder = self._datasets / name / f"v{version}"
        return Dataset(
            name=name,
            version=version,
            card=read_card(folder / "card.yaml"),
            data=folder / "data.parquet",
            report=folder / "report.json",
            source=read_row_source(folder),
        )

    @property
    def _datasets(self) -> Path:
        return self.path / "datasets"

    @property
    def _public(self) -> Path:
        return self.path / "public"

    @property
    def staging(self) -> Path:
        """The folder in which private folders are made."""
        return self.path / "staging"

    def _to_json(self) -> str:
        settings = {
            "schema": SCHEMA,
            "id": self.id,
            "ledger": {"store": self.ledger.store, "dsn_env": self.ledger.dsn_env},
            "key": str(self.key),
            "anchor": str(self.anchor),
            "salt": self.salt,
            "roots": [str(root) for root in self.roots],
        }
        return json.dumps(settings, indent=2) + "\n"

    @classmethod
    def _from_json(cls, path: Path, found: Any) -> Workspace:
        try:
            if found["schema"] != SCHEMA:
                raise Refused(
                    say(
                        "'{path}' has schema {schema}; this version of Discreet reads schema {readable}.",
                        path=path,
                        schema=found["schema"],
                        readable=SCHEMA,
                    ),
                    path=str(path),
                )
            return cls(
                path=path,
                id=str(uuid.UUID(found["id"])),
                ledger=LedgerSettings(**found["ledger"]),
                key=Path(found["key"]),
                anchor=Path(found["anchor"]),
                salt=bytes.fromhex(found["salt"]).hex(),
                roots=tuple(Path(root) for root in found["roots"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Refused(
                say("'{file}' in '{path}' is damaged; restore it from a copy.", file=_SETTINGS, path=path),
                path=str(path),
            ) from None


def find_workspace(option: AnyPath | None) -> Path:
    """The folder meant: the option, else DISCREET_WORKSPACE, else the current folder."""
    if option is not None:
        return as_path(option, "workspace")
    named = os.environ.get("DISCREET_WORKSPACE")
    return Path(named) if named else Path()


def _choose(named: AnyPath | None, usual: Path, parameter: str) -> Path:
    return (usual if named is None else as_path(named, parameter)).absolute()


def _current_names(folder: Path) -> tuple[str, ...]:
    """What has a current version in a folder."""
    if not folder.is_dir():
        return ()
    return tuple(sorted(f.name for f in folder.iterdir() if (f / "current.json").is_file()))


def _has_current(folder: Path, name: str) -> bool:
    """Whether a name, as it is spelled, is one of `_current_names`, without looking into the others."""
    return folder.is_dir() and name in os.listdir(folder) and (folder / name / "current.json").is_file()


def _current_version(home: Path) -> int | None:
    try:
        version = json.loads(read_regular(home / "current.json"))["version"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return version if isinstance(version, int) and (home / f"v{version}").is_dir() else None


def count_on(present: int) -> int:
    """The next number after those present in the folder: for what no ledger keeps."""
    return present + 1


def _advance(home: Path, staged: Path, *, give: GiveVersion = count_on, keep: bool = True) -> int:
    """Make a staged folder the next version of what lives in `home`; without `keep` the ones before it go."""
    home.mkdir(mode=0o700, exist_ok=True)
    with locked(home.parent / f".{home.name}.lock"):
        numbers = [int(found[1]) for f in home.iterdir() if (found := _VERSION.fullmatch(f.name))]
        for part in staged.iterdir():
            sync(part)
        sync(staged)
        version = give(max(numbers, default=0))
        staged.rename(home / f"v{version}")
        sync(home)
        write_whole(home / "current.json", json.dumps({"version": version}) + "\n")
        sync(home.parent)
        for number in [] if keep else numbers:
            shutil.rmtree(home / f"v{number}", ignore_errors=True)
    return version


def _key_folder() -> Path:
    """Keys live outside the workspace, or a copy of the workspace would carry its own seal."""
    if chosen := os.environ.get("DISCREET_KEYS"):
        return Path(chosen)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "discreet" / "keys"
