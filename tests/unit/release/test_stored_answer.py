"""Answers: every field of the JSON, what the intervals are said to hold, and the files and tables made of them."""

from __future__ import annotations

import csv
import io
import json
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from discreet.cards.card import Card
from discreet.engines.engine import Cell
from discreet.errors import ExtraMissing, ParameterInvalid
from discreet.guarantees.types import ApproxDP, PureDP
from discreet.ledger.accounting import Cap, ChargeTotals, balance
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.present.pages.csv_text import neutralise
from discreet.release.forecast.outlook import left_for
from discreet.release.measurement.noisy_measures import Noisy, NoisyMeasure
from discreet.release.measurement.pricing import Threshold, UsedMechanism
from discreet.release.stored_answer import Answer, interval_level
from discreet.results import Amount, Charged
from discreet.sql.algebra import Extreme, Key, Quantile
from discreet.sql.outputs import Arithmetic, Comparison, Constant, KeyShown, Noted, Order, Presentation, ShownColumn
from discreet.sql.serialisation import Serialisation
from discreet.sql.statement import Statement
from tests.algebra.columns import field
from tests.unit.release.conftest import Given
from tests.unit.release.statements import BY_PROVINCE, BY_TOWN, COUNT, SUM, UNITS, WEIGHTS, make_card, make_statement

TEN = DiscreteLaplace(scale=Fraction(10))
TWENTY = DiscreteLaplace(scale=Fraction(20))
FULL = balance(Cap(epsilon=3 * 10**9, delta=0), ChargeTotals())


def answer(
    statement: Statement,
    *columns: tuple[int, ...],
    mechanisms: dict[int, tuple[UsedMechanism | None, ...]] | None = None,
    keys: tuple[Cell, ...] | None = None,
    threshold: Threshold | None = None,
    card: Card | None = None,
    **changes: Any,
) -> Given:
    """An answer with these noisy values, made by noise of scale 10 unless told otherwise."""
    used = mechanisms or {}
    ids = Serialisation.of(statement.plan)
    measures = tuple(
        NoisyMeasure(
            ids.measure_id(measure),
            Decimal("0.5"),
            0 if len(used.get(place, ())) > 1 else None,
            used.get(place, (TEN,)),
            columns[place],
        )
        for place, measure in enumerate(statement.plan.measures)
    )
    charged = PureDP(epsilon=1) if threshold is None else ApproxDP(epsilon=1, delta=threshold.delta)
    return Given(
        Answer(
            **{
                "statement": statement,
                "cards": {"t": card or make_card()},
                "versions": {"t": 4},
                "noisy": Noisy(measures, charged, changes.pop("unproven", None), keys, threshold),
                "level": Decimal("0.9"),
                "settlement": Charged(Amount(Decimal(1)), left_for(FULL, FULL), replayed=False),
                "request_id": "r",
                **changes,
            }
        )
    )


def by_province() -> Given:
    return answer(make_statement(COUNT, SUM, keys=(BY_PROVINCE,)), (7, -3, 12), (40, 0, -9))


def test_rows_are_all_cells_in_card_order_with_null_last() -> None:
    assert by_province().rows == [
        {"province": "A", "m0": 7, "m1": 40},
        {"province": "B", "m0": -3, "m1": 0},
        {"province": None, "m0": 12, "m1": -9},
    ]


def test_intervals_have_the_same_shape_and_one_half_width_for_all_cells() -> None:
    half = TEN.half_width("0.9")
    found = by_province()
    assert found.intervals[1] == {"m0": [-3 - half, -3 + half], "m1": [-half, half]}
    assert len(found.intervals) == len(found.rows)


def test_an_output_of_two_measures_has_both_at_a_higher_level() -> None:
    difference = Arithmetic("-", Noted(0, Fraction(1)), Noted(1, Fraction(1)))
    found = answer(make_statement(COUNT, SUM, outputs=(difference,)), (100,), (30,))
    half = TEN.half_width("0.95")
    assert found.intervals == [{"m0": [70 - 2 * half, 70 + 2 * half]}]


