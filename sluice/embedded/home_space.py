"""Free space on the file system of a home folder: a reserve, and errors about a full one."""

import os
import shutil
from pathlib import Path

import structlog

from sluice.contracts.common.numbers import size_text
from sluice.storage import is_full
from sluice.text.os_errors import os_error_sentence, reason_of

log = structlog.get_logger(__name__)

#: The reserved bytes for the database: two segments of its log. Without them it does not start, and
#: no command can delete anything.
RESERVE = 32 << 20
#: A file system with fewer free bytes is full. The database may need them for its next segment.
_MIN_FREE = 16 << 20
#: The reserve is made if this many times its size is free.
_FREE_FACTOR = 4


def create_reserve(reserve: Path) -> None:
    """Make the file that reserves space, if there is plenty."""
    if reserve.exists() or shutil.disk_usage(reserve.parent).free < _FREE_FACTOR * RESERVE:
        return
    try:
        with reserve.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, RESERVE)
    except OSError as error:
        log.warning("home.no_reserve", reason=os_error_sentence(error))
        reserve.unlink(missing_ok=True)


def use_reserve_when_full(reserve: Path) -> None:
    """Delete the reserve if the file system is full."""
    if reserve.exists() and has_no_space(reserve.parent):
        reserve.unlink(missing_ok=True)
        log.warning("home.reserve_used", home=str(reserve.parent))


def has_no_space(folder: Path) -> bool:
    """Return whether the file system of a folder is full."""
    return folder.exists() and shutil.disk_usage(folder).free < _MIN_FREE


def no_space_text(home: Path) -> str:
    """Return the error message for a full file system of a home folder."""
    usage = shutil.disk_usage(home)
    return (
        f"the file system of the home folder {home} has no space left ({size_text(usage.free)} of"
        f" {size_text(usage.total)} free): remove other files there or enlarge it, then start"
        " Sluice again; nothing is lost"
    )


def with_cause(error: OSError, home: Path) -> OSError:
    """Return ``error``, or an error that names the home's full file system as the cause."""
    if not is_full(error) and not has_no_space(home):
        return error
    return OSError(f"{no_space_text(home)} ({reason_of(error)})")
