"""Rows as vectors and back, and the mixture that finds the modes of a number."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from discreet.lab import generator
from discreet.lab.generator.coding import Block, Coding, Encoded, fit_coding
from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.mixture import fit_mixture

COLOUR = Shape("colour", "category", categories=("red", "green", "blue"))
AGE = Shape("age", "integer", low=0, high=99)
PAY = Shape("pay", "number", step="0.01")


def fresh() -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(os.urandom(8)))


def make_rows(count: int = 2_000) -> GeneratorRows:
    """Ages in two heaps, a tenth missing; pay in whole cents; a colour that nobody has."""
    rng = fresh()
    age = np.clip(np.rint(np.where(rng.random(count) < 0.5, rng.normal(20, 3, count), rng.normal(70, 3, count))), 0, 99)
    age[rng.random(count) < 0.1] = np.nan
    colour = rng.choice([0.0, 2.0, np.nan], p=[0.6, 0.3, 0.1], size=count)
    return GeneratorRows(
        (COLOUR, AGE, PAY), {"colour": colour, "age": age, "pay": np.rint(rng.normal(5e6, 1e5, count))}
    )


def test_categories_and_missing_values_come_back_exactly_and_numbers_nearly() -> None:
    rows = make_rows()
    coding = fit_coding(rows, modes=10, rng=fresh())
    back = coding.decode(coding.encode(rows, fresh()), rows.shapes)
    assert back.shapes == rows.shapes
    np.testing.assert_array_equal(back.values["colour"], rows.values["colour"])
    for name in ("age", "pay"):
        real, made = rows.values[name], back.values[name]
        np.testing.assert_array_equal(np.isnan(real), np.isnan(made))
        there = np.isfinite(real)
        # Only what lies beyond four spreads of its mode is moved.
        assert np.mean(real[there] == made[there]) > 0.99
        np.testing.assert_array_equal(made[there], np.rint(made[there]))


def test_only_what_occurs_has_a_slot() -> None:
    rows = make_rows()
    blocks = {block.shape.name: block for block in fit_coding(rows, modes=10, rng=fresh()).blocks}
    assert (blocks["colour"].codes, blocks["colour"].missing, blocks["colour"].width) == ((0, 2), True, 3)
    assert sum(blocks["colour"].shares) == pytest.approx(1)
    assert (blocks["age"].low, blocks["age"].high) == (0, 99)
    assert blocks["pay"].high == rows.values["pay"].max()
    assert not blocks["pay"].missing


def test_vectors_hold_blocks_of_one_width_side_by_side() -> None:
    coding = fit_coding(make_rows(), modes=10, rng=fresh())
    widths = [block.width for block in coding.blocks]
    assert widths == sorted(widths)
    assert [width for blocks, width in coding.groups for width in [width] * blocks] == widths
    assert coding.width == 2 + sum(widths)
    asked = next(i for i, block in enumerate(coding.blocks) if block.conditional)
    assert coding.conditions.tolist() == list(range(coding.starts[asked], coding.starts[asked] + 3))


@pytest.mark.parametrize("value", [7.0, np.nan])
@pytest.mark.parametrize("shape", [AGE, PAY])
def test_constant_and_absent_numbers_come_out_as_they_were(shape: Shape, value: float) -> None:
    rows = GeneratorRows((shape,), {shape.name: np.full(50, value)})
    coding = fit_coding(rows, modes=10, rng=fresh())
    assert coding.starts.tolist() == [0, 1]
    scalars = fresh().uniform(-1, 1, (50, coding.scalars))
    made = coding.decode(Encoded(scalars, np.zeros((50, 1), dtype=np.int64)), rows.shapes)
    np.testing.assert_array_equal(made.values[shape.name], rows.values[shape.name])


def test_decoded_numbers_stay_within_the_card() -> None:
    block = Block(AGE, centres=(95.0,), spreads=(10.0,), shares=(1.0,), low=0, high=99)
    made = block.decode(np.zeros(3, dtype=np.int64), np.array([-1.0, 0.0, 1.0]))
    assert made.tolist() == [55, 95, 99]


def test_a_mixture_finds_the_modes_that_are_there() -> None:
    rng = fresh()
    values = np.concatenate([rng.normal(-50, 2, 4_000), rng.normal(0, 1, 2_000), rng.normal(80, 5, 4_000)])
    mixture = fit_mixture(values, most=10, narrowest=0.1)
    assert mixture.shares.sum() == pytest.approx(1)
    for centre, share in ((-50, 0.4), (0, 0.2), (80, 0.4)):
        near = np.abs(mixture.centres - centre) < 25
        assert mixture.shares[near].sum() == pytest.approx(share, abs=0.03)
        assert mixture.centres[near] @ mixture.shares[near] / mixture.shares[near].sum() == pytest.approx(centre, abs=1)


def test_a_mixture_keeps_a_spike_apart() -> None:
    rng = fresh()
    values = np.concatenate([np.zeros(9_000), np.rint(rng.exponential(20, 1_000)) + 5])
    mixture = fit_mixture(values, most=10, narrowest=0.1)
    spike = np.abs(mixture.centres) < 0.5
    assert mixture.shares[spike].sum() == pytest.approx(0.9, abs=0.01)
    assert mixture.spreads[spike].max() < 0.5


@pytest.mark.parametrize(
    "fault",
    [
        {},
        {"codes": (3,)},
        {"codes": (0, 1), "shares": (1.0,)},
        {"codes": (0,), "shares": (1.5,)},
        {"centres": (1.0,)},
        {"centres": (1.0,), "spreads": (1.0,)},
    ],
)
def test_blocks_that_fit_no_column_cannot_be_built(fault: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match="slots for what its column can hold"):
        Block(COLOUR, **fault)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one for each column"):
        Coding(())


def test_the_gan_stays_short() -> None:
    folder = Path(generator.__file__).parent
    parts = ("mixture", "coding", "network", "training", "training_settings")
    assert sum(len((folder / f"{part}.py").read_text("utf-8").splitlines()) for part in parts) < 620