def test_slices_have_half_widths_of_their_own_and_exact_ones_none() -> None:
    statement = make_statement(WEIGHTS, keys=(BY_PROVINCE,))
    found = answer(statement, (1, 2, 3), mechanisms={0: (TEN, TWENTY, None)})
    ten, twenty = TEN.half_width("0.9"), TWENTY.half_width("0.9")
    assert [one["m0"] for one in found.intervals] == [[1 - ten, 1 + ten], [2 - twenty, 2 + twenty], [3, 3]]
    told: Any = found.to_dict()["mechanisms"]
    assert told[0]["by"] == "province"
    assert [one["cell"] for one in told[0]["slices"]] == ["A", "B", None]
    assert [one["name"] for one in told[0]["slices"]] == ["discrete-laplace", "discrete-laplace", "exact-public"]
    assert [one["sensitivity"] for one in told[0]["slices"]] == ["30", "120", "120"]


def test_a_quantile_lies_for_sure_in_its_range_and_says_its_rank() -> None:
    statement = make_statement(
        Quantile(field("x"), Fraction(1, 2), (-5, 20)), Extreme(field("x"), largest=True, candidates=(-5, 20))
    )
    chooser = NoisyMax(rate=Fraction(1, 4))
    found = answer(statement, (3,), (11,), mechanisms={0: (chooser,), 1: (chooser,)})
    assert found.rows == [{"m0": 3, "m1": 11}]
    assert found.intervals == [{"m0": [-5, 20], "m1": [-5, 20]}]
    told: Any = found.to_dict()["mechanisms"]
    median, most = told
    rows = chooser.half_width("0.9", candidates=26)
    assert f"at most {rows:,} rows too many" in median["accuracy"]
    assert (most["rate"], most["candidates"]) == ("1/4", "26")
    assert f"aims at a value with {most['depth']} rows above it" in most["accuracy"]
    assert "ends of the range" in str(found.to_dict()["interval_meaning"])


def test_every_field_is_there_and_is_json() -> None:
    told: Any = by_province().to_dict("fr")
    assert set(told) == {
        *("rows", "labels", "intervals", "level", "interval_meaning", "charge", "remaining", "guarantee"),
        *("differentially_private", "unit", "neighbours", "population", "mechanisms", "dataset", "version"),
        *("datasets", "plan_hash", "request_id", "replayed", "warnings", "schema", "kind", "claim", "notes"),
    }
    assert (told["schema"], told["kind"]) == (1, "query")
    assert told["claim"]["guarantee"] == {"code": "pure", "epsilon": "1"}
    assert json.loads(json.dumps(told)) == told
    assert told["labels"] == {"province": {"A": "Alpha", "B": "Beta"}}
    assert (told["guarantee"], told["differentially_private"]) == ("pure DP, epsilon = 1", True)
    assert (told["dataset"], told["version"], told["datasets"]) == ("t", 4, {"t": 4})
    assert told["remaining"]["epsilon"] == "3"
    first = told["mechanisms"][0]
    assert first["measure"] == "measure 0"
    assert (first["name"], first["scale"], first["epsilon"]) == ("discrete-laplace", "10", "0.5")
    assert first["sensitivity"] == "3"
    assert "une unité a ici au plus 3 lignes" in first["derivation"]


def test_the_meaning_speaks_of_selection_and_thresholds_only_where_there_are_any() -> None:
    plain = str(by_province().to_dict()["interval_meaning"])
    for word in ("privacy noise only", "clamped", "capped", "rows bounded", "cell by cell", "sampling"):
        assert word in plain
    for word in ("HAVING", "keys whose", "ranks"):
        assert word not in plain
    columns = (ShownColumn("n", Noted(0, Fraction(1))),)
    chosen = answer(make_statement(COUNT, presentation=Presentation(columns, limit=1)), (5,))
    assert "before HAVING or LIMIT" in str(chosen.to_dict()["interval_meaning"])


