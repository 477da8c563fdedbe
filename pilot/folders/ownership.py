"""Folders that only this user can put anything into: what lies in one is believed, sent and
deleted."""

import os
import pwd
import stat
from pathlib import Path

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
#: Of folders that nobody else can enter, and of those that others can go through without seeing
#: what is in them.
PRIVATE, PASSAGE = 0o700, 0o711


class UnsafeFolderError(Exception):
    """Somebody else could have put something there, or it cannot be made."""

    def __init__(self, path: Path | str, why: str) -> None:
        super().__init__(
            f"{path} {why}; give the pilot a folder of its own (--work-dir, SLUICE_PILOT_WORK_DIR)"
        )
        self.path = Path(path)
        self.why = why


def own_folder(path: Path, *, mode: int | None = None) -> Path:
    """The folder, without links in its path; made where there is none, closed to all others.
    ``mode``: the folder's, also where it is there already.

    Raises ``UnsafeFolderError`` unless it is this user's, only this user writes to it, and nobody
    else can put something in its place. Who may write to a folder above it by its group, and who
    owns one, is taken to be trusted.
    """
    place = Path(os.path.abspath(path))
    try:
        _make(place)
        _check_way(str(place))
        place = Path(os.path.realpath(place))
        _check_own(place)
        if mode is not None:
            place.chmod(mode)
    except OSError as error:
        raise UnsafeFolderError(place, f"cannot be used: {error.strerror or error}") from error
    return place


def _make(path: Path) -> None:
    """What is missing of it belongs to nobody else. A link that leads nowhere is not made to lead
    somewhere."""
    if not os.path.lexists(path):
        _make(path.parent)
        try:
            path.mkdir(mode=stat.S_IRWXU)
        except FileExistsError:
            return


def _check_way(path: str) -> None:
    """Where everybody may write, what is this user's must be safe from being renamed, and what is
    not this user's was put there by somebody."""
    above, name = os.path.split(path)
    if not name:
        return
    _check_way(above)
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
                path, f"was put into {above}, where everybody may write, by {_name(entry.st_uid)}"
            )
    if stat.S_ISLNK(entry.st_mode):
        _check_way(os.path.realpath(path))


def _check_own(path: Path) -> None:
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeFolderError(path, "is no folder")
    if found.st_uid != os.geteuid():
        raise UnsafeFolderError(
            path, f"belongs to {_name(found.st_uid)}, and this is {_name(os.geteuid())}"
        )
    if found.st_mode & _OTHERS_WRITE:
        mode = stat.S_IMODE(found.st_mode)
        raise UnsafeFolderError(
            path, f"may be written to by others (mode {mode:o}), so what is in it may be theirs"
        )


def _name(uid: int) -> str:
    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"
