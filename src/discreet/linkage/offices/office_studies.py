"""One study in an office's folder: the agreement as all three signed it, and what this office keeps for it.

studies/NAME/agreement.json   signed by all three
studies/NAME/study.json       the workspace of a holder or registry
studies/NAME/link.key         the study's key, at holder and registry
studies/NAME/draw.key         the holder's secret coins
studies/NAME/requests/        what came under each request, and what was made of it
pools/NAME/                   the registry's accounts of one property (account_book)
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import PathInvalid, Refused, UnknownName
from discreet.files import locked, sync, write_whole
from discreet.linkage.agreements.agreement import Agreement
from discreet.linkage.agreements.office_keys import Office, open_office
from discreet.linkage.agreements.signed_agreement import SignedAgreement, read_agreement, write_agreement
from discreet.linkage.envelopes import (
    ROUTES,
    EnvelopeHeader,
    EnvelopeKind,
    OfficeRole,
    OpenedEnvelope,
    open_envelope,
    refuse_envelope,
    seal_envelope,
    tell_role,
)
from discreet.paths import AnyPath, as_path, read_regular
from discreet.session import Session

__all__ = ["Study", "create_study", "find_study", "list_studies"]

_LIFE: Final = timedelta(days=90)
_REQUEST: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Study:
    """An office's part in one agreement."""

    office: Office
    agreement: Agreement
    folder: Path
    workspace: Path | None = None

    @property
    def role(self) -> OfficeRole:
        return self.office.role

    @property
    def name(self) -> str:
        return self.agreement.terms.study

    @property
    def settled(self) -> Study:
        """A study that has just been opened, in the place that it has from then on."""
        return replace(self, folder=self.office.folder / "studies" / self.agreement.short)

    def require_current(self, now: datetime | None = None) -> None:
        """Refuse to begin anything once the agreement has ended."""
        ends = self.agreement.terms.ends
        if (now or moment()) >= ends:
            raise Refused(
                say("the agreement held until {expires}. Agree anew to go on.", expires=self.agreement.terms.expires)
            )

    def seal(self, kind: EnvelopeKind, body: bytes, *, request: str, now: datetime | None = None) -> bytes:
        """An envelope of this office to the one that receives its kind."""
        created = (now or moment()).replace(microsecond=0)
        expires = min(created + _LIFE, self.agreement.terms.ends)
        header = EnvelopeHeader(self.agreement.digest, kind, request, created, expires)
        receiver = ROUTES[kind][1]
        return seal_envelope(body, header, sign=self.office.sign, seal=self.agreement.offices[receiver].sealer)

    def unseal(self, data: bytes, kind: EnvelopeKind, *, now: datetime | None = None) -> OpenedEnvelope:
        """What an envelope to this office holds, if it is of the kind that is wanted."""
        opened = open_envelope(
            data,
            role=self.role,
            agreement=self.agreement.digest,
            senders={role: office.signer for role, office in self.agreement.offices.items()},
            key=self.office.seal,
            now=now or moment(),
        )
        if opened.header.kind is not kind:
            raise refuse_envelope()
        return opened

    def open_session(self) -> Session:
        """The office's workspace, where its rows and its ledger are."""
        from discreet.session import open as open_workspace

        assert self.workspace is not None, "holders and registries have one"
        return open_workspace(self.workspace)

    def note(self, request: str, content: Mapping[str, Any]) -> None:
        """Keep what was made of a request."""
        write_whole(self._record(request), json.dumps(content) + "\n", mode=0o600)

    def noted(self, request: str) -> dict[str, Any] | None:
        """What was kept of a request."""
        try:
            found = json.loads(read_regular(self._record(request)))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise Refused(
                say("what was kept of request {request} cannot be read. Restore the office's folder.", request=request)
            ) from None
        return found if isinstance(found, dict) else None

    def requests(self) -> tuple[str, ...]:
        """Every request that something is kept of, the oldest first."""
        files = sorted((self.folder / "requests").glob("*.json"), key=lambda file: (file.stat().st_mtime_ns, file.name))
        return tuple(file.stem for file in files)

    @property
    def charged(self) -> int:
        """What all requests of a researcher, or at a holder, cost together."""
        return sum(int((self.noted(request) or {}).get("charge", 0)) for request in self.requests())

    def secret(self, name: str) -> bytes:
        """A key that this office keeps for the study."""
        try:
            return bytes.fromhex(read_regular(self.folder / f"{name}.key").decode("ascii").strip())
        except (OSError, ValueError):
            raise Refused(
                say(
                    "'{key}.key' of study '{study}' cannot be read. Restore the office's folder.",
                    key=name,
                    study=self.name,
                )
            ) from None

    def keep_secret(self, name: str, value: bytes) -> None:
        write_whole(self.folder / f"{name}.key", value.hex() + "\n", mode=0o600)

    def _record(self, request: str) -> Path:
        if _REQUEST.fullmatch(request) is None:
            raise refuse_envelope()
        return self.folder / "requests" / f"{request}.json"


