"""Check for free space on the disk that a pilot works on."""

import shutil
from pathlib import Path

#: Bytes that must be free to prepare and run a job.
ROOM = 16 << 20


def has_room(folder: Path | str) -> bool:
    """Return whether the disk of a folder has room for a job.

    Without room, each job would fail at once.
    """
    return shutil.disk_usage(folder).free >= ROOM