def test_open_keys_come_from_the_answer_and_the_threshold_is_told() -> None:
    statement = make_statement(UNITS, keys=(BY_TOWN,))
    threshold = Threshold(least=1234, keys=3, delta=Decimal("1e-7"))
    found = answer(statement, (1500, 1300), keys=(("Aix",), (None,)), threshold=threshold)
    assert found.rows == [{"town": "Aix", "m0": 1500}, {"town": None, "m0": 1300}]
    told = found.to_dict()
    assert told["threshold"] == {"least_units": 1234, "keys": 3, "delta": "0.0000001"}
    assert "at least 1,234 are shown" in str(told["interval_meaning"])
    assert told["guarantee"] == "approximate DP, epsilon = 1, delta = 0.0000001"
    assert told["labels"] == {}


def test_the_presentation_decides_what_is_shown_and_intervals_follow() -> None:
    count = Noted(0, Fraction(1))
    shown = Presentation(
        (ShownColumn("n", count), ShownColumn("where", KeyShown(0))),
        having=Comparison(">", count, Constant(Fraction(0))),
        order=(Order(count, descending=True),),
    )
    found = answer(make_statement(COUNT, keys=(BY_PROVINCE,), presentation=shown), (7, -3, 12))
    assert found.rows == [{"n": 12, "where": None}, {"n": 7, "where": "A"}]
    half = TEN.half_width("0.9")
    assert [one["n"] for one in found.intervals] == [[12 - half, 12 + half], [7 - half, 7 + half]]
    assert found.labels("en") == {"where": {"A": "Alpha", "B": "Beta"}}


def test_an_answer_of_keys_alone_has_empty_intervals() -> None:
    statement = make_statement(UNITS, keys=(BY_TOWN,), presentation=Presentation((ShownColumn("town", KeyShown(0)),)))
    found = answer(statement, (9, 9), keys=(("a",), ("b",)), threshold=Threshold(5, 3, Decimal("1e-7")))
    assert found.rows == [{"town": "a"}, {"town": "b"}]
    assert found.intervals == [{}, {}]


# --- files and tables -----------------------------------------------------------------------------------------------


def test_csv_has_ends_and_labels_and_runs_nothing() -> None:
    card = make_card(("A: Alpha, B: Beta", "A: '=cmd()', B: Beta"))
    found = answer(make_statement(COUNT, keys=(BY_PROVINCE,)), (7, -3, 12), card=card)
    face = found.statement.keys[0]
    labels = tuple(category.label for category in card.column("province").categories)
    from dataclasses import replace

    named = replace(found.statement, keys=(replace(face, labels=labels),))
    found = Given(replace(found.answer, statement=named))
    half = TEN.half_width("0.9")
    lines = list(csv.reader(io.StringIO(found.to_csv())))
    assert lines[0] == ["province", "province_label", "m0", "m0_low", "m0_high"]
    assert lines[1] == ["A", "'=cmd()", "7", str(7 - half), str(7 + half)]
    assert lines[2] == ["B", "Beta", "-3", str(-3 - half), str(-3 + half)]
    assert lines[3][:2] == ["", ""]


def test_csv_leaves_open_ends_empty_and_neutralises_open_keys() -> None:
    share = Arithmetic("/", Noted(0, Fraction(1)), Noted(0, Fraction(1)))
    statement = make_statement(UNITS, keys=(BY_TOWN,), outputs=(share,))
    found = answer(statement, (1,), keys=(("=1+1",),), threshold=Threshold(1, 3, Decimal("1e-7")))
    assert list(csv.reader(io.StringIO(found.to_csv())))[1] == ["'=1+1", "1.0", "", ""]


