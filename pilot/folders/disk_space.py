"""Check for free space on the disk that a pilot works on."""

import shutil
from pathlib import Path

#: Bytes that must be free to prepare and run a job.
MIN_SPACE = 16 << 20


def has_space(folder: Path | str) -> bool:
    """Return whether the disk of a folder has space for a job.

    Without space, each job would fail at once.
    """
    return shutil.disk_usage(folder).free >= MIN_SPACE
