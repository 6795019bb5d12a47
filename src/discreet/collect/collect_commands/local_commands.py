"""Collecting answers that are protected before they leave the respondent: manifest, keys, reports, estimates."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import language, say
from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    OutOption,
    ReleaseFormatOption,
    UnusedWorkspace,
    group,
    show_json,
    show_note,
)
from discreet.errors import legible

if TYPE_CHECKING:
    from discreet.collect.reporting.signing import SignedManifest

__all__ = ["register"]

local = group(
    about="Collect answers that are randomised before they leave the respondent.",
    example="discreet local init data/survey.yaml --epsilon 3 --groups province --out manifest.yaml",
)

SignedArgument = Annotated[Path, typer.Argument(metavar="MANIFEST", help="The signed manifest, a JSON file.")]
TrustOption = Annotated[
    Path | None,
    typer.Option(
        metavar="PUBLIC_KEY", help="The survey's public key, from a source you trust; else only self-checked."
    ),
]
EncodingOption = Annotated[str | None, typer.Option(help="Text encoding of the answers, if CSV. Default: UTF-8.")]


def register(app: CommandGroup) -> None:
    app.add_typer(local, name="local", short_help="Answers randomised before they leave", rich_help_panel="Collection")


@local.command("init", epilog="Example: discreet local init survey.yaml --epsilon 3 --groups province")
def local_init(
    card: Annotated[Path, typer.Argument(metavar="CARD", help="A dataset card to take columns from.")],
    epsilon: Annotated[str, typer.Option(metavar="E", help="What all reports of one respondent may cost together.")],
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="The columns to ask. Default: all that can be.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(metavar="A,B", help="Public categories to send in clear. Default: none.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file, not to standard output.")
    ] = None,
    workspace: UnusedWorkspace = None,
) -> None:
    """Draft the manifest of a survey from a dataset card."""
    from discreet.cards import read_card
    from discreet.collect.reporting.manifest_draft import draft_manifest

    text = draft_manifest(read_card(card), epsilon=epsilon, columns=_listed(columns), groups=_listed(groups))
    if out is None:
        typer.echo(text, nl=False)
    else:
        _write_new(out, text)
        draft, signed = (legible(shlex.quote(str(item))) for item in (out, out.with_suffix(".json")))
        show_note(
            say(
                "Wrote '{name}'. Read it, then: discreet local sign {draft} --out {signed}",
                name=out.name,
                draft=draft,
                signed=signed,
            )
        )


@local.command("keys", epilog="Example: discreet local keys --out survey.key")
def local_keys(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The private key; the public one gets .pub.")] = Path(
        "survey.key"
    ),
    workspace: UnusedWorkspace = None,
) -> None:
    """Create the key pair that signs manifests: the private key for the survey alone, the public one for everybody."""
    from discreet.collect.reporting.signing import create_keys

    public = create_keys(out)
    typer.echo(
        say(
            "Wrote the private key '{private}' (keep it secret) and the public key '{public}' (publish it).",
            private=out.name,
            public=public.name,
        )
    )


@local.command("sign", epilog="Example: discreet local sign survey.yaml --out survey.json --key survey.key")
def local_sign(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST", help="The manifest as you wrote it, in YAML.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The signed manifest, in JSON.")],
    key: Annotated[Path, typer.Option(metavar="FILE", help="The private key.")] = Path("survey.key"),
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Settle what a manifest leaves automatic, and sign it: the file that respondents' software reads."""
    from discreet.collect.collect_commands.collection_view import manifest_facts, show_manifest
    from discreet.collect.reporting.manifest_reader import read_manifest
    from discreet.collect.reporting.signing import read_signed, sign_manifest

    _write_new(out, sign_manifest(read_manifest(manifest), key=key))
    signed = read_signed(out)
    if output is Format.JSON:
        show_json(manifest_facts(signed))
    else:
        show_manifest(signed)


