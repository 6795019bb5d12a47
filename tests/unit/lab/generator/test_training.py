"""Training for real, and models kept as files: what is learned, what comes back, what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load, save  # noqa: E402

from discreet.errors import ExtraMissing, FileRefused, ParameterInvalid, Refused  # noqa: E402
from discreet.lab.generator.generator_model import GeneratorModel, load_model  # noqa: E402
from discreet.lab.generator.generator_rows import GeneratorRows, Shape  # noqa: E402
from discreet.lab.generator.similarity import correlate  # noqa: E402
from discreet.lab.generator.training import Epoch, Settings, train  # noqa: E402

pytestmark = pytest.mark.long

SHAPES = (
    Shape("colour", "category", categories=("red", "green", "blue")),
    Shape("age", "integer", low=0, high=99),
    Shape("same", "integer"),
    Shape("never", "number", step="0.1"),
    Shape("only", "category", categories=("a", "b")),
)


def make_rows(count: int = 600) -> GeneratorRows:
    """Half red, a third of the ages missing, a constant, a column nobody answers, one code of two."""
    rng = np.random.default_rng(count)
    age = np.rint(np.clip(rng.normal(40, 10, count), 0, 99))
    age[rng.random(count) < 1 / 3] = np.nan
    values = {
        "colour": rng.choice([0.0, 1.0, 2.0], p=[0.5, 0.4, 0.1], size=count),
        "age": age,
        "same": np.full(count, 42.0),
        "never": np.full(count, np.nan),
        "only": np.full(count, 1.0),
    }
    return GeneratorRows(SHAPES, values)


@pytest.fixture(scope="module")
def model() -> GeneratorModel:
    return train(make_rows(), Settings(epochs=100, seed=1))


@pytest.fixture
def saved(model: GeneratorModel, tmp_path: Path) -> Path:
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_shares_of_categories_and_missing_values_are_learned(model: GeneratorModel) -> None:
    made = model.sample(20_000)
    shares = np.bincount(made.values["colour"].astype(int), minlength=3) / 20_000
    np.testing.assert_allclose(shares, [0.5, 0.4, 0.1], atol=0.08)
    assert np.isnan(made.values["age"]).mean() == pytest.approx(1 / 3, abs=0.15)
    there = made.values["age"][np.isfinite(made.values["age"])]
    assert 0 <= there.min() < there.max() <= 99


def test_constant_and_absent_columns_stay_so(model: GeneratorModel) -> None:
    made = model.sample(100)
    assert set(made.values["same"].tolist()) == {42.0}
    assert np.isnan(made.values["never"]).all()
    assert set(made.values["only"].tolist()) == {1.0}


def test_a_model_comes_back_and_makes_the_same_rows(model: GeneratorModel, saved: Path) -> None:
    back = load_model(saved)
    first, second, other = model.sample(12_345, seed=7), back.sample(12_345, seed=7), back.sample(12_345, seed=8)
    assert back.shapes == model.shapes
    for name, values in first.values.items():
        np.testing.assert_array_equal(values, second.values[name])
    assert not np.array_equal(first.values["colour"], other.values["colour"])
    assert not np.array_equal(model.sample(500).values["colour"], model.sample(500).values["colour"])
    assert (back.guarantee, back.trained, back.settings) == (model.guarantee, model.trained, model.settings)
    assert not back.guarantee.differentially_private


def test_the_rows_of_a_seed_do_not_depend_on_threads(model: GeneratorModel) -> None:
    threads = torch.get_num_threads()
    try:
        made = []
        for torch_threads in (1, 3):
            torch.set_num_threads(torch_threads)
            made.append(model.sample(3_500, seed=7).values)
            assert torch.get_num_threads() == torch_threads
    finally:
        torch.set_num_threads(threads)
    for name in made[0]:
        np.testing.assert_array_equal(made[0][name], made[1][name])


def _edit(**changes: Any) -> Callable[[Path], None]:
    """Change the JSON, and keep its digest right, so that what it says is looked at."""

    def edit(folder: Path) -> None:
        facts = {**json.loads((folder / "model.json").read_text()), **changes}
        facts.pop("sha256")
        digest = sha256(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        (folder / "model.json").write_text(json.dumps({**facts, "sha256": digest}))

    return edit


def _edit_tensors(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        tensors = load((folder / "model.safetensors").read_bytes())
        change(tensors)
        (folder / "model.safetensors").write_bytes(save(tensors))
        _edit(tensors=sha256((folder / "model.safetensors").read_bytes()).hexdigest())(folder)

    return edit


def _flip(folder: Path) -> None:
    held = bytearray((folder / "model.safetensors").read_bytes())
    held[-5] ^= 1
    (folder / "model.safetensors").write_bytes(held)


def _foreign(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x80\x04 a pickle, say")
    _edit(tensors=sha256(b"\x80\x04 a pickle, say").hexdigest())(folder)


def _halve(folder: Path, name: str) -> None:
    held = (folder / name).read_bytes()
    (folder / name).write_bytes(held[: len(held) // 2])


def _reword(folder: Path) -> None:
    text = (folder / "model.json").read_text()
    (folder / "model.json").write_text(text.replace("not differentially private", "differentially private"))


FAULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no JSON": (lambda folder: (folder / "model.json").unlink(), "model.json.*absent"),
    "no tensors": (lambda folder: (folder / "model.safetensors").unlink(), "safetensors.*absent"),
    "not JSON": (lambda folder: (folder / "model.json").write_text("{"), "cannot be read as JSON"),
    "another JSON": (lambda folder: (folder / "model.json").write_text("{}"), "not that of a generator"),
    "half the JSON": (lambda folder: _halve(folder, "model.json"), "cannot be read as JSON"),
    "half the tensors": (lambda folder: _halve(folder, "model.safetensors"), "safetensors.*damaged"),
    "a changed guarantee": (_reword, "model.json.*damaged or was altered"),
    "a changed bit": (_flip, "safetensors.*damaged or was altered"),
    "a foreign file": (_foreign, "not a file of tensors"),
    "another schema": (_edit(schema=2), "another schema"),
    "no settings": (_edit(settings={}, blocks=[]), "does not describe a generator"),
    "bad settings": (_edit(settings={"epochs": -1}), "does not describe a generator"),
    "a guarantee that its figures do not bear": (_edit(guarantee="zCDP, rho = 1"), "does not describe a generator"),
    "smaller networks": (_edit(settings={"hidden": 8}), "does not hold the tensors"),
    "a tensor less": (_edit_tensors(lambda found: found.popitem()), "does not hold the tensors"),
    "other names": (_edit_tensors(lambda f: f.update(other=f.pop("first_norm.bias"))), "does not hold the tensors"),
    "other numbers": (
        _edit_tensors(lambda f: f.update({"first_norm.bias": f["first_norm.bias"].double()})),
        "does not hold the tensors",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_files_that_are_not_as_they_were_saved_are_refused(saved: Path, fault: str) -> None:
    spoil, words = FAULTS[fault]
    load_model(saved)
    spoil(saved)
    with pytest.raises(FileRefused, match=words):
        load_model(saved)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(Refused, match="20 rows or more to train on; there are fewer"):
        train(make_rows(19), Settings(pac=10))
    with pytest.raises(Refused, match="needs columns"):
        train(GeneratorRows((), {}), Settings())


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_rows_to_sample_are_counted(model: GeneratorModel, count: Any) -> None:
    with pytest.raises(ParameterInvalid, match="rows must be a whole number from 1"):
        model.sample(count)


def test_progress_and_an_interrupt_leave_the_caller_as_it_was() -> None:
    seen: list[Epoch] = []

    def interrupt(epoch: Epoch) -> None:
        seen.append(epoch)
        if epoch.number == 3:
            raise KeyboardInterrupt

    state, threads = torch.get_rng_state(), torch.get_num_threads()
    with pytest.raises(KeyboardInterrupt):
        train(make_rows(100), Settings(epochs=50, hidden=8, noise=8), progress=interrupt)
    assert [(epoch.number, epoch.of) for epoch in seen] == [(1, 50), (2, 50), (3, 50)]
    assert all(np.isfinite([e.generator_loss, e.discriminator_loss, e.seconds_left]).all() for e in seen)
    assert torch.equal(state, torch.get_rng_state())
    assert torch.get_num_threads() == threads


def test_patience_ends_training_early() -> None:
    found = train(make_rows(100), Settings(epochs=500, hidden=8, noise=8, patience=2, seed=3))
    assert found.trained["epochs"] < 500


def test_packs_and_numbers_alone_train_as_well() -> None:
    rows = make_rows(100)
    numbers = GeneratorRows(SHAPES[1:3], {name: rows.values[name] for name in ("age", "same")})
    made = train(numbers, Settings(epochs=2, pac=10, hidden=8, noise=8)).sample(10)
    assert list(made.values) == ["age", "same"]
    assert len(train(rows, Settings(epochs=2, pac=10, hidden=8, noise=8)).sample(10)) == 10


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("discreet.lab.generator.network", "discreet.lab.generator.training"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ExtraMissing, match=r"the tabular generator needs the extra 'gan'"):
        import_module("discreet.lab.generator.training")


def test_correlations_of_breast_are_learned_beyond_independent_columns() -> None:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = [name.replace(" ", "_") for name in data.feature_names]
    shapes = (*(Shape(name, "number", step="0.00001") for name in names), Shape("benign", "category", ("no", "yes")))
    values = {name: np.rint(column * 1e5) for name, column in zip(names, data.data.T, strict=True)}
    rows = GeneratorRows(shapes, {**values, "benign": data.target.astype(np.float64)})
    made = train(rows, Settings(epochs=100, seed=1)).sample(10_000, seed=1)
    rng = np.random.default_rng(1)
    real, generated, independent = (
        correlate([found[name] for name in names])
        for found in (rows.values, made.values, {name: rng.permutation(rows.values[name]) for name in names})
    )
    pairs = np.triu_indices(len(names), 1)
    similarities = [1 - np.abs(real - other)[pairs].mean() / 2 for other in (generated, independent)]
    # Independent columns reach .80, and vary by less than .005.
    assert similarities[0] > similarities[1] + 0.02
    assert made.values["benign"].mean() == pytest.approx(data.target.mean(), abs=0.05)
