"""Whoever asks much waits for themselves: little of one person's is worked on at a time."""

from __future__ import annotations

import asyncio
import threading

import pytest

from discreet.server.turns import AT_ONCE, Turns


class Gate:
    """Work that lasts until it is let go, and counts how much of it goes on."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._turn = threading.Lock()
        self.now, self.most = 0, 0

    def work(self) -> int:
        with self._turn:
            self.now += 1
            self.most = max(self.most, self.now)
        self._open.wait(30)
        with self._turn:
            self.now -= 1
        return self.most

    def open(self) -> None:
        self._open.set()


async def settle(gate: Gate, wanted: int) -> None:
    for _ in range(1_000):
        if gate.now == wanted:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{gate.now} at work, not {wanted}")


def test_one_person_has_a_few_turns_and_others_have_theirs() -> None:
    async def play() -> None:
        turns, hers, his = Turns(), Gate(), Gate()
        many = [asyncio.create_task(turns.take("ada", hers.work)) for _ in range(3 * AT_ONCE)]
        await settle(hers, AT_ONCE)
        one = asyncio.create_task(turns.take("bob", his.work))
        await settle(his, 1)
        assert turns.busy
        his.open()
        await one
        assert hers.now == AT_ONCE
        hers.open()
        await asyncio.gather(*many)
        assert hers.most == AT_ONCE
        assert not turns.busy

    asyncio.run(play())


def test_what_nobody_waits_for_any_more_is_still_being_done() -> None:
    async def play() -> None:
        turns, gate = Turns(), Gate()
        task = asyncio.create_task(turns.take("ada", gate.work))
        await settle(gate, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert turns.busy
        gate.open()
        await settle(gate, 0)
        while turns.busy:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(play(), 30))


def test_a_turn_ends_with_a_failure() -> None:
    async def play() -> None:
        turns = Turns()

        def fail() -> None:
            raise ValueError("no")

        for _ in range(2 * AT_ONCE):
            with pytest.raises(ValueError, match="no"):
                await turns.take("ada", fail)
        assert not turns.busy

    asyncio.run(play())