@local.command("show", epilog="Example: discreet local show survey.json --trust survey.key.pub --respondents 5000")
def local_show(
    manifest: SignedArgument,
    respondents: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Also predict, without data, the ± of every estimate with this many respondents."
        ),
    ] = None,
    level: Annotated[
        float, typer.Option(metavar="L", help="With --respondents: level of the intervals, between 0 and 1.")
    ] = 0.95,
    share: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP=CODE:PART,...",
            help="With --respondents: the share of them in a category of a group. Default: equal shares.",
        ),
    ] = None,
    design_effect: Annotated[
        float | None,
        typer.Option(metavar="D", help="With --respondents: by how much unequal weights multiply variances."),
    ] = None,
    trust: TrustOption = None,
    workspace: UnusedWorkspace = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Verify a signed manifest and show what it asks, what it costs a respondent, and how accurate it would be."""
    from discreet.collect.collect_commands.collection_view import (
        manifest_facts,
        outlook_facts,
        show_manifest,
        show_outlook,
    )
    from discreet.collect.estimates.precision import expect_precision, read_group_shares
    from discreet.errors import UsageError

    if respondents is None and (share or design_effect is not None):
        raise UsageError(
            say("--share and --design-effect say what to expect of --respondents N; give that number too.")
        )
    signed = _read_signed(manifest, trust)
    outlook = None
    if respondents is not None:
        outlook = expect_precision(
            signed.manifest,
            respondents=respondents,
            level=level,
            group_shares=read_group_shares(share or [], signed.manifest),
            design_effect=design_effect,
        )
    if output is Format.JSON:
        facts = manifest_facts(signed)
        show_json(facts if outlook is None else {**facts, "outlook": outlook_facts(outlook)})
        return
    show_manifest(signed)
    if outlook is not None:
        show_outlook(signed, outlook)


@local.command("encode", epilog="Example: discreet local encode survey.json answers.csv --out reports.jsonl")
def local_encode(
    manifest: SignedArgument,
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="The answers, a CSV file, one respondent a line.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The reports, one JSON object a line.")] = Path(
        "reports.jsonl"
    ),
    encoding: EncodingOption = None,
    trust: TrustOption = None,
    workspace: UnusedWorkspace = None,
) -> None:
    """Randomise every answer, once, and write reports that hold none of them. Run it where the answers are."""
    from discreet.collect.collect_commands.collection_view import guarantee_text
    from discreet.collect.reporting.encoding import encode_file

    signed = _read_signed(manifest, trust)
    done = encode_file(signed, answers, out=out, encoding=encoding)
    typer.echo(
        say(
            "Wrote {count:,} reports to '{name}': {guarantee}. '{record}' keeps these answers from a second draw.",
            count=done.respondents,
            name=out.name,
            guarantee=guarantee_text(signed.manifest),
            record=done.record.name,
        )
    )


@local.command("estimate", epilog="Example: discreet local estimate survey.json reports.jsonl --by province")
def local_estimate(
    manifest: SignedArgument,
    reports: Annotated[Path, typer.Argument(metavar="REPORTS", help="The reports, one JSON object a line.")],
    by: Annotated[str | None, typer.Option(metavar="A,B", help="Groups of the manifest to estimate apart.")] = None,
    level: Annotated[float, typer.Option(metavar="L", help="Level of the intervals, between 0 and 1.")] = 0.95,
    replicates: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Replicate weights by token, a CSV file: adds design variance.")
    ] = None,
    clear: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Answers of respondents who chose to answer in clear, a CSV file."),
    ] = None,
    encoding: EncodingOption = None,
    strata: Annotated[
        bool,
        typer.Option("--strata", help="With --clear: the two groups are parts of one whole, not two samples of it."),
    ] = False,
    trust: TrustOption = None,
    workspace: UnusedWorkspace = None,
    out: OutOption = None,
    output: ReleaseFormatOption = None,
) -> None:
    """Check reports line by line and estimate counts and means, with intervals, for every question and group."""
    from discreet.cli import choose_format, deliver
    from discreet.collect.estimates.published_collection import estimate_collection
    from discreet.present import check_output

    chosen = choose_format(output, out)
    check_output(out, format=chosen)
    found = estimate_collection(
        _read_signed(manifest, trust),
        reports,
        by=_listed(by),
        level=level,
        replicates=replicates,
        clear=clear,
        encoding=encoding,
        relation="strata" if strata else "samples",
    )
    deliver(found, chosen, out, language())


def _read_signed(manifest: Path, trust: Path | None) -> "SignedManifest":
    from discreet.collect.reporting.signing import read_signed

    signed = read_signed(manifest, trust=trust)
    if not signed.trusted:
        show_note(say("'{name}': {verification}.", name=manifest.name, verification=signed.verification))
    return signed


def _listed(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def _write_new(path: Path, text: str) -> None:
    from discreet.errors import PathInvalid
    from discreet.files import write_whole
    from discreet.paths import tell_reason

    try:
        write_whole(path, text, fresh=True)
    except FileExistsError:
        raise PathInvalid(say("'{name}' exists; choose another name.", name=path.name), path=str(path)) from None
    except OSError as error:
        raise PathInvalid(
            say("'{name}' cannot be written: {reason}.", name=path.name, reason=tell_reason(error)), path=str(path)
        ) from None
