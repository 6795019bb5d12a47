"""A trained generator: it makes rows, and is kept as plain tensors and JSON, each with its digest.

    model.safetensors    the generator's weights; the discriminator, which saw the rows, is not kept
    model.json           shapes, coding, settings, facts of the training, guarantee, digests of both files

Nothing in either file is ever executed. A file that is not whole and as it was written is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.catalogue import say
from discreet.errors import FileRefused, ParameterInvalid, Refused, UsageError
from discreet.files import write_whole
from discreet.guarantees import ZCDP, Unproven, shown
from discreet.lab.generator.coding import Block, Coding, Encoded
from discreet.lab.generator.generator_rows import GeneratorRows, Shape
from discreet.lab.generator.training_settings import UNPROTECTED, Settings
from discreet.paths import read_regular

if TYPE_CHECKING:
    from discreet.lab.generator.network import Generator

__all__ = ["SCHEMA", "GeneratorModel", "load_model"]

SCHEMA: Final = 1
_KIND: Final = "discreet tabular generator"
_JSON: Final = "model.json"
_TENSORS: Final = "model.safetensors"
_LARGEST_JSON: Final = 50_000_000
_LARGEST_TENSORS: Final = 2_000_000_000
_MOST_ROWS: Final = 100_000_000
# Few enough for a wide table's logits to stay in the cache.
_AT_ONCE: Final = 1_000


@dataclass(frozen=True)
class GeneratorModel:
    """A generator and all it takes to use it.

    `privacy` holds the figures of differentially private training, `rho` among them; without it what the model makes
    is Unproven. `trained` and `about` are facts for the custodian.
    """

    shapes: tuple[Shape, ...]
    coding: Coding
    settings: Settings
    generator: Generator
    trained: Mapping[str, int]
    privacy: Mapping[str, Any] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def guarantee(self) -> ZCDP | Unproven:
        """What everything that the model makes carries."""
        if self.privacy is None:
            return Unproven(UNPROTECTED.en)
        return ZCDP(rho=str(self.privacy["rho"]), delta=str(self.privacy.get("delta", "0")))

    def sample(self, count: int, *, seed: int | None = None) -> GeneratorRows:
        """Generated rows; the same ones for the same seed, fresh ones without."""
        if type(count) is not int or not 1 <= count <= _MOST_ROWS:
            raise ParameterInvalid(
                parameter="rows",
                rule=say("must be a whole number from 1 to {most}", most=_MOST_ROWS),
                given=shown(count),
            )
        from discreet.lab.generator.network import torch

        sizes = [min(_AT_ONCE, count - done) for done in range(0, count, _AT_ONCE)]
        sources = np.random.default_rng(seed).spawn(len(sizes))
        self.generator.eval()
        # Each part has a thread to itself: threads that share a product of this size wait more than they work.
        threads = torch.get_num_threads()
        try:
            with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                parts = list(pool.map(self._make, sizes, sources))
        finally:
            torch.set_num_threads(threads)
        scalars, slots = (np.concatenate(part) for part in zip(*parts, strict=True))
        return self.coding.decode(Encoded(scalars, slots), self.shapes)

    def _make(self, count: int, rng: np.random.Generator) -> Encoded:
        from discreet.lab.generator.network import draw_slots, torch

        conditional = (block.shares for block in self.coding.blocks if block.conditional)
        reached = np.cumsum([share for shares in conditional for share in shares])
        asked = np.searchsorted(reached, rng.random(count) * reached[-1:].sum(), side="right")
        source = torch.Generator().manual_seed(int(rng.integers(2**63)))
        with torch.inference_mode():
            noise = torch.randn(count, self.settings.noise, generator=source)
            made = self.generator(noise, torch.as_tensor(asked))
            scalars = made[:, : self.coding.scalars].tanh().numpy().astype(np.float64)
            return Encoded(scalars, draw_slots(made, self.coding, source).numpy())

    def save(self, folder: Path) -> None:
        """Write both files; the JSON last, so that a folder which has one is complete."""
        from safetensors.torch import save

        tensors = save({name: tensor.contiguous() for name, tensor in self.generator.state_dict().items()})
        facts = {
            "kind": _KIND,
            "schema": SCHEMA,
            "guarantee": str(self.guarantee),
            "privacy": None if self.privacy is None else dict(self.privacy),
            "about": dict(self.about),
            "trained": dict(self.trained),
            "settings": asdict(self.settings),
            "shapes": [asdict(shape) for shape in self.shapes],
            "blocks": [{**asdict(block), "shape": block.shape.name} for block in self.coding.blocks],
            "tensors": sha256(tensors).hexdigest(),
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _JSON).unlink(missing_ok=True)
        write_whole(folder / _TENSORS, tensors)
        write_whole(folder / _JSON, json.dumps({**facts, "sha256": _digest(facts)}, indent=1) + "\n")


def load_model(folder: Path) -> GeneratorModel:
    """The model in a folder, or FileRefused where its files are absent, foreign, altered or damaged."""
    from discreet.lab.generator.network import Generator, torch

    facts = _facts(folder)
    tensors = _bytes(folder / _TENSORS, _LARGEST_TENSORS)
    if sha256(tensors).hexdigest() != facts["tensors"]:
        raise _refusal(_TENSORS, say("is not the one that was saved with it: it is damaged or was altered"))
    try:
        settings = Settings(**facts["settings"])
        shapes = {found["name"]: Shape(**_frozen(found)) for found in facts["shapes"]}
        coding = Coding(tuple(Block(**{**_frozen(f), "shape": shapes[f["shape"]]}) for f in facts["blocks"]))
        if {block.shape.name for block in coding.blocks} != set(shapes):
            raise ValueError("every column has a block")
        with torch.random.fork_rng(devices=[]):
            generator = Generator(coding, noise=settings.noise, hidden=settings.hidden)
        trained, privacy, about = dict(facts["trained"]), facts["privacy"], dict(facts["about"])
        model = GeneratorModel(tuple(shapes.values()), coding, settings, generator, trained, privacy, about)
        if str(model.guarantee) != facts["guarantee"]:
            raise ValueError("the guarantee is that of its figures")
    except (KeyError, TypeError, ValueError, AttributeError, UsageError, Refused):
        raise _refusal(_JSON, say("does not describe a generator")) from None
    _fill(generator, tensors)
    return model


def _fill(generator: Generator, tensors: bytes) -> None:
    """The weights, once every name, type and size is known to be right."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        found = load(tensors)
    except SafetensorError:
        raise _refusal(_TENSORS, say("is not a file of tensors")) from None
    wanted = generator.state_dict()
    if {name: (t.dtype, t.shape) for name, t in found.items()} != {n: (t.dtype, t.shape) for n, t in wanted.items()}:
        raise _refusal(_TENSORS, say("does not hold the tensors that {file} describes", file=_JSON))
    generator.load_state_dict(found)


def _facts(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads(_bytes(folder / _JSON, _LARGEST_JSON))
    except (ValueError, RecursionError):
        raise _refusal(_JSON, say("cannot be read as JSON")) from None
    if not isinstance(facts, dict) or facts.get("kind") != _KIND:
        raise _refusal(_JSON, say("is not that of a generator"))
    if facts.get("schema") != SCHEMA:
        raise _refusal(
            _JSON, say("has another schema than {schema}, which this version of Discreet reads", schema=SCHEMA)
        )
    if facts.pop("sha256", None) != _digest(facts):
        raise _refusal(_JSON, say("is not as it was saved: it is damaged or was altered"))
    return facts


def _bytes(file: Path, most: int) -> bytes:
    try:
        if file.stat().st_size > most:
            raise _refusal(file.name, say("has more than {most} bytes", most=most))
        return read_regular(file)
    except OSError:
        raise _refusal(file.name, say("is absent or cannot be read")) from None


def _digest(facts: Mapping[str, Any]) -> str:
    return sha256(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _frozen(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in found.items()}


def _refusal(file: str, what: str) -> FileRefused:
    return FileRefused(say("'{file}' of the model {what}. Train the model again.", file=file, what=what), file=file)
