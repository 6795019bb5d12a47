"""Three offices with small files of their own, agreed, signed and open: what tests of linked counts begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import discreet
from discreet.linkage import (
    Agreement,
    HolderDesk,
    Office,
    OfficeRole,
    RegistryDesk,
    ResearcherDesk,
    SignedAgreement,
    create_office,
    find_study,
    open_holder,
    open_registry,
    open_researcher,
    parse_terms,
)
from discreet.session import Session

__all__ = ["HEALTH_CARD", "PEOPLE_CARD", "ThreeOffices", "open_offices", "people_rows", "terms_text"]

HEALTH_CARD = """\
dataset: health
population: insured
unit: {column: number, rows: 2}
neighbours: add-remove
budget: {epsilon: 20, per_analyst: 1}
columns:
  number: {kind: id, type: integer}
  address: {kind: id, type: text}
  age: {kind: integer, bounds: [0, 110]}
  ill: {kind: category, categories: {yes: Yes, no: No}}
"""

PEOPLE_CARD = """\
dataset: people
population: residents
unit: {column: person, rows: 1}
neighbours: add-remove
budget: {epsilon: 20, per_analyst: 1}
columns:
  person: {kind: id, type: integer}
  household: {kind: id, type: text}
  french: {kind: category, categories: {yes: Yes, no: No}}
  english: {kind: category, categories: {yes: Yes, no: No}}
  first: {kind: category, categories: {F: French, E: English, O: Other}}
  weight: {kind: integer, bounds: [0, 5]}
"""

TERMS = """\
study: tongues
holder: {dataset: health, id: number}
registry: {dataset: people, id: person}
ids: integer
people: 1000
policy: {belief: 0.8}
scales: [10, 20, 30, 50, 100, 300]
kinds: [count, count-and-size, histogram, groups]
properties:
  francophone: {where: "french = 'yes' AND english = 'no'"}
  tongue:
    values:
      french: {where: "first = 'F'"}
      english: {where: "first = 'E'"}
      other: {where: "first = 'O'"}
quota: 100000
largest_sample: 1000000
closing: {share: 0.9}
expires: 2099-12-31
slots: false
"""


def terms_text(**changed: str) -> str:
    """The terms with some lines in place of others, by key."""
    lines = TERMS.splitlines()
    for key, text in changed.items():
        kept = [line for line in lines if not line.startswith(f"{key}:")]
        lines = [*kept, text] if text else kept
    return "\n".join(lines) + "\n"


def people_rows(count: int = 200) -> tuple[str, str, str]:
    """Health file, registry and map as CSV: persons 1…count; every third is ill, every fourth a Francophone.

    Person n lives in household n // 4. The last tenth of the registry is not in the health file.
    """
    health = ["number,address,age,ill"]
    people = ["person,household,french,english,first,weight"]
    homes = ["id,unit"]
    for person in range(1, count + 1):
        french = person % 4 == 0
        home = f"H{person // 4}"
        homes.append(f"{person},{home}")
        people.append(f"{person},{home},{'yes' if french else 'no'},no,{'F' if french else 'E'},{person % 5 + 1}")
        if person <= count * 9 // 10:
            health.append(f"{person},{home},{person % 90},{'yes' if person % 3 == 0 else 'no'}")
    return tuple("\n".join(lines) + "\n" for lines in (health, people, homes))  # type: ignore[return-value]


@dataclass
class ThreeOffices:
    """Desks of one study, each in a folder of its own."""

    folder: Path
    signed: SignedAgreement
    researcher: ResearcherDesk
    holder: HolderDesk
    registry: RegistryDesk
    sessions: tuple[Session, Session]

    def close(self) -> None:
        for session in self.sessions:
            session.close()

    def ask(self, property: str = "francophone", kind: str = "count", scale: int = 30, **asked: object) -> bytes:
        """The envelope of an answer, by way of all three."""
        from discreet.linkage import LinkedKind

        wanted = {"where": "ill = 'yes'", **asked}
        request = self.researcher.ask(property=property, kind=LinkedKind(kind), scale=scale, **wanted)  # type: ignore[arg-type]
        return self.registry.count(self.holder.draw(request.envelope).sample).answer


def make_workspace(folder: Path, card: str, rows: str) -> Session:
    name = card.split("\n", 1)[0].split(": ")[1]
    folder.parent.mkdir(parents=True, exist_ok=True)
    (folder.parent / f"{name}.csv").write_text(rows)
    (folder.parent / f"{name}.yaml").write_text(card)
    session = discreet.create(folder)
    session.add(folder.parent / f"{name}.csv")
    return session


def sign_all(
    terms: str, offices: Sequence[Office], folder: Path, parties: Sequence[Office] | None = None
) -> SignedAgreement:
    """Terms signed by these offices, who are the three that agree unless others are."""
    agreement = Agreement(
        parse_terms(terms, file="agreement.yaml", folder=folder),
        {office.role: office.public for office in parties or offices},
    )
    signed = SignedAgreement(agreement, {})
    for office in offices:
        signed = signed.sign(office)
    return signed


def open_offices(
    folder: Path,
    *,
    terms: str = TERMS,
    rows: tuple[str, str, str] | None = None,
    health_card: str = HEALTH_CARD,
    people_card: str = PEOPLE_CARD,
    mapped: bool = False,
    holder_crosswalk: Path | None = None,
    registry_crosswalk: Path | None = None,
) -> ThreeOffices:
    """From nothing to a study that is open at all three."""
    health, people, homes = rows or people_rows()
    sessions = (
        make_workspace(folder / "h" / "workspace", health_card, health),
        make_workspace(folder / "r" / "workspace", people_card, people),
    )
    (folder / "households.csv").write_text(homes)
    offices = [create_office(folder / role.value, role=role, name=role.value.title()) for role in OfficeRole]
    signed = sign_all(terms, offices, folder)
    by_role = {office.role: office for office in offices}
    open_researcher(by_role[OfficeRole.RESEARCHER], signed)
    _, key = open_registry(
        by_role[OfficeRole.REGISTRY],
        signed,
        workspace=folder / "r" / "workspace",
        unit_map=folder / "households.csv" if mapped else None,
        crosswalk=registry_crosswalk,
    )
    open_holder(
        by_role[OfficeRole.HOLDER],
        signed,
        workspace=folder / "h" / "workspace",
        link_key=key,
        crosswalk=holder_crosswalk,
    )
    studies = {role: find_study(folder / role.value) for role in OfficeRole}
    return ThreeOffices(
        folder,
        signed,
        ResearcherDesk(studies[OfficeRole.RESEARCHER]),
        HolderDesk(studies[OfficeRole.HOLDER], sessions[0]),
        RegistryDesk(studies[OfficeRole.REGISTRY], sessions[1]),
        sessions,
    )
