"""Progress of each slot for heartbeats.

The slot writes a few bytes of shared memory and the pilot reads them when needed. Frames would cost
more than many jobs.
"""

import mmap
import os
import struct
from pathlib import Path

from pilot.domain.model import Progress, Token
from sluice.contracts.common.states import AttemptPhase

_RECORD = struct.Struct("=qqqq")
_PHASES = list(AttemptPhase)


class ProgressFile:
    """Progress of a slot, written by one process.

    Raises:
        OSError: The file could not be created.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Allocate the block now, as the disk may be full later.
            os.posix_fallocate(descriptor, 0, _RECORD.size)
            self._memory = mmap.mmap(descriptor, _RECORD.size)
        finally:
            os.close(descriptor)

    def write(self, token: Token, phase: AttemptPhase, size: int = 0) -> None:
        """Write the progress of an attempt.

        ``size`` is the size of the outputs in bytes, once they are being stored.
        """
        _RECORD.pack_into(self._memory, 0, *token, _PHASES.index(phase) + 1, size)


def read_slot_progress(path: Path) -> tuple[Token, Progress] | None:
    """Return the last progress of a slot, or None.

    The job may have ended meanwhile.
    """
    try:
        job, attempt, phase, size = _RECORD.unpack(path.read_bytes())
    except (OSError, struct.error):
        return None
    if not 0 < phase <= len(_PHASES):
        return None
    return (job, attempt), Progress(_PHASES[phase - 1], size or None)
