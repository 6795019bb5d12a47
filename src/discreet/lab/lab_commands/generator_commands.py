"""The tabular generator: trained on a dataset's rows, sampled into a file, inspected by the custodian."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import language, localise, numeral, say, say_count
from discreet.cli import (
    AnalystOption,
    CommandGroup,
    Custodian,
    Format,
    FormatOption,
    RequestIdOption,
    WorkspaceOption,
    YesOption,
    confirm_at_terminal,
    group,
    on_terminal,
    repeat,
    show_banner,
    show_json,
    show_note,
    show_pairs,
    show_table,
)
from discreet.errors import UsageError

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee
    from discreet.lab.generator.inspection import ColumnFacts, Inspection
    from discreet.lab.generator.protected.private_generation import PrivatelyTrained
    from discreet.lab.generator.shelf import Shelved

__all__ = ["register"]

gan = group(about="Train a generator on a dataset and make rows like its own.", example="discreet gan list -w office")

_INTERRUPTED = 130

DatasetArgument = Annotated[str, typer.Argument(metavar="DATASET", help="The dataset's name.")]
NameOption = Annotated[str, typer.Option("--name", metavar="NAME", help="The model's name.")]


def register(app: CommandGroup) -> None:
    app.add_typer(gan, name="gan", short_help="Train a generator and make rows", rich_help_panel="Laboratory")


@gan.command(
    "train",
    epilog="Examples: discreet gan train -w office survey --epochs 100 · "
    "discreet gan train -w office survey --private --rho 0.5 --name open",
)
def train(
    dataset: DatasetArgument,
    epochs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Passes over the rows. Default: 300, and 60 with --private."),
    ] = None,
    name: NameOption = "default",
    patience: Annotated[
        int | None, typer.Option(metavar="N", help="Stop early after this many epochs without gain. Default: never.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="A seed, to train the same model again; not with --private.")
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="With differential privacy: charged first, and its samples are proven.")
    ] = False,
    rho: Annotated[str | None, typer.Option(metavar="R", help="What --private costs, as zCDP.")] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="What --private costs, with --delta.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="D", help="Default: the delta of the budget.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace even a model that was paid for.")] = False,
    analyst: AnalystOption = None,
    request_id: RequestIdOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Train a generator on the rows of a dataset and keep it in the workspace.

    A plain model is not differentially private, and neither is what it generates; its losses follow from the rows, so
    the training is the custodian's and is logged. With --private, the budget is charged before the training starts.
    """
    from discreet.cli import open_session
    from discreet.lab.generator.generation import train_model
    from discreet.lab.generator.training_settings import Settings
    from discreet.lab.lab_commands.training_progress import show_training
    from discreet.session import default_analyst

    of_plain: dict[str, object] = {"--seed": seed, "--patience": patience}
    of_private: dict[str, object] = {
        "--rho": rho,
        "--epsilon": epsilon,
        "--delta": delta,
        "--request-id": request_id,
    }
    _refuse_options(private, of_plain if private else of_private)
    session = open_session(workspace)
    who = default_analyst() if analyst is None else analyst
    if private:
        from discreet.lab.generator.protected.private_generation import choose_rho, train_privately
        from discreet.lab.generator.protected.private_plan import PrivateSettings

        charged = choose_rho(session.workspace.dataset(dataset).card, rho=rho, epsilon=epsilon, delta=delta)
        with show_training() as phrase:
            made = train_privately(
                dataset,
                session.workspace,
                session.ledger,
                settings=PrivateSettings() if epochs is None else PrivateSettings(epochs=epochs),
                rho=charged,
                analyst=who,
                request_id=request_id,
                name=name,
                replace=replace,
                confirm=_confirm_charge if on_terminal() and not yes else None,
                progress=phrase,
            )
        _show_trained(made.model, output, paid=made)
        return
    session.workspace.dataset(dataset)
    settings = Settings(epochs=300 if epochs is None else epochs, patience=patience, seed=seed)
    try:
        with show_training() as phrase:
            model = train_model(
                dataset,
                session.workspace,
                session.ledger,
                settings=settings,
                who=who,
                name=name,
                replace=replace,
                announce=show_banner,
                progress=phrase,
            )
    except KeyboardInterrupt:
        show_note(say("Interrupted. No new model was stored; an earlier one of that name is kept."))
        raise typer.Exit(_INTERRUPTED) from None
    _show_trained(model, output)


