"""What `discreet doctor` looks at: packages, extras, randomness, the workspace, its ledger, its datasets and budgets.

Everything said here follows from the machine, the cards and the ledger, never from rows.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.catalogue import say, say_count
from discreet.cli.hints import repeat
from discreet.errors import DiscreetError, EngineUnavailable
from discreet.guarantees import text
from discreet.paths import tell_reason

if TYPE_CHECKING:
    from discreet.session import Session
    from discreet.workspace import Dataset, Workspace

__all__ = ["EXTRAS", "Check", "CheckStatus", "examine", "worst"]

CORE: Final = ("duckdb", "numpy", "pyarrow", "pyyaml", "rich", "sqlglot", "typer")
EXTRAS: Final = {
    "client": ("httpx",),
    "collect": ("cryptography",),
    "docs": ("mkdocs", "mkdocs-material"),
    "formats": ("pyreadstat",),
    "linked": ("cryptography", "starlette", "uvicorn"),
    "pandas": ("pandas",),
    "pdf": ("svg2pdf-py",),
    "png": ("resvg-py",),
    "polars": ("polars",),
    "postgres": ("psycopg",),
    "server": ("argon2-cffi", "fastapi", "uvicorn"),
    "spark": ("pyspark",),
    "study": ("scikit-learn", "scipy"),
    "tables": ("pysdmx", "scipy", "XlsxWriter"),
    "gan": ("torch", "opacus", "safetensors"),
    "testing": ("pytest", "hypothesis", "mypy", "ruff"),
}
_LITTLE_SPACE: Final = 1_000_000_000
_NO_SPACE: Final = 50_000_000


class CheckStatus(StrEnum):
    """How a check ended, from good to bad; what is absent is optional."""

    OK = "ok"
    ABSENT = "absent"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: `code` says what sort of thing (docs/operations.md lists them), `subject` which one."""

    code: str
    status: CheckStatus
    message: str
    advice: str = ""
    subject: str = ""

    def __post_init__(self) -> None:
        for name in ("message", "advice"):
            object.__setattr__(self, name, repeat(getattr(self, name)))

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


def worst(checks: list[Check]) -> CheckStatus:
    """The status of the whole: ok, warning or failed."""
    found = {check.status for check in checks}
    return next((status for status in (CheckStatus.FAILED, CheckStatus.WARNING) if status in found), CheckStatus.OK)


def examine(workspace: Path | None, *, verify: bool, budget_left: Decimal) -> list[Check]:
    """Everything, without changing anything.

    A budget of which no more than the share `budget_left` remains is a warning; `verify` walks the whole ledger too.
    """
    machine = [_python(), *_packages(), *_extras(), _randomness()]
    return [*machine, *_workspace(workspace, verify=verify, budget_left=budget_left)]


def _judge(good: bool, otherwise: CheckStatus = CheckStatus.FAILED) -> CheckStatus:
    return CheckStatus.OK if good else otherwise


def _python() -> Check:
    good = sys.version_info >= (3, 11)
    return Check("python", _judge(good), platform.python_version(), "" if good else say("install Python 3.11 or newer"))


def _packages() -> Iterator[Check]:
    for name in ("discreet", *CORE):
        found = _version(name)
        advice = "" if found else "pip install discreet"
        yield Check("package", _judge(found is not None), found or say("not installed"), advice, subject=name)


def _extras() -> Iterator[Check]:
    for extra, packages in EXTRAS.items():
        versions = [(name, _version(name)) for name in packages]
        complete = all(found for _, found in versions)
        shown = ", ".join(f"{name} {found}" for name, found in versions if found) or say("not installed")
        advice = "" if complete else say("when needed: pip install 'discreet[{extra}]'", extra=extra)
        yield Check("extra", _judge(complete, CheckStatus.ABSENT), shown, advice, subject=extra)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _randomness() -> Check:
    good = len(os.urandom(32)) == 32
    return Check("randomness", _judge(good), say("operating system") if good else say("not available"))


def _workspace(option: Path | None, *, verify: bool, budget_left: Decimal) -> Iterator[Check]:
    from discreet.cli.open_sessions import open_session
    from discreet.workspace import Workspace, find_workspace

    path = find_workspace(option)
    try:
        workspace = Workspace.open(path)
        count = len(workspace.datasets())
    except DiscreetError as error:
        # Without a word about a workspace, none may be meant.
        meant = option is not None or "DISCREET_WORKSPACE" in os.environ
        yield Check(
            "workspace", CheckStatus.FAILED if meant else CheckStatus.ABSENT, error.message, say("discreet init DIR")
        )
        return
    yield Check(
        "workspace", CheckStatus.OK, say_count("{path}, {count} dataset", "{path}, {count} datasets", count, path=path)
    )
    writable = os.access(path, os.W_OK)
    yield Check(
        "writable",
        _judge(writable),
        say("yes") if writable else say("no"),
        "" if writable else say("check its owner"),
        "workspace",
    )
    yield _spill(workspace)
    yield from _disks(workspace)
    yield _key(workspace)
    yield _anchor(workspace)
    try:
        session = open_session(option)
        sequence, _ = session.ledger.head()
    except DiscreetError as error:
        yield Check("ledger", CheckStatus.FAILED, error.message, say("see docs/operations.md"), _store(workspace))
        return
    advice = "" if verify else say("to check every event: discreet ledger verify")
    yield Check(
        "ledger",
        CheckStatus.OK,
        say_count("reachable, {count} event", "reachable, {count} events", sequence),
        advice,
        _store(workspace),
    )
    if verify:
        yield _chain(session)
    yield from (_dataset(session, dataset) for dataset in workspace.datasets())
    for name in session.populations():
        yield from _budget(session, name, budget_left)


