"""What an office sees of its study, whether what it keeps is whole, and how the study ends."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Phrase, language, say, say_list
from discreet.cli import (
    CommandGroup,
    Custodian,
    Format,
    FormatOption,
    UnusedWorkspace,
    YesOption,
    confirm_at_terminal,
    on_terminal,
    show_banner,
    show_json,
    show_note,
    show_pairs,
    show_table,
)
from discreet.linkage.linkage_commands.linked_options import OfficeOption, StudyOption

if TYPE_CHECKING:
    from discreet.linkage.office_pages.office_words import OfficeReport
    from discreet.linkage.offices.account_book import WrittenOff
    from discreet.linkage.offices.office_status import OfficeStatus
    from discreet.linkage.offices.office_studies import Study
    from discreet.session import Session

__all__ = ["register"]


def register(linked: CommandGroup) -> None:
    linked.command("status", epilog="Example: discreet linked status --office registry --html registry.html")(
        linked_status
    )
    linked.command("verify", epilog="Example: discreet linked verify --office registry")(linked_verify)
    linked.command(
        "close", epilog='Example: discreet linked close --office registry --reason "the study is done" --yes'
    )(linked_close)


def linked_status(
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page to this file, to open in a browser.")
    ] = None,
    office: OfficeOption = Path(),
    study: StudyOption = None,
    custodian: Custodian = False,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Show a study as its office sees it: prices and answers, what leaves, or how full accounts are."""
    from discreet.files import check_path, replace_file
    from discreet.linkage.office_pages.office_page import tell_office, write_office_page
    from discreet.linkage.offices.office_studies import find_study

    found = find_study(office, study)
    if html is not None:
        check_path(html)
    with ExitStack() as opened:
        status = _look(found, _open(found, opened), custodian=custodian)
    if getattr(status, "custodian", False):
        show_banner()
    report = tell_office(status, language())
    if html is not None:
        replace_file(html, write_office_page(report))
    if output is Format.JSON:
        show_json({"role": found.role.value, **status.to_dict()})
    else:
        _show(report)
    if html is not None:
        show_note(say("wrote {path}", path=html))


