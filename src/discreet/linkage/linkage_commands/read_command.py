"""What the researcher reads: an answer as it came, or one that was read before, in any format."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.catalogue import Phrase, language, say
from discreet.cli import (
    CommandGroup,
    LevelOption,
    OutOption,
    ReleaseFormatOption,
    UnusedWorkspace,
)
from discreet.linkage.linkage_commands.linked_options import OfficeOption, StudyOption, find_study_of, read_envelope

if TYPE_CHECKING:
    from discreet.linkage.offices.researcher_desk import ReadAnswer, ResearcherDesk

__all__ = ["register"]

_REQUEST: Final = re.compile(r"[0-9a-f]{32}")


def register(linked: CommandGroup) -> None:
    linked.command("read", epilog="Example: discreet linked read answer.env --population-share 0.045 --out rate.xlsx")(
        linked_read
    )


def linked_read(
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help="The file as it came, or the id of the request.")],
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The holder's labels, where the request has groups.")
    ] = None,
    population_share: Annotated[
        str | None, typer.Option(metavar="S", help="The share of the population with the property: adds a rate ratio.")
    ] = None,
    population: Annotated[
        int | None, typer.Option(metavar="N", help="People in that population: adds rates per person.")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--from", metavar="URL", help="Fetch it from the registry that listens there.")
    ] = None,
    level: LevelOption = "0.95",
    office: OfficeOption = Path(),
    study: StudyOption = None,
    workspace: UnusedWorkspace = None,
    out: OutOption = None,
    output: ReleaseFormatOption = None,
) -> None:
    """Read an answer: counts, shares, rates and distributions with intervals.

    Nothing is charged, and reading it again shows the same.
    """
    from discreet.cli import choose_format, deliver
    from discreet.linkage.envelopes import OfficeRole
    from discreet.linkage.linked_release import publish_answer
    from discreet.linkage.offices.researcher_desk import ResearcherDesk
    from discreet.present import check_output

    chosen = choose_format(output, out)
    check_output(out, format=chosen)
    found = find_study_of(office, study, OfficeRole.RESEARCHER)
    release = publish_answer(
        found.agreement,
        _read(ResearcherDesk(found), answer, labels, url),
        level=level,
        population_share=population_share,
        population=population,
    )
    deliver(release, chosen, out, language())


def _read(desk: "ResearcherDesk", answer: str, labels: Path | None, url: str | None) -> "ReadAnswer":
    """From the envelope in a file, as it was read before, or as it came by network."""
    from discreet.errors import Refused, UnknownName
    from discreet.linkage.office_network.couriers import fetch_answer
    from discreet.linkage.office_network.office_posts import received_answer

    path, agreement = Path(answer), desk.study.agreement
    sealed = None if labels is None else read_envelope(labels, agreement)
    if _REQUEST.fullmatch(answer) is None or path.exists():
        return desk.read(read_envelope(path, agreement), sealed)
    if (kept := desk.kept(answer)) is not None:
        return kept
    if answer not in (known := desk.study.requests()):
        raise UnknownName(sort=Phrase("Request"), name=answer, where=say("the requests of this office"), known=known)
    envelope, meaning = received_answer(desk.study, answer)
    if envelope is None and url is not None:
        envelope = fetch_answer(url, answer)
    if envelope is None:
        raise Refused(
            say(
                "no answer to this request has come yet. By network answers leave at fixed times: try again "
                "later, or fetch it with --from URL."
            )
        )
    return desk.read(envelope, sealed or meaning)
