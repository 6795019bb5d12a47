"""The whole benchmark on a few made-up rows: files, sections, what is skipped, and generators that are stand-ins."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from discreet_replications.thesis import thesis_reproduction as reproduction
from discreet_replications.thesis.benchmark_runs import House, run_all
from discreet_replications.thesis.data import generators
from discreet_replications.thesis.data.compared_columns import sample_generators
from discreet_replications.thesis.data.public_ranges import COLUMNS
from discreet_replications.thesis.data.readings import Readings, read_data
from discreet_replications.thesis.data.thesis_cards import Variant
from discreet_replications.thesis.methods import list_methods
from discreet_replications.thesis.neighbours import audit_all, list_pairs
from discreet_replications.thesis.pages.thesis_figures import draw_figures
from discreet_replications.thesis.pages.thesis_files import write_reproduction
from discreet_replications.thesis.scales import draw_scales
from discreet_replications.thesis.setting import ThesisSetting
from discreet_replications.thesis.thesis_reproduction import ThesisReproduction, reproduce_thesis
from discreet_replications.thesis.timings import judge_timings
from discreet_replications.thesis_command import show_thesis

from discreet.catalogue import FRENCH, Phrase, speaking
from discreet.errors import PathInvalid
from discreet.lab.generator.generator_rows import GeneratorRows, read_rows
from discreet.lab.generator.shelf import Origin, Shelved
from discreet.lab.generator.training_settings import Settings
from discreet.workspace import Dataset
from tests.catalogue.english import find_alike, find_english, find_english_numbers
from tests.golden.outputs.files import show_file

pytestmark = pytest.mark.long

pytest.importorskip("scipy")

SMALL = ThesisSetting(runs=3, epsilons=("0.01",), sample_sizes=(50,), gan=False, audit_samples=100)
RECORD = "48,80,1.020,1,0,?,normal,notpresent,notpresent,121,36,{sc},?,?,15.4,44,7800,5.2,yes,yes,no,good,no,no,ckd"


def silent(stage: str, done: int, total: int) -> None:
    assert stage
    assert 0 <= done <= total


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few rows of all three data sets, under their usual names."""
    folder = tmp_path_factory.mktemp("data")
    header = [f"@attribute {one.column} numeric" for one in COLUMNS["kidney"]]
    records = [RECORD.format(sc=sc) for sc in ("1.2", "2", "30")]
    (folder / "kidney_uci.arff").write_text("\n".join([*header, "@data", *records]) + "\n")
    breast = [one.column for one in COLUMNS["breast"]]
    rows = [["M", *["0.1"] * 30], ["B", *["0.2"] * 30], ["B", *["0.3"] * 30]]
    (folder / "breast_wdbc.csv").write_text("\n".join(map(",".join, [breast, *rows])) + "\n")
    names = [getattr(one, "source", "") or one.column for one in COLUMNS["diabetes"]]
    stays = [[str(value)] * len(names) for value in (1, 2, 5)]
    (folder / "diabetic_data.csv").write_text("\n".join(map(",".join, [names, *stays])) + "\n")
    return folder


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> ThesisReproduction:
    return reproduce_thesis(tmp_path_factory.mktemp("out") / "thesis", data=data, setting=SMALL, progress=silent)