@gan.command("sample", epilog="Example: discreet gan sample -w office survey --rows 1000 --out generated.csv")
def sample(
    dataset: DatasetArgument,
    rows: Annotated[int, typer.Option(metavar="N", help="How many rows to make.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new file ending in .csv or .parquet.")],
    name: NameOption = "default",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file of that name.")] = False,
    analyst: AnalystOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Write generated rows to a file: a release, whatever the model.

    From a plain model they are not differentially private: the card must permit it with `allow: [generated]`, every
    line says so, and the ledger keeps a permanent marker. From a privately trained model nothing more is charged.
    """
    from discreet.cli import open_session
    from discreet.lab.generator.generation import sample_model
    from discreet.session import default_analyst

    session = open_session(workspace)
    done = sample_model(
        dataset,
        session.workspace,
        session.ledger,
        count=rows,
        out=out,
        analyst=default_analyst() if analyst is None else analyst,
        name=name,
        overwrite=overwrite,
        confirm=_confirm_release if on_terminal() and not yes else None,
    )
    if output is Format.JSON:
        show_json(done.to_dict())
        return
    typer.echo(say_count("wrote {count:,} row to {file}", "wrote {count:,} rows to {file}", done.rows, file=done.file))
    typer.echo(say("guarantee: {guarantee}", guarantee=_tell_guarantee(done.model)))
    for warning in done.warnings:
        typer.echo(warning)


@gan.command("inspect", epilog="Example: discreet gan inspect -w office survey --custodian")
def inspect(
    dataset: DatasetArgument,
    rows: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N", help="How many rows to generate; repeatable. Default: as many as real, 10000 and 100000."
        ),
    ] = None,
    name: NameOption = "default",
    custodian: Custodian = False,
    analyst: AnalystOption = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """Compare generated rows with the real ones, column by column and in pairs. For the custodian.

    Cardinality, uniqueness, ranges and missing shares; how similar the shape of each column is; whether columns still
    go together, compared with columns that are drawn independently.
    """
    from discreet.cli import open_session
    from discreet.lab.generator.generation import inspect_model
    from discreet.session import default_analyst

    session = open_session(workspace)
    found = inspect_model(
        dataset,
        session.workspace,
        session.ledger,
        custodian=custodian,
        who=default_analyst() if analyst is None else analyst,
        name=name,
        counts=rows or (),
    )
    show_banner()
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        _show_inspection(dataset, found)


@gan.command("list", epilog="Example: discreet gan list -w office")
def list_all(
    dataset: Annotated[
        str | None, typer.Argument(metavar="[DATASET]", help="Only the models of this one.", show_default=False)
    ] = None,
    workspace: WorkspaceOption = None,
    output: FormatOption = Format.TABLE,
) -> None:
    """The trained models of a workspace: what each was trained on, and what its samples promise."""
    from discreet.cli import open_session
    from discreet.lab.generator.shelf import list_models

    session = open_session(workspace)
    found = list_models(session.workspace, dataset)
    if output is Format.JSON:
        show_json({"models": [model.to_dict() for model in found]})
        return
    current = {name: session.workspace.current_version(name) for name in session.workspace.names()}
    kept = sum(len(session.workspace.models(name)) for name in ([dataset] if dataset else current))
    if kept > len(found):
        show_note(
            say("Damaged and not listed: {models}. Train such a model again under its name.", models=kept - len(found))
        )
    if not found:
        typer.echo(repeat(say("There is no model yet. Train one with: discreet gan train DATASET")))
        return
    lines = [
        [
            model.origin.dataset,
            model.name,
            _tell_version(model, current[model.origin.dataset]),
            model.origin.trained[:10],
            _tell_guarantee(model),
        ]
        for model in found
    ]
    heads = (say("dataset"), say("model"), say("trained on"), say("date"), say("guarantee"))
    show_table(say("Trained models"), [(head, "left") for head in heads], lines)


def _refuse_options(private: bool, given: dict[str, object]) -> None:
    """An option that the other sort of training would heed is refused, not passed over."""
    for option, value in given.items():
        if value is None:
            continue
        if private:
            raise UsageError(
                say("{option} does not go with --private: it would let rows or chosen noise show.", option=option)
            )
        raise UsageError(say("{option} goes with --private only. Nothing was trained or charged.", option=option))


def _confirm_charge(charge: "Guarantee") -> bool:
    from discreet.lab.lab_commands.promise_words import say_kept_guarantee

    asked = say(
        "The budget will be charged {charge} for training, whatever comes of it. Train?",
        charge=say_kept_guarantee(str(charge)),
    )
    return confirm_at_terminal(asked)


def _confirm_release(guarantee: "Guarantee") -> bool:
    if guarantee.differentially_private:
        return True
    asked = say(
        "These rows will not be differentially private and leave a permanent marker on the ledger. Release them?"
    )
    return confirm_at_terminal(asked)


def _tell_version(model: "Shelved", current: int | None) -> str:
    version = model.origin.version
    if version == current:
        return say("version {version}", version=version)
    return say("version {version} (current: {current})", version=version, current=current)


def _tell_guarantee(model: "Shelved") -> str:
    from discreet.lab.lab_commands.promise_words import say_kept_guarantee, say_neighbours, say_unit

    origin = model.origin
    guarantee = say_kept_guarantee(origin.guarantee)
    if not origin.differentially_private:
        return guarantee
    return say(
        "{guarantee}; protects {unit}; neighbours: {neighbours}",
        guarantee=guarantee,
        unit=say_unit(origin.unit),
        neighbours=say_neighbours(origin.neighbours),
    )


def _show_trained(model: "Shelved", output: Format, *, paid: "PrivatelyTrained | None" = None) -> None:
    from discreet.present import charge_fields

    charge = None if paid is None else charge_fields(paid.settlement)
    if output is Format.JSON:
        request = {} if paid is None else {"request_id": paid.request_id}
        show_json({"model": model.to_dict(), "charge": charge, **request})
        return
    facts = [
        (
            say("dataset"),
            say("{dataset} version {version}", dataset=model.origin.dataset, version=model.origin.version),
        ),
        (say("guarantee"), _tell_guarantee(model)),
    ]
    if paid is not None and charge is not None:
        spent = say(
            "rho {rho}; epsilon spent of the population: {before} before, {after} after",
            rho=charge["rho"],
            before=charge["epsilon_before"],
            after=charge["epsilon_after"],
        )
        facts += [(say("charged"), spent), (say("request id"), paid.request_id)]
    show_pairs(say("Model '{name}' is trained and kept in the workspace.", name=model.name), facts)


# --- for the custodian ----------------------------------------------------------------------------------------------


def _show_inspection(dataset: str, found: "Inspection") -> None:
    """Two tables: what each column holds in each set of rows; then how like the sets are as a whole."""
    sets = list(found.rows)
    lines = [
        [column.name if index == 0 else "", _say_set(name, found), *_cells(column.facts[name])]
        for column in found.columns
        for index, name in enumerate(sets)
    ]
    heads = [(say("column"), "left"), (say("rows"), "left")]
    measured = (say("distinct"), say("unique"), say("missing"), say("least"), say("greatest"), say("shape"))
    heads += [(head, "right") for head in measured]
    show_table(say("Columns of {dataset}, real and generated", dataset=dataset), heads, lines)
    whole = [
        [
            _say_set(name, found),
            numeral(found.rows[name]),
            _score(found.shapes[name]),
            _score(score),
            numeral(found.pairs[name]),
        ]
        for name, score in found.correlations.items()
    ]
    scored = (say("rows"), say("column shapes"), say("correlations"), say("pairs"))
    heads = [(say("set"), "left"), *((head, "right") for head in scored)]
    footer = [say("1 is best. Pairs are of number columns; those with a column that does not vary are left out.")]
    show_table("\n" + say("How like the real rows they are"), heads, whole, footer=footer)


def _say_set(name: str, found: "Inspection") -> str:
    from discreet.lab.generator.inspection import INDEPENDENT, REAL

    if name == REAL:
        return say("real")
    if name == INDEPENDENT:
        return say("independent columns")
    return say("{count:,} generated", count=found.rows[name])


def _cells(facts: "ColumnFacts") -> list[str]:
    from discreet.guarantees import text

    ends = ["–" if end is None else localise(text(end), language()) for end in (facts.low, facts.high)]
    shares = (numeral(facts.uniqueness, ".2%"), numeral(facts.missing, ".2%"))
    return [numeral(facts.cardinality), *shares, *ends, _score(facts.shape)]


def _score(score: float | None) -> str:
    return "–" if score is None else numeral(score, ".3f")
