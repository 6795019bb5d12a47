"""Nothing is untranslated, nothing is out of step with the source, and no sentence escapes the catalogue."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.catalogue.catalogues import read_catalogue, tell_faults, typeset
from tests.catalogue.literals import find_unsaid, list_unsaid
from tests.catalogue.sentences import SAYERS, SOURCES, Sentence, list_sentences, what_is_said

# Files with texts that look like sentences and are not said, and why.
UNSAID = {
    "cli/commands/log_command.py": "what a view is called on the ledger; examples",
    "cli/files_page.py": "writes an English page",
    "cli/help_screens.py": "said where the catalogue is missing",
    "cli/misuses.py": "patterns of Typer's sentences",
    "cli/reference.py": "writes an English page",
    "cli/screen.py": "a pattern of Typer's sentences",
    "client/exchanges.py": "between our own modules; a sentence replaces it",
    "client/remote_session.py": "for programmers",
    "collect/estimates/estimators/sums.py": "for programmers",
    "discreet_replications/farms/farms_files.py": "a column of files for machines",
    "discreet_replications/farms/farms_units.py": "a fact in a file for machines",
    "discreet_replications/report/report_reproduction.py": "keys of a file",
    "discreet_replications/thesis/data/compared_columns.py": "a fact in a file for machines",
    "discreet_replications/thesis/data/thesis_cards.py": "cards that nobody sees",
    "discreet_replications/thesis/neighbours.py": "a card that nobody sees",
    "discreet_replications/thesis/pages/thesis_files.py": "a column of files for machines",
    "engines/in_place/postgres_writer.py": "a comment in the database",
    "guarantees/composition.py": "reasons that are stored with a release",
    "guarantees/relaxations.py": "what a page and programmers read",
    "guarantees/types.py": "guarantees as they are stored; present says them",
    "lab/bootstrap/bootstrap_release.py": "how a log is kept",
    "lab/generator/protected/private_generation.py": "what a charge is called on the ledger",
    "lab/study/execution/worker.py": "for programmers",
    "lab/study/findings/averages.py": "a column of a file for machines",
    "lab/study/findings/risks.py": "what parameters are called",
    "lab/study/models/central_model.py": "what a parameter is called",
    "lab/study/models/hybrid_model.py": "names of streams of random numbers; what a parameter is called",
    "lab/study/models/local_model.py": "names of streams of random numbers; what a parameter is called",
    "lab/study/models/shuffle_model.py": "what parameters are called",
    "lab/study/models/table_model.py": "what a parameter is called",
    "lab/study/study_file/study_reader.py": "keys of a file",
    "lab/study/study_file/template.py": "keys of a file",
    "lab/today/controlled_rounding.py": "codes in a file; reasons that are stored",
    "lab/today/log_audit.py": "reasons that are stored",
    "lab/today/overlap.py": "reasons that are stored",
    "lab/today/partitioning.py": "reasons that are stored",
    "lab/today/perturbation.py": "reasons that are stored",
    "lab/today/restriction.py": "reasons that are stored",
    "lab/today/rounding.py": "reasons that are stored",
    "lab/today/suppression.py": "reasons that are stored",
    "lab/today/swapping.py": "reasons that are stored",
    "lab/today/table_comparison.py": "what a view is called on the ledger",
    "ledger/events.py": "for programmers",
    "ledger/standing.py": "for programmers",
    "ledger/chain_stores/postgres_store.py": "SQL",
    "ledger/chain_stores/store.py": "SQL",
    "linkage/agreements/agreement_template.py": "keys of a file, with labels in both languages",
    "linkage/linked_release.py": "a mechanism as it is stored",
    "linkage/office_network/linked_app.py": "between machines",
    "linkage/offices/link_ids.py": "one fixed sentence replaces it",
    "people/secret_rows.py": "SQL",
    "present/formats/sdmx.py": "descriptions of a structure for machines",
    "release/measurement/searched_bounds.py": "for programmers",
    "samples/linked_offices/linked_cards.py": "cards of a sample, with labels in both languages",
    "samples/sample_cards.py": "cards of a sample, with labels in both languages",
    "server/assembly.py": "the description of the API, for programmers",
    "server/bodies.py": "the description of the API, for programmers",
    "server/routes/answer_routes.py": "the description of the API, for programmers",
    "server/routes/dataset_routes.py": "the description of the API, for programmers",
    "server/routes/explanation_routes.py": "the description of the API, for programmers",
    "server/routes/job_routes.py": "the description of the API, for programmers",
    "server/routes/ledger_routes.py": "the description of the API, for programmers",
    "server/routes/people_routes.py": "the description of the API, for programmers",
    "server/routes/sign_in_routes.py": "the description of the API, for programmers",
    "server/routes/spending_routes.py": "the description of the API, for programmers",
    "server/routes/status_routes.py": "the description of the API, for programmers",
    "server/connections/protocol.py": "words between our own modules",
    "work/job_store.py": "SQL",
    "work/jobs.py": "columns of a table",
}


@pytest.mark.slow
def test_every_sentence_is_translated_and_in_step() -> None:
    assert tell_faults(list_sentences()) == []


@pytest.mark.slow
def test_no_sentence_escapes_the_catalogue() -> None:
    found = list_unsaid()
    new = {name: lines for name, lines in found.items() if name not in UNSAID}
    assert not new, "\n".join(f"{name}:{line}" for name, lines in new.items() for line in lines)
    assert set(found) == set(UNSAID)


@pytest.mark.slow
def test_what_is_said_is_one_literal() -> None:
    wrong = []
    for source in SOURCES:
        for file in source.rglob("*.py"):
            for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in SAYERS:
                    continue
                if file.parent.name != "catalogue" and len(what_is_said(call) or ()) != SAYERS[call.func.id]:
                    wrong.append(f"{file.name}:{call.lineno}")
    assert not wrong, wrong


def test_a_sentence_that_escapes_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        'def f(x):\n    """A docstring is no sentence that is said."""\n    assert x, "for programmers alone it is"\n'
        '    show(f"there are {x} rows in this table")\n    raise Refused("this is what nobody translates")\n'
        '    raise ValueError("this is for programmers only")\n',
        encoding="utf-8",
    )
    assert [line.partition(":")[0] for line in find_unsaid(file)] == ["4", "5"]


def test_faults_of_a_catalogue_are_found(tmp_path: Path) -> None:
    known = read_catalogue()
    one, other = (text for text in known if text in ("{low} to {high}", "Missing command."))
    path = tmp_path / "discreet.po"
    path.write_text(
        f'#, fuzzy\nmsgid "{other}"\nmsgstr "Commande"\n\nmsgid "{one}"\nmsgstr "{{low}} et {{more}} ?"\n\n'
        'msgid "gone"\nmsgstr "parti"\n',
        encoding="utf-8",
    )
    sentences = [Sentence(text, None, ("here",)) for text in (one, other, "new")]
    told = [fault.partition(":")[0] for fault in tell_faults(sentences, path)]
    assert sorted(told[:-1]) == [
        "no longer in the source", "not translated", "not translated", "not typeset", "other facts",
    ]  # fmt: skip
    assert told[-1] == "the English catalogue is not in step"


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("l'unité : « x » ; 95 % ?", "l’unité\u00a0: «\u00a0x\u00a0»\u202f; 95\u00a0%\u202f?"),
        ("{part:.1%} de x", "{part:.1%} de x"),
        ("écrivez : discreet add 'x y'", "écrivez\u00a0: discreet add 'x y'"),
        ("https://a.b/c?d", "https://a.b/c?d"),
    ],
)
def test_french_is_typeset(typed: str, printed: str) -> None:
    assert typeset(typed) == printed
    assert typeset(printed) == printed
