"""An office's view of a study as one report, and as a page: one file with its own style, without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from discreet.catalogue import Phrase, say, speaking
from discreet.linkage.envelopes import OfficeRole, tell_role
from discreet.linkage.office_pages.holder_words import tell_holder
from discreet.linkage.office_pages.office_words import OfficeReport, OfficeSection, OfficeTable
from discreet.linkage.office_pages.registry_words import tell_registry
from discreet.linkage.office_pages.researcher_words import tell_researcher
from discreet.linkage.offices.holder_status import HolderStatus
from discreet.linkage.offices.office_status import OfficeStatus
from discreet.linkage.offices.registry_status import RegistryStatus
from discreet.linkage.offices.researcher_status import ResearcherStatus
from discreet.present import Markup, element, show_figure, table, write_page

__all__ = ["tell_office", "write_office_page"]

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


def tell_office(status: OfficeStatus, language: str = "en") -> OfficeReport:
    """The words for an office's status."""
    with speaking(language):
        lead, sections = _tell(status)
        title = f"{status.terms.title.text(language)} – {tell_role(_role_of(status))}"
        notice = ""
        if getattr(status, "custodian", False):
            notice = say("Custodian's view: it depends on samples. Not for release. This view is logged.")
        return OfficeReport(title, lead, notice, tuple(sections), language)


def _tell(status: OfficeStatus) -> tuple[str, Iterator[OfficeSection]]:
    """What its office is shown first, and the sections."""
    match status:
        case ResearcherStatus():
            return say("What may be asked, what it costs, and what was answered."), tell_researcher(status)
        case HolderStatus():
            lead = say("What is reserved for your records, what was asked, and exactly what leaves this office.")
            return lead, tell_holder(status)
        case RegistryStatus():
            lead = say(
                "What is reserved, what was counted, and how full the accounts are. Criteria are not known here."
            )
            return lead, tell_registry(status)
    raise TypeError("an office is a researcher's, a holder's or a registry's")


def _role_of(status: OfficeStatus) -> OfficeRole:
    return {ResearcherStatus: OfficeRole.RESEARCHER, HolderStatus: OfficeRole.HOLDER}.get(
        type(status), OfficeRole.REGISTRY
    )


def write_office_page(report: OfficeReport) -> str:
    """The whole file."""
    names = [(f"part-{number}", section.heading) for number, section in enumerate(report.sections, 1)]
    links = [element("li", element("a", heading, href=f"#{anchor}")) for anchor, heading in names]
    notice = [element("p", element("strong", report.notice), class_="notice alarm")] if report.notice else []
    contents = Phrase("Contents").text(report.language)
    main = [
        element("section", *_section(section), id=anchor)
        for (anchor, _), section in zip(names, report.sections, strict=True)
    ]
    return write_page(
        report.title,
        *notice,
        element("header", element("h1", report.title), element("p", report.lead, class_="lead")),
        element("nav", element("ul", *links), aria_label=contents),
        element("main", *main),
        language=report.language,
    )


def _section(section: OfficeSection) -> Iterator[Markup]:
    yield element("h2", section.heading)
    # In print a table does not lose what is said before it.
    yield from (element("p", sentence, style="break-after: avoid") for sentence in section.sentences)
    if section.pairs:
        rows = [element("tr", element("th", name, scope="row"), element("td", told)) for name, told in section.pairs]
        yield element("div", element("table", element("tbody", *rows), class_="setting"), class_="scroll")
    yield from map(_table, section.tables)
    yield from (show_figure(drawn, narrow=True) for drawn in section.figures)


def _table(shown: OfficeTable) -> Markup:
    rows = [
        [element("time", cell, style="white-space: nowrap") if _MOMENT.fullmatch(cell) else cell for cell in row]
        for row in shown.rows
    ]
    found = table([name for name, _ in shown.columns], rows, caption=shown.caption)
    return element("div", found, class_="setting") if shown.words else found
