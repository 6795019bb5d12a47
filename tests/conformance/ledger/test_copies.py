"""Copies of a workspace that share an anchor: together they never answer more than the budget, and forks are named."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from discreet.errors import BudgetExceeded, DiscreetError, LedgerDamaged
from discreet.guarantees.types import PureDP
from discreet.ledger import Ledger, LedgerConfig, SpendRequest, open_ledger
from discreet.ledger.trust.anchor import Anchor

MakeRequest = Callable[..., SpendRequest]
TENTH = PureDP(epsilon="0.1")
BUDGET = 10
"""How many charges of a tenth the population's budget of 1 pays for."""


def copies_of(config: LedgerConfig, folder: Path, count: int) -> list[LedgerConfig]:
    """The same workspace so many times. What is in PostgreSQL is in PostgreSQL once."""
    if config.path is None:
        return [config] * count
    made = []
    for number in range(count):
        home = folder / f"copy{number}"
        home.mkdir()
        for file in config.path.parent.glob(f"{config.path.name}*"):
            shutil.copy(file, home)
        made.append(replace(config, path=home / config.path.name))
    return made


@contextmanager
def opened(configs: list[LedgerConfig]) -> Iterator[list[Ledger]]:
    with ExitStack() as stack:
        yield [stack.enter_context(open_ledger(config)) for config in configs]


def ask(ledger: Ledger, make_request: MakeRequest, name: str, times: int) -> int:
    """Charges and answers until refused; how many were answered."""
    answered = 0
    for number in range(times):
        try:
            receipt = ledger.spend(make_request(f"{name}-{number}", guarantee=TENTH))
            ledger.commit_answer(receipt, b"noisy")
        except (BudgetExceeded, LedgerDamaged):
            continue
        answered += 1
    return answered


@pytest.mark.parametrize("count", [2, 10])
def test_copies_opened_before_anything_was_spent_answer_no_more_than_one(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path, count: int
) -> None:
    ledger.close()
    with opened(copies_of(config, tmp_path, count)) as copies:
        # Turn and turn about, as people would.
        answered = sum(
            ask(copy, make_request, f"c{number}-{turn}", 1)
            for turn in range(BUDGET + 2)
            for number, copy in enumerate(copies)
        )
    assert answered == BUDGET


def test_threads_over_copies_answer_no_more_than_the_budget(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    ledger.close()
    with opened(copies_of(config, tmp_path, 3)) as copies, ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(ask, copies[number % 3], make_request, f"t{number}", 8) for number in range(6)]
        answered = sum(job.result() for job in jobs)
    assert answered == BUDGET


def _ask_alone(config: LedgerConfig, make_request: MakeRequest, name: str) -> int:
    try:
        with open_ledger(config) as ledger:
            return ask(ledger, make_request, name, 8)
    except LedgerDamaged:
        return 0


def test_processes_over_copies_answer_no_more_than_the_budget(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    ledger.close()
    copies = copies_of(config, tmp_path, 2)
    with get_context("fork").Pool(4) as pool:
        jobs = [pool.apply_async(_ask_alone, (copies[n % 2], make_request, f"p{n}")) for n in range(4)]
        answered = sum(job.get(timeout=120) for job in jobs)
    assert answered == BUDGET


def test_a_copy_that_fell_behind_is_refused_in_words(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    if config.path is None:
        pytest.skip("a ledger in PostgreSQL has no copies in a folder")
    ledger.close()
    with opened(copies_of(config, tmp_path, 2)) as (one, two):
        one.spend(make_request("first"))
        for act in (
            lambda: two.spend(make_request("first")),
            lambda: two.add_analyst("eve", who="custodian"),
            two.check,
            two.verify,
        ):
            with pytest.raises(LedgerDamaged, match="anchor"):
                act()
        one.verify()


def test_a_retry_in_a_copy_never_draws_what_was_charged_in_another(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    """A charge that was made but not anchored, as a crash leaves it, is answered in one copy at most."""
    if config.path is None:
        pytest.skip("a ledger in PostgreSQL has no copies in a folder")
    assert config.anchor_path is not None
    before = config.anchor_path.read_bytes()
    ledger.spend(make_request("crashed"))
    config.anchor_path.write_bytes(before)
    ledger.close()
    with opened(copies_of(config, tmp_path, 2)) as (one, two):
        assert one.spend(make_request("crashed")).answer is None
        one.commit_answer(one.spend(make_request("crashed")), b"first draw")
        with pytest.raises(LedgerDamaged):
            two.spend(make_request("crashed"))


def test_verification_names_a_fork_of_an_earlier_release(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    """Earlier releases let two copies write beside each other: the anchor has lines of both."""
    if config.path is None:
        pytest.skip("a ledger in PostgreSQL has no copies in a folder")
    assert config.anchor_path is not None
    ledger.close()
    one, two = copies_of(config, tmp_path, 2)
    start = config.anchor_path.read_bytes()
    tails = []
    for copy in (one, two):
        config.anchor_path.write_bytes(start)
        with open_ledger(copy) as forked:
            for number in range(2):
                forked.spend(make_request(f"{copy.path}{number}"[-60:]))
        tails.append(config.anchor_path.read_bytes()[len(start) :])
    config.anchor_path.write_bytes(start + tails[1] + tails[0])
    with open_ledger(one) as last, pytest.raises(LedgerDamaged, match=r"2 of the \d+ heads.*forks there"):
        last.verify()


def test_hosts_with_anchors_of_their_own_share_one_ledger(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest, tmp_path: Path
) -> None:
    """The newest head of an anchor is in the chain, not necessarily at its end."""
    assert config.anchor_path is not None
    other = replace(config, anchor_path=Path(shutil.copy(config.anchor_path, tmp_path / "other-host")))
    with opened([config, other]) as (here, there):
        for number in range(6):
            (here if number % 2 else there).spend(make_request(f"r{number}", guarantee=TENTH))
        here.verify()
        there.verify()
        assert here.state("cchs").charges == 6


def test_lines_carry_what_was_spent_and_the_key_vouches_for_it(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest
) -> None:
    assert config.anchor_path is not None
    ledger.commit_answer(ledger.spend(make_request("one", guarantee=TENTH)), b"noisy")
    newest = Anchor(config.anchor_path).newest()
    assert newest.spent is not None
    assert '"epsilon":"100000000"' in newest.spent
    assert config.anchor_path.read_text().splitlines()[-1].split()[2] == "=", "an answer spends nothing more"
    ledger.verify()
    text = config.anchor_path.read_text()
    config.anchor_path.write_text(text.replace('"epsilon":"100000000"', '"epsilon":"000000000"'))
    with pytest.raises(LedgerDamaged, match="does not vouch for what its anchor says"):
        ledger.verify()


def test_an_anchor_is_replaced_while_another_waits(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest
) -> None:
    assert config.anchor_path is not None
    with ThreadPoolExecutor(1) as pool:
        with Anchor(config.anchor_path).hold():
            waiting = pool.submit(ledger.spend, make_request("one"))
            fresh = config.anchor_path.with_name("fresh")
            shutil.copy(config.anchor_path, fresh)
            fresh.replace(config.anchor_path)
        waiting.result(timeout=60)
    assert Anchor(config.anchor_path).newest().sequence == ledger.head()[0]


def test_nothing_else_than_our_refusals_reaches_a_copy(
    ledger: Ledger, config: LedgerConfig, make_request: MakeRequest
) -> None:
    assert config.anchor_path is not None
    config.anchor_path.unlink()
    config.anchor_path.mkdir()
    with pytest.raises(DiscreetError):
        ledger.spend(make_request("one"))
