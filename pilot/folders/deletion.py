"""Deletion of folders in any state that a tool may leave them in."""

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Collection
from pathlib import Path


def delete_tree(path: Path | str) -> None:
    """Delete a folder as far as possible.

    The folder may lack permissions or be too deep for a path or the stack. A link or a file is
    removed itself.
    """
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        _flatten(path)
        shutil.rmtree(path, ignore_errors=True)


def _flatten(path: Path | str) -> None:
    """Move every inner folder right below ``path`` and give this user full access to it."""
    waiting, prefix, number = [str(path)], secrets.token_hex(8), 0
    while waiting:
        folder = waiting.pop()
        for inner in _list_folders(folder):
            number += 1
            place = inner if folder == str(path) else f"{path}/{prefix}-{number}"
            with contextlib.suppress(OSError):
                os.chmod(inner, stat.S_IRWXU)
                os.rename(inner, place)
                waiting.append(place)


def _list_folders(folder: str) -> list[str]:
    """Return the paths of the folders in a folder. Links to folders are left out."""
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    return []


def empty_folder(
    folder: str,
    *,
    take: Callable[[os.DirEntry[str]], bool] | None = None,
    keep: Collection[str] = (),
) -> None:
    """Delete everything in a folder.

    ``take`` may move a file away itself. Empty inner folders that ``keep`` names stay.
    """
    if os.path.islink(folder):
        os.unlink(folder)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in keep or os.listdir(entry.path):
                        delete_tree(entry.path)
                elif take is None or not take(entry):
                    os.unlink(entry.path)
    except FileNotFoundError:  # The tool has removed the folder.
        os.mkdir(folder)
