"""Linked counts between agencies: what noise, requests and belief allow each other."""

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.catalogue import language, numeral, say
from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    UnusedWorkspace,
    group,
    show_json,
    show_note,
    show_pairs,
    show_table,
)
from discreet.linkage.linkage_commands import (
    agreement_commands,
    audit_command,
    desk_commands,
    office_commands,
    read_command,
    serve_commands,
)

if TYPE_CHECKING:
    from discreet.linkage.tradeoff import Tradeoff

__all__ = ["register"]

linked = group(
    about="Counts between agencies: a holder draws, a registry counts, a researcher gets the noisy answer.",
    example="discreet linked tradeoff --scale 30 --belief 0.8",
)


def register(app: CommandGroup) -> None:
    agreement_commands.register(linked)
    desk_commands.register(linked)
    audit_command.register(linked)
    read_command.register(linked)
    serve_commands.register(linked)
    office_commands.register(linked)
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
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the figures to this folder, as SVG.")] = None,
    output: FormatOption = Format.TABLE,
    workspace: UnusedWorkspace = None,
) -> None:
    """Weigh noise, requests and belief: give two, the third follows, and how long a service lives with them."""
    from discreet.linkage.tradeoff import weigh

    found = weigh(
        prior=prior, belief=belief, epsilon=epsilon, scale=scale, queries=queries, people=people, sample=sample
    )
    if out is not None:
        from discreet.files import make_folder

        make_folder(out)
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        _show(found)
    if out is not None:
        from discreet.linkage.tradeoff_figures import draw_tradeoff
        from discreet.present import write_picture

        for drawn in draw_tradeoff(found, language()):
            write_picture(drawn, out / f"{drawn.name}.svg")
            show_note(str(out / f"{drawn.name}.svg"))


def _show(found: "Tradeoff") -> None:
    from discreet.guarantees import text
    from discreet.linkage.tradeoff_figures import tell_requests
    from discreet.present import tell_number

    solution, lives = found.solution, found.exhaustion

    def percent(share: float, decimals: int = 0) -> str:
        return say("{percentage}%", percentage=tell_number(100 * share, language(), decimals=decimals))

    def after(requests: int) -> str:
        return say("after {requests}", requests=tell_requests(requests))

    def whole(value: Decimal) -> str:
        return tell_number(value, language(), decimals=len(text(value).partition(".")[2]))

    assert solution.scale is not None
    assert solution.queries is not None
    assert solution.belief_reached is not None
    belief = say("{belief} from a prior of {prior}", belief=whole(solution.belief), prior=whole(solution.prior))
    show_pairs(
        say("One person in every sample"),
        [
            (say("scale of the noise"), whole(solution.scale)),
            (say("requests"), numeral(solution.queries)),
            (say("belief at most"), belief),
            (say("belief reached"), whole(solution.belief_reached)),
            (say("epsilon"), whole(solution.epsilon)),
            *(
                (say("household of {members}", members=members), tell_requests(requests))
                for members, requests in found.households[1:]
            ),
        ],
    )
    typer.echo()
    show_pairs(
        say(
            "Samples of {sample:,} drawn at random from {people:,} people, with an account for each",
            sample=lives.sample,
            people=lives.people,
        ),
        [
            (say("the first person left out"), after(lives.first)),
            *(
                (say("{share} of the people", share=percent(share)), after(requests))
                for share, requests in lives.shares
            ),
        ],
    )
    typer.echo()
    columns = (
        say("requests"),
        say("right guesses"),
        say("with accounts"),
        say("belief, 1 time in 1,000"),
        say("with accounts"),
    )
    show_table(
        say("Asking again and again for a sample and for it with one more person"),
        [(name, "right") for name in columns],
        [
            [
                numeral(bare.requests),
                *(percent(attack.right, 1) for attack in (bare, held)),
                *(tell_number(attack.rare, language(), decimals=3) for attack in (bare, held)),
            ]
            for bare, held in found.attacks
        ],
        footer=[say("The attackers know everybody else, and held both for equally likely.")],
    )
