"""The folder for results, judged before anything starts; and files that stand in the way, before
anything is written."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sluice.contracts.problems import Conflict, Unprocessable

#: Files that are named one by one.
_MOST_NAMED = 5


class FilesExist(Conflict):
    """Files that would be overwritten, or might be."""

    def __init__(self, folder: Path, paths: Iterable[Path]) -> None:
        found = sorted(path.relative_to(folder).as_posix() for path in paths)
        others = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        names = ", ".join(found[:_MOST_NAMED]) + others
        super().__init__(
            f"--out {folder}: it has {names} already; name another folder, or overwrite with"
            " --force"
        )


def require_folder(folder: Path, *, empty: bool = False) -> None:
    """Can files be written there? ``empty``: and is nothing in it? Makes nothing. Raises
    ``Unprocessable``, ``FilesExist``."""
    if empty and folder.is_dir() and (inside := list(folder.iterdir())):
        raise FilesExist(folder, inside)
    nearest = folder.absolute()
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    if not nearest.is_dir():
        obstacle = "is a file" if nearest.exists() else "is a link to nothing"
        raise Unprocessable(f"--out {folder}: {nearest} {obstacle}; name a folder")
    try:
        # Tried, because neither rights nor the user tell whether a file system is read-only.
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise Unprocessable(
            f"--out {folder}: nothing can be written in {nearest}: {error.strerror}"
        ) from error
