"""Signed manifests: the JSON that respondents' software reads, and how it knows that nobody altered it.

The content is written in one canonical form, whose SHA-256 is the digest that every report names, and signed with
Ed25519: whoever holds the public key can verify, and nobody without the private key can sign. A file names the public
key it was signed with, so it can always be checked against itself; only a key that came another way tells whose it is.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from discreet.catalogue import Phrase, say
from discreet.collect.reporting.assignment import randomiser_for
from discreet.collect.reporting.manifest import Manifest
from discreet.collect.reporting.manifest_reader import parse_manifest
from discreet.errors import ExtraMissing, ManifestInvalid, PathInvalid, SignatureInvalid, UsageError
from discreet.files import write_whole
from discreet.paths import open_regular, read_regular, tell_reason

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["FORMAT", "SignedManifest", "create_keys", "read_signed", "sign_manifest"]

FORMAT: Final = "discreet-survey-manifest-1"

_SIZE_LIMIT: Final = 4_000_000
_HEX_KEY: Final = re.compile(r"[0-9a-f]{64}")
_HEX_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class SignedManifest:
    """A manifest whose digest and signature held. `trusted` says whether the key was one the reader already trusted."""

    manifest: Manifest
    digest: str
    public_key: str
    trusted: bool

    @property
    def mark(self) -> str:
        """The start of the digest, which every report carries."""
        return self.digest[:32]

    @property
    def verification(self) -> str:
        """What was verified, and what was not, in words."""
        if self.trusted:
            return say("the signature holds under the trusted key")
        return say(
            "the signature holds under the key named in the file itself; whose key that is was not verified "
            "(give --trust PUBLIC_KEY)"
        )


def create_keys(path: Path) -> Path:
    """A new private key at `path`, readable by its owner alone, and its public key beside it, with suffix .pub."""
    public = path.with_name(f"{path.name}.pub")
    for file in (path, public):
        if file.exists():
            raise PathInvalid(
                say("'{name}' exists; a key is never overwritten. Choose another name.", name=file.name), path=str(file)
            )
    serialization, ed25519 = _cryptography()
    key = ed25519.Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    shown = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    try:
        for file, data, mode in ((path, private, 0o600), (public, shown, 0o644)):
            write_whole(file, data, mode=mode, fresh=True)
    except OSError as error:
        raise PathInvalid(
            say("'{name}' cannot be written: {reason}.", name=path.name, reason=tell_reason(error)), path=str(path)
        ) from None
    return public


def sign_manifest(manifest: Manifest, *, key: Path) -> str:
    """The signed JSON text of a manifest."""
    private = _read_private(key)
    content = _content(manifest)
    data = _canonical(content)
    serialization, _ = _cryptography()
    public = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    signed = {
        "format": FORMAT,
        "manifest": content,
        "digest": hashlib.sha256(data).hexdigest(),
        "signature": {"algorithm": "ed25519", "public_key": public.hex(), "value": private.sign(_message(data)).hex()},
    }
    return json.dumps(signed, indent=1, ensure_ascii=False) + "\n"


def read_signed(path: Path, *, trust: Path | None = None) -> SignedManifest:
    """The manifest in a signed file, if digest and signature hold and, with `trust`, the key is that one."""
    found = _read_json(path)
    content, data = found["manifest"], _canonical(found["manifest"])
    digest = hashlib.sha256(data).hexdigest()
    if found["digest"] != digest:
        raise SignatureInvalid(
            say(
                "'{name}' was altered after it was signed: its digest does not hold. Fetch it again from the survey.",
                name=path.name,
            ),
            file=path.name,
        )
    public = found["signature"]["public_key"]
    trusted = None if trust is None else _read_public(trust)
    if trusted is not None and trusted != public:
        raise SignatureInvalid(
            say(
                "'{name}' is signed, but not with the key in '{key}'. Do not use it; ask those who run the survey "
                "which key is theirs.",
                name=path.name,
                key=trust.name if trust else "",
            ),
            file=path.name,
        )
    _verify(path, public=public, value=found["signature"]["value"], data=data)
    return SignedManifest(_manifest(path, content), digest, public, trusted is not None)


# --- content --------------------------------------------------------------------------------------------------------


def _content(manifest: Manifest) -> dict[str, Any]:
    """The facts of a manifest with the exact parameters of every randomiser, for software in other languages."""
    content: dict[str, Any] = manifest.to_content()
    for question, entry in zip(manifest.questions, content["questions"], strict=True):
        entry["parameters"] = randomiser_for(question).parameters()
    return content


def _canonical(content: object) -> bytes:
    """Keys sorted, no spaces, UTF-8: equal contents have equal bytes on every machine."""
    try:
        return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise SignatureInvalid(
            say("the manifest holds text that is not Unicode. Fetch it again from the survey.")
        ) from None


def _message(data: bytes) -> bytes:
    """What is signed: named, so that a signature made for another purpose never passes here."""
    return FORMAT.encode("ascii") + b"\n" + data


def _manifest(path: Path, content: dict[str, Any]) -> Manifest:
    """The content through the same reader as a person's YAML, so that one set of rules holds for both."""
    manifest = parse_manifest(json.dumps(_as_written(path, content), indent=1, ensure_ascii=False), file=path.name)
    if _canonical(_content(manifest)) != _canonical(content):
        raise ManifestInvalid(
            file=path.name,
            problems=[
                say(
                    "{name}:1: this version of discreet does not read the manifest as the version that signed it did; "
                    "use that version, or sign it again as a new version of the survey",
                    name=path.name,
                )
            ],
        )
    return manifest


