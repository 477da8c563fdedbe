"""Files of a checkpoint, put where the tool left them: all, or none."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

from pilot.folders.work_folder import OUT, TMP
from pilot.runner.files.matching_files import FileState, state_of
from sluice.visible_text import quoted


class NoPlaceError(Exception):
    """``path`` cannot be put there, since something else is in its way."""

    def __init__(self, path: bytes) -> None:
        super().__init__(f"something else is at {quoted(os.fsdecode(path))}")


def restore(folder: str, files: Mapping[bytes, Callable[[str], None]]) -> dict[bytes, FileState]:
    """``folder``: the job's; nothing runs in it yet. ``files``: by path, each with what brings it
    to a path of the node. What was there at that path is replaced. Gives what the files are then.
    Raises ``NoPlaceError``, ``OSError``, and what those raise: nothing has changed then."""
    apart = tempfile.mkdtemp(dir=f"{folder}/{TMP}")
    try:
        brought = {}
        for number, (path, bring) in enumerate(files.items()):
            brought[path] = f"{apart}/{number}"
            bring(brought[path])
            os.chmod(brought[path], stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
        out = os.fsencode(f"{folder}/{OUT}")
        with ExitStack() as undo:
            for path, file in brought.items():
                _put(file, out, path, undo)
            undo.pop_all()
        return {path: state_of(os.lstat(out + b"/" + path)) for path in brought}
    finally:
        shutil.rmtree(apart)


def _put(file: str, out: bytes, path: bytes, undo: ExitStack) -> None:
    """``undo``: closed, it leaves all as it was. Raises ``NoPlaceError``, ``OSError``."""
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
    """Above it lie folders alone, with no link among them, and it is none itself."""
    parts, place = path.split(b"/"), out
    for number, part in enumerate(parts, 1):
        place += b"/" + part
        if not os.path.lexists(place):
            return
        is_folder = stat.S_ISDIR(os.lstat(place).st_mode)
        if is_folder == (number == len(parts)):
            raise NoPlaceError(path)
