"""Checks of the folder for results, before anything starts or is written."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

#: The number of files that a message names.
_MAX_NAMED = 5


class FilesExist(Conflict):
    """Files exist that would or might be overwritten."""

    def __init__(self, folder: Path, paths: Iterable[Path]) -> None:
        found = sorted(path.relative_to(folder).as_posix() for path in paths)
        others = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
        names = ", ".join(map(quoted, found[:_MAX_NAMED])) + others
        super().__init__(
            f"--out {folder}: it has {names} already; name another folder, or overwrite with"
            " --force"
        )


def require_folder(folder: Path, *, empty: bool = False) -> None:
    """Check that files can be written to a folder, without creating it.

    Args:
        folder: The folder, which may not exist yet.
        empty: Whether the folder must be empty.

    Raises:
        Unprocessable: Files cannot be written there.
        FilesExist: The folder is not empty.
    """
    if empty and folder.is_dir() and (inside := list(folder.iterdir())):
        raise FilesExist(folder, inside)
    nearest = folder.absolute()
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    if not nearest.is_dir():
        obstacle = "is a file" if nearest.exists() else "is a link to nothing"
        raise Unprocessable(f"--out {folder}: {nearest} {obstacle}; name a folder")
    try:
        # Only a try shows whether a file system is read-only. Access rights do not.
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise Unprocessable(
            f"--out {folder}: nothing can be written in {nearest}: {reason_of(error)}"
        ) from error
