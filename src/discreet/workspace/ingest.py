"""Adding a file to a workspace: a new version of a dataset, all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable

from discreet.cards import Card
from discreet.catalogue import say
from discreet.errors import Refused
from discreet.files import write_whole
from discreet.paths import AnyPath, allowed_roots, as_path, resolve_inside, tell_reason
from discreet.sources import DataSource, FileLimits, open_source
from discreet.workspace.folder import Dataset, GiveVersion, Workspace, count_on

__all__ = ["add_file", "add_rows", "check_presence"]


def add_file(
    workspace: Workspace,
    file: AnyPath,
    card: Card,
    *,
    replace: bool,
    give: GiveVersion = count_on,
    encoding: str | None = None,
    delimiter: str | None = None,
    limits: FileLimits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Dataset:
    """Prepare the file, or the Parquet files of a folder, as the card says and make it the dataset's current version.

    Else as `add_rows`.
    """
    file = as_path(file, "file")
    real = resolve_inside(resolve_inside(file, workspace.roots, folder=True), allowed_roots(), folder=True)
    source = open_source(real, encoding=encoding, delimiter=delimiter, limits=limits)
    return add_rows(workspace, source, card, replace=replace, give=give, progress=progress)


def add_rows(
    workspace: Workspace,
    source: DataSource,
    card: Card,
    *,
    replace: bool,
    give: GiveVersion = count_on,
    progress: Callable[[int], None] | None = None,
) -> Dataset:
    """Prepare what a source holds as its card says and make it the dataset's current version.

    The ledger is not touched, unless `give` asks it for the version's number once everything is prepared. A crash
    leaves the old version current.
    """
    from discreet.workspace.preparation import prepare

    check_presence(workspace, card.dataset, replace=replace)
    with workspace.stage() as folder:
        version = folder / "version"
        work = folder / "work"
        version.mkdir(mode=0o700)
        work.mkdir(mode=0o700)
        try:
            report = prepare(
                source,
                card,
                salt=workspace.salt,
                data=version / "data.parquet",
                work=work,
                progress=progress,
            )
            write_whole(version / "card.yaml", card.text)
            write_whole(version / "report.json", report.to_json())
            return workspace.publish(card.dataset, version, give=give)
        except OSError as error:
            reason = tell_reason(error)
            raise source.refusal(say("could not be stored: {reason}. Nothing was changed", reason=reason)) from None


def check_presence(workspace: Workspace, name: str, *, replace: bool) -> None:
    """A dataset is replaced only on purpose, and only if it is there."""
    present = name in workspace.names()
    if present and not replace:
        raise Refused(
            say(
                "dataset '{name}' is in the workspace already. Use --replace to add a new version of it, under "
                "the same budget.",
                name=name,
            ),
            dataset=name,
        )
    if replace and not present:
        raise Refused(
            say("dataset '{name}' is not in the workspace. Leave out --replace to add it.", name=name), dataset=name
        )
