"""Attack the accounts of linked counts as Figure 2 of the paper does, and say what the attack shows."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.cli import (
    CommandGroup,
    Format,
    FormatOption,
    Language,
    LanguageOption,
    UnusedWorkspace,
    show_json,
    show_table,
)

if TYPE_CHECKING:
    from discreet.linkage.attack_audit import AttackAudit

__all__ = ["register"]

_WORDS: Final = {
    "en": {
        "title": "Asking again and again for a sample with one more person, {runs} times in each of two worlds",
        "columns": "queries|right guesses|with accounts|highest belief|with accounts|audited ε at least|with accounts",
        "percent": "{}%",
        "allowed": "Accounts hold {allowed} queries of scale {scale}, for an ε of {epsilon} at most.",
        "kept": "No run shows more than that with accounts. Passing is no proof: docs/proofs/linked.md has it.",
        "refuted": "With accounts more than that is shown: they do not keep their promise.",
    },
    "fr": {
        "title": "Demander sans cesse un échantillon avec une personne de plus, {runs} fois dans chacun de deux mondes",
        "columns": "demandes|réponses justes|avec comptes|conviction maximale|avec comptes|ε constaté, au moins|"
        "avec comptes",
        "percent": "{}\u00a0%",
        "allowed": "Un compte permet {allowed} demandes d'échelle {scale}, pour un ε d'au plus {epsilon}.",
        "kept": "Avec comptes, rien ne montre davantage. Ce n'est pas une preuve : docs/proofs/linked.md la donne.",
        "refuted": "Avec comptes, davantage est montré : ils ne tiennent pas leur promesse.",
    },
}


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
    seed: Annotated[int | None, typer.Option(metavar="N", help="For the same runs again.")] = None,
    lang: LanguageOption = Language.EN,
    output: FormatOption = Format.TABLE,
    workspace: UnusedWorkspace = None,
) -> None:
    """Attack accounts and noise as they count, without rows of anybody: what is shown with accounts and without."""
    from discreet.errors import ParameterInvalid
    from discreet.linkage.attack_audit import audit_attack

    try:
        asked = [int(number) for number in queries.split(",")]
    except ValueError:
        raise ParameterInvalid(parameter="queries", rule="must be whole numbers, as 1,41", given=queries) from None
    found = audit_attack(asked, scale=scale, belief=belief, runs=runs, seed=seed)
    if output is Format.JSON:
        show_json(found.to_dict())
    else:
        _show(found, lang)


def _show(found: "AttackAudit", lang: str) -> None:
    from discreet.guarantees import text
    from discreet.present import tell_number

    words = _WORDS[lang]

    def percent(share: float) -> str:
        return words["percent"].format(tell_number(100 * share, lang, decimals=1))

    rows = [
        [
            tell_number(bare.queries, lang),
            *(percent(attack.right) for attack in (bare, held)),
            *(tell_number(attack.belief, lang, decimals=3) for attack in (bare, held)),
            *(tell_number(attack.bound, lang, decimals=2) for attack in (bare, held)),
        ]
        for bare, held in found.attacks
    ]
    epsilon = tell_number(found.epsilon, lang, decimals=len(text(found.epsilon).partition(".")[2]))
    facts = {"allowed": tell_number(found.allowed, lang), "scale": tell_number(found.scale, lang), "epsilon": epsilon}
    show_table(
        words["title"].format(runs=tell_number(found.runs, lang)),
        [(name, "right") for name in words["columns"].split("|")],
        rows,
        footer=[words["allowed"].format(**facts), words["refuted" if found.refuted else "kept"]],
    )