def linked_verify(
    write_off: Annotated[
        bool,
        typer.Option("--write-off", help="Put accounts in the place of lost ones, with every request charged to all."),
    ] = False,
    office: OfficeOption = Path(),
    study: StudyOption = None,
    custodian: Custodian = False,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Check what an office keeps: its ledger's chain, its reservation, and every account. Exit code 1 on damage.

    Accounts that are lost for good are written off by the custodian: what every unit may have paid is charged to all.
    """
    from discreet.errors import CustodianOnly
    from discreet.linkage.office_pages.check_words import tell_finding
    from discreet.linkage.offices.office_checks import check_office
    from discreet.linkage.offices.office_studies import find_study

    if write_off and not custodian:
        raise CustodianOnly(view=Phrase("writing off accounts"))
    found = find_study(office, study)
    written: dict[str, WrittenOff] = {}
    with ExitStack() as opened:
        session = _open(found, opened)
        if write_off:
            written = _write_off(found, session, tell=output is Format.TABLE)
        findings = list(check_office(found, session))
    sound = all(item.sound for item in findings)
    if output is Format.JSON:
        shown = {name: {"requests": done.uses, "fullest": done.fullest} for name, done in written.items()}
        show_json({"sound": sound, "findings": [item.to_dict() for item in findings], "written_off": shown})
    else:
        show_table(
            say("Everything holds.") if sound else say("Something is damaged."),
            [(say("what"), "left"), (say("state"), "left"), (say("seen"), "left")],
            [tell_finding(item) for item in findings],
        )
    if not sound:
        raise typer.Exit(1)


def linked_close(
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why, for the ledger.")] = "",
    office: OfficeOption = Path(),
    study: StudyOption = None,
    yes: YesOption = False,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Close a study for good at the registry or the holder. What was reserved for it stays spent."""
    from discreet.errors import Refused, UsageError
    from discreet.linkage.office_pages.office_words import tell_epsilon
    from discreet.linkage.offices.office_closing import close_study, list_reservations
    from discreet.linkage.offices.office_studies import find_study

    found = find_study(office, study)
    with ExitStack() as opened:
        session = _open(found, opened)
        reserved = list_reservations(found, session)
        shared = sorted({name for item in reserved for name in item.shared})
        if not yes and not on_terminal():
            raise UsageError(say("a study is closed for good. Confirm it on a terminal, or say --yes."))
        if not yes:
            _warn(found.name, shared)
            if not confirm_at_terminal(say("Close it?")):
                raise Refused(say("Not closed. The study goes on."))
        closed = close_study(session, reserved, reason=reason)
    if output is Format.JSON:
        show_json({"study": found.name, "closed": True, "was_closed": not closed, "also_ended": shared})
        return
    typer.echo(
        say("Study '{name}' is closed here for good.", name=found.name)
        if closed
        else say("Study '{name}' was closed before.", name=found.name)
    )
    for item in reserved:
        typer.echo(say("{title}: {epsilon} stays spent.", title=item.title, epsilon=tell_epsilon(item.epsilon)))
    if shared:
        typer.echo(_also(shared))


def _warn(name: str, shared: list[str]) -> None:
    show_note(say("Study '{name}' ends here and cannot be opened again. What was reserved stays spent.", name=name))
    if shared:
        show_note(_also(shared))


def _also(shared: list[str]) -> str:
    return say("The same accounts serve, and end with it: {shared}.", shared=say_list(shared))


def _open(study: "Study", opened: ExitStack) -> "Session | None":
    return None if study.workspace is None else opened.enter_context(study.open_session())


def _look(study: "Study", session: "Session | None", *, custodian: bool) -> "OfficeStatus":
    from discreet.linkage.envelopes import OfficeRole
    from discreet.linkage.offices.holder_desk import HolderDesk
    from discreet.linkage.offices.holder_status import look_at_holder
    from discreet.linkage.offices.registry_desk import RegistryDesk
    from discreet.linkage.offices.registry_status import look_at_registry
    from discreet.linkage.offices.researcher_status import look_at_researcher

    if session is None:
        return look_at_researcher(study)
    if study.role is OfficeRole.HOLDER:
        return look_at_holder(HolderDesk(study, session), custodian=custodian)
    return look_at_registry(RegistryDesk(study, session), custodian=custodian)


def _write_off(study: "Study", session: "Session | None", *, tell: bool) -> "dict[str, WrittenOff]":
    from discreet.errors import UsageError
    from discreet.linkage.envelopes import OfficeRole
    from discreet.linkage.office_pages.check_words import tell_write_off
    from discreet.linkage.offices.office_checks import write_off_accounts
    from discreet.linkage.offices.registry_desk import RegistryDesk

    if session is None or study.role is not OfficeRole.REGISTRY:
        raise UsageError(say("only a registry has accounts to write off."))
    desk, done = RegistryDesk(study, session), {}
    for asked in study.agreement.terms.properties:
        written = write_off_accounts(desk, asked)
        title = asked.title.text(language())
        if written is not None:
            done[asked.name] = written
        if tell:
            nothing = say("{title}: nothing is lost.", title=title)
            cap = study.agreement.terms.tariff.cap
            typer.echo(nothing if written is None else tell_write_off(title, written, cap))
    return done


def _show(report: "OfficeReport") -> None:
    typer.echo(f"{report.title}\n{report.lead}")
    for section in report.sections:
        typer.echo()
        heading = "\n".join([section.heading, *(f"  {sentence}" for sentence in section.sentences)])
        if section.pairs:
            show_pairs(heading, section.pairs)
        else:
            typer.echo(heading)
        for table in section.tables:
            show_table(table.caption, table.columns, table.rows)
