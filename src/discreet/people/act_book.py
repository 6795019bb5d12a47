"""The register as it stands on the ledger now, and acts that are written only while what was checked still holds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from discreet.catalogue import Phrase
from discreet.ledger import ChainMark, Ledger, check_name
from discreet.people.persons import PersonAct
from discreet.people.register import Act, Register

__all__ = ["ActBook", "Deed"]

_NOWHERE = ChainMark(0, "")


@dataclass(frozen=True, slots=True)
class Deed:
    """An act that somebody would do. `facts` are public."""

    act: PersonAct
    person: str
    facts: Mapping[str, str | int] = field(default_factory=dict)


class ActBook:
    """Made for one ledger; threads share it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turn = threading.Lock()
        self._register = Register()
        self._mark = _NOWHERE

    def catch_up(self) -> Register:
        """The register as of now. A chain that is not the one read until now is read anew."""
        return self._catch_up()[0]

    def write(self, decide: Callable[[Register], Deed], *, who: str) -> tuple[Act, Register]:
        """Write what `decide` makes of the register, and give the register after it.

        `decide` refuses by raising. It is asked again where others wrote about people in the meantime.
        """
        check_name(who, parameter=Phrase("who acts"))
        while True:
            register, mark = self._catch_up()
            deed = decide(register)
            event = self._ledger.record_people(deed.act.value, deed.person, who=who, after=mark, **deed.facts)
            if event is not None:
                act = Act(event.sequence, event.hash, event.when, event.who, event.payload)
                return act, self.catch_up()

    def _catch_up(self) -> tuple[Register, ChainMark]:
        with self._turn:
            found = self._ledger.read_people(self._mark)
            register = Register() if found.whole else self._register
            for event in found.events:
                register = register.after(Act(event.sequence, event.hash, event.when, event.who, event.payload))
            self._register, self._mark = register, found.mark
            return register, found.mark
