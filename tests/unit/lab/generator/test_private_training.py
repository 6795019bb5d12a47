"""Private training for real: exact gradients of rows, a model with its guarantee, and something learned."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.guarantees.types import ZCDP, Neighbours  # noqa: E402
from discreet.lab.generator.generator_model import GeneratorModel, load_model  # noqa: E402
from discreet.lab.generator.generator_rows import GeneratorRows, Shape  # noqa: E402
from discreet.lab.generator.network import Generator  # noqa: E402
from discreet.lab.generator.protected import critic as critics  # noqa: E402
from discreet.lab.generator.protected import private_training as private  # noqa: E402
from discreet.lab.generator.protected.critic import FINENESS, Critic  # noqa: E402
from discreet.lab.generator.protected.private_plan import PrivatePlan, PrivateSettings, plan_for  # noqa: E402
from discreet.lab.generator.protected.private_training import PrivateEpoch, train_private  # noqa: E402
from discreet.lab.generator.similarity import tv_complement  # noqa: E402
from discreet.lab.generator.training_settings import Settings  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = pytest.mark.long

SHAPES = (
    Shape("colour", "category", categories=("red", "green", "blue", "grey")),
    Shape("mood", "category", categories=("low", "middle", "high")),
    Shape("age", "integer", low=0, high=99),
)


def fresh() -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(os.urandom(8)))


def make_rows(count: int) -> GeneratorRows:
    """Colours that are mostly red, moods that follow the colour, ages around 20, some of them missing."""
    rng = fresh()
    colour = rng.choice(4, p=[0.7, 0.2, 0.1, 0.0], size=count).astype(np.float64)
    age = np.clip(np.rint(rng.normal(20, 5, size=count)), 0, 99)
    age[rng.random(count) < 0.1] = np.nan
    return GeneratorRows(SHAPES, {"colour": colour, "mood": np.minimum(colour, 2.0), "age": age})


def plan(*, rho: str = "1", neighbours: Neighbours = Neighbours.ADD_REMOVE, **settings: Any) -> PrivatePlan:
    made = PrivateSettings(**{"epochs": 3, "critic": 8, "hidden": 16, "noise": 8, "fakes": 64, **settings})
    return plan_for(SHAPES, made, neighbours=neighbours, rho=rho)


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def vectors(count: int, width: int) -> Any:
    return torch.as_tensor(np.rint(fresh().uniform(-1, 1, size=(count, width)) * 2**FINENESS) / 2**FINENESS)


@pytest.mark.parametrize("real", [True, False])
def test_a_rows_gradient_is_the_same_in_any_company(real: bool) -> None:
    """Bit for bit, alone, in pieces, in another order, and after the weights have grown."""
    critic, given = Critic(67, hidden=33, rate=0.3), vectors(70, 67)
    for _ in range(2):
        together = critic.judge(given.clone(), real=real)
        for size in (1, 64):
            pieces = [critic.judge(given[i : i + size].clone(), real=real) for i in range(0, 70, size)]
            assert np.array_equal(np.concatenate(pieces), together)
        order = fresh().permutation(70)
        assert np.array_equal(critic.judge(given[order].clone(), real=real), together[order])
        critic.learn(fresh().normal(size=critic.entries))


def sums(critic: Critic, given: Any) -> Any:
    """Every sum that a layer forms for each row, forward and back, before anything is rounded."""
    made: list[Any] = []
    layers = [layer for layer in critic._network._module if isinstance(layer, torch.nn.Linear)]
    hooks = [layer.register_forward_hook(lambda *seen: made.append(seen[2].detach())) for layer in layers]
    hooks += [layer.register_full_backward_hook(lambda *seen: made.append(seen[1][0].detach())) for layer in layers]
    critic.judge(given.clone(), real=True)
    for hook in hooks:
        hook.remove()
    assert len(made) == 2 * len(layers)
    return torch.cat(made, dim=1)


@pytest.mark.parametrize("rounded", [True, False])
def test_no_sum_of_a_row_depends_on_its_company_and_plain_floats_would_show_it(
    rounded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradients are rounded at the end, which would hide a difference in the last bit; here it is seen."""
    if not rounded:
        monkeypatch.setattr(critics, "_round", lambda values, _, largest: values.clamp_(-largest, largest))
    critic, given = Critic(300, hidden=64, rate=2.0), vectors(100, 300)
    critic.learn(fresh().normal(size=critic.entries))  # weights up to the largest
    together = sums(critic, given)
    pieces = [torch.cat([sums(critic, given[i : i + size]) for i in range(0, 100, size)]) for size in (1, 7, 64)]
    assert all(torch.equal(piece, together) for piece in pieces) is rounded


def test_gradients_are_those_of_the_loss() -> None:
    """Against a difference quotient of the loss itself, within what the critic's rounding allows."""
    critic, given = Critic(5, hidden=4, rate=0.1), vectors(1, 5)
    exact = critic.judge(given.clone(), real=True)[0] / 2**14
    with torch.no_grad():
        bias = critic._used[-1]
        losses = []
        for step in (-(2.0**-5), 2.0**-5):
            bias += step
            losses.append(float(critic.persuade(given)))
            bias -= step
    assert exact[-1] == pytest.approx((losses[1] - losses[0]) / 2**-4, abs=0.01)


