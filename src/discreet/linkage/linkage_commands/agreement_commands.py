"""Before anything is counted: an office and its keys, an agreement, three signatures, and opening the study."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import language, say, say_list
from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    UnusedWorkspace,
    WorkspaceOption,
    show_json,
    show_note,
    show_pairs,
    write_draft,
)
from discreet.linkage.linkage_commands.linked_options import (
    OfficeOption,
    read_envelope,
    require_new,
    write_envelope,
)

if TYPE_CHECKING:
    from discreet.linkage.agreements.agreement import Agreement
    from discreet.linkage.agreements.signed_agreement import SignedAgreement
    from discreet.linkage.envelopes import OfficeRole

__all__ = ["register"]

AgreementArgument = Annotated[Path, typer.Argument(metavar="AGREEMENT", help="The agreement, a JSON file.")]


def register(linked: CommandGroup) -> None:
    linked.command("init", epilog="Example: discreet linked init terms.yaml")(linked_init)
    linked.command("keys", epilog='Example: discreet linked keys registry --role registry --name "National registry"')(
        linked_keys
    )
    linked.command(
        "agree", epilog="Example: discreet linked agree terms.yaml researcher holder registry --out agreement.json"
    )(linked_agree)
    linked.command("sign", epilog="Example: discreet linked sign agreement.json --office registry")(linked_sign)
    linked.command(
        "open", epilog="Example: discreet linked open agreement.json --office registry -w w --out link-key.env"
    )(linked_open)


def linked_init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The terms to write, in YAML.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    workspace: UnusedWorkspace = None,
) -> None:
    """Draft the terms of an agreement, every key explained. As drafted they fit the files of `sample linked`."""
    from discreet.linkage.agreements.agreement_template import agreement_template

    write_draft(file, agreement_template(shlex.quote(str(file))), overwrite=overwrite)
    show_note(
        say(
            "Wrote '{file}'. Read it and change it; then the three offices agree on it: discreet linked agree",
            file=file,
        )
    )


def linked_keys(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for this office.")],
    role: Annotated[str, typer.Option(metavar="researcher|holder|registry", help="What it does.")],
    name: Annotated[str, typer.Option(metavar="TEXT", help="Its name, as the others know it.")],
    workspace: UnusedWorkspace = None,
) -> None:
    """Make an office: a folder with its keys. The file office.json in it is for the other two."""
    from discreet.errors import ParameterInvalid
    from discreet.linkage.agreements.office_keys import create_office
    from discreet.linkage.envelopes import OfficeRole, tell_role

    if role not in tuple(OfficeRole):
        raise ParameterInvalid(parameter="role", rule=say("must be {roles}", roles=", ".join(OfficeRole)), given=role)
    create_office(folder, role=OfficeRole(role), name=name)
    typer.echo(
        say(
            "Made the {role} '{name}' in '{folder}'. Keep the folder closed; give '{file}' away.",
            role=tell_role(OfficeRole(role)),
            name=name,
            folder=folder,
            file=folder / "office.json",
        )
    )


def linked_agree(
    terms: Annotated[Path, typer.Argument(metavar="TERMS", help="What is agreed on, in YAML.")],
    offices: Annotated[
        list[Path], typer.Argument(metavar="OFFICE...", help="office.json of all three, or their folders.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The agreement, for all three to sign.")],
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Make an agreement of terms and three offices. Nothing holds before all of them have signed it."""
    from discreet.errors import UsageError
    from discreet.linkage.agreements.agreement import Agreement
    from discreet.linkage.agreements.agreement_reader import read_terms
    from discreet.linkage.agreements.office_keys import read_public_office
    from discreet.linkage.agreements.signed_agreement import SignedAgreement, write_agreement
    from discreet.linkage.envelopes import OfficeRole, tell_role

    found = [read_public_office(path) for path in offices]
    if sorted(office.role for office in found) != sorted(OfficeRole):
        roles = ", ".join(tell_role(office.role) for office in found) or say("none")
        raise UsageError(
            say("an agreement has one researcher, one holder and one registry; received {roles}.", roles=roles)
        )
    agreement = Agreement(read_terms(terms), {office.role: office for office in found})
    write_agreement(SignedAgreement(agreement, {}), out)
    if output is Format.JSON:
        show_json(_facts(agreement))
    else:
        _show(agreement)
        file = shlex.quote(str(out))
        show_note(say("Each office signs it: discreet linked sign {file} --office DIR", file=file))


