"""`discreet ledger`: read and checked by anyone; what a custodian does about losses, leaks and upgrades."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Phrase, language, localise, say, say_count
from discreet.cli.commands.log_command import EXAMPLES, ledger_log
from discreet.cli.help_screens import CommandGroup, group
from discreet.cli.options import Custodian, Format, FormatOption, WorkspaceOption
from discreet.cli.screen import show_json, show_pairs, show_table
from discreet.cli.showing.coded_words import word

if TYPE_CHECKING:
    from discreet.ledger import LedgerConfig
    from discreet.workspace import Workspace

__all__ = ["register"]


ledger = group(about="Read, check, copy and restore the ledger.", example="discreet ledger log -w office --limit 20")


def register(app: CommandGroup) -> None:
    example = "Example: discreet ledger "
    ledger.command("log", epilog=EXAMPLES)(ledger_log)
    ledger.command("verify", epilog=example + "verify -w office --anchor HASH")(verify)
    ledger.command("backup", epilog=example + "backup -w office backups/ledger-2026-11-17.sqlite")(backup)
    ledger.command("restore", epilog=example + "restore -w office backups/ledger-2026-11-17.sqlite --custodian")(
        restore
    )
    ledger.command("anchor", epilog=example + "anchor -w office --to other-disk/office.anchor --custodian")(anchor)
    ledger.command("key", epilog=example + "key -w office --custodian")(key)
    ledger.command("migrate", epilog=example + "migrate -w office")(migrate)
    app.add_typer(
        ledger, name="ledger", short_help="Read, check, copy and restore the ledger", rich_help_panel="Custodian"
    )


def verify(
    anchor: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="A head noted earlier; the ledger must still contain it."),
    ] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Walk the whole ledger: chain, totals, head, answers and anchor must hold."""
    from discreet.cli.open_sessions import open_session

    found = open_session(workspace).verify(anchor=anchor)
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        anchors = ", ".join(say("event {event}", event=str(number)) for number in found.anchors)
        facts = {**found.to_dict(), "anchors": anchors}
        show_pairs(say("The ledger is intact."), [(word(name), str(value)) for name, value in facts.items()])


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist yet.")],
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Copy the ledger as it stands at one moment, while it may be in use, and check the copy's whole chain."""
    from discreet.ledger import backup_ledger

    _, config = _find(workspace)
    events = backup_ledger(config, file)
    if output is Format.JSON:
        show_json({"file": str(file), "events": events})
    else:
        typer.echo(
            say_count(
                "Wrote {file}: {count} event. Keep it away from the key and the anchor.",
                "Wrote {file}: {count} events. Keep it away from the key and the anchor.",
                events,
                file=file,
            )
        )


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup of this ledger.")],
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Put a backup in the place of a lost or damaged ledger; what was spent since is written off as spent.

    The anchor knows how much that was. Where it does not, because it is lost or was last written by an earlier release,
    all that remained of every budget is written off.
    """
    from discreet.ledger import restore_ledger

    _require(custodian, Phrase("putting back an older ledger"))
    _, config = _find(workspace)
    done = restore_ledger(config, file, who=_who())
    if output is Format.JSON:
        show_json(done.to_dict())
        return
    rows = [[name, *(localise(f"{left}", language()) for left in both)] for name, both in done.remaining.items()]
    headings = [(say("population"), "left"), (say("epsilon left in the backup"), "right")]
    headings += [(say("epsilon left now"), "right")]
    if done.lost is None:
        footer = [say("{events} events were put back; nobody knows how many events are lost", events=done.events)]
    else:
        footer = [
            say("{events} events were put back; {lost} later events are lost", events=done.events, lost=done.lost)
        ]
    if done.everything:
        footer.append(say("what was spent since is not known, so all that remained was written off"))
    elif done.lost:
        footer.append(say("what was spent since, as the anchor knows it, was written off"))
    footer.append(say("analysts, datasets and versions added since the backup must be added again"))
    show_table(say("The ledger was restored."), headings, rows, footer=footer)


def anchor(
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the new anchor is kept. Default: where the old one was.")
    ] = None,
    lost: Annotated[
        bool,
        typer.Option(
            "--lost", help="The old anchor cannot be read; I vouch that the ledger in place is the newest there is."
        ),
    ] = False,
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Replace the anchor, when it was lost or others could write it: an event on the ledger.

    With --lost nobody can tell any more whether events are missing. If the ledger in place came from a backup, run
    'ledger restore' instead, which writes off what is not known.
    """
    from discreet.errors import PathInvalid
    from discreet.ledger import replace_anchor

    _require(custodian, Phrase("replacing the anchor"))
    found, config = _find(workspace)
    path = found.anchor if to is None else to.absolute()
    if path == found.anchor and not lost:
        raise PathInvalid(
            say(
                "the anchor is at '{path}' already. Name another place with --to, or say --lost when it cannot "
                "be read.",
                path=path,
            ),
            path=str(path),
        )
    replace_anchor(config, path=path, lost=lost, who=_who())
    found.settle_anchor(path)
    old = say("lost") if lost else say("retired")
    show_pairs(say("The anchor was replaced."), [(say("anchor"), str(path)), (say("the old one is"), old)])


def key(
    lost: Annotated[
        bool, typer.Option("--lost", help="The old key is gone; I vouch for the ledger and the anchor in place.")
    ] = False,
    custodian: Custodian = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Replace the key, when it was lost or others may have read it: an event on the ledger.

    Head and anchor are signed with the new key. Backups made before are no longer accepted: make a new one.
    """
    from discreet.ledger import replace_ledger_key

    _require(custodian, Phrase("replacing the key"))
    found, config = _find(workspace)
    replace_ledger_key(config, lost=lost, who=_who())
    kept = say("{key} (keep a copy elsewhere)", key=found.key)
    show_pairs(say("The key was replaced."), [(say("key"), kept), (say("next"), say("make a new backup"))])


def migrate(workspace: WorkspaceOption = None) -> None:
    """Bring a ledger of an earlier release to this one's format. It is checked first; nothing that it says changes."""
    from discreet.ledger import migrate_ledger

    _, config = _find(workspace)
    before, after = migrate_ledger(config, who=_who())
    if before == after:
        typer.echo(say("The ledger has format {format} already; nothing was changed.", format=after))
    else:
        typer.echo(
            say(
                "The ledger had format {before} and has format {after} now. Earlier releases refuse it.",
                before=before,
                after=after,
            )
        )


def _find(workspace: Path | None) -> "tuple[Workspace, LedgerConfig]":
    from discreet.session import ledger_config
    from discreet.workspace import Workspace, find_workspace

    found = Workspace.open(find_workspace(workspace))
    return found, ledger_config(found)


def _require(custodian: bool, what: Phrase) -> None:
    from discreet.errors import CustodianOnly

    if not custodian:
        raise CustodianOnly(view=what)


def _who() -> str:
    from discreet.session import default_analyst

    return default_analyst()
