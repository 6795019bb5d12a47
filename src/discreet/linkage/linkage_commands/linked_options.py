"""Options and files that the commands of linked counts share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from discreet.catalogue import say
from discreet.errors import PathInvalid
from discreet.paths import tell_reason

if TYPE_CHECKING:
    from discreet.linkage.agreements.agreement import Agreement
    from discreet.linkage.envelopes import OfficeRole
    from discreet.linkage.offices.office_studies import Study

__all__ = ["OfficeOption", "StudyOption", "find_study_of", "read_envelope", "require_new", "write_envelope"]

OfficeOption = Annotated[
    Path,
    typer.Option("--office", metavar="DIR", envvar="DISCREET_OFFICE", show_envvar=False, help="This office's folder."),
]
StudyOption = Annotated[
    str | None, typer.Option("--study", metavar="NAME", help="Which study, where several are open.")
]

_ENTRY: Final = 17
_AROUND: Final = 1_000_000


def find_study_of(office: Path, name: str | None, role: "OfficeRole") -> "Study":
    """The study in an office's folder, where it is an office of this role."""
    from discreet.errors import UsageError
    from discreet.linkage.envelopes import tell_role
    from discreet.linkage.offices.office_studies import find_study

    found = find_study(office, name)
    if found.role is not role:
        raise UsageError(
            say(
                "'{office}' is the folder of a {role}; this is done by the {needed}.",
                office=office,
                role=tell_role(found.role),
                needed=tell_role(role),
            )
        )
    return found


def read_envelope(path: Path, agreement: "Agreement") -> bytes:
    """An envelope from a file, which is not read if it is longer than any of this agreement."""
    from discreet.paths import open_regular

    most = _AROUND + 2 * _ENTRY * agreement.terms.largest_sample
    try:
        with open_regular(path) as stream:
            data = stream.read(most + 1)
    except OSError:
        raise PathInvalid(say("'{path}' is not there or cannot be read.", path=path), path=str(path)) from None
    if len(data) > most:
        raise PathInvalid(say("'{path}' is too long for an envelope of this agreement.", path=path), path=str(path))
    return data


def require_new(*paths: Path | None) -> None:
    """Say what would stop envelopes from being written there, before anything is asked, drawn or counted."""
    from discreet.files import check_path

    for path in paths:
        if path is not None:
            check_path(path)
            if path.exists():
                raise _taken(path)


def write_envelope(path: Path, data: bytes) -> None:
    """A new file. One that is there may be the only copy of something, and stays."""
    from discreet.files import write_whole

    require_new(path)
    try:
        write_whole(path, data, mode=0o600, fresh=True)
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        raise PathInvalid(
            say("'{path}' could not be written ({reason}).", path=path, reason=tell_reason(error)), path=str(path)
        ) from None


def _taken(path: Path) -> PathInvalid:
    return PathInvalid(
        say("'{path}' exists, and an envelope replaces no file. Name another.", path=path), path=str(path)
    )