def _store(workspace: Workspace) -> str:
    return "PostgreSQL" if workspace.ledger.store == "postgres" else "SQLite"


def _spill(workspace: Workspace) -> Check:
    """Whether what does not fit into an engine's memory has a place, by making a private folder and removing it."""
    from discreet.engines import read_resources, size_words
    from discreet.workspace import PrivateFolder

    try:
        resources = read_resources()
        if resources.spill:
            PrivateFolder(workspace.staging).remove()
        free = shutil.disk_usage(workspace.path).free
    except DiscreetError as error:
        return Check("spill", CheckStatus.FAILED, error.message, say("set the variable anew, or unset it"))
    except OSError as error:
        reason = tell_reason(error)
        return Check("spill", CheckStatus.FAILED, reason, say("see that 'staging' in the workspace can be written"))
    enough = free >= resources.spill or "DISCREET_SPILL" not in os.environ
    message = say(
        "{memory} of memory, {disk} of disk",
        memory=size_words(resources.memory),
        disk=size_words(resources.spill),
    )
    advice = "" if enough else say("only {free} are free: make room, or lower DISCREET_SPILL", free=size_words(free))
    return Check("spill", _judge(enough, CheckStatus.WARNING), message, advice)


def _disks(workspace: Workspace) -> Iterator[Check]:
    for subject, folder in (("workspace", workspace.path), ("anchor", workspace.anchor.parent)):
        try:
            free = shutil.disk_usage(folder).free
        except OSError as error:
            yield Check("disk", CheckStatus.FAILED, tell_reason(error), say("see that it is mounted"), subject)
            continue
        status = (
            CheckStatus.OK if free > _LITTLE_SPACE else CheckStatus.WARNING if free > _NO_SPACE else CheckStatus.FAILED
        )
        yield Check(
            "disk",
            status,
            say("{free:.1f} GB free", free=free / 1e9),
            "" if status is CheckStatus.OK else say("make room"),
            subject,
        )


def _key(workspace: Workspace) -> Check:
    from discreet.ledger import Seal

    try:
        Seal(path=workspace.key, workspace_id=workspace.id)
    except DiscreetError as error:
        return Check("key", CheckStatus.FAILED, error.message, say("restore the key from its copy"))
    return Check("key", CheckStatus.OK, say("{key}, readable by its owner alone", key=workspace.key))


def _anchor(workspace: Workspace) -> Check:
    from discreet.ledger import Anchor

    try:
        sequence = Anchor(workspace.anchor).newest().sequence
    except DiscreetError as error:
        return Check("anchor", CheckStatus.FAILED, error.message, say("see docs/operations.md"))
    return Check(
        "anchor", CheckStatus.OK, say("{anchor}, newest head: event {event}", anchor=workspace.anchor, event=sequence)
    )


def _chain(session: Session) -> Check:
    try:
        found = session.verify()
    except DiscreetError as error:
        return Check("chain", CheckStatus.FAILED, error.message, say("see docs/operations.md"))
    message = say(
        "{events} events, {charges} charges, {answers} answers hold",
        events=found.events,
        charges=found.charges,
        answers=found.answers,
    )
    return Check("chain", CheckStatus.OK, message)


def _dataset(session: Session, dataset: Dataset) -> Check:
    name = dataset.name
    if session.ledger.suspended(name):
        advice = say("look at what failed, then: discreet resume {dataset} --custodian", dataset=name)
        return Check("dataset", CheckStatus.FAILED, say("suspended until the custodian has looked"), advice, name)
    try:
        _reach(dataset)
    except DiscreetError as error:
        return Check("dataset", CheckStatus.FAILED, error.message, say("see that its rows can be reached"), name)
    except OSError:
        return Check(
            "dataset",
            CheckStatus.FAILED,
            say("its prepared rows cannot be read"),
            say("restore the workspace folder"),
            name,
        )
    return Check("dataset", CheckStatus.OK, say("version {version}", version=dataset.version), subject=name)


def _reach(dataset: Dataset) -> None:
    """Whether the rows can be reached; none is read. Spark is not asked: starting it takes longer than looking."""
    if dataset.source.engine == "duckdb":
        dataset.data.open("rb").close()
    elif dataset.source.engine == "postgres":
        from discreet.engines import open_rows

        source = dataset.source
        reader = open_rows(source)
        name = source.table if source.stored is None else source.stored.name
        there = reader.columns(name or "")
        reader.close()
        if not there:
            raise EngineUnavailable(
                say("PostgreSQL has no table '{name}', or this user may not see it.", name=name), table=name
            )


def _budget(session: Session, name: str, least: Decimal) -> Iterator[Check]:
    from discreet.ledger import now

    try:
        state = session.budget(name)
    except DiscreetError as error:
        yield Check("budget", CheckStatus.FAILED, error.message, say("see docs/operations.md"), name)
        return
    cap, left = state.population.epsilon_cap, state.population.epsilon_remaining
    status = _judge(left > least * cap, CheckStatus.WARNING)
    advice = "" if status is CheckStatus.OK else say("plan what is still to be asked, or: discreet population change")
    message = say("epsilon {left} of {cap} remains", left=text(left), cap=text(cap))
    yield Check("budget", status, message, advice, name)
    moment = now()
    for hold in state.holds:
        if hold.expires is not None and hold.expires <= moment:
            message = say(
                "event {event} holds budget for request {request}, whose time is over",
                event=hold.sequence,
                request=hold.request_id,
            )
            yield Check("hold", CheckStatus.WARNING, message, say("let it expire or release it"), name)
