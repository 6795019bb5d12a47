"""Which drives a ledger file may not stand on.

SQLite's locks and write-ahead log need one machine's kernel; network drives break both without a word.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from discreet.catalogue import say
from discreet.errors import LedgerUnavailable

__all__ = ["filesystem_of", "is_network", "refuse_network_drive"]

_MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = frozenset(
    (
        "acfs",
        "afp",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "mfs",
        "ncp",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "panfs",
        "pvfs2",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "sshfs",
        "vboxsf",
    )
)
_NETWORK_IN_USER_SPACE: Final = frozenset(
    (
        "ceph",
        "cephfs",
        "curlftpfs",
        "davfs",
        "gcsfuse",
        "glusterfs",
        "moosefs",
        "rclone",
        "s3fs",
        "smbnetfs",
        "sshfs",
    )
)


def is_network(kind: str) -> bool:
    """Whether a file system of this kind is served by another machine."""
    name = kind.lower()
    return name in _NETWORK or name.removeprefix("fuse.") in _NETWORK_IN_USER_SPACE


def filesystem_of(path: Path, mounts: str) -> str | None:
    """The kind of the file system that holds `path`, from text in the format of /proc/self/mounts."""
    found: tuple[int, str] | None = None
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        mount = Path(_unescape(fields[1]))
        # A later mount at the same place covers the earlier one.
        if path.is_relative_to(mount) and (found is None or len(mount.parts) >= found[0]):
            found = (len(mount.parts), fields[2])
    return None if found is None else found[1]


def refuse_network_drive(path: Path) -> None:
    """LedgerUnavailable when `path` lies on a network drive, where the system tells."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    kind = filesystem_of(path.resolve(), mounts)
    if kind is not None and is_network(kind):
        raise LedgerUnavailable(
            say(
                "The ledger '{path}' lies on a network drive ({kind}), where SQLite cannot keep it safe. Put the "
                "workspace on a local disk, or keep the ledger in PostgreSQL.",
                path=path,
                kind=kind,
            ),
            path=str(path),
            filesystem=kind,
        )


def _unescape(field: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field
