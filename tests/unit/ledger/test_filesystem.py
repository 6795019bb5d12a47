"""Network drives are told from local ones by the system's table of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import LedgerUnavailable
from discreet.ledger.chain_stores import filesystem
from discreet.ledger.chain_stores.filesystem import filesystem_of, is_network, refuse_network_drive

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /srv nfs4 rw 0 0
/dev/sdb1 /srv/local xfs rw 0 0
//nas/share /mnt/my\\040share cifs rw 0 0
me@host: /srv/me/remote fuse.sshfs rw 0 0
/dev/sdc1 /data ext4 rw 0 0
fileserver /data nfs rw 0 0
broken
"""


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/var/ledger.sqlite", "ext4", False),
        ("/srv/a/ledger.sqlite", "nfs4", True),
        ("/srv/local/ledger.sqlite", "xfs", False),
        ("/srvx/ledger.sqlite", "ext4", False),
        ("/mnt/my share/ledger.sqlite", "cifs", True),
        ("/srv/me/remote/ledger.sqlite", "fuse.sshfs", True),
        ("/data/ledger.sqlite", "nfs", True),
    ],
)
def test_the_innermost_newest_mount_counts(path: str, kind: str, network: bool) -> None:
    assert filesystem_of(Path(path), MOUNTS) == kind
    assert is_network(kind) is network


def test_no_table_no_verdict() -> None:
    assert filesystem_of(Path("/x"), "") is None


@pytest.mark.parametrize("kind", ["smb3", "afs", "fuse.glusterfs", "glusterfs", "SMBFS", "ceph"])
def test_known_network_kinds(kind: str) -> None:
    assert is_network(kind)


@pytest.mark.parametrize("kind", ["ext4", "btrfs", "overlay", "tmpfs", "zfs", "fuseblk"])
def test_known_local_kinds(kind: str) -> None:
    assert not is_network(kind)


def test_a_network_drive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mounts"
    table.write_text(f"server:/x {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(filesystem, "_MOUNTS", table)
    with pytest.raises(LedgerUnavailable, match=r"network drive \(nfs4\)"):
        refuse_network_drive(tmp_path / "ledger.sqlite")
    monkeypatch.setattr(filesystem, "_MOUNTS", tmp_path / "absent")
    refuse_network_drive(tmp_path / "ledger.sqlite")
