"""Whether the disk that a pilot works on has any room left."""

import shutil
from pathlib import Path

#: Bytes free without which no job can be prepared or run.
ROOM = 16 << 20


def has_room(folder: Path | str) -> bool:
    """Has the disk of a work folder any room left? Without, each job would fail at once."""
    return shutil.disk_usage(folder).free >= ROOM
