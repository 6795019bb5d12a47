"""The shuffler: what it takes, when it lets a batch go, and that every order can come."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from discreet.collect.mixing.permutation import Message, Shuffler, draw_permutation
from discreet.errors import ParameterInvalid, Refused
from discreet.noise import ByteTape, SystemEntropy


def messages(count: int, *, batch: str = "ON") -> list[Message]:
    return [Message(batch, i.to_bytes(2, "big")) for i in range(count)]


def test_each_tape_of_uniform_numbers_gives_its_own_order() -> None:
    orders = Counter(
        tuple(draw_permutation(ByteTape(bytes([third, second])), 3).tolist())
        for third, second in product(range(3), range(2))
    )
    assert len(orders) == 6
    assert set(orders.values()) == {1}


@pytest.mark.parametrize("count", [0, 1, 2, 64, 65, 1000])
def test_a_permutation_holds_everything_once(count: int) -> None:
    assert sorted(draw_permutation(SystemEntropy(), count).tolist()) == list(range(count))


def test_equal_keys_are_drawn_again() -> None:
    rising = np.arange(100, dtype=np.uint64)
    tied = rising.copy()
    tied[7] = tied[8]
    tape = ByteTape(tied.tobytes() + rising[::-1].tobytes())
    assert draw_permutation(tape, 100).tolist() == list(range(99, -1, -1))
    assert tape.used == 1600


def test_no_negative_count() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        draw_permutation(SystemEntropy(), -1)


@pytest.mark.parametrize("field", ["id", "time", "sequence", "sender"])
def test_a_message_carries_nothing_that_could_undo_the_shuffle(field: str) -> None:
    with pytest.raises(Refused, match=f"received the field '{field}'"):
        Message.read({"batch": "ON", "payload": "0a0b", field: "7"})


def test_a_message_reads_its_two_fields() -> None:
    assert Message.read({"batch": "ON", "payload": "0a0b"}) == Message("ON", b"\x0a\x0b")
    with pytest.raises(Refused, match="Did you mean 'payload'"):
        Message.read({"batch": "ON", "payloads": "0a"})


@pytest.mark.parametrize(
    "fields",
    [
        {"batch": "ON"},
        {"batch": 1, "payload": "0a"},
        {"batch": "ON", "payload": "xyz"},
        {"batch": "", "payload": "0a"},
        {"batch": "ON", "payload": ""},
        {"batch": "x" * 201, "payload": "0a"},
    ],
)
def test_what_is_not_a_message_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(Refused):
        Message.read(fields)


def test_only_the_multiset_leaves() -> None:
    shuffler = Shuffler(minimum=100, width=2)
    sent = messages(200)
    shuffler.accept(sent[:120])
    shuffler.accept_payloads("ON", np.frombuffer(b"".join(m.payload for m in sent[120:]), np.uint8).reshape(-1, 2))
    shuffler.accept(messages(3, batch="YT"))
    assert (shuffler.held("ON"), shuffler.held("YT"), shuffler.held("QC")) == (200, 3, 0)
    left = [row.tobytes() for row in shuffler.release("ON")]
    assert left != [message.payload for message in sent]  # one order among 200!
    assert sorted(left) == sorted(message.payload for message in sent)


def test_a_small_batch_waits_and_is_not_lost() -> None:
    shuffler = Shuffler(minimum=5, width=2)
    shuffler.accept(messages(4))
    with pytest.raises(Refused, match="at least 5 messages"):
        shuffler.release("ON")
    shuffler.accept(messages(1))
    assert len(shuffler.release("ON")) == 5


def test_a_batch_leaves_once() -> None:
    shuffler = Shuffler(minimum=2, width=2)
    shuffler.accept(messages(2))
    shuffler.release("ON")
    with pytest.raises(Refused, match="has left"):
        shuffler.accept(messages(1))
    with pytest.raises(Refused, match="has left"):
        shuffler.accept_payloads("ON", np.zeros((1, 2), dtype=np.uint8))
    with pytest.raises(Refused, match="has left"):
        shuffler.release("ON")


def test_lengths_tell_nothing() -> None:
    shuffler = Shuffler(minimum=2, width=2)
    with pytest.raises(Refused, match="2 bytes; received 3"):
        shuffler.accept([*messages(1), Message("ON", b"abc")])
    assert shuffler.held("ON") == 0  # all or none
    with pytest.raises(Refused, match="2 bytes"):
        shuffler.accept_payloads("ON", np.zeros((4, 3), dtype=np.uint8))
    for label in ("", "x" * 201):
        with pytest.raises(Refused, match="names its batch"):
            shuffler.accept_payloads(label, np.zeros((4, 2), dtype=np.uint8))


@pytest.mark.parametrize(("minimum", "width"), [(1, 2), (True, 2), (2, 0), (2, 1 << 17)])
def test_a_shuffler_needs_a_crowd_and_a_width(minimum: int, width: int) -> None:
    with pytest.raises(ParameterInvalid):
        Shuffler(minimum=minimum, width=width)