def linked_sign(
    agreement: AgreementArgument,
    office: OfficeOption = Path(),
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Read what an agreement says, and sign it: the signature is added to the file."""
    from discreet.linkage.agreements.office_keys import open_office
    from discreet.linkage.agreements.signed_agreement import read_agreement, write_agreement
    from discreet.linkage.envelopes import tell_role

    signed = read_agreement(agreement).sign(open_office(office))
    write_agreement(signed, agreement)
    if output is Format.JSON:
        show_json({**_facts(signed.agreement), "missing": [role.value for role in signed.missing]})
        return
    _show(signed.agreement)
    if signed.missing:
        show_note(say("Signed. Missing: {roles}.", roles=say_list([tell_role(role) for role in signed.missing])))
    else:
        show_note(say("Signed. All three have signed it."))


def linked_open(
    agreement: AgreementArgument,
    office: OfficeOption = Path(),
    workspace: WorkspaceOption = None,
    unit_map: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="Registry: the public map of units, a CSV file.")
    ] = None,
    crosswalk: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The agreed ids and this office's own: a CSV file of id,key.")
    ] = None,
    link_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Holder: the key that the registry has sealed to it.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Registry: the key for the holder, in an envelope.")
    ] = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Open a signed study in this office: reserve what it may cost, once, and make what it needs.

    The registry goes first, then the holder with the registry's key. A researcher needs neither workspace nor key.
    """
    from discreet.linkage.agreements.office_keys import open_office
    from discreet.linkage.agreements.signed_agreement import read_agreement
    from discreet.linkage.envelopes import OfficeRole

    signed, here = read_agreement(agreement), open_office(office)
    given = {"--map": unit_map, "--crosswalk": crosswalk, "--link-key": link_key, "--out": out}
    _require_fit(here.role, {name for name, path in given.items() if path is not None})
    facts: dict[str, object] = {"study": signed.agreement.terms.study, "agreement": signed.agreement.digest}
    if here.role is OfficeRole.RESEARCHER:
        from discreet.linkage.offices.researcher_desk import open_researcher

        open_researcher(here, signed)
    elif here.role is OfficeRole.HOLDER:
        from discreet.guarantees import text
        from discreet.linkage.offices.holder_desk import holder_loss, open_holder
        from discreet.workspace import find_workspace

        assert link_key is not None
        key = read_envelope(link_key, signed.agreement)
        study = open_holder(here, signed, workspace=find_workspace(workspace), link_key=key, crosswalk=crosswalk)
        terms = study.agreement.terms
        with study.open_session() as session:
            loss = holder_loss(terms, session.workspace.dataset(terms.holder.dataset).card)
        facts["reserved"] = {"epsilon": text(loss.epsilon)}
    else:
        facts |= _open_registry(signed, office, workspace, unit_map, crosswalk, out)
    if output is Format.JSON:
        show_json(facts)
    else:
        _show_opened(facts, here.role)


def _open_registry(
    signed: "SignedAgreement",
    office: Path,
    workspace: Path | None,
    unit_map: Path | None,
    crosswalk: Path | None,
    out: Path | None,
) -> dict[str, object]:
    from discreet.guarantees import text
    from discreet.linkage.agreements.office_keys import open_office
    from discreet.linkage.offices.registry_desk import open_registry, registry_loss
    from discreet.workspace import find_workspace

    assert out is not None
    require_new(out)
    _, sealed = open_registry(
        open_office(office),
        signed,
        workspace=find_workspace(workspace),
        unit_map=unit_map,
        crosswalk=crosswalk,
        progress=show_note,
    )
    write_envelope(out, sealed)
    terms = signed.agreement.terms
    each = text(registry_loss(terms).epsilon)
    return {"reserved": {item.name: {"epsilon": each} for item in terms.properties}, "link_key": str(out)}


def _require_fit(role: "OfficeRole", given: set[str]) -> None:
    """Options belong to roles; what is missing is said before anything is made."""
    from discreet.errors import UsageError
    from discreet.linkage.envelopes import tell_role

    may = {"researcher": set(), "holder": {"--crosswalk", "--link-key"}, "registry": {"--map", "--crosswalk", "--out"}}
    must = {"researcher": set(), "holder": {"--link-key"}, "registry": {"--out"}}
    if other := sorted(given - may[role]):
        raise UsageError(say("{options} is not for a {role}.", options=", ".join(other), role=tell_role(role)))
    if missing := sorted(must[role] - given):
        raise UsageError(
            say("a {role} opens a study with {options}.", role=tell_role(role), options=", ".join(missing))
        )


def _facts(agreement: "Agreement") -> dict[str, object]:
    return {"digest": agreement.digest, **agreement.to_content()}


def _show(agreement: "Agreement") -> None:
    """What is about to be signed, in words."""
    from discreet.guarantees import text
    from discreet.linkage.envelopes import tell_role

    terms, tariff = agreement.terms, agreement.terms.tariff
    unit = say("person") if terms.unit == "person" else say("household")
    if terms.mapped:
        unit = say("{unit}, by a public map of at most {members} ids each", unit=unit, members=terms.members)
    scale = 30 if 30 in terms.scales else terms.scales[0]
    account = say(
        "{epsilon}: {cap:,} parts of 1/{parts:,}", epsilon=text(tariff.epsilon), cap=tariff.cap, parts=tariff.parts
    )
    ends = say(
        "when about {share:g}% have no room left, or after {expires}",
        share=float(100 * terms.closing_share),
        expires=terms.expires,
    )
    show_pairs(
        say("Agreement on linked counts: {study}", study=terms.study),
        [
            *((tell_role(role), agreement.offices[role].name) for role in agreement.offices),
            (say("properties"), ", ".join(item.title.text(language()) for item in terms.properties)),
            (say("unit"), unit),
            (
                say("belief at most"),
                say("{belief} from a prior of {prior}", belief=text(terms.belief), prior=text(terms.prior)),
            ),
            (say("epsilon of an account"), account),
            (say("scales"), ", ".join(map(str, terms.scales))),
            (
                say("counts at scale {scale}", scale=scale),
                say("{counts:,} for one person", counts=tariff.allowed(scale)),
            ),
            (say("kinds"), ", ".join(terms.kinds)),
            (say("quota"), say("{quota:,} parts", quota=terms.quota)),
            (say("closes"), ends),
            ("SHA-256", agreement.digest),
        ],
    )


def _show_opened(facts: dict[str, object], role: "OfficeRole") -> None:
    from discreet.linkage.envelopes import tell_role

    reserved = facts.get("reserved")
    typer.echo(say("Study '{study}' is open at the {role}.", study=facts["study"], role=tell_role(role)))
    if isinstance(reserved, dict) and "epsilon" in reserved:
        epsilon = reserved["epsilon"]
        typer.echo(say("Reserved for its records: epsilon {epsilon}, once and for all requests.", epsilon=epsilon))
    elif isinstance(reserved, dict):
        for name, cost in reserved.items():
            epsilon = cost["epsilon"]
            typer.echo(
                say("Reserved for '{name}': epsilon {epsilon}, once and for all requests.", name=name, epsilon=epsilon)
            )
        show_note(say("Send '{file}' to the holder.", file=facts["link_key"]))
