"""Training, sampling and inspecting the generators of a workspace, each with what it must leave on the ledger.

A plain training and an inspection follow from the rows, so the ledger records that the custodian looked. A private
training is charged, durably, before a row is used. Writing generated rows to a file is a release: from a model without
a proof it needs the card's opt-in and leaves a permanent marker first; from a privately trained model it is
post-processing of what was paid for, and the ledger, not the model's file, says that it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from discreet.catalogue import Phrase, say
from discreet.errors import CustodianOnly, DatasetSuspended, ParameterInvalid, PathInvalid, Refused
from discreet.guarantees import Guarantee, Unproven
from discreet.lab.generator.generated_files import check_file, write_rows
from discreet.lab.generator.generator_rows import read_rows
from discreet.lab.generator.shelf import DEFAULT_NAME, Shelved, check_model_name, find_model, list_models, shelve
from discreet.ledger import Ledger
from discreet.release import check_terms, require_permission
from discreet.workspace import Dataset, Workspace

if TYPE_CHECKING:
    from discreet.lab.generator.inspection import Inspection
    from discreet.lab.generator.training_settings import Epoch, Settings

__all__ = [
    "SampledRows",
    "check_replacing",
    "check_rows_here",
    "hash_facts",
    "inspect_model",
    "sample_model",
    "train_model",
    "word_answer",
]

MOST_ROWS: Final = 10_000_000
INSPECTED: Final = (10_000, 100_000)
_RELEASE: Final = "generated"


@dataclass(frozen=True, slots=True)
class SampledRows:
    """Generated rows in a file, and what they promise."""

    file: Path
    rows: int
    model: Shelved
    guarantee: Guarantee
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "file": str(self.file),
            "rows": self.rows,
            "model": self.model.to_dict(),
            "guarantee": str(self.guarantee),
            "differentially_private": self.guarantee.differentially_private,
            "unit": self.model.origin.unit,
            "neighbours": self.model.origin.neighbours,
            "warnings": list(self.warnings),
        }


# --- training -------------------------------------------------------------------------------------------------------


def train_model(
    dataset: str,
    workspace: Workspace,
    ledger: Ledger,
    *,
    settings: Settings,
    who: str,
    name: str = DEFAULT_NAME,
    replace: bool = False,
    announce: Callable[[], None] | None = None,
    progress: Callable[[Epoch], None] | None = None,
) -> Shelved:
    """Train on the rows and keep the model in the workspace. It is unproven, and so is all that it generates.

    `announce` is called once nothing stands in the way, just before the look at the rows is logged.
    """
    found = workspace.dataset(dataset)
    check_rows_here(found)
    check_replacing(found, workspace, name=name, replace=replace)
    from discreet.lab.generator.training import train  # absent, it must be told before the look is logged

    if announce is not None:
        announce()
    ledger.record_view(f"training of model {name} on {found.name} version {found.version}", who=who)
    return shelve(workspace, found, train(read_rows(found), settings, progress=progress), name=name)


def check_replacing(dataset: Dataset, workspace: Workspace, *, name: str, replace: bool) -> None:
    """A model that was paid for does not go by accident; a damaged one, of no use to anybody, may."""
    check_model_name(name)
    paid = [model.name for model in list_models(workspace, dataset.name) if model.origin.differentially_private]
    if name in paid and not replace:
        raise Refused(
            say(
                "model '{name}' of '{dataset}' was trained privately and paid for. Choose another --name, or "
                "replace it with --replace. Nothing was trained or charged.",
                name=name,
                dataset=dataset.name,
            ),
            dataset=dataset.name,
            model=name,
        )


def check_rows_here(dataset: Dataset) -> None:
    """Say from the card alone, before anything is logged or charged, that there are no rows to train on here."""
    if dataset.source.engine != "duckdb":
        raise Refused(
            say(
                "the rows of '{name}' stay in {engine}; a generator learns from rows that are prepared in the "
                "workspace. Add an extract of them as a file. Nothing was trained or charged.",
                name=dataset.name,
                engine=dataset.source.engine,
            ),
            dataset=dataset.name,
        )


# --- sampling -------------------------------------------------------------------------------------------------------


def sample_model(
    dataset: str,
    workspace: Workspace,
    ledger: Ledger,
    *,
    count: int,
    out: Path,
    analyst: str,
    name: str = DEFAULT_NAME,
    overwrite: bool = False,
    confirm: Callable[[Guarantee], bool] | None = None,
) -> SampledRows:
    """Generate rows into a file. `confirm` sees what the rows would promise and may still say no."""
    found = workspace.dataset(dataset)
    check_count(count)
    check_file(out, overwrite=overwrite)
    shelved = find_model(workspace, found.name, name)
    if not shelved.origin.differentially_private:
        require_permission(found.card, release=say("generated"), sort=_RELEASE)
    model = shelved.load()
    guarantee = model.guarantee
    ledger.require_analyst(analyst)
    if guarantee.differentially_private:
        _require_charge(found, shelved, ledger)
    else:
        _check_unproven(found, ledger)
    if confirm is not None and not confirm(guarantee):
        raise Refused(say("Not sampled. Nothing was released or marked."))
    if isinstance(guarantee, Unproven):
        _mark(found, shelved, ledger, guarantee, analyst=analyst, count=count)
    try:
        write_rows(model.sample(count), out, guarantee=guarantee, facts=_facts(found, shelved, count))
    except PathInvalid as error:
        stays = [] if guarantee.differentially_private else [say("The marker on the ledger stays.")]
        raise PathInvalid(" ".join([error.message, *stays]), file=str(out)) from None
    age = shelved.tell_age(found)
    warnings = (*([] if age is None else [age]), *ledger.state(found.card.population).warnings())
    return SampledRows(out, count, shelved, guarantee, warnings)


def check_count(count: int) -> None:
    """Refuse a number of rows that cannot be meant."""
    if not 1 <= count <= MOST_ROWS:
        raise ParameterInvalid(
            parameter="rows", rule=say("must lie between 1 and {most_rows:,}", most_rows=MOST_ROWS), given=str(count)
        )


def _check_unproven(dataset: Dataset, ledger: Ledger) -> None:
    require_permission(dataset.card, release=say("generated"), sort=_RELEASE)
    check_terms([dataset.card], ledger)
    if ledger.suspended(dataset.name):
        raise DatasetSuspended(dataset=dataset.name)


def _require_charge(dataset: Dataset, shelved: Shelved, ledger: Ledger) -> None:
    """A model proves nothing by its own words: the ledger holds its charge, and its hash as the answer."""
    origin = shelved.origin
    stored = ledger.find_answer(
        population=dataset.card.population,
        dataset=dataset.name,
        version=origin.version,
        plan_hash=origin.plan_sha256,
    )
    if stored is None or stored.answer != word_answer(origin.model_sha256):
        raise Refused(
            say(
                "the ledger has no charge for model '{name}' of '{dataset}', so nothing bounds what its rows reveal. "
                "Train it here, with --private. Nothing was released.",
                name=shelved.name,
                dataset=dataset.name,
            ),
            dataset=dataset.name,
            model=shelved.name,
        )


def word_answer(digest: str) -> bytes:
    """What the ledger keeps as the answer to a private training: the hash of the model that it gave."""
    return json.dumps({"model_sha256": digest}).encode("ascii")


def _mark(dataset: Dataset, shelved: Shelved, ledger: Ledger, guarantee: Unproven, *, analyst: str, count: int) -> None:
    ledger.mark(
        dataset.card.population,
        guarantee=guarantee,
        analyst=analyst,
        plan_hash=hash_facts({"what": "generated rows", "model": shelved.origin.model_sha256, "rows": count}),
        dataset=dataset.name,
        # The rows that are disclosed are those the model has seen.
        version=shelved.origin.version,
    )


def _facts(dataset: Dataset, shelved: Shelved, count: int) -> dict[str, str]:
    return {
        "dataset": dataset.name,
        "version": str(shelved.origin.version),
        "population": dataset.card.population,
        "unit": shelved.origin.unit,
        "neighbours": shelved.origin.neighbours,
        "model": shelved.name,
        "model_sha256": shelved.origin.model_sha256,
        "rows": str(count),
    }


def hash_facts(facts: Mapping[str, object]) -> str:
    """Under which hash something that is no plan stands on the ledger."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


# --- inspection -----------------------------------------------------------------------------------------------------


def inspect_model(
    dataset: str,
    workspace: Workspace,
    ledger: Ledger,
    *,
    custodian: bool,
    who: str,
    name: str = DEFAULT_NAME,
    counts: Sequence[int] = (),
) -> Inspection:
    """Generated rows beside the real ones: as many as there are, 10,000 and 100,000, or the `counts` asked for."""
    from discreet.lab.generator.inspection import inspect

    if not custodian:
        raise CustodianOnly(view=Phrase("the inspection of a model"))
    found = workspace.dataset(dataset)
    for count in counts:
        check_count(count)
    shelved = find_model(workspace, found.name, name)
    model = shelved.load()
    ledger.record_view(f"inspection of model {name} of {found.name} version {found.version}", who=who)
    real = read_rows(found)
    chosen = dict.fromkeys(counts or (len(real), *INSPECTED))
    return inspect(real, {f"{count:,} generated": model.sample(count) for count in chosen})