def read_csv(done: ThesisReproduction, name: str) -> list[dict[str, str]]:
    with (done.folder / "tables" / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_query_is_answered_every_way(done: ThesisReproduction) -> None:
    assert len(done.records.queries) == 26
    assert {(method.name, len(done.records.pick(method, "0.01"))) for method in done.records.methods} == {
        (method.name, 26) for method in list_methods([50]) if not method.needs_model
    }
    assert [one.query.number for one in done.patients.found[:2]] == [16, 17]
    assert {score.queries for score in done.patient_scores} == {25}
    assert {one.strategy for one in done.medians} == {"public", "smooth"}


def test_errors_are_against_the_rows_as_they_are(done: ThesisReproduction) -> None:
    [public] = [one for one in done.records.pick(done.records.methods[0], "0.01") if one.query.name == "AVG(sc)"]
    # 30 mg/dL lies outside the public range and is clipped; the exact answer is not.
    assert public.trials.truth == pytest.approx(33.2 / 3)
    assert next(one for one in done.foreseen if one.query.name == "AVG(sc)").clipped_rows == 1


def test_tables_are_tidy_and_say_what_they_are(done: ThesisReproduction) -> None:
    results = read_csv(done, "results.csv")
    assert {row["quantity"] for row in results} == {
        "result", "error", "relative_error", "sensitivity", "relative_sensitivity_error", "seconds",
    }  # fmt: skip
    assert {row["runs"] for row in results} == {"3"}
    assert {row["notice"] for row in results} == {"a study, not a release"}
    keys = [(row["number"], row["strategy"], row["terms"], row["epsilon"], row["quantity"]) for row in results]
    assert len(keys) == len(set(keys))
    verdict = read_csv(done, "verdict.csv")
    assert [row["strategy"] for row in verdict if row["skipped"]] == ["generated 50", "replace"]
    assert {row["reading"] for row in read_csv(done, "check.csv")} == {"thesis", "clean"}
    assert {row["strategy"] for row in read_csv(done, "audit.csv")} == {
        "generated",
        "local",
        "private-bounds",
        "public",
    }


def test_the_page_has_every_section(done: ThesisReproduction) -> None:
    page = (done.folder / "thesis.html").read_text(encoding="utf-8")
    named = "short verdict check columns clipping too-low audit patients medians figures queries"
    for section in named.split():
        assert f'id="{section}"' in page
    assert page.count("<svg ") == 6
    assert page.count('role="img" aria-label="') == 6
    assert "Table 4. Diabetes" in page
    assert 'id="times"' not in page  # no generator, no time to generate
    assert "none was wanted (--no-gan)" in page
    assert "so they are not blind" in page
    assert sorted(file.name for file in (done.folder / "figures").iterdir())[0] == "error.svg"


def test_the_results_are_for_machines_and_no_data_stay_behind(done: ThesisReproduction) -> None:
    found = json.loads((done.folder / "results.json").read_text(encoding="utf-8"))
    assert found["finished"] is True
    assert [score["strategy"] for score in found["verdict"]["scores"]][:2] == ["public", "public, add-remove"]
    assert len(found["audit"]) == 8
    assert not list(done.folder.rglob("*.parquet"))
    assert {line["table"] for line in found["tables_1_to_4"]} == {1, 2, 3, 4}
    assert len(found["figure_1"]) == 14
    assert found["sensitivities_too_low"][0]["below_real"] == 3
    assert found["tables_8_and_9"] == []


def test_the_thesis_own_tables_are_files_too(done: ThesisReproduction) -> None:
    lines = read_csv(done, "tables-1-to-4.csv")
    assert len([row for row in lines if row["table"] == "4"]) == 24  # six columns, real and three generated sets
    assert all(bool(row["here"]) is not bool(row["why"]) for row in lines)
    assert len({(row["dataset"], row["column"]) for row in read_csv(done, "columns.csv")}) == 25 + 31 + 50
    assert [row["sensitivity"] for row in read_csv(done, "figure-1.csv")][-1] == str(2**32)
    assert read_csv(done, "too-low.csv")[0]["what"] == "printed in the thesis"
    assert not (done.folder / "tables" / "tables-8-and-9.csv").exists()
    assert (done.folder / "figures" / "figure-1.svg").is_file()


def test_everything_is_told_in_french(
    done: ThesisReproduction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # so that no name is broken
    again = replace(done, folder=Path("dossier"))
    again.folder.mkdir()
    show_thesis(done)
    with speaking(FRENCH):
        write_reproduction(again, [draw_scales(done.scales), *draw_figures(done.records)])
        show_thesis(again)
    english, french = capsys.readouterr().out.split("Annexe A")
    # Queries and columns, data sets, strategies, and words that both languages have.
    named = re.compile(
        r"(\d+ )?(AVG|SUM|MEDIAN)\(\w+\)|[a-z_]+_[a-z_\d]+|bgr|rbcc?|class|diagnosis|kidney|breast|Verdict|Figures"
        r"|(generated|replace|public|private-bounds|local|global-type|smooth|diabetes)( 50|, ε = 1)?"
    )
    texts = find_alike(english, french)
    shown = [file for file in sorted(done.folder.rglob("*")) if file.suffix in {".html", ".svg"}]
    for file in shown:
        told = again.folder / file.relative_to(done.folder)
        texts |= find_alike(file.read_text(encoding="utf-8"), told.read_text(encoding="utf-8"))
    assert [text for text in sorted(texts) if not named.fullmatch(text)] == []
    written = [french, *(show_file(again.folder / file.relative_to(done.folder)) for file in shown)]
    assert len(written) == 8
    whole = "\n".join(written)
    assert [*find_english(whole), *find_english_numbers(whole)] == []
    assert "0,575\u00a0% sous la sienne" in french
    assert "imprimé dans la thèse" in french
    for file in (done.folder / "tables").iterdir():  # for machines
        assert (again.folder / "tables" / file.name).read_bytes() == file.read_bytes()
    results = [json.loads((one.folder / "results.json").read_text(encoding="utf-8")) for one in (again, done)]
    assert [found.pop("files")["report"] for found in results] == ["dossier/thesis.html", done.files["report"]]
    assert results[0] == results[1]


def test_the_folder_is_used_again_but_no_other(done: ThesisReproduction, data: Path, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(PathInvalid, match="holds something else"):
        reproduce_thesis(tmp_path, data=data, setting=SMALL)
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]
    (done.folder / "tables" / "results.csv").unlink()
    with pytest.raises(PathInvalid, match="is not a folder"):
        reproduce_thesis(done.folder, data=data / "nowhere", setting=SMALL)


def test_without_torch_the_rest_goes_on(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduction, "have_torch", lambda: False)
    monkeypatch.setattr(reproduction, "run_medians", lambda *_, **__: ())
    alone = tmp_path / "data"
    alone.mkdir()
    (alone / "breast_wdbc.csv").write_bytes((data / "breast_wdbc.csv").read_bytes())
    said: list[str] = []
    wanted = ThesisSetting(runs=1, epsilons=("1",), sample_sizes=(50,), audit_samples=100)
    found = reproduce_thesis(tmp_path / "out", data=alone, setting=wanted, note=said.append)
    assert said == ["Without the extra 'gan' the rows of the generators are left out; the rest follows."]
    assert [method.name for method, _ in found.records.skipped] == ["generated 50", "replace"]
    page = (tmp_path / "out" / "thesis.html").read_text(encoding="utf-8")
    assert "They need a trained generator, and the extra &#x27;gan&#x27; is not installed." in page
    assert len(found.records.queries) == 10
    assert found.patient_scores == ()
    assert not (tmp_path / "out" / "tables" / "patients.csv").exists()


# --- generators -----------------------------------------------------------------------------------------------------


class Repeating:
    """A stand-in for a trained model: it repeats one row, with numbers of either sign."""

    def __init__(self, rows: GeneratorRows) -> None:
        self.rows = rows
        self.asked: list[int] = []

    def sample(self, count: int) -> GeneratorRows:
        self.asked.append(count)
        first = {name: np.repeat(-values[:1] * 2, count) for name, values in self.rows.values.items()}
        for shape in self.rows.shapes:
            if shape.kind == "category":
                first[shape.name] = np.zeros(count)
        return GeneratorRows(self.rows.shapes, first)


class StandIn:
    """A model on no shelf."""

    def __init__(self, dataset: Dataset, folder: Path) -> None:
        self.model = Repeating(read_rows(dataset))
        self.folder = folder
        (folder / "model.json").write_text("{}")

    def load(self) -> Any:
        return self.model


@pytest.fixture
def house(data: Path, tmp_path: Path) -> Iterator[House]:
    readings = read_data(data)
    only_breast = Readings(readings.breast, {}, None, ())
    with House(tmp_path / "house", only_breast, progress=silent) as opened:
        yield opened


def test_generated_rows_are_looked_at_and_take_the_place_of_real_ones(house: House, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    stand_in = StandIn(house.workspace(Variant.PRIVATE_BOUNDS, wide=True).dataset("breast"), tmp_path / "model")
    setting = ThesisSetting(runs=2, epsilons=("0.1",), sample_sizes=(7, 9))
    models: Any = {"breast": stand_in}
    sampled = sample_generators(house, models, setting.sample_sizes, silent)
    facts = {one.name: one.facts["generated 3"] for one in sampled["breast"].inspection.columns}
    assert facts["area_worst"].low == facts["area_worst"].high == Decimal("0.2")  # without its sign
    records = run_all(house, setting, models, why=Phrase(""), progress=silent)
    assert [line.method.sample_size for line in judge_timings(records, sampled)] == [7, 9]
    assert records.skipped == ()
    by_name = {method.name: records.pick(method, "0.1") for method in records.methods}
    total = next(one for one in by_name["generated 7"] if one.query.name == "SUM(area_worst)")
    # The first row has 0.1; twice that was generated, without its sign.
    assert total.generated == pytest.approx(0.2)
    assert total.real_sensitivity == pytest.approx(0.3)
    assert not total.guarantee.differentially_private
    replaced = next(one for one in by_name["replace"] if one.query.name == "SUM(area_worst)")
    assert replaced.epsilon is None
    assert list(replaced.trials.results) == pytest.approx([0.6, 0.6])
    # As many as real for the tables and two sizes to look at, once each, and one sample in each run for all queries.
    assert stand_in.model.asked == [3, 7, 9, 3, 3]


def test_pairs_differ_in_the_row_of_the_maximum(data: Path) -> None:
    from discreet_replications.thesis.data.arff import KidneyReading

    tables = read_data(data).tables(KidneyReading.CLEAN)
    street, emergency = list_pairs(tables, lambda _dataset, _column: None)
    assert [int(max(side)) for side in (street.first, street.second)] == [50_000, 4_000]
    assert len(street.first) == 50
    assert [int(value) for value in emergency.first] == [5, 2, 1]
    assert [int(value) for value in emergency.second] == [1, 2, 1]
    assert emergency.generated == Fraction("3.1026")
    fixed = list_pairs(tables, lambda _dataset, _column: Fraction(9))[1]
    assert fixed.generated == 9
    with pytest.raises(ValueError, match="differ in one row"):
        replace(emergency, second=emergency.first)


def test_the_street_gives_its_richest_away() -> None:
    """At 150 fresh answers a side the bound is near 2.3, and six deviations above 1."""
    [street] = list_pairs({}, lambda _dataset, _column: None)
    found = {one.strategy: one for one in audit_all([street], epsilon="0.01", samples=300, progress=silent)}
    assert found["generated"].result.lower_bound > 1
    assert not found["generated"].proven
    assert found["public"].proven
    assert found["private-bounds"].proven


def test_a_generator_is_trained_once(house: House, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    dataset = house.workspace(Variant.PRIVATE_BOUNDS, wide=True).dataset("breast")
    home, short = tmp_path / "models", Settings(epochs=1, batch=2)
    assert generators.find_generator(dataset, home, short) is None
    made = generators.train_generator(dataset, home, short, progress=silent)
    assert [one.name for one in home.iterdir()] == ["breast"]
    again = generators.find_generator(dataset, home, short)
    assert isinstance(again, Shelved)
    assert isinstance(again.origin, Origin)
    assert again.origin == made.origin
    assert generators.find_generator(dataset, home, Settings(epochs=2, batch=2)) is None
    (home / "breast" / "model.json").write_text("{}")
    assert generators.find_generator(dataset, home, short) is None


def test_rows_are_the_same_in_any_order(house: House) -> None:
    rows = read_rows(house.workspace(Variant.PRIVATE_BOUNDS, wide=True).dataset("breast"))
    turned = GeneratorRows(rows.shapes, {name: values[::-1] for name, values in rows.values.items()})
    changed = GeneratorRows(rows.shapes, {name: values + 1 for name, values in rows.values.items()})
    assert generators.hash_rows(rows) == generators.hash_rows(turned) != generators.hash_rows(changed)


def test_the_length_of_a_training_follows_the_data() -> None:
    assert generators.settings_for("diabetes", None).epochs < generators.settings_for("breast", None).epochs
    assert generators.settings_for("diabetes", 7).epochs == 7
    assert generators.expect_seconds("breast", Settings(epochs=20)) > generators.expect_seconds(
        "breast", Settings(epochs=10)
    )
