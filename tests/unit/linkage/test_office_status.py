"""What each office sees of a study: what it may know and nothing else, in two languages, on a page of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from discreet.catalogue import speaking
from discreet.linkage import LinkedKind
from discreet.linkage.accounts import Accounts
from discreet.linkage.office_pages.office_page import tell_office, write_office_page
from discreet.linkage.office_pages.office_words import tell_fault
from discreet.linkage.offices.holder_status import HolderStatus, look_at_holder
from discreet.linkage.offices.office_closing import close_study, list_reservations
from discreet.linkage.offices.office_status import OfficeStatus
from discreet.linkage.offices.registry_status import AccountsView, RegistryStatus, look_at_registry
from discreet.linkage.offices.researcher_status import ResearcherStatus, look_at_researcher
from discreet.noise import laplace_half_width
from tests.unit.linkage.three_offices import ThreeOffices, open_offices, sign_all, terms_text

OPEN = {"closing": "closing: {share: 0.9}"}
SECRET_WORDS = ("ill = &#x27;yes&#x27;", "ill = 'yes'", "age &lt; 30", "age < 30", "young")


@pytest.fixture
def offices(tmp_path: Path) -> Iterator[ThreeOffices]:
    opened = open_offices(tmp_path, terms=terms_text(**OPEN))
    opened.researcher.read(opened.ask())
    opened.researcher.read(opened.ask("tongue", "histogram"))
    opened.ask(where="age < 30", scale=10)
    opened.ask(kind="count-and-size")
    yield opened
    opened.close()


def look(offices: ThreeOffices, *, custodian: bool = True) -> tuple[ResearcherStatus, HolderStatus, RegistryStatus]:
    return (
        look_at_researcher(offices.researcher.study),
        look_at_holder(offices.holder, custodian=custodian),
        look_at_registry(offices.registry, custodian=custodian),
    )


def views(offices: ThreeOffices) -> list[str]:
    return [
        event.payload["what"] for session in offices.sessions for event in session.ledger.log() if event.kind == "view"
    ]


# --- facts ------------------------------------------------------------------------------------------------------------


def test_prices_are_what_a_request_is_charged(offices: ThreeOffices) -> None:
    status, terms = look(offices)[0], offices.signed.agreement.terms
    assert {(price.kind, price.scale) for price in status.prices} == {
        (kind, scale) for kind in LinkedKind for scale in terms.scales
    }
    for price in status.prices:
        asked = terms.property(price.properties[0])
        assert price.charge == terms.charge(asked, price.kind, price.scale)
        assert price.share == Fraction(price.charge, 415)
        assert price.charge * price.times <= 415 < price.charge * (price.times + 1)
        assert price.half_width == laplace_half_width(scale=Fraction(price.scale), level=Fraction(95, 100))


def test_weights_widen_what_is_told_of_precision(tmp_path: Path) -> None:
    weighted = terms_text(**OPEN).replace("english = 'no'\"}", "english = 'no'\", weight: {column: weight, most: 5}}")
    opened = open_offices(tmp_path, terms=weighted)
    status = look_at_researcher(opened.researcher.study)
    counts = {price.scale: price.half_width for price in status.prices if price.kind is LinkedKind.COUNT}
    assert counts[30] == laplace_half_width(scale=Fraction(150), level=Fraction(95, 100))
    opened.close()


def test_a_researcher_sees_answers_quota_and_beliefs(offices: ThreeOffices) -> None:
    status = look(offices)[0]
    assert status.spent == sum(request.charge for request in status.requests) == 10 + 20 + 30 + 20
    assert [request.answer is None for request in status.requests].count(False) == 2
    assert [prior for prior, _ in status.beliefs] == [Decimal(text) for text in ("0.05", "0.25", "0.5", "0.75", "0.95")]
    assert [round(float(belief), 3) for _, belief in status.beliefs] == [0.174, 0.571, 0.8, 0.923, 0.987]


def test_a_holder_sees_exactly_what_it_sent(offices: ThreeOffices) -> None:
    status = look(offices)[1]
    assert status.reserved == status.budget.epsilon_spent
    first, again, other, last = status.drawn
    assert first.sent is not None
    assert (first.sent.ids, first.sent.researcher_bytes) == (60, 0)
    assert again.same_as == last.same_as == first.look.request
    assert other.same_as is None
    assert not status.closed


def test_what_depends_on_samples_needs_a_custodian_and_is_logged(offices: ThreeOffices) -> None:
    before = len(views(offices))
    _, holder, registry = look(offices, custodian=False)
    assert all(request.sent is None for request in holder.drawn)
    assert all(item.view is None for item in registry.properties)
    assert len(views(offices)) == before
    look(offices)
    assert views(offices)[-1] == "accounts of study tongues"
    assert "samples of study tongues" in views(offices)
    assert len(views(offices)) == before + 2


def test_a_registry_sees_its_accounts_and_requests(offices: ThreeOffices) -> None:
    status = look(offices)[2]
    francophone, tongue = status.properties
    assert (francophone.uses, francophone.charges, tongue.uses, tongue.charges) == (3, 60, 1, 20)
    assert francophone.fault is tongue.fault is None
    assert francophone.view is not None
    assert sum(francophone.view.bands) == francophone.view.units == 200
    assert francophone.view.threshold == 900
    assert status.spent == 80
    assert [request.kind for request in status.counted].count(LinkedKind.COUNT) == 2


def test_bands_quantiles_and_overlap() -> None:
    counters = np.array([0] * 50 + [1] * 10 + [10] * 10 + [11] * 10 + [90] * 10 + [91] * 8 + [100] * 2, dtype=np.uint16)
    view = AccountsView.of(Accounts(counters, cap=100), least=1, threshold=4)
    assert view.bands == (50, 20, 10, 0, 0, 0, 0, 0, 0, 10, 10)
    assert view.quantiles == ((0.5, 0), (0.9, 90), (0.99, 100), (1.0, 100))
    assert view.near == 10
    assert view.no_room == 2
    assert view.borne == 100 / (10 + 100 + 110 + 900 + 728 + 200)
    assert view.even == 1 / 50


def test_samples_that_never_met_show_no_overlap() -> None:
    view = AccountsView.of(Accounts(np.full(1_000, 10, dtype=np.uint16), cap=100), least=1, threshold=50)
    assert view.borne == view.even == 0.01
    empty = AccountsView.of(Accounts(5, cap=100), least=1, threshold=50)
    assert (empty.borne, empty.even) == (None, None)


# --- pages ------------------------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """What a page holds: its tags, headings, text outside of the style, and links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._inside.pop() == tag, "tags are closed in their order"

    def handle_data(self, data: str) -> None:
        if self._inside[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def pages(offices: ThreeOffices, language: str) -> list[str]:
    return [write_office_page(tell_office(status, language)) for status in look(offices)]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_page_is_one_file_that_anyone_can_read(offices: ThreeOffices, language: str) -> None:
    for page in pages(offices, language):
        found = Reader(page)
        assert not found._inside
        tags = [tag for tag, _ in found.tags]
        assert dict(found.tags)["html"] == {"lang": language}
        assert not {"script", "link", "img", "iframe", "form"} & set(tags)
        assert not re.search(r"(?:src|href|url\()\s*=?\s*[\"']?(?:https?:)?//", page)
        assert next(tag for tag in tags if tag in ("h1", "h2", "h3")) == "h1"
        assert tags.count("h1") == 1
        assert tags.count("h2") == tags.count("section")
        anchors = {attributes.get("id") for tag, attributes in found.tags if tag == "section"}
        linked = {str(attributes["href"])[1:] for tag, attributes in found.tags if tag == "a"}
        assert linked == anchors
        drawings = [attributes for tag, attributes in found.tags if tag == "svg"]
        assert drawings
        assert all(drawing["role"] == "img" and drawing["aria-label"] for drawing in drawings)
        assert all("scope" in attributes for tag, attributes in found.tags if tag == "th")


def test_french_pages_have_no_english_numbers(offices: ThreeOffices) -> None:
    for status in look(offices):
        report = tell_office(status, "fr")
        cells = [cell for part in report.sections for table in part.tables for row in table.rows for cell in row]
        told = [*cells, *(told for part in report.sections for _, told in part.pairs)]
        assert not [text for text in told if re.search(r"\d\.\d|\d%|\d,\d{3}(?!\d)", text)]


def test_the_registry_sees_no_criteria_and_the_holder_no_property(offices: ThreeOffices) -> None:
    for language in ("en", "fr"):
        researcher, holder, registry = pages(offices, language)
        assert not [word for word in SECRET_WORDS if word in registry]
        assert all("ill = &#x27;yes&#x27;" in page for page in (researcher, holder))
        # A holder is not told what is counted in a request, nor what was answered.
        drawn = Reader(holder).text.rpartition("What was drawn" if language == "en" else "Ce qui a été tiré")[2]
        assert "francophone" not in drawn
        assert "tongue" not in drawn


def test_the_noisy_threshold_is_nowhere(tmp_path: Path) -> None:
    opened = open_offices(tmp_path, terms=terms_text(closing="closing: {share: 0.9}"))
    pool = opened.registry.pool(opened.signed.agreement.terms.property("francophone"))
    (pool.folder / "closing.json").write_text('{"threshold": 777}\n')
    status = look_at_registry(opened.registry, custodian=True)
    assert "777" not in write_office_page(tell_office(status)) + str(status.to_dict())
    opened.close()


def test_what_a_study_is_called_cannot_break_a_page(offices: ThreeOffices) -> None:
    status = look(offices)[0]
    hostile = replace(
        status, requests=(replace(status.requests[0], where="age < 3 </table><script>alert(1)</script>"),)
    )
    found = Reader(write_office_page(tell_office(hostile)))
    assert "script" not in [tag for tag, _ in found.tags]


def test_no_study_and_every_status_has_words(tmp_path: Path) -> None:
    """A study in which nothing was asked yet."""
    opened = open_offices(tmp_path, terms=terms_text(**OPEN))
    for language in ("en", "fr"):
        for status in look(opened):
            assert Reader(write_office_page(tell_office(status, language))).text
    with pytest.raises(TypeError):
        tell_office(OfficeStatus(opened.signed.agreement, ended=False, spent=0))
    opened.close()


def test_every_fault_has_words() -> None:
    from discreet.linkage.offices.account_book import AccountFault

    for language in ("en", "fr"):
        with speaking(language):
            told = [tell_fault(fault) for fault in AccountFault]
        assert len(set(told)) == len(told)


# --- ends -------------------------------------------------------------------------------------------------------------


def test_a_closed_study_draws_and_counts_nothing(tmp_path: Path) -> None:
    from discreet.errors import Refused

    opened = open_offices(tmp_path, terms=terms_text(**OPEN))
    asked = [
        opened.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=where).envelope
        for where in ("age < 30", "age >= 30")
    ]
    sample = opened.holder.draw(asked[0]).sample
    for desk, session in ((opened.registry, opened.sessions[1]), (opened.holder, opened.sessions[0])):
        reserved = list_reservations(desk.study, session)
        spent = session.budget(reserved[0].population).population.epsilon_spent
        assert close_study(session, reserved, reason="done")
        assert not close_study(session, reserved, reason="again")
        assert session.budget(reserved[0].population).population.epsilon_spent == spent
    with pytest.raises(Refused, match="closed the study"):
        opened.researcher.read(opened.registry.count(sample).answer)
    with pytest.raises(Refused, match="closed the study"):
        opened.holder.draw(asked[1])
    _, holder, registry = look(opened)
    assert holder.closed
    assert all(item.closed and item.uses == 0 for item in registry.properties)
    opened.close()


def test_accounts_that_serve_two_studies_are_said_to(tmp_path: Path) -> None:
    from discreet.linkage import open_registry

    opened = open_offices(tmp_path, terms=terms_text(**OPEN))
    office = opened.registry.study.office
    others = [desk.study.office for desk in (opened.researcher, opened.holder)]
    again = sign_all(terms_text(study="study: again", **OPEN), [*others, office], tmp_path)
    open_registry(office, again, workspace=tmp_path / "r" / "workspace")
    status = look_at_registry(opened.registry)
    assert [item.shared for item in status.properties] == [("again",), ("again",)]
    assert [item.shared for item in list_reservations(opened.registry.study, opened.sessions[1])] == [("again",)] * 2
    assert "shared with again" in str(tell_office(status))
    opened.close()
