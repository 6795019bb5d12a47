"""A count by files: the researcher asks, the holder draws, the registry counts. Each file goes to one office."""

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import Numeral, say
from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    UnusedWorkspace,
    YesOption,
    confirm_at_terminal,
    on_terminal,
    show_json,
    show_note,
    show_pairs,
)
from discreet.linkage.linkage_commands.linked_options import (
    OfficeOption,
    StudyOption,
    find_study_of,
    read_envelope,
    require_new,
    write_envelope,
)

if TYPE_CHECKING:
    from discreet.linkage.offices.envelope_contents import AskedGroup
    from discreet.linkage.offices.holder_desk import PendingDraw
    from discreet.linkage.tariff import LinkedKind

__all__ = ["register"]


def register(linked: CommandGroup) -> None:
    linked.command(
        "ask",
        epilog="Example: discreet linked ask --property francophone --where \"angioplasty = 'yes'\" --out request.env",
    )(linked_ask)
    linked.command("draw", epilog="Example: discreet linked draw request.env --office holder --out sample.env")(
        linked_draw
    )
    linked.command("count", epilog="Example: discreet linked count sample.env --office registry --out answer.env")(
        linked_count
    )


def linked_ask(
    property: Annotated[str, typer.Option("--property", metavar="NAME", help="What to count, as agreed on.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The request, for the holder.")],
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="Criteria over the holder's card. Default: everybody.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar='"NAME: SQL"', help="A group; repeat. The registry is not told which is which."),
    ] = None,
    kind: Annotated[str, typer.Option("--kind", metavar="NAME", help="count, count-and-size or histogram.")] = "count",
    scale: Annotated[int, typer.Option(metavar="B", help="Laplace scale of the noise, from the menu.")] = 30,
    rate: Annotated[
        list[str] | None,
        typer.Option(metavar="P", help="The share of the people to draw; NAME=P for one group. Default: all."),
    ] = None,
    office: OfficeOption = Path(),
    study: StudyOption = None,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Ask how many of the people who meet criteria have a property. What it costs is shown; nothing is charged yet."""
    from fractions import Fraction

    from discreet.linkage.envelopes import OfficeRole
    from discreet.linkage.offices.researcher_desk import ResearcherDesk
    from discreet.noise import laplace_half_width

    require_new(out)
    desk = ResearcherDesk(find_study_of(office, study, OfficeRole.RESEARCHER))
    whole, groups = _groups(group or [], rate or [])
    asked = desk.ask(property=property, kind=_kind(kind), scale=scale, where=where, groups=groups, rate=whole)
    write_envelope(out, asked.envelope)
    terms = desk.study.agreement.terms
    wide = laplace_half_width(scale=Fraction(scale * terms.property(property).largest), level=Fraction(95, 100))
    facts = {
        "request": asked.request,
        "charge": asked.charge,
        "parts": terms.tariff.parts,
        "account": terms.tariff.cap,
        "scale": scale,
        "half_width": wide,
        "file": str(out),
    }
    if output is Format.JSON:
        show_json(facts)
        return
    show_pairs(
        say("Request {request}", request=asked.request),
        [
            (
                say("costs each person"),
                say("{charge} of the {cap} parts of an account", charge=asked.charge, cap=terms.tariff.cap),
            ),
            (
                say("each number is off by"),
                say("at most {wide:,} in 95 of 100 answers (scale {scale})", wide=wide, scale=scale),
            ),
        ],
    )
    show_note(say("Send '{file}' to the holder.", file=out))


def linked_draw(
    request: Annotated[
        str, typer.Argument(metavar="REQUEST", help="The file as it came, or the id of a request that came by network.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The sample, for the registry. By network it is sent.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Which group is which, for the researcher.")
    ] = None,
    office: OfficeOption = Path(),
    study: StudyOption = None,
    yes: YesOption = False,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Look at the criteria of a request, approve them, and draw the sample: pseudonyms, sealed to the registry."""
    from discreet.errors import UsageError
    from discreet.linkage.envelopes import EnvelopeKind, OfficeRole
    from discreet.linkage.offices.holder_desk import HolderDesk

    require_new(out, labels)
    found = find_study_of(office, study, OfficeRole.HOLDER)
    if out is None and (labels is not None or Path(request).exists()):
        raise UsageError(say("name a file for the sample with --out."))
    if out is None:
        from discreet.linkage.office_network.mailbox import Mailbox
        from discreet.linkage.office_network.office_posts import draw_waiting

        data = Mailbox(found).take(EnvelopeKind.REQUEST, request).data
    else:
        data = read_envelope(Path(request), found.agreement)
    with found.open_session() as session:
        desk = HolderDesk(found, session)
        pending = desk.look(data)
        if out is not None and len(pending.groups) > 1 and labels is None:
            raise UsageError(say("the request has groups: name a file for their labels with --labels."))
        if output is Format.TABLE:
            _show_pending(pending)
        approve = None if yes or not on_terminal() else _approve
        drawn = draw_waiting(desk, request, approve=approve) if out is None else desk.draw(data, approve=approve)
    if out is not None:
        write_envelope(out, drawn.sample)
    if drawn.labels is not None and labels is not None:
        write_envelope(labels, drawn.labels)
    if output is Format.JSON:
        file = None if out is None else str(out)
        show_json({"request": drawn.request, "drawn": drawn.drawn, "groups": dict(drawn.groups), "file": file})
        return
    typer.echo(say("Drew {people:,} people. This number is for this office alone.", people=drawn.drawn))
    if out is None:
        show_note(say("The sample is in the outbox, and leaves while 'discreet linked serve' runs with --to-registry."))
    elif drawn.labels is None:
        show_note(say("Send '{file}' to the registry.", file=out))
    else:
        show_note(say("Send '{file}' to the registry and {labels} to the researcher.", file=out, labels=labels))


