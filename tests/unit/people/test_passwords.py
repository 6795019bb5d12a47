"""Passwords: a rule without their text, a slow hash, few at a time, and no difference for who has none."""

from __future__ import annotations

import re
import sys
import threading

import pytest

from discreet.errors import ExtraMissing, ParameterInvalid, TooManyRequests
from discreet.people import passwords
from discreet.people.passwords import hash_password, matches, require_password

PASSWORD = "correct horse battery"


@pytest.mark.parametrize("password", ["a" * 12, "é" * 200, "e\u0301" * 200, "\0" * 12, "\ud800" * 12, "密" * 12])
def test_twelve_to_two_hundred_characters(password: str) -> None:
    require_password(password)
    assert matches(password, hash_password(password))


@pytest.mark.parametrize(("password", "told"), [("", "0 characters"), ("x", "1 character"), ("swordfish77", "11 char"),
                                                ("x" * 201, "201 char"), ("e\u0301" * 11, "11 char")])  # fmt: skip
def test_other_lengths_are_refused_without_the_password(password: str, told: str) -> None:
    with pytest.raises(ParameterInvalid, match=f"must have 12 to 200 characters; received {told}") as refused:
        require_password(password)
    assert len(password) < 2 or password not in refused.value.message


def test_a_hash_says_how_slow_it_is_and_differs_each_time() -> None:
    one, two = hash_password(PASSWORD), hash_password(PASSWORD)
    assert one != two
    assert re.fullmatch(r"\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}", one)
    assert matches(PASSWORD, one)
    for wrong in ("", "correct horse batterY", PASSWORD + " ", PASSWORD + "\0", PASSWORD * 20, "\ud800"):
        assert not matches(wrong, one)


def test_a_long_text_is_not_taken_for_its_beginning() -> None:
    longest = "x" * 200
    kept = hash_password(longest)
    assert matches(longest, kept)
    assert not matches(longest + "x", kept)
    assert not matches(longest * 10, kept)


@pytest.mark.parametrize("kept", ["", "$argon2id$", "x" * 100, PASSWORD, "$argon2id$v=19$m=19456,t=2,p=1$AAAA$BBBB"])
def test_what_is_no_hash_matches_nothing(kept: str) -> None:
    assert not matches(PASSWORD, kept)


def test_whoever_has_no_password_costs_the_same_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    from argon2 import PasswordHasher

    tried: list[str] = []
    verify = PasswordHasher.verify

    def noted(self: PasswordHasher, hash: str, password: bytes) -> bool:
        tried.append(hash)
        return bool(verify(self, hash, password))

    monkeypatch.setattr(PasswordHasher, "verify", noted)
    kept = hash_password(PASSWORD)
    assert not matches("another one altogether", kept)
    assert not matches(PASSWORD, None)
    own, nobodys = tried
    assert own == kept
    shape = re.compile(r"[\w+/]{22}\$[\w+/]{43}$")
    assert shape.sub("", own) == shape.sub("", nobodys) == "$argon2id$v=19$m=19456,t=2,p=1$"


def test_two_are_hashed_at_a_time_and_others_wait_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_PATIENCE", 0.05)
    turns = [passwords._turn(), passwords._turn()]
    for turn in turns:
        turn.__enter__()
    try:
        for hashing in (lambda: hash_password(PASSWORD), lambda: matches(PASSWORD, None)):
            with pytest.raises(TooManyRequests):
                hashing()
    finally:
        for turn in turns:
            turn.__exit__(None, None, None)
    done = []
    threads = [threading.Thread(target=lambda: done.append(matches(PASSWORD, None))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [False, False]


def test_a_turn_is_given_back_when_hashing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_PATIENCE", 0.05)
    for _ in range(5):
        with pytest.raises(ZeroDivisionError), passwords._turn():
            raise ZeroDivisionError
    assert not matches(PASSWORD, None)


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "argon2", None)
    for use in (lambda: hash_password(PASSWORD), lambda: matches(PASSWORD, None)):
        with pytest.raises(ExtraMissing, match=r"Passwords needs the extra 'server'"):
            use()
