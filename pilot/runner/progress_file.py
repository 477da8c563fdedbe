"""What each slot is at, for the heartbeats: noted by the slot's process in a few bytes of memory,
and read by the pilot when it wants to know. Frames for it would cost more than many a job."""

import mmap
import os
import struct
from pathlib import Path

from pilot.domain.model import Progress, Token
from sluice.contracts.states import AttemptPhase

_NOTE = struct.Struct("=qqqq")
_PHASES = list(AttemptPhase)


class ProgressFile:
    """Written by one process. Raises ``OSError`` where the file cannot be made."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # With its block: none can be missing on a disk that is full later.
            os.posix_fallocate(descriptor, 0, _NOTE.size)
            self._memory = mmap.mmap(descriptor, _NOTE.size)
        finally:
            os.close(descriptor)

    def write(self, token: Token, phase: AttemptPhase, size: int = 0) -> None:
        """``size``: bytes of the outputs, where they are stored now."""
        _NOTE.pack_into(self._memory, 0, *token, _PHASES.index(phase) + 1, size)


def read_slot_progress(path: Path) -> tuple[Token, Progress] | None:
    """The last note, which may be of a job that has ended meanwhile; None where there is none."""
    try:
        job, attempt, phase, size = _NOTE.unpack(path.read_bytes())
    except (OSError, struct.error):
        return None
    if not 0 < phase <= len(_PHASES):
        return None
    return (job, attempt), Progress(_PHASES[phase - 1], size or None)
