"""Attack the accounts of linked counts as Figure 2 of the paper does, and say what the attack shows."""

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import language, numeral, say
from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    UnusedWorkspace,
    show_json,
    show_table,
)

if TYPE_CHECKING:
    from discreet.linkage.attack_audit import AttackAudit

__all__ = ["register"]


def register(linked: CommandGroup) -> None:
    linked.command("audit", epilog="Example: discreet linked audit --queries 1,41,42,200 --scale 30 --belief 0.8")(
        linked_audit
    )


def linked_audit(
    queries: Annotated[
        str, typer.Option(metavar="N,…", help="How often the attackers ask, for each line.")
    ] = "1,41,42,200,3000",
    scale: Annotated[int, typer.Option(metavar="B", help="Laplace scale of each count.")] = 30,
    belief: Annotated[str, typer.Option(metavar="P", help="The belief that accounts allow from even odds.")] = "0.8",
    runs: Annotated[int, typer.Option(metavar="N", help="Attacks in each of the two worlds.")] = 8_000,
    seed: Annotated[int | None, typer.Option(metavar="N", help="A seed, for the same runs again.")] = None,
    output: FormatOption = Format.TABLE,
    workspace: UnusedWorkspace = None,
) -> None:
    """Attack accounts and noise as they run, without anyone's rows: what is revealed with and without accounts."""
    from discreet.errors import ParameterInvalid
    from discreet.linkage.attack_audit import audit_attack

    try:
        asked = [int(number) for number in queries.split(",")]
    except ValueError:
        raise ParameterInvalid(parameter="queries", rule=say("must be whole numbers, as 1,41"), given=queries) from None
    found = audit_attack(asked, scale=scale, belief=belief, runs=runs, seed=seed)
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        _show(found)


def _show(found: "AttackAudit") -> None:
    from discreet.guarantees import text
    from discreet.present import tell_number

    def percent(share: float) -> str:
        return say("{percentage}%", percentage=tell_number(100 * share, language(), decimals=1))

    rows = [
        [
            numeral(bare.queries),
            *(percent(attack.right) for attack in (bare, held)),
            *(tell_number(attack.belief, language(), decimals=3) for attack in (bare, held)),
            *(tell_number(attack.bound, language(), decimals=2) for attack in (bare, held)),
        ]
        for bare, held in found.attacks
    ]
    columns = (
        say("queries"),
        say("right guesses"),
        say("with accounts"),
        say("highest belief"),
        say("with accounts"),
        say("audited ε at least"),
        say("with accounts"),
    )
    places = len(text(found.epsilon).partition(".")[2])
    promise = say(
        "Accounts hold {allowed:,} queries of scale {scale:,}, for an ε of {epsilon} at most.",
        allowed=found.allowed,
        scale=found.scale,
        epsilon=tell_number(found.epsilon, language(), decimals=places),
    )
    verdict = say(
        "With accounts, no run shows more than that. Passing is not a proof: the proof is in docs/proofs/linked.md."
    )
    if found.refuted:
        verdict = say("With accounts, runs show more than that: the accounts do not keep their promise.")
    show_table(
        say(
            "Asking again and again for a sample with one more person, {runs:,} times in each of two worlds",
            runs=found.runs,
        ),
        [(name, "right") for name in columns],
        rows,
        footer=[promise, verdict],
    )
