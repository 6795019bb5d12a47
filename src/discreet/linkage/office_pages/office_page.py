"""An office's view of a study as one report, and as a page: one file with its own style, without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from discreet.linkage.envelopes import Role
from discreet.linkage.office_pages.holder_words import tell_holder
from discreet.linkage.office_pages.office_words import OfficeReport, OfficeSection, OfficeTable, OfficeWords
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
    words = OfficeWords(language)
    match status:
        case ResearcherStatus():
            lead, sections = words.lead_researcher, tell_researcher(words, status)
        case HolderStatus():
            lead, sections = words.lead_holder, tell_holder(words, status)
        case RegistryStatus():
            lead, sections = words.lead_registry, tell_registry(words, status)
        case _:
            raise TypeError("an office is a researcher's, a holder's or a registry's")
    title = f"{status.terms.title.text(language)} – {words.role(_role_of(status))}"
    custodian = getattr(status, "custodian", False)
    return OfficeReport(title, lead, words.custodian if custodian else "", tuple(sections), language)


def _role_of(status: OfficeStatus) -> Role:
    return {ResearcherStatus: Role.RESEARCHER, HolderStatus: Role.HOLDER}.get(type(status), Role.REGISTRY)


def write_office_page(report: OfficeReport) -> str:
    """The whole file."""
    names = [(f"part-{number}", section.heading) for number, section in enumerate(report.sections, 1)]
    links = [element("li", element("a", heading, href=f"#{anchor}")) for anchor, heading in names]
    notice = [element("p", element("strong", report.notice), class_="notice alarm")] if report.notice else []
    contents = "Sommaire" if report.language == "fr" else "Contents"
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
