"""Restoring the files of a checkpoint: either all or none."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

from pilot.folders.work_folder import OUT, TMP
from pilot.runner.files.matching_files import FileState, file_state
from sluice.text.visible_text import quoted


class PathOccupiedError(Exception):
    """Something else is in the way of ``path``."""

    def __init__(self, path: bytes) -> None:
        super().__init__(f"something else is at {quoted(os.fsdecode(path))}")


def restore(folder: str, files: Mapping[bytes, Callable[[str], None]]) -> dict[bytes, FileState]:
    """Restore files in the job's folder before anything runs in it.

    ``files`` maps paths to functions that copy the file to a path of the node. Existing files are
    replaced. If one of them or this function raises an exception, nothing has changed.

    Returns:
        The states of the restored files.

    Raises:
        PathOccupiedError: Something else is in the way of a path.
        OSError: A file could not be moved.
    """
    temporary = tempfile.mkdtemp(dir=f"{folder}/{TMP}")
    try:
        copies = {}
        for number, (path, copy_file) in enumerate(files.items()):
            copies[path] = f"{temporary}/{number}"
            copy_file(copies[path])
            os.chmod(copies[path], stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
        out = os.fsencode(f"{folder}/{OUT}")
        with ExitStack() as undo:
            for path, file in copies.items():
                _move(file, out, path, undo)
            undo.pop_all()
        return {path: file_state(os.lstat(out + b"/" + path)) for path in copies}
    finally:
        shutil.rmtree(temporary)


def _move(file: str, out: bytes, path: bytes, undo: ExitStack) -> None:
    """Move a file to its place.

    Closing ``undo`` restores the previous state.

    Raises:
        PathOccupiedError: Something else is in the way.
        OSError: The file could not be moved.
    """
    _require_place(out, path)
    *folders, name = path.split(b"/")
    place = out
    for folder in folders:
        place += b"/" + folder
        with suppress(FileExistsError):
            os.mkdir(place)
            undo.callback(os.rmdir, place)
    place += b"/" + name
    if os.path.lexists(place):
        os.replace(place, before := f"{file}.before")
        undo.callback(os.replace, before, place)
    os.replace(file, place)
    undo.callback(os.unlink, place)


def _require_place(out: bytes, path: bytes) -> None:
    """Check that only folders are above a path and that the path itself is no folder.

    Raises:
        PathOccupiedError: Something else is in the way, such as a link above the path.
    """
    parts, place = path.split(b"/"), out
    for number, part in enumerate(parts, 1):
        place += b"/" + part
        if not os.path.lexists(place):
            return
        is_folder = stat.S_ISDIR(os.lstat(place).st_mode)
        if is_folder == (number == len(parts)):
            raise PathOccupiedError(path)