def test_a_model_carries_the_plans_guarantee_and_comes_back_from_its_folder(tmp_path: Path) -> None:
    made, seen = plan(batches=3), list[PrivateEpoch]()
    model = train_private(make_rows(200), np.repeat(np.arange(50), 4), made, progress=seen.append)
    assert [epoch.number for epoch in seen] == [1, 2, 3]
    assert not hasattr(seen[0], "discriminator_loss")
    assert model.guarantee == made.guarantee == ZCDP(rho=made.facts()["rho"])
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.guarantee == made.guarantee
    assert dict(loaded.privacy or {}) == made.facts()
    one, other = model.sample(50, seed=4), loaded.sample(50, seed=4)
    assert all(np.array_equal(one.values[name], other.values[name], equal_nan=True) for name in one.values)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_rows_are_no_error(count: int) -> None:
    """Whether an error occurs may not depend on the rows, their number included."""
    model = train_private(make_rows(count), np.arange(count), plan(rho="0.01", batches=2))
    assert len(model.sample(10)) == 10


def test_rows_of_other_columns_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="each row has its unit"):
        train_private(make_rows(5), np.arange(4), plan())


def test_each_unit_is_in_one_batch_with_all_its_rows() -> None:
    units = np.repeat(np.arange(100), 3)
    data = private._Contributions(make_rows(300), units, plan(batches=4))
    assert sorted(np.concatenate(data._rows_of).tolist()) == list(range(300))
    batches = [{int(unit) for unit in data._units[chosen]} for chosen in data._rows_of]
    assert sum(map(len, batches)) == 100
    assert all(len(batch) > 0 for batch in batches)


def released(
    units: list[GeneratorRows], made: PrivatePlan, critic: Critic, monkeypatch: pytest.MonkeyPatch
) -> NDArray[Any]:
    """The sum of a step without its noise."""
    monkeypatch.setattr(private, "discrete_gaussian_array", lambda *_, count, **__: np.zeros(count, dtype=np.int64))
    merged = GeneratorRows(SHAPES, {s.name: np.concatenate([unit.values[s.name] for unit in units]) for s in SHAPES})
    numbers = np.repeat(np.arange(len(units)), [len(unit) for unit in units])
    return private._Contributions(merged, numbers, made).sum_gradients(0, critic)


@pytest.mark.parametrize("clipped", [True, False])
def test_a_unit_moves_a_real_step_by_the_bound_and_without_clipping_by_more(
    clipped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plan()
    critic = Critic(made.coding.width, hidden=8, rate=0.5)
    critic.learn(fresh().normal(size=critic.entries))  # long gradients
    if not clipped:
        # Told apart by nothing, every row moves the last bias by half: 8192 steps, whatever else it moves.
        for last in critic._kept[-2:]:
            torch.nn.init.zeros_(last)
        critic._use()
        monkeypatch.setattr(private, "clip_to_bound", lambda gradients, **_: np.rint(gradients).astype(np.int64))
    units = [make_rows(size) for size in (1, 4, 1, 9, 2)]
    whole = released(units, made, critic, monkeypatch)
    moves = [
        int(((whole - released(units[:gone] + units[gone + 1 :], made, critic, monkeypatch)) ** 2).sum())
        for gone in range(len(units))
    ]
    assert (max(moves) <= made.bound**2) is clipped


def test_a_step_has_noise_of_its_scale() -> None:
    """The mean of d squares lies within 25% of the scale's square but for a chance of exp(-d/80), below 1e-8."""
    made = plan(rho="0.5", critic=32)
    critic = Critic(made.coding.width, hidden=32, rate=0.1)
    noise = private._Contributions(make_rows(0), np.arange(0), made).sum_gradients(0, critic)
    assert noise.size == critic.entries > 1500
    assert np.mean(noise.astype(np.float64) ** 2) == pytest.approx(float(made.step.scale) ** 2, rel=0.25)


def agreement(rows: GeneratorRows) -> float:
    """How often the mood follows the colour, among rows that have both."""
    both = np.isfinite(rows.values["colour"]) & np.isfinite(rows.values["mood"])
    return float(np.mean(np.minimum(rows.values["colour"][both], 2.0) == rows.values["mood"][both]))


def test_with_a_large_rho_shares_and_dependence_are_learned() -> None:
    rows = make_rows(600)
    generous = plan(rho="100000", epochs=300, critic=24, fakes=256, critic_rate=1e-2, generator_rate=2e-3)
    learned = train_private(rows, np.arange(600), generous).sample(4000)
    settings = Settings(noise=8, hidden=16)
    untrained = Generator(generous.coding, noise=settings.noise, hidden=settings.hidden)
    blind = GeneratorModel(SHAPES, generous.coding, settings, untrained, {}).sample(4000)
    for name in ("colour", "mood"):
        close = tv_complement(rows.values[name], learned.values[name])
        assert close > 0.85
        assert close > tv_complement(rows.values[name], blind.values[name]) + 0.1
    independent = 0.7**2 + 0.2**2 + 0.1**2
    assert agreement(learned) > independent + 0.1
