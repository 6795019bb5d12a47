"""The file of an agreement: its content, and a signature of each office that has signed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from discreet.cards import CardFault
from discreet.catalogue import Phrase, say, say_list
from discreet.errors import AgreementInvalid, ParameterInvalid, PathInvalid, Refused, SignatureInvalid
from discreet.files import replace_file
from discreet.linkage.agreements.agreement import Agreement
from discreet.linkage.agreements.agreement_reader import require_writable
from discreet.linkage.agreements.office_keys import Office
from discreet.linkage.envelopes import MARK, OfficeRole, tell_role
from discreet.paths import AnyPath, as_path, open_regular

__all__ = ["SignedAgreement", "read_agreement", "write_agreement"]

_SIZE_LIMIT: Final = 4_000_000
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")
_SIGNERS: Final = {
    OfficeRole.RESEARCHER: Phrase("the researcher"),
    OfficeRole.HOLDER: Phrase("the holder"),
    OfficeRole.REGISTRY: Phrase("the registry"),
}
_UNREADABLE: Final = (
    ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, CardFault, ParameterInvalid,
    AgreementInvalid,
)  # fmt: skip


@dataclass(frozen=True)
class SignedAgreement:
    """An agreement with the signatures it has; each of them holds."""

    agreement: Agreement
    signatures: Mapping[OfficeRole, str]

    @property
    def missing(self) -> tuple[OfficeRole, ...]:
        """Who has not signed yet."""
        return tuple(role for role in OfficeRole if role not in self.signatures)

    def sign(self, office: Office) -> SignedAgreement:
        """With the signature of one of its offices."""
        if self.agreement.offices[office.role] != office.public:
            raise Refused(
                say(
                    "the agreement names another {role} than this office, or other keys. Agree again with this "
                    "office's office.json.",
                    role=tell_role(office.role),
                )
            )
        value = office.sign.sign(_message(self.agreement)).hex()
        return replace(self, signatures={**self.signatures, office.role: value})

    def require_signed(self) -> Agreement:
        """The agreement, once all three have signed it."""
        if self.missing:
            raise Refused(
                say(
                    "the agreement lacks the signature of {missing}. Each office signs with: discreet linked "
                    "sign AGREEMENT --office FOLDER",
                    missing=say_list([str(_SIGNERS[role]) for role in self.missing]),
                )
            )
        return self.agreement


def read_agreement(path: AnyPath) -> SignedAgreement:
    """The agreement in a file, if every signature in it holds."""
    path = as_path(path, "agreement")
    try:
        with open_regular(path) as stream:
            data = stream.read(_SIZE_LIMIT + 1)
    except OSError:
        raise PathInvalid(say("'{path}' is not there or cannot be read.", path=path), path=str(path)) from None
    try:
        if len(data) > _SIZE_LIMIT:
            raise ValueError("too long")
        found = json.loads(data)
        if found.keys() != {"agreement", "signatures"}:
            raise ValueError("not an agreement")
        agreement = Agreement.from_content(found["agreement"])
        require_writable(agreement.terms)
        signatures = {OfficeRole(role): value for role, value in found["signatures"].items()}
        if not all(isinstance(value, str) and _SIGNATURE.fullmatch(value) for value in signatures.values()):
            raise ValueError("not a signature")
    except _UNREADABLE:
        raise SignatureInvalid(
            say("'{name}' is not an agreement, or was altered. Ask the office that sent it again.", name=path.name),
            file=path.name,
        ) from None
    for role, value in signatures.items():
        _verify(agreement, role, value, file=path.name)
    return SignedAgreement(agreement, signatures)


def write_agreement(signed: SignedAgreement, path: AnyPath) -> None:
    """Write the file, whole or not at all."""
    content = {
        "agreement": signed.agreement.to_content(),
        "signatures": {role.value: signed.signatures[role] for role in OfficeRole if role in signed.signatures},
    }
    replace_file(as_path(path, "agreement"), json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _verify(agreement: Agreement, role: OfficeRole, value: str, *, file: str) -> None:
    from cryptography.exceptions import InvalidSignature

    try:
        agreement.offices[role].signer.verify(bytes.fromhex(value), _message(agreement))
    except (InvalidSignature, ValueError):
        raise SignatureInvalid(
            say(
                "the signature of the {role} in '{file}' does not hold: the agreement was altered after it was "
                "signed. Ask the office that sent it again.",
                role=role,
                file=file,
            ),
            file=file,
        ) from None


def _message(agreement: Agreement) -> bytes:
    return MARK + b"agreement\n" + agreement.data
