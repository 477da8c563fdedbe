"""Limit on the total size of a job's outputs.

Packing copies files, and stored files take space on the storage. Both may exceed the disk
space that the job itself uses.
"""

import os

from pilot.folders.file_size import MIN_FILE_BYTES
from pilot.runner.files.access_errors import InvalidOutputError, require_bounded
from pilot.runner.files.job_files import JobFiles

_MIB = 1 << 20


class OutputAllowance:
    """Remaining size of a job's outputs.

    ``disk`` is the disk that the job may write in MiB, 0 without a limit. ``inputs`` is the size of
    its inputs in bytes, which it may pass on in addition.
    """

    def __init__(self, job_files: JobFiles, *, disk: int, inputs: int) -> None:
        self._job_files = job_files
        self._disk = disk
        self._remaining = disk * _MIB + inputs

    def open(self, path: str) -> int:
        """Open a file like ``JobFiles.open`` and count its size.

        Raises:
            InvalidOutputError: The limit is exceeded.
            ForeignFileError: The job may not have the file.
            OSError: The file could not be opened.
        """
        require_bounded(self._job_files, path)
        descriptor = self._job_files.open(path)
        try:
            self.count(os.fstat(descriptor))
        except InvalidOutputError:
            os.close(descriptor)
            raise
        return descriptor

    def count(self, status: os.stat_result) -> None:
        """Count a file or folder by its length, each time that it is an output.

        A sparse file counts with its full length.

        Raises:
            InvalidOutputError: The limit is exceeded.
        """
        self._remaining -= max(MIN_FILE_BYTES, status.st_size)
        if self._disk and self._remaining < 0:
            raise InvalidOutputError(
                f"its files are larger than the {self._disk} MiB that the job may write, beside its"
                " inputs (files with holes count in full, and files that are output several times"
                " count each time): request more disk (ResourceRequirement, outdirMin), or write"
                " less"
            )