def test_a_column_named_like_a_formula_is_neutralised() -> None:
    shown = Presentation((ShownColumn('=HYPERLINK("x")', Noted(0, Fraction(1))),))
    header, _ = answer(make_statement(COUNT, presentation=shown), (7,)).to_csv().splitlines()
    assert [name[:2] for name in next(csv.reader([header]))] == ["'="] * 3


@pytest.mark.parametrize("town", ["a\rb", "a\nb", 'a"b', "a,b", "\r=1+1"])
def test_csv_keeps_every_key_in_one_field(town: str) -> None:
    statement = make_statement(UNITS, keys=(BY_TOWN,))
    found = answer(statement, (1,), keys=((town,),), threshold=Threshold(1, 3, Decimal("1e-7")))
    lines = list(csv.reader(io.StringIO(found.to_csv(), newline="")))
    assert len(lines) == 2
    assert lines[1][0] == neutralise(town)


def test_what_is_not_private_says_so_on_every_line() -> None:
    found = answer(make_statement(COUNT, keys=(BY_PROVINCE,)), (7, -3, 12), unproven="bounds were read from the rows")
    lines = list(csv.reader(io.StringIO(found.to_csv())))
    assert lines[0][-1] == "guarantee"
    assert all(line[-1].startswith("not differentially private") for line in lines[1:])
    assert len(lines) == 4


def test_a_table_has_keys_values_and_ends_and_carries_its_promise() -> None:
    import pyarrow

    table = by_province().to_arrow()
    assert table.column_names == ["province", "m0", "m0_low", "m0_high", "m1", "m1_low", "m1_high"]
    assert table.schema.field("province").type == pyarrow.string()
    assert table.schema.field("m0").type == table.schema.field("m0_low").type == pyarrow.int64()
    assert table.column("province").to_pylist() == ["A", "B", None]
    assert table.column("m0").to_pylist() == [7, -3, 12]
    metadata = table.schema.metadata
    assert metadata[b"discreet.guarantee"] == b"pure DP, epsilon = 1"
    assert json.loads(metadata[b"discreet.charge"]) == {"epsilon": "1", "delta": "0"}
    assert metadata[b"discreet.differentially_private"] == b"true"
    unproven = answer(make_statement(COUNT), (7,), unproven="bounds were read from the rows").to_arrow()
    assert unproven.schema.metadata[b"discreet.differentially_private"] == b"false"


def test_a_table_takes_numbers_of_every_sort() -> None:
    import pyarrow

    share = Arithmetic("/", Noted(0, Fraction(1)), Constant(Fraction(0)))
    statement = make_statement(
        COUNT, keys=(Key(field("x"), (-5, None)),), outputs=(Noted(0, Fraction(1)), Noted(0, Fraction(1, 100)), share)
    )
    table = answer(statement, (2**80, 5)).to_arrow()
    assert table.column("m0").to_pylist() == [str(2**80), "5"]
    assert table.schema.field("m1").type == pyarrow.float64()
    assert table.column("m1").to_pylist()[1] == 0.05
    assert table.column("m2").to_pylist() == [None, None]
    small = answer(statement, (2, 5)).to_arrow()
    assert small.schema.field("m0").type == pyarrow.int64()


def test_a_data_frame_is_the_table() -> None:
    frame = by_province().to_pandas()
    assert list(frame["m0"]) == [7, -3, 12]
    assert frame.attrs["guarantee"] == "pure DP, epsilon = 1"


def test_without_pandas_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ExtraMissing, match=r"discreet\[pandas\]"):
        by_province().to_pandas()


@pytest.mark.parametrize("level", [0, 1, "1.5", "-0.1", "nan", "0.9999999"])
def test_levels_lie_between_zero_and_one(level: object) -> None:
    with pytest.raises(ParameterInvalid):
        interval_level(level)  # type: ignore[arg-type]


def test_levels_are_exact() -> None:
    assert interval_level(0.95) == Decimal("0.95")