def moment() -> datetime:
    return datetime.now(UTC)


@contextmanager
def create_study(office: Office, signed: SignedAgreement, workspace: AnyPath | None) -> Iterator[Study]:
    """A study that is being opened: it has its place when the block ends well, and none when it does not."""
    agreement = signed.require_signed()
    if agreement.offices[office.role] != office.public:
        raise Refused(
            say("the agreement names another {role} than this office, or other keys.", role=tell_role(office.role))
        )
    home = office.folder / "studies"
    place, staged = home / agreement.short, home / f".{agreement.short}.opening"
    where = None if workspace is None else as_path(workspace, "workspace").resolve()
    study = Study(office, agreement, staged, where)
    study.require_current()
    with locked(office.folder / "lock"):  # two that open at once would make the same accounts
        if place.exists():
            raise Refused(
                say("study '{study}' is open here already.", study=agreement.terms.study), study=agreement.terms.study
            )
        home.mkdir(mode=0o700, exist_ok=True)
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir(mode=0o700)
        try:
            (staged / "requests").mkdir(mode=0o700)
            write_agreement(signed, staged / "agreement.json")
            write_whole(staged / "study.json", json.dumps({"workspace": None if where is None else str(where)}) + "\n")
            yield study
            sync(staged)
            staged.rename(place)
            sync(home)
        finally:
            shutil.rmtree(staged, ignore_errors=True)


def list_studies(office: Office) -> tuple[Study, ...]:
    """Every study that is open in an office's folder, by name."""
    home = office.folder / "studies"
    found = [_read_study(office, folder) for folder in sorted(home.glob("[!.]*"))] if home.is_dir() else []
    return tuple(sorted(found, key=lambda study: (study.name, study.agreement.digest)))


def find_study(folder: AnyPath, name: str | None = None) -> Study:
    """The study of that name, or that begins with these digits of its digest; the only one where none is named."""
    studies = list_studies(open_office(folder))
    chosen = [item for item in studies if name is None or item.name == name or item.agreement.digest.startswith(name)]
    if len(chosen) == 1:
        return chosen[0]
    if name is None and not studies:
        raise Refused(
            say("no study is open in this office. Open one with: discreet linked open AGREEMENT --office FOLDER")
        )
    known = [f"{item.name}" for item in studies]
    if not chosen:
        raise UnknownName(sort=Phrase("Study"), name=name or "", where=say("this office"), known=known)
    digests = ", ".join(f"{item.name} ({item.agreement.short})" for item in chosen)
    raise Refused(say("several studies are open in this office: {studies}. Name one with --study.", studies=digests))


def _read_study(office: Office, folder: Path) -> Study:
    agreement = read_agreement(folder / "agreement.json").require_signed()
    try:
        found = json.loads(read_regular(folder / "study.json"))
        workspace = found["workspace"]
    except (OSError, ValueError, KeyError, TypeError):
        raise PathInvalid(
            say("'{name}' of this office cannot be read. Restore it from a copy.", name=folder.name)
        ) from None
    return Study(office, agreement, folder, None if workspace is None else Path(workspace))
