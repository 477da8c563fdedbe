"""How much a job may hand on: what is packed is copied, and what is stored takes the storage's
room, also where it takes none of the job's disk."""

import os

from pilot.runner.files.access_errors import UnsoundError, require_bounded
from pilot.runner.files.job_files import JobFiles

_MIB = 1 << 20
_LEAST = 4096


class OutputAllowance:
    """``disk``: MiB that the job may write; 0: any. ``inputs``: bytes of its inputs, which it may
    hand on beside that."""

    def __init__(self, job_files: JobFiles, *, disk: int, inputs: int) -> None:
        self._job_files = job_files
        self._disk = disk
        self._left = disk * _MIB + inputs

    def open(self, path: str) -> int:
        """As ``JobFiles.open``, of what is handed on. Raises as ``take`` too."""
        require_bounded(self._job_files, path)
        descriptor = self._job_files.open(path)
        try:
            self.take(os.fstat(descriptor))
        except UnsoundError:
            os.close(descriptor)
            raise
        return descriptor

    def take(self, status: os.stat_result) -> None:
        """Counts a file or folder by its length, however little of the disk it takes, and each time
        that it is handed on. Raises ``UnsoundError``."""
        self._left -= max(_LEAST, status.st_size)
        if self._disk and self._left < 0:
            raise UnsoundError(
                f"its files are larger than the {self._disk} MiB that the job may write, beside its"
                " inputs (files with holes count in full, those given several times each time): ask"
                " for more disk (ResourceRequirement, outdirMin), or give less"
            )
