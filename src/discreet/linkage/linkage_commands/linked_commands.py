"""Linked counts between agencies: what noise, requests and belief allow each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

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

_WORDS: Final = {
    "en": {
        "one": "One person in every sample",
        "facts": "scale of the noise|requests|belief at most|belief reached|epsilon",
        "from": "{} from a prior of {}",
        "household": "household of {}",
        "drawn": "Samples of {sample} drawn at random from {people} people, with an account for each",
        "first": "the first person left out",
        "share": "{} of the people",
        "after": "after {}",
        "percent": "{}%",
        "asking": "Asking again and again for a sample and for it with one more person",
        "columns": "requests|right guesses|with accounts|belief, 1 in 1,000|with accounts",
        "known": "The attackers know everybody else, and held both for equally likely.",
    },
    "fr": {
        "one": "Une personne dans chaque échantillon",
        "facts": "échelle du bruit|demandes|conviction au plus|conviction atteinte|epsilon",
        "from": "{} à partir d'une conviction a priori de {}",
        "household": "ménage de {}",
        "drawn": "Échantillons de {sample} personnes tirées au hasard parmi {people}, avec un compte pour chacune",
        "first": "la première personne écartée",
        "share": "{} des personnes",
        "after": "après {}",
        "percent": "{}\u00a0%",
        "asking": "Demander sans cesse un échantillon, et le même avec une personne de plus",
        "columns": "demandes|réponses justes|avec comptes|conviction, 1 sur 1\u202f000|avec comptes",
        "known": "Les attaquants connaissent tous les autres et jugeaient les deux également probables.",
    },
}


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
    if out is not None:
        from discreet.files import make_folder

        make_folder(out)
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        _show(found, lang)
    if out is not None:
        from discreet.linkage.tradeoff_figures import draw_tradeoff
        from discreet.present import write_picture

        for drawn in draw_tradeoff(found, lang):
            write_picture(drawn, out / f"{drawn.name}.svg")
            show_note(str(out / f"{drawn.name}.svg"))


def _show(found: "Tradeoff", lang: str) -> None:
    from discreet.guarantees import text
    from discreet.linkage.tradeoff_figures import tell_requests
    from discreet.present import tell_number

    words, solution, lives = _WORDS[lang], found.solution, found.exhaustion

    def percent(share: float, decimals: int = 0) -> str:
        return words["percent"].format(tell_number(100 * share, lang, decimals=decimals))

    def after(requests: int) -> str:
        return words["after"].format(tell_requests(requests, lang))

    assert solution.scale is not None
    assert solution.queries is not None
    assert solution.belief_reached is not None
    scale, belief, prior, reached, epsilon = (
        tell_number(value, lang, decimals=len(text(value).partition(".")[2]))
        for value in (solution.scale, solution.belief, solution.prior, solution.belief_reached, solution.epsilon)
    )
    facts = (scale, tell_number(solution.queries, lang), words["from"].format(belief, prior), reached, epsilon)
    show_pairs(
        words["one"],
        [
            *zip(words["facts"].split("|"), facts, strict=True),
            *(
                (words["household"].format(members), tell_requests(requests, lang))
                for members, requests in found.households[1:]
            ),
        ],
    )
    typer.echo()
    show_pairs(
        words["drawn"].format(sample=tell_number(lives.sample, lang), people=tell_number(lives.people, lang)),
        [
            (words["first"], after(lives.first)),
            *((words["share"].format(percent(share)), after(requests)) for share, requests in lives.shares),
        ],
    )
    typer.echo()
    show_table(
        words["asking"],
        [(name, "right") for name in words["columns"].split("|")],
        [
            [
                tell_number(bare.requests, lang),
                *(percent(attack.right, 1) for attack in (bare, held)),
                *(tell_number(attack.rare, lang, decimals=3) for attack in (bare, held)),
            ]
            for bare, held in found.attacks
        ],
        footer=[words["known"]],
    )
