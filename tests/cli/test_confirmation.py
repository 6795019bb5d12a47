"""A question at the terminal, answered in the reader's language."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer

from discreet.catalogue import speaking
from discreet.cli import confirm_at_terminal


def answer(monkeypatch: pytest.MonkeyPatch, *given: str) -> Iterator[str]:
    words = iter(given)
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: next(words))
    return words


@pytest.mark.parametrize("given", ["o", "O", "oui", " Oui ", "y", "yes"])
def test_yes_in_french_or_english(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    answer(monkeypatch, given)
    with speaking("fr"):
        assert confirm_at_terminal("Poser la question ?")


@pytest.mark.parametrize("given", ["", "n", "non", "no"])
def test_everything_else_that_is_understood_is_no(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    answer(monkeypatch, given)
    with speaking("fr"):
        assert not confirm_at_terminal("Poser la question ?")


def test_what_is_not_understood_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = answer(monkeypatch, "peut-être", "ou", "non", "oui")
    with speaking("fr"):
        assert not confirm_at_terminal("Poser la question ?")
    assert list(left) == ["oui"]
    assert capsys.readouterr().err == "Répondez o ou n.\n" * 2
