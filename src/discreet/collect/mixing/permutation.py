"""The shuffler: messages go in with their senders near, and come out in an order that is drawn anew.

Guarantee: every order of a batch is equally likely, whatever came in; nothing but the multiset of payloads is left.
Requires:  a shuffler that keeps its permutation to itself and works for nobody who sees what comes out.
Proof:     docs/proofs/multi-message.md (the order)
Refs:      [Knu97] 3.4.2, Algorithm P.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from discreet.catalogue import say
from discreet.errors import ParameterInvalid, Refused, nearest
from discreet.noise import Entropy, SystemEntropy, uniform_below

if TYPE_CHECKING:
    from numpy import int64, uint8
    from numpy.typing import NDArray

__all__ = ["Message", "Shuffler", "draw_permutation"]

_FEW: Final = 64
_LONGEST_LABEL: Final = 200
_WIDEST: Final = 1 << 16
_FIELDS: Final = ("batch", "payload")


def draw_permutation(entropy: Entropy, count: int) -> NDArray[int64]:
    """0, ..., count-1 in a uniformly random order: each of the count! orders has the same chance, exactly."""
    import numpy as np

    if count < 0:
        raise ValueError("a permutation needs a count of 0 or more")
    if count <= _FEW:
        return np.array(_exchange(entropy, count), dtype=np.int64)
    while True:
        keys = np.frombuffer(entropy.read(8 * count), dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        ranked = keys[order]
        # Equal keys would favour the order they came in. All keys are drawn again, so that distinct ones stay i.i.d.
        if not (ranked[1:] == ranked[:-1]).any():
            return order.astype(np.int64)


def _exchange(entropy: Entropy, count: int) -> list[int]:
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        chosen = uniform_below(entropy, last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


@dataclass(frozen=True, slots=True)
class Message:
    """What a sender may hand to the shuffler: the public label of a batch, and a payload. Nothing else exists."""

    batch: str
    payload: bytes

    def __post_init__(self) -> None:
        _check_label(self.batch)
        if not isinstance(self.payload, bytes) or not 1 <= len(self.payload) <= _WIDEST:
            raise Refused(say("a message carries a payload of 1 to {most} bytes.", most=_WIDEST))

    @classmethod
    def read(cls, fields: Mapping[str, object]) -> Message:
        """The message of a JSON object {"batch": text, "payload": hexadecimal text}; any other field is refused.

        An id, a time or a sequence number would undo the shuffle, so unknown fields are never dropped in silence.
        """
        for name in fields:
            if name not in _FIELDS:
                guess = nearest(name, _FIELDS)
                fault = say(
                    "a message carries 'batch' and 'payload' only; received the field '{name}'.", name=name[:40]
                )
                hint = say("Did you mean '{guess}'?", guess=guess) if guess else ""
                raise Refused(f"{fault} {hint}".rstrip())
        batch, payload = fields.get("batch"), fields.get("payload")
        if not isinstance(batch, str) or not isinstance(payload, str):
            raise Refused(say("a message carries 'batch' and 'payload', both as text."))
        try:
            return cls(batch, bytes.fromhex(payload))
        except ValueError:
            raise Refused(say("the payload of a message is written in hexadecimal digits.")) from None


def _check_label(batch: object) -> None:
    if not isinstance(batch, str) or not 1 <= len(batch) <= _LONGEST_LABEL:
        raise Refused(say("a message names its batch in 1 to {most} characters.", most=_LONGEST_LABEL))


class Shuffler:
    """Collects the messages of each batch and releases them once, permuted, when there are at least `minimum`.

    All payloads of a shuffler have the same width, so lengths tell nothing. Randomness is the operating system's.
    """

    __slots__ = ("_batches", "_released", "minimum", "width")

    def __init__(self, *, minimum: int, width: int) -> None:
        if isinstance(minimum, bool) or not isinstance(minimum, int) or minimum < 2:
            raise ParameterInvalid(
                parameter="minimum", rule=say("must be a whole number of 2 or more"), given=str(minimum)
            )
        if isinstance(width, bool) or not isinstance(width, int) or not 1 <= width <= _WIDEST:
            raise ParameterInvalid(
                parameter="width", rule=say("must lie between 1 and {most} bytes", most=_WIDEST), given=str(width)
            )
        self.minimum = minimum
        self.width = width
        self._batches: dict[str, bytearray] = {}
        self._released: set[str] = set()

    def accept(self, messages: Iterable[Message]) -> None:
        """Take messages of any batches; all of them, or none when one is refused."""
        pieces: dict[str, list[bytes]] = {}
        for message in messages:
            if not isinstance(message, Message):
                raise TypeError("a shuffler takes messages")
            if len(message.payload) != self.width:
                raise Refused(
                    say(
                        "every payload here has {width} bytes; received {count}.",
                        width=self.width,
                        count=len(message.payload),
                    )
                )
            pieces.setdefault(message.batch, []).append(message.payload)
        self._refuse_released(pieces)
        for batch, payloads in pieces.items():
            self._batches.setdefault(batch, bytearray()).extend(b"".join(payloads))

    def accept_payloads(self, batch: str, payloads: NDArray[uint8]) -> None:
        """The same for one batch and many messages at once: an array of bytes, one row per message."""
        _check_label(batch)
        if payloads.dtype.name != "uint8" or payloads.ndim != 2 or payloads.shape[1] != self.width:
            raise Refused(say("every payload here has {width} bytes; received other rows.", width=self.width))
        self._refuse_released([batch])
        self._batches.setdefault(batch, bytearray()).extend(payloads.tobytes())

    def held(self, batch: str) -> int:
        """How many messages of a batch wait here."""
        return len(self._batches.get(batch, b"")) // self.width

    def release(self, batch: str) -> NDArray[uint8]:
        """The payloads of a batch in a fresh uniform order, one row each; a batch leaves once."""
        import numpy as np

        held = self.held(batch)
        if held < self.minimum:
            self._refuse_released([batch])
            raise Refused(
                say(
                    "a batch leaves with at least {minimum} messages, and this one holds fewer. Wait for more.",
                    minimum=self.minimum,
                ),
                minimum=self.minimum,
            )
        rows = np.frombuffer(bytes(self._batches.pop(batch)), dtype=np.uint8).reshape(held, self.width)
        self._released.add(batch)
        return rows[draw_permutation(SystemEntropy(), held)]

    def _refuse_released(self, batches: Iterable[str]) -> None:
        # A late message in a batch of its own would stand alone, next to what has left.
        if any(batch in self._released for batch in batches):
            raise Refused(say("this batch has left; a later message needs a new batch."))
