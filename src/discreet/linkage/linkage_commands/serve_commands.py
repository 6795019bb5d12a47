"""Linked counts by network: an office that listens, and an envelope that is sent to one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.catalogue import say
from discreet.cli import CommandGroup, UnusedWorkspace, show_note
from discreet.linkage.linkage_commands.linked_options import OfficeOption, StudyOption

if TYPE_CHECKING:
    from discreet.linkage.envelopes import OfficeRole

__all__ = ["register"]

_LONGEST: Final = 2**31


def register(linked: CommandGroup) -> None:
    linked.command(
        "serve",
        epilog="Example: discreet linked serve --office holder --port 8521 --to-registry http://127.0.0.1:8522",
    )(linked_serve)
    linked.command("send", epilog="Example: discreet linked send request.env --to http://127.0.0.1:8521")(linked_send)


def linked_serve(
    office: OfficeOption = Path(),
    study: StudyOption = None,
    role: Annotated[
        str | None, typer.Option(metavar="NAME", help="What this office must be: researcher, holder or registry.")
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_535, help="The port to listen on; 0: any free one.")
    ] = 8520,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Allow an address that other machines reach. TLS is the proxy's.")
    ] = False,
    approve: Annotated[
        bool, typer.Option("--approve", help="Holder: draw every request as it comes. Otherwise a person draws it.")
    ] = False,
    to_registry: Annotated[str | None, typer.Option(metavar="URL", help="Holder: where samples are sent.")] = None,
    to_researcher: Annotated[
        str | None, typer.Option(metavar="URL", help="Where answers, or labels of groups, are sent.")
    ] = None,
    workspace: UnusedWorkspace = None,
) -> None:
    """Take part in a study by network, until Ctrl-C: receive envelopes, draw or count, send on what comes of it.

    What was received is kept, and a restart goes on with it. Answers leave at times fixed by when a request was made.
    """
    from discreet.linkage.envelopes import OfficeRole, tell_role
    from discreet.linkage.office_network.couriers import check_url
    from discreet.linkage.office_network.linked_server import serve_study
    from discreet.linkage.offices.office_studies import find_study
    from discreet.server import open_listener

    found = find_study(office, study)
    given = {"--approve": approve, "--to-registry": to_registry, "--to-researcher": to_researcher}
    _require_fit(found.role, role, {name for name, value in given.items() if value})
    named = {OfficeRole.REGISTRY: to_registry, OfficeRole.RESEARCHER: to_researcher}
    addresses = {to: check_url(url, f"to-{to}") for to, url in named.items() if url is not None}
    with open_listener(host, port, beyond=behind_proxy, has_tls=False) as listener:
        name, number = listener.getsockname()[:2]
        place = f"[{name}]:{number}" if ":" in name else f"{name}:{number}"
        serve_study(
            found,
            listener=listener,
            addresses=addresses,
            approved=approve,
            announce=lambda: typer.echo(
                say(
                    "The {role} of study '{study}' listens at http://{place}. Ctrl-C ends it.",
                    role=tell_role(found.role),
                    study=found.name,
                    place=place,
                )
            ),
            tell=show_note,
        )


def linked_send(
    envelope: Annotated[Path, typer.Argument(metavar="ENVELOPE", help="The envelope to send, a file.")],
    to: Annotated[str, typer.Option(metavar="URL", help="Where that office listens.")],
    workspace: UnusedWorkspace = None,
) -> None:
    """Send an envelope to an office that listens. Sent again, it is the same envelope and does nothing more."""
    from discreet.errors import PathInvalid
    from discreet.linkage.office_network.couriers import send_envelope
    from discreet.paths import open_regular

    try:
        with open_regular(envelope) as stream:
            data = stream.read(_LONGEST)
    except OSError:
        raise PathInvalid(say("'{path}' is not there or cannot be read.", path=envelope), path=str(envelope)) from None
    send_envelope(to, data)
    typer.echo(say("Sent. The other office has it."))


def _require_fit(own: "OfficeRole", role: str | None, given: set[str]) -> None:
    from discreet.errors import UsageError
    from discreet.linkage.envelopes import tell_role

    if role is not None and role != own:
        raise UsageError(
            say(
                "this office is a {own}, and --role says {role}. Name the folder of that office.",
                own=tell_role(own),
                role=role,
            )
        )
    may = {
        "researcher": set[str](),
        "holder": {"--approve", "--to-registry", "--to-researcher"},
        "registry": {"--to-researcher"},
    }
    if other := sorted(given - may[own]):
        raise UsageError(say("{options} is not for a {role}.", options=", ".join(other), role=tell_role(own)))
