"""An office that serves, and one that does its jobs: `discreet serve`, `discreet work`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import say, say_count
from discreet.cli import CommandGroup, WorkspaceOption, open_session, show_note
from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.server.connections.web_server import TlsFiles
    from discreet.server.office import OfficeSettings

__all__ = ["register"]

_PANEL = "Service"

ProxyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--behind-proxy", metavar="CIDR", help="The network of a proxy that has TLS and is believed; may be repeated."
    ),
]

SlotsOption = Annotated[
    bool,
    typer.Option(
        "--slots/--no-slots",
        help="Let answers leave at public times only. Without, whoever asks sees how long an answer took.",
    ),
]


def register(app: CommandGroup) -> None:
    app.command(
        "serve",
        short_help="Answer people over HTTP, within the budget",
        epilog="Example: discreet serve -w office --workers 2",
        rich_help_panel=_PANEL,
    )(serve)
    app.command(
        "work",
        short_help="Do the long questions of a server in a process of their own",
        epilog="Example: discreet work -w office",
        rich_help_panel=_PANEL,
    )(work)


def serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_535, help="The port to listen on; 0: any free one.")
    ] = 8765,
    workers: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="How many processes answer.")] = 1,
    behind_proxy: ProxyOption = None,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate, as PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, as PEM.")] = None,
    slots: SlotsOption = True,
    requests: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many requests a person may make in a minute.")
    ] = 600,
    check: Annotated[bool, typer.Option("--check", help="Look whether it could serve, say so, and stop.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Serve a workspace over HTTP until Ctrl-C: untrusted analysts may ask, within the budget.

    The first start makes one custodian and prints a link for them, which works once. Other machines reach it with TLS
    or through a proxy only.
    """
    from discreet.server.connections.addresses import read_proxies
    from discreet.server.connections.listener import open_listener
    from discreet.server.office import OfficeSettings
    from discreet.server.processes import serve_processes

    tls = _tls(tls_cert, tls_key)
    proxies = tuple(behind_proxy or ())
    read_proxies(proxies)
    settings = OfficeSettings(
        workspace=str(open_session(workspace).workspace.path.absolute()),
        slots=slots,
        per_person=requests,
        per_address=5 * requests,
        proxies=proxies,
    )
    with open_listener(host, port, beyond=bool(proxies or tls)) as listener:
        name, number = listener.getsockname()[:2]
        base = f"{'http' if tls is None else 'https'}://{f'[{name}]' if ':' in name else name}:{number}"
        if check:
            _check(settings, tls)
            return
        _welcome(workspace, base)
        serve_processes(
            listener,
            workers=workers,
            make="discreet.server.assembly:make_app",
            settings=settings.to_settings(),
            tls=tls,
            announce=lambda: _announce(base, workers, slots=slots),
        )


def work(slots: SlotsOption = True, workspace: WorkspaceOption = None) -> None:
    """Do jobs, the questions that take longer than a request, until Ctrl-C. A server does them too, one at a time.

    Start as many as there are processors to spare. One that is killed leaves its job to the next. Give --no-slots where
    the server has it.
    """
    from discreet.server.job_process import do_jobs
    from discreet.server.office import OfficeSettings

    settings = OfficeSettings(workspace=str(open_session(workspace).workspace.path.absolute()), slots=slots)
    do_jobs(settings, announce=lambda: show_note(say("Doing jobs. Ctrl-C ends it after the job at hand.")))


def _tls(certificate: Path | None, key: Path | None) -> "TlsFiles | None":
    from discreet.server.connections.web_server import TlsFiles

    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise UsageError(say("TLS needs both --tls-cert and --tls-key."))
    return TlsFiles(certificate, key)


def _welcome(workspace: Path | None, base: str) -> None:
    """Where nobody may sign in yet, make a custodian and print a link for them."""
    from discreet.people import People, Role

    session = open_session(workspace)
    people = People(session.workspace, session.ledger)
    try:
        known = people.catch_up()
        if known.custodians:
            return
        if session.who in known.persons:
            people.give_role(session.who, Role.CUSTODIAN, who=session.who)
        else:
            people.add(session.who, {Role.CUSTODIAN}, who=session.who)
        link = people.sign_in.make_link(session.who, who=session.who)
    finally:
        people.close()
    show_note(
        say(
            "There was no custodian yet, so '{name}' is one from now on. This link signs in once, within a day:",
            name=session.who,
        )
    )
    typer.echo(f"{base}/{_page()}#{link}")


def _page() -> str:
    from discreet.catalogue import language

    return f"{language()}/welcome"


def _announce(base: str, workers: int, *, slots: bool) -> None:
    show_note(
        say_count(
            "Serving at {base}, in {count} process. Ctrl-C ends it.",
            "Serving at {base}, in {count} processes. Ctrl-C ends it.",
            workers,
            base=base,
        )
    )
    if not slots:
        show_note(say("Answers leave as soon as they are ready: whoever asks sees how long each took."))


def _check(settings: "OfficeSettings", tls: "TlsFiles | None") -> None:
    """Everything that a start would do, but for serving."""
    from discreet.server.office import ServedOffice

    if tls is not None:
        tls.open()
    office = ServedOffice.open(settings)
    try:
        office.require_stores()
        office.warm()
        office.session.verify()
        custodians = [entry.name for entry in office.people.persons() if entry.is_custodian]
        typer.echo(say("The ledger is intact, what is kept beside it can be used, and the address is free."))
        if custodians:
            typer.echo(say("Custodians: {names}.", names=", ".join(custodians)))
        else:
            typer.echo(say("There is no custodian yet: the first start makes one and prints a link."))
    finally:
        office.close()
