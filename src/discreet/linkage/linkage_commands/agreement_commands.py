"""Before anything is counted: an office and its keys, an agreement, three signatures, and opening the study."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    workspace: UnusedWorkspace = None,
) -> None:
    """Draft the terms of an agreement, every key explained. As drafted they fit the files of `sample linked`."""
    from discreet.linkage.agreements.agreement_template import agreement_template

    write_draft(file, agreement_template(shlex.quote(str(file))), overwrite=overwrite)
    show_note(f"Wrote '{file}'. Read it and change it; then the three offices agree on it: discreet linked agree")


def linked_keys(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for this office.")],
    role: Annotated[str, typer.Option(metavar="researcher|holder|registry", help="What it does.")],
    name: Annotated[str, typer.Option(metavar="TEXT", help="Its name, as the others know it.")],
    workspace: UnusedWorkspace = None,
) -> None:
    """Make an office: a folder with its keys. The file office.json in it is for the other two."""
    from discreet.errors import ParameterInvalid
    from discreet.linkage.agreements.office_keys import create_office
    from discreet.linkage.envelopes import Role

    if role not in tuple(Role):
        raise ParameterInvalid(parameter="role", rule=f"must be {', '.join(Role)}", given=role)
    create_office(folder, role=Role(role), name=name)
    typer.echo(f"Made the {role} '{name}' in '{folder}'. Keep the folder closed; give '{folder / 'office.json'}' away.")


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
    from discreet.linkage.envelopes import Role

    found = [read_public_office(path) for path in offices]
    if sorted(office.role for office in found) != sorted(Role):
        roles = ", ".join(office.role for office in found) or "none"
        raise UsageError(f"an agreement has one researcher, one holder and one registry; received {roles}.")
    agreement = Agreement(read_terms(terms), {office.role: office for office in found})
    write_agreement(SignedAgreement(agreement, {}), out)
    if output is Format.JSON:
        show_json(_facts(agreement))
    else:
        _show(agreement)
        show_note(f"Each office signs it: discreet linked sign {shlex.quote(str(out))} --office DIR")


def linked_sign(
    agreement: AgreementArgument,
    office: OfficeOption = Path(),
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Read what an agreement says, and sign it: the signature is added to the file."""
    from discreet.linkage.agreements.office_keys import open_office
    from discreet.linkage.agreements.signed_agreement import read_agreement, write_agreement

    signed = read_agreement(agreement).sign(open_office(office))
    write_agreement(signed, agreement)
    if output is Format.JSON:
        show_json({**_facts(signed.agreement), "missing": [role.value for role in signed.missing]})
        return
    _show(signed.agreement)
    show_note(
        f"Signed. Missing: {' and '.join(signed.missing)}." if signed.missing else "Signed. All three have signed it."
    )


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
    from discreet.linkage.envelopes import Role

    signed, here = read_agreement(agreement), open_office(office)
    given = {"--map": unit_map, "--crosswalk": crosswalk, "--link-key": link_key, "--out": out}
    _require_fit(here.role, {name for name, path in given.items() if path is not None})
    facts: dict[str, object] = {"study": signed.agreement.terms.study, "agreement": signed.agreement.digest}
    if here.role is Role.RESEARCHER:
        from discreet.linkage.offices.researcher_desk import open_researcher

        open_researcher(here, signed)
    elif here.role is Role.HOLDER:
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


def _require_fit(role: str, given: set[str]) -> None:
    """Options belong to roles; what is missing is said before anything is made."""
    from discreet.errors import UsageError

    may = {"researcher": set(), "holder": {"--crosswalk", "--link-key"}, "registry": {"--map", "--crosswalk", "--out"}}
    must = {"researcher": set(), "holder": {"--link-key"}, "registry": {"--out"}}
    if other := sorted(given - may[role]):
        raise UsageError(f"{', '.join(other)} is not for a {role}.")
    if missing := sorted(must[role] - given):
        raise UsageError(f"a {role} opens a study with {', '.join(missing)}.")


def _facts(agreement: "Agreement") -> dict[str, object]:
    return {"digest": agreement.digest, **agreement.to_content()}


def _show(agreement: "Agreement") -> None:
    """What is about to be signed, in words."""
    from discreet.guarantees import text

    terms, tariff = agreement.terms, agreement.terms.tariff
    unit = f"{terms.unit}, by a public map of at most {terms.members} ids each" if terms.mapped else terms.unit
    scale = 30 if 30 in terms.scales else terms.scales[0]
    show_pairs(
        f"Agreement on linked counts: {terms.study}",
        [
            *((role.value, agreement.offices[role].name) for role in agreement.offices),
            ("properties", ", ".join(item.title.en for item in terms.properties)),
            ("unit", unit),
            ("belief at most", f"{text(terms.belief)} from a prior of {text(terms.prior)}"),
            ("epsilon of an account", f"{text(tariff.epsilon)}: {tariff.cap:,} parts of 1/{tariff.parts:,}"),
            ("scales", ", ".join(map(str, terms.scales))),
            (f"counts at scale {scale}", f"{tariff.allowed(scale):,} for one person"),
            ("kinds", ", ".join(terms.kinds)),
            ("quota", f"{terms.quota:,} parts"),
            ("closes", f"when about {float(100 * terms.closing_share):g}% have no room left, or after {terms.expires}"),
            ("SHA-256", agreement.digest),
        ],
    )


def _show_opened(facts: dict[str, object], role: str) -> None:
    reserved = facts.get("reserved")
    typer.echo(f"Study '{facts['study']}' is open at the {role}.")
    if isinstance(reserved, dict) and "epsilon" in reserved:
        typer.echo(f"Reserved for its records: epsilon {reserved['epsilon']}, once and for all requests.")
    elif isinstance(reserved, dict):
        for name, cost in reserved.items():
            typer.echo(f"Reserved for '{name}': epsilon {cost['epsilon']}, once and for all requests.")
        show_note(f"Send '{facts['link_key']}' to the holder.")
