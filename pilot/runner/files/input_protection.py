"""Protection of a job's input files.

Inputs are copies or links to the storages' own files. Writing to the latter is detected.
"""

import os
import sys
from dataclasses import dataclass

from pilot.folders.spare_files import SpareFiles
from pilot.isolation.users.slot_user import others_may_read
from pilot.runner.failures import AttemptError, stage_in_error
from sluice.contracts.common.states import ErrorClass
from sluice.storage import ChecksumMismatch, StorageError, fetch, find_local_path
from sluice.storage.checksums import Content
from sluice.storage.local import verify
from sluice.text.visible_text import quoted

#: Bytes of the largest file that is copied. The check of its content takes longer than the copy.
#: Copies of larger files would fill disks.
MAX_COPIED = 16 << 20

#: Device, inode, size and modification time. They tell whether a file was written to.
Mark = tuple[int, int, int, int]
_MISSING: Mark = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _LinkedFile:
    """A storage's file that a job has a link to.

    Attributes:
        by_name: Whether the link is symbolic and leads to whatever is at its path.
    """

    name: str
    before: Mark
    checksum: str | None
    by_name: bool

    def has_changed(self, url: str, path: str) -> bool:
        """Return whether the job may have read other content than was verified."""
        after = read_mark(path)
        if after in (self.before, _MISSING):
            return False
        if after[:2] == self.before[:2]:
            return True
        return (
            self.by_name
            and self.checksum is not None
            and not _has_checksum(url, path, self.checksum)
        )


class ProtectedInputs:
    """Files of local storages that a job has.

    ``spares`` are reused for copies. ``in_place`` says that the tool changes its inputs
    (``InplaceUpdateRequirement``), so it gets copies only. ``shared`` says that the tool runs as
    another user, so it gets copies of files that not everybody may read.
    """

    def __init__(self, spares: SpareFiles, *, in_place: bool = False, shared: bool = False) -> None:
        self._spares = spares
        self._shared = shared
        self.in_place = in_place
        #: Device and inode of all files elsewhere that the job has links to.
        self.linked: set[tuple[int, int]] = set()
        #: Targets of the job's symbolic links.
        self.targets: list[str] = []
        self._linked_files: dict[str, _LinkedFile] = {}
        #: Total size in bytes of all staged files.
        self.size = 0

    def fetch(
        self, name: str, url: str, path: str, *, checksum: str | None, size: int | None
    ) -> bool:
        """Fetch a file to ``path`` and return whether it is a link to the storage's file.

        Raises:
            AttemptError: The file could not be fetched.
        """
        max_copied = sys.maxsize if self.in_place else MAX_COPIED
        reuse = (
            find_local_path(url) is not None
            and (size or 0) <= max_copied
            and self._spares.reuse(path)
        )
        linked = self._fetch(
            name,
            url,
            path,
            max_copied=max_copied,
            expected_content=Content(checksum, size),
            reuse=reuse,
        )
        if linked:
            self._record_target(path)
            self.record_link(name, url, path, checksum=checksum)
        return linked

    def fetch_verified(self, name: str, url: str, path: str) -> None:
        """Fetch a file that the slot keeps for many jobs.

        Raises:
            AttemptError: The file could not be fetched.
        """
        max_copied = sys.maxsize if self.in_place else 0
        if self._fetch(
            name, url, path, max_copied=max_copied, expected_content=Content(None, None)
        ):
            self._record_target(path)
            self.linked.add(read_mark(path)[:2])

    def record_link(self, name: str, url: str, link: str, *, checksum: str | None) -> None:
        """Record that the job has ``link`` to this file of a storage."""
        path = find_local_path(url)
        if path is not None:
            current_mark = read_mark(path)
            self._linked_files[url] = _LinkedFile(
                name, current_mark, checksum, os.path.islink(link)
            )
            self.linked.add(current_mark[:2])

    def _fetch(
        self,
        name: str,
        url: str,
        path: str,
        *,
        max_copied: int,
        expected_content: Content,
        reuse: bool = False,
    ) -> bool:
        """Fetch a file and return whether it is a link.

        ``max_copied`` is the size in bytes of the largest file that is copied.

        Raises:
            AttemptError: The file could not be fetched.
        """
        try:
            linked = fetch(
                url,
                path,
                checksum=expected_content.checksum,
                size=expected_content.size,
                copied_bytes=max_copied,
                reuse=reuse,
            )
        except StorageError as error:
            raise stage_in_error(name, error) from error
        if linked and self._shared and not others_may_read(path):
            return self._fetch(
                name, url, path, max_copied=sys.maxsize, expected_content=expected_content
            )
        self.size += read_mark(path)[2]
        return linked

    def _record_target(self, path: str) -> None:
        if os.path.islink(path):
            self.targets.append(os.readlink(path))

    def find_damage(self, *, tool_may_write: bool) -> AttemptError | None:
        """Return the failure for storages' files that have changed since they were linked, or None.

        The files cannot be restored here.

        Args:
            tool_may_write: Whether the tool itself could have written to the files. Another attempt
                would hide the cause then.
        """
        changed = [
            (linked_file.name, url)
            for url, linked_file in self._linked_files.items()
            if linked_file.has_changed(url, find_local_path(url) or "")
        ]
        if not changed:
            return None
        files = "; ".join(f"input file {quoted(name)}, {url}" for name, url in changed[:10])
        if not tool_may_write:
            sentence = (
                f"an input changed while the job ran, and not by its tool ({files}): what the tool"
                " has read of it is not what was registered. Put the right content back there, and"
                " ensure that only Sluice writes to the files of storages"
            )
            return AttemptError(ErrorClass.CHECKSUM_MISMATCH, sentence)
        sentence = (
            f"the tool wrote to its input, and damaged the storage's own file ({files}): put the"
            " right content back there. A tool that changes a file has to ask for a copy of it"
            " (InitialWorkDirRequirement, with writable: true)"
        )
        return AttemptError(ErrorClass.TOOL_REFUSED, sentence)


def read_mark(path: str) -> Mark:
    """Return the current mark of a file. A missing file has a mark too."""
    try:
        status = os.stat(path)
    except OSError:
        return _MISSING
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _has_checksum(url: str, path: str, checksum: str) -> bool:
    """Return whether the file still has this checksum.

    The catalogue itself may have put another file with the same content there.
    """
    try:
        verify(url, path, checksum=checksum, size=None)
    except StorageError as error:
        return not isinstance(error, ChecksumMismatch)
    return True
