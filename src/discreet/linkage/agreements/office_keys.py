"""An office: its role, its name and its keys, in a folder that is closed to everyone else.

office.json     role and name, and the public keys: what the other two are given
sign.key        signs what it sends (Ed25519)
seal.key        opens what it is sent (X25519)
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase, say
from discreet.errors import ExtraMissing, ParameterInvalid, PathInvalid, Refused
from discreet.files import write_whole
from discreet.linkage.envelopes import OfficeRole
from discreet.paths import AnyPath, as_path, open_regular, read_regular, tell_reason

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

__all__ = ["Office", "PublicOffice", "create_office", "open_office", "read_public_office"]

OFFICE_FORMAT: Final = "discreet-office-1"
_FILE: Final = "office.json"
_SIGN: Final = "sign.key"
_SEAL: Final = "seal.key"
_HEX_KEY: Final = re.compile(r"[0-9a-f]{64}")
_LONGEST_NAME: Final = 80
_LONGEST_FILE: Final = 10_000


@dataclass(frozen=True, slots=True)
class PublicOffice:
    """What the others know of an office: its role, its name and its two public keys, in hexadecimal digits."""

    role: OfficeRole
    name: str
    sign: str
    seal: str

    @classmethod
    def from_content(cls, content: object) -> PublicOffice:
        """ValueError when it is none."""
        if not isinstance(content, dict) or content.keys() != {"role", "name", "sign", "seal"}:
            raise ValueError("an office has a role, a name and two keys")
        name, keys = content["name"], (content["sign"], content["seal"])
        if not isinstance(name, str) or not 1 <= len(name.strip()) <= _LONGEST_NAME or not name.isprintable():
            raise ValueError("a name is short printable text")
        if not all(isinstance(key, str) and _HEX_KEY.fullmatch(key) for key in keys):
            raise ValueError("a key is 64 hexadecimal digits")
        return cls(OfficeRole(content["role"]), name, *keys)

    def to_content(self) -> dict[str, str]:
        return {"role": self.role.value, "name": self.name, "sign": self.sign, "seal": self.seal}

    @property
    def signer(self) -> Ed25519PublicKey:
        _, ed25519, _ = _cryptography()
        key: Ed25519PublicKey = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.sign))
        return key

    @property
    def sealer(self) -> X25519PublicKey:
        _, _, x25519 = _cryptography()
        key: X25519PublicKey = x25519.X25519PublicKey.from_public_bytes(bytes.fromhex(self.seal))
        return key


@dataclass(frozen=True, slots=True)
class Office:
    """An office in its own folder, with its private keys."""

    folder: Path
    public: PublicOffice
    sign: Ed25519PrivateKey
    seal: X25519PrivateKey

    @property
    def role(self) -> OfficeRole:
        return self.public.role


def create_office(folder: AnyPath, *, role: OfficeRole, name: str) -> Office:
    """A new office in an absent or empty folder, with new keys."""
    folder = as_path(folder, "folder")
    if not 1 <= len(name.strip()) <= _LONGEST_NAME or not name.isprintable():
        raise ParameterInvalid(
            parameter="name",
            rule=say("must be printable text of 1 to {longest} characters", longest=_LONGEST_NAME),
            given=ascii(name[:40]),
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PathInvalid(
            say("'{folder}' is not an empty folder. Choose a new one for this office.", folder=folder), path=str(folder)
        )
    serialization, ed25519, x25519 = _cryptography()
    sign, seal = ed25519.Ed25519PrivateKey.generate(), x25519.X25519PrivateKey.generate()
    raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    public = PublicOffice(
        role,
        name.strip(),
        sign.public_key().public_bytes(*raw).hex(),
        seal.public_key().public_bytes(*raw).hex(),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        for file, key in ((_SIGN, sign), (_SEAL, seal)):
            private = key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            write_whole(folder / file, private, mode=0o600, fresh=True)
        content = {"format": OFFICE_FORMAT, "office": public.to_content()}
        write_whole(folder / _FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n", mode=0o644)
    except OSError as error:
        raise PathInvalid(
            say("'{folder}' cannot be written: {strerror}.", folder=folder, strerror=tell_reason(error)),
            path=str(folder),
        ) from None
    return Office(folder, public, sign, seal)


def open_office(folder: AnyPath) -> Office:
    """The office in a folder. Its private keys must be the ones that its public keys belong to."""
    folder = as_path(folder, "office")
    public = read_public_office(folder / _FILE)
    serialization, ed25519, x25519 = _cryptography()
    raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    keys = []
    for file, kind, shown in (
        (_SIGN, ed25519.Ed25519PrivateKey, public.sign),
        (_SEAL, x25519.X25519PrivateKey, public.seal),
    ):
        try:
            key = serialization.load_pem_private_key(read_regular(folder / file), password=None)
        except (OSError, ValueError, TypeError):
            key = None
        if not isinstance(key, kind) or key.public_key().public_bytes(*raw).hex() != shown:
            raise Refused(
                say(
                    "'{file}' in '{folder}' is missing, or is not the key that '{office}' names. Restore it from a "
                    "copy.",
                    file=file,
                    folder=folder,
                    office=_FILE,
                ),
                path=str(folder),
            )
        keys.append(key)
    return Office(folder, public, keys[0], keys[1])


def read_public_office(path: AnyPath) -> PublicOffice:
    """The public part of an office: its office.json, or the folder in which that is."""
    path = as_path(path, "office")
    file = path / _FILE if path.is_dir() else path
    try:
        with open_regular(file) as stream:
            found = json.loads(stream.read(_LONGEST_FILE))
        if not isinstance(found, dict) or found.get("format") != OFFICE_FORMAT:
            raise ValueError("not an office")
        return PublicOffice.from_content(found.get("office"))
    except OSError:
        raise PathInvalid(
            say(
                "'{file}' is not there or cannot be read. An office is made with: discreet linked keys FOLDER "
                "--role ROLE --name NAME",
                file=file,
            ),
            path=str(file),
        ) from None
    except (ValueError, RecursionError):
        raise Refused(
            say("'{file}' does not describe an office. Ask that office for its {name} again.", file=file, name=_FILE)
        ) from None


def _cryptography() -> tuple[Any, Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("Linked counts"), extra="linked") from None
    return serialization, ed25519, x25519
