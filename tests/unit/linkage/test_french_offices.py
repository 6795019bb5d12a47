"""Offices that speak French: what people read is French, what is signed, sealed or stored is the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.catalogue import language, speaking
from discreet.errors import DiscreetError, SignatureInvalid
from discreet.linkage import EnvelopeKind, LinkedKind, OfficeRole
from discreet.linkage.agreements.agreement import Agreement
from discreet.linkage.agreements.agreement_reader import parse_terms
from discreet.linkage.agreements.agreement_template import agreement_template
from discreet.linkage.envelopes import read_header, tell_kind, tell_role
from discreet.linkage.office_network.linked_server import make_thread
from discreet.linkage.office_pages.office_page import tell_office, write_office_page
from discreet.linkage.offices.researcher_status import look_at_researcher
from tests.unit.linkage.noisy_answers import make_agreement
from tests.unit.linkage.three_offices import open_offices, terms_text

REFUSED = "l’enveloppe a été refusée"


def test_every_envelope_is_refused_in_the_same_french_words(tmp_path: Path) -> None:
    offices = open_offices(tmp_path, terms=terms_text())
    asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=None)
    told = set()
    with speaking("fr"):
        for data in (b"", b"no envelope", asked.envelope[:-1], asked.envelope[:-1] + b"\0"):
            with pytest.raises(SignatureInvalid) as refused:
                offices.holder.look(data)
            told.add(refused.value.message)
        with pytest.raises(SignatureInvalid) as refused:
            offices.registry.count(asked.envelope)
        told.add(refused.value.message)
    offices.close()
    assert len(told) == 1
    assert told.pop().startswith(REFUSED)


def test_a_thread_of_an_office_speaks_as_the_one_that_started_it() -> None:
    heard: list[str] = []

    def listen() -> None:
        heard.append(language())

    with speaking("fr"):
        thread = make_thread(listen)
    thread.start()
    thread.join()
    assert heard == ["fr"]
    assert language() == "en"


def test_an_agreement_and_its_requests_are_the_same_in_either_language(tmp_path: Path) -> None:
    english = make_agreement()
    with speaking("fr"):
        assert make_agreement().terms == english.terms
        assert Agreement.from_content(json.loads(english.data)).data == english.data
        offices = open_offices(tmp_path, terms=terms_text())
        asked = offices.researcher.ask(property="francophone", kind=LinkedKind.COUNT, scale=30, where=None)
        header = read_header(asked.envelope)
        noted = offices.researcher.study.noted(asked.request)
    offices.close()
    assert (header.kind, header.request) == (EnvelopeKind.REQUEST, asked.request)
    assert noted is not None
    assert (noted["kind"], noted["property"]) == ("count", "francophone")


def test_a_draft_in_either_language_says_the_same_terms() -> None:
    english = agreement_template("terms.yaml")
    with speaking("fr"):
        french = agreement_template("terms.yaml")
    assert english != french
    assert parse_terms(english, file="t") == parse_terms(french, file="t")
    assert "# Chaque propriété a ses propres comptes" in french


def test_a_page_is_in_the_language_asked_for_whatever_is_spoken(tmp_path: Path) -> None:
    offices = open_offices(tmp_path, terms=terms_text())
    status = look_at_researcher(offices.researcher.study)
    with speaking("fr"):
        english = write_office_page(tell_office(status, "en"))
    assert english == write_office_page(tell_office(status, "en"))
    assert "Avant de demander" in write_office_page(tell_office(status, "fr"))
    offices.close()


def test_roles_and_kinds_have_a_word_in_each_language() -> None:
    for chosen in ("en", "fr"):
        with speaking(chosen):
            assert len({tell_role(role) for role in OfficeRole}) == len(OfficeRole)
            assert len({tell_kind(kind) for kind in EnvelopeKind}) == len(EnvelopeKind)


def test_what_is_wrong_with_terms_is_said_in_french() -> None:
    with speaking("fr"), pytest.raises(DiscreetError) as refused:
        parse_terms(terms_text(expires="expires: 2027-13-45"), file="terms.yaml")
    assert "n’est pas un jour" in refused.value.message