def _as_written(path: Path, content: dict[str, Any]) -> dict[str, Any]:
    """Lists of named things as mappings, as a person writes them; what is derived is left out."""
    try:
        written = dict(content)
        for part in ("questions", "groups"):
            if part in written:
                written[part] = {entry["name"]: _entry(entry) for entry in written[part]}
        return written
    except (KeyError, TypeError, AttributeError, ValueError):
        raise _malformed(path) from None


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in entry.items() if key not in {"name", "parameters"}}
    if "categories" in kept:
        kept["categories"] = {category["code"]: category["label"] for category in kept["categories"]}
    return kept


# --- files ----------------------------------------------------------------------------------------------------------


def _read_json(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as stream:
            data = stream.read(_SIZE_LIMIT + 1)
    except OSError as error:
        raise PathInvalid(
            say("manifest '{name}' cannot be read: {reason}.", name=path.name, reason=tell_reason(error)),
            path=str(path),
        ) from None
    if path.suffix.lower() in {".yaml", ".yml"}:
        raise SignatureInvalid(
            say(
                "'{name}' is a manifest that is not signed. Sign it first: discreet local sign {name} --out "
                "{stem}.json",
                name=path.name,
                stem=path.stem,
            ),
            file=path.name,
        )
    try:
        result = json.loads(data) if len(data) <= _SIZE_LIMIT else None
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, dict) or set(result) != {"format", "manifest", "digest", "signature"}:
        raise _malformed(path)
    signature = result["signature"]
    shaped = (
        result["format"] == FORMAT
        and isinstance(result["manifest"], dict)
        and isinstance(signature, dict)
        and set(signature) == {"algorithm", "public_key", "value"}
        and signature["algorithm"] == "ed25519"
        and _matches(_HEX_KEY, signature["public_key"])
        and _matches(_HEX_SIGNATURE, signature["value"])
    )
    if not shaped:
        raise _malformed(path)
    return result


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _malformed(path: Path) -> SignatureInvalid:
    return SignatureInvalid(
        say(
            "'{name}' is not a signed manifest. Make one with: discreet local sign MANIFEST.yaml --out manifest.json",
            name=path.name,
        ),
        file=path.name,
    )


def _read_private(path: Path) -> Ed25519PrivateKey:
    serialization, ed25519 = _cryptography()
    try:
        mode = path.stat().st_mode
        data = read_regular(path)
    except OSError:
        raise PathInvalid(
            say(
                "the signing key '{name}' cannot be read. Make one with: discreet local keys --out {name}",
                name=path.name,
            ),
            path=str(path),
        ) from None
    if sys.platform != "win32" and stat.S_IMODE(mode) & 0o077:
        raise UsageError(
            say("the signing key '{name}' may be read by others. Protect it: chmod 600 {name}", name=path.name)
        )
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UsageError(say("'{name}' is not an Ed25519 private key in PEM form, without a password.", name=path.name))
    private: Ed25519PrivateKey = key
    return private


def _read_public(path: Path) -> str:
    """A public key as hexadecimal digits, from PEM or from those digits."""
    try:
        with open_regular(path) as stream:
            data = stream.read(10_000)
    except OSError as error:
        raise PathInvalid(
            say("the public key '{name}' cannot be read: {reason}.", name=path.name, reason=tell_reason(error)),
            path=str(path),
        ) from None
    digits = data.strip().decode("ascii", errors="replace").lower()
    if _HEX_KEY.fullmatch(digits):
        return digits
    serialization, ed25519 = _cryptography()
    try:
        key = serialization.load_pem_public_key(data)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise UsageError(
            say("'{name}' is not an Ed25519 public key, in PEM form or as 64 hexadecimal digits.", name=path.name)
        )
    raw: bytes = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw.hex()


def _verify(path: Path, *, public: str, value: str, data: bytes) -> None:
    _, ed25519 = _cryptography()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(value), _message(data))
    except (InvalidSignature, ValueError):
        raise SignatureInvalid(
            say(
                "the signature of '{name}' does not hold: it was altered, or signed by somebody else. Fetch it "
                "again from the survey.",
                name=path.name,
            ),
            file=path.name,
        ) from None


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ExtraMissing(needed_for=Phrase("a signed manifest"), extra="collect") from None
    return serialization, ed25519
