"""Linked counts between agencies: what noise, requests and belief allow each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    Language,
    LanguageOption,
    UnusedWorkspace,
    group,
    show_json,
    show_note,
    show_pairs,
    show_table,
)

if TYPE_CHECKING:
    from discreet.linkage.tradeoff import Tradeoff

__all__ = ["register"]

linked = group(
    about="Counts between agencies: a holder draws, a registry counts, a researcher gets the noisy answer.",
    example="discreet linked tradeoff --scale 30 --belief 0.8",
)


def register(app: CommandGroup) -> None:
    app.add_typer(linked, name="linked", short_help="Counts between agencies", rich_help_panel="Collection")


@linked.command("tradeoff", epilog="Example: discreet linked tradeoff --scale 30 --belief 0.8 --out pictures")
def linked_tradeoff(
    belief: Annotated[
        str | None, typer.Option(metavar="P", help="The most that an observer may come to believe, below 1.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="E", help="Total epsilon, instead of a belief.")] = None,
    prior: Annotated[str, typer.Option(metavar="P", help="What the observer believed before.")] = "0.5",
    scale: Annotated[str | None, typer.Option(metavar="B", help="Laplace scale of each count.")] = None,
    queries: Annotated[int | None, typer.Option(metavar="N", help="How often one person may be counted.")] = None,
    people: Annotated[int, typer.Option(metavar="N", help="People in the registry.")] = 10_000_000,
    sample: Annotated[int, typer.Option(metavar="N", help="People in a sample.")] = 10_000,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw it there, as SVG.")] = None,
    lang: LanguageOption = Language.EN,
    output: FormatOption = Format.TABLE,
    workspace: UnusedWorkspace = None,
) -> None:
    """Weigh noise, requests and belief: give two, the third follows, and how long a service lives with them."""
    from discreet.linkage.tradeoff import weigh

    found = weigh(
        prior=prior, belief=belief, epsilon=epsilon, scale=scale, queries=queries, people=people, sample=sample
    )
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        _show(found)
    if out is not None:
        from discreet.linkage.tradeoff_figures import draw_tradeoff
        from discreet.present import write_picture

        out.mkdir(parents=True, exist_ok=True)
        for drawn in draw_tradeoff(found, lang):
            write_picture(drawn, out / f"{drawn.name}.svg")
            show_note(f"Drawn: {out / f'{drawn.name}.svg'}")


def _show(found: "Tradeoff") -> None:
    solution, lives, accounts = found.solution, found.exhaustion, ["with accounts"]
    show_pairs(
        "One person in every sample",
        [
            ("scale of the noise", f"{solution.scale}"),
            ("requests", f"{solution.queries:,}"),
            ("belief at most", f"{solution.belief} from a prior of {solution.prior}"),
            ("belief reached", f"{solution.belief_reached}"),
            ("epsilon", f"{solution.epsilon}"),
            *((f"household of {members}", f"{requests:,} requests") for members, requests in found.households[1:]),
        ],
    )
    typer.echo()
    show_pairs(
        f"Samples of {lives.sample:,} drawn at random from {lives.people:,} people, with an account for each",
        [
            ("the first person left out", f"after {lives.first:,} requests"),
            *((f"{share:.0%} of the people", f"after {requests:,} requests") for share, requests in lives.shares),
        ],
    )
    typer.echo()
    show_table(
        "Asking again and again for a sample and for it with one more person",
        [(name, "right") for name in ("requests", "right guesses", *accounts, "belief, 1 in 1,000", *accounts)],
        [
            [f"{bare.requests:,}", f"{bare.right:.1%}", f"{held.right:.1%}", f"{bare.rare:.3f}", f"{held.rare:.3f}"]
            for bare, held in found.attacks
        ],
        footer=["The attackers know everybody else, and held both for equally likely."],
    )
