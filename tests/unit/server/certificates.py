"""Certificates for tests: made on the spot, believed by nobody else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from discreet.server import TlsFiles

__all__ = ["make_tls"]


def make_tls(folder: Path, *, password: bytes = b"") -> TlsFiles:
    """A certificate for 127.0.0.1 and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "office")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = TlsFiles(folder / "office.crt", folder / "office.key")
    (folder / "office.crt").write_bytes(certificate.public_bytes(Encoding.PEM))
    packed = BestAvailableEncryption(password) if password else NoEncryption()
    (folder / "office.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, packed))
    return files
