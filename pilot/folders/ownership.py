"""Folders that only this user can write to.

Files in such a folder are trusted, sent and deleted.
"""

import os
import pwd
import stat
from pathlib import Path

from sluice.text.os_errors import reason_of

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
#: Modes: closed to others, and open to pass through without listing the content.
PRIVATE, PASSAGE = 0o700, 0o711


class UnsafeFolderError(Exception):
    """The folder cannot be made, or others could have written to it."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(
            f"{path} {why}; give the pilot its own folder (--work-dir, SLUICE_PILOT_WORK_DIR)"
        )
        self.path = Path(path)
        self.why = why


def make_own_folder(path: Path, *, mode: int | None = None) -> Path:
    """Return the path of a folder that only this user writes to, with links resolved.

    A missing folder is created, closed to others. ``mode`` is set on an existing folder too. The
    owners and groups of folders above are trusted.

    Raises:
        UnsafeFolderError: Another user owns the folder, or can write to it or replace it.
    """
    place = Path(os.path.abspath(path))
    try:
        _make(place)
        _check_parents(str(place))
        place = Path(os.path.realpath(place))
        _check_own(place)
        if mode is not None:
            place.chmod(mode)
    except OSError as error:
        raise UnsafeFolderError(place, f"cannot be used: {reason_of(error)}") from error
    return place


def _make(path: Path) -> None:
    """Create a folder and its missing parents, open to this user only.

    A dangling link is left as it is.
    """
    if not os.path.lexists(path):
        _make(path.parent)
        try:
            path.mkdir(mode=stat.S_IRWXU)
        except FileExistsError:
            return


def _check_parents(path: str) -> None:
    """Check that no other user can replace a part of the path.

    A folder that everybody may write to needs a sticky bit, and its entry must belong to this user
    or root.
    """
    above, name = os.path.split(path)
    if not name:
        return
    _check_parents(above)
    folder, entry = os.stat(above), os.lstat(path)
    if folder.st_mode & stat.S_IWOTH:
        if not folder.st_mode & stat.S_ISVTX:
            raise UnsafeFolderError(
                path,
                f"can be replaced by anybody: everybody may write to {above}, which has no"
                " sticky bit",
            )
        if entry.st_uid not in {0, os.geteuid()}:
            raise UnsafeFolderError(
                path,
                f"was put into {above}, where everybody may write, by {_format_user(entry.st_uid)}",
            )
    if stat.S_ISLNK(entry.st_mode):
        _check_parents(os.path.realpath(path))


def _check_own(path: Path) -> None:
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafeFolderError(path, "is not a folder")
    if status.st_uid != os.geteuid():
        raise UnsafeFolderError(
            path,
            f"belongs to {_format_user(status.st_uid)}, and this is {_format_user(os.geteuid())}",
        )
    if status.st_mode & _OTHERS_WRITE:
        mode = stat.S_IMODE(status.st_mode)
        raise UnsafeFolderError(
            path, f"may be written to by others (mode {mode:o}), so what is in it may be theirs"
        )


def _format_user(uid: int) -> str:
    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"