def linked_count(
    sample: Annotated[Path, typer.Argument(metavar="SAMPLE", help="The sample, as it came.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The answer, for the researcher.")],
    office: OfficeOption = Path(),
    study: StudyOption = None,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Count a property in a sample, charge each person's account, and seal the noisy answer to the researcher."""
    from discreet.linkage.envelopes import OfficeRole
    from discreet.linkage.offices.registry_desk import RegistryDesk

    require_new(out)
    found = find_study_of(office, study, OfficeRole.REGISTRY)
    data = read_envelope(sample, found.agreement)
    with found.open_session() as session:
        counted = RegistryDesk(found, session).count(data)
    write_envelope(out, counted.answer)
    if output is Format.JSON:
        show_json({"request": counted.request, "replayed": counted.replayed, "file": str(out)})
        return
    if counted.replayed:
        typer.echo(say("Request {request}: answered before; the same answer again.", request=counted.request))
    else:
        typer.echo(say("Request {request}: counted.", request=counted.request))
    show_note(say("Send '{file}' to the researcher, and delete '{sample}'.", file=out, sample=sample))


def _kind(kind: str) -> "LinkedKind":
    from discreet.errors import ParameterInvalid
    from discreet.linkage.tariff import LinkedKind

    if kind not in tuple(LinkedKind):
        raise ParameterInvalid(parameter="kind", rule=say("must be {kinds}", kinds=", ".join(LinkedKind)), given=kind)
    return LinkedKind(kind)


def _groups(groups: list[str], rates: list[str]) -> "tuple[Decimal, list[AskedGroup]]":
    """The rate of all, and the groups with theirs."""
    from discreet.errors import ParameterInvalid
    from discreet.guarantees import exact
    from discreet.linkage.offices.envelope_contents import AskedGroup

    whole, own = Decimal(1), dict[str, Decimal]()
    for item in rates:
        name, equals, value = item.rpartition("=")
        rate = exact(value, parameter="rate")
        if equals:
            own[name.strip()] = rate
        else:
            whole = rate
    found = []
    for item in groups:
        name, colon, condition = item.partition(":")
        if not colon or not name.strip() or not condition.strip():
            raise ParameterInvalid(parameter="group", rule=say('must be written as "NAME: SQL"'), given=item[:60])
        found.append(AskedGroup(name.strip(), condition.strip(), own.pop(name.strip(), whole)))
    if own:
        raise ParameterInvalid(parameter="rate", rule=say("must name a group that is asked for"), given=next(iter(own)))
    return whole, found


def _show_pending(pending: "PendingDraw") -> None:
    groups = [
        (
            name if len(pending.groups) > 1 else say("drawn"),
            say("{condition}, at a rate of {rate}", condition=where or say("all of them"), rate=Numeral(rate)),
        )
        for name, where, rate in pending.groups
    ]
    show_pairs(
        say("Request {request}", request=pending.request),
        [
            (say("criteria"), pending.where or say("everybody")),
            *groups,
            (
                say("costs each person"),
                say("{charge} parts, at scale {scale}", charge=pending.charge, scale=pending.scale),
            ),
            (
                say("will be sent"),
                say("pseudonyms to the registry, nothing to the researcher but the meaning of groups"),
            ),
        ],
    )


def _approve(pending: "PendingDraw") -> bool:
    return confirm_at_terminal(say("Draw and send it?"))
