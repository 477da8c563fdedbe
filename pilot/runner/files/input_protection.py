"""A job's input files: copies, or links to the storages' own files, which a tool must not write to
and is caught at."""

import os
import sys
from dataclasses import dataclass

from pilot.folders.spare_files import SpareFiles
from pilot.runner.failures import AttemptError, stage_in_error
from pilot.users.slot_user import others_may_read
from sluice.contracts.states import ErrorClass
from sluice.storage import ChecksumMismatch, StorageError, fetch, local_path
from sluice.storage.checksums import Content
from sluice.storage.local import verify
from sluice.visible_text import quoted

#: Bytes of the largest file that is copied. Checking its content takes longer than this; copies of
#: larger ones would fill disks.
MOST_COPIED = 16 << 20

#: What tells that nobody has written to a file: device, inode, size, time of change.
Mark = tuple[int, int, int, int]
_NOTHING: Mark = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Noted:
    """A storage's file that a job has a link to. ``by_name``: the link leads to whatever stands at
    its place, and not to the file itself."""

    name: str
    before: Mark
    checksum: str | None
    by_name: bool

    def has_changed(self, url: str, path: str) -> bool:
        """Return whether the job may have read something else than what was verified."""
        after = mark(path)
        if after in (self.before, _NOTHING):
            return False
        if after[:2] == self.before[:2]:
            return True
        return self.by_name and self.checksum is not None and not _holds(url, path, self.checksum)


class ProtectedInputs:
    """What a job has of local storages. ``spares``: become its copies. ``in_place``: the tool
    changes its inputs (``InplaceUpdateRequirement``), so that it gets copies only. ``shared``: it
    runs as another user, and gets copies of what not everybody may read."""

    def __init__(self, spares: SpareFiles, *, in_place: bool = False, shared: bool = False) -> None:
        self._spares = spares
        self._shared = shared
        self.in_place = in_place
        #: Device and inode of all files elsewhere that the job has links to.
        self.linked: set[tuple[int, int]] = set()
        #: Where the job's symbolic links lead to.
        self.targets: list[str] = []
        self._noted: dict[str, _Noted] = {}
        #: Bytes of all files that were brought.
        self.size = 0

    def bring(
        self, name: str, url: str, path: str, *, checksum: str | None, size: int | None
    ) -> bool:
        """Fetches a file to ``path``; True: it is a link to the storage's own. Raises
        ``AttemptError``."""
        most = sys.maxsize if self.in_place else MOST_COPIED
        reuse = local_path(url) is not None and (size or 0) <= most and self._spares.give(path)
        linked = self._fetched(
            name, url, path, most=most, expected=Content(checksum, size), reuse=reuse
        )
        if linked:
            self._note_target(path)
            self.note(name, url, path, checksum=checksum)
        return linked

    def bring_kept(self, name: str, url: str, path: str) -> None:
        """A file that the slot keeps for many jobs. Raises ``AttemptError``."""
        most = sys.maxsize if self.in_place else 0
        if self._fetched(name, url, path, most=most, expected=Content(None, None)):
            self._note_target(path)
            self.linked.add(mark(path)[:2])

    def note(self, name: str, url: str, link: str, *, checksum: str | None) -> None:
        """Note that the job has ``link`` to this file of a storage."""
        path = local_path(url)
        if path is not None:
            found = mark(path)
            self._noted[url] = _Noted(name, found, checksum, os.path.islink(link))
            self.linked.add(found[:2])

    def _fetched(
        self,
        name: str,
        url: str,
        path: str,
        *,
        most: int,
        expected: Content,
        reuse: bool = False,
    ) -> bool:
        """``most``: bytes of the largest file that is copied. True: it is a link. Raises
        ``AttemptError``."""
        try:
            linked = fetch(
                url,
                path,
                checksum=expected.checksum,
                size=expected.size,
                copied=most,
                reuse=reuse,
            )
        except StorageError as error:
            raise stage_in_error(name, error) from error
        if linked and self._shared and not others_may_read(path):
            return self._fetched(name, url, path, most=sys.maxsize, expected=expected)
        self.size += mark(path)[2]
        return linked

    def _note_target(self, path: str) -> None:
        if os.path.islink(path):
            self.targets.append(os.readlink(path))

    def damage(self, *, tool_may_write: bool) -> AttemptError | None:
        """Return what has happened to files of storages since the job got links to them. They
        cannot be brought back here.

        Args:
            tool_may_write: Whether the tool itself can have done it. Then trying again would hide
                why they are damaged.
        """
        changed = [
            (noted.name, url)
            for url, noted in self._noted.items()
            if noted.has_changed(url, local_path(url) or "")
        ]
        if not changed:
            return None
        files = "; ".join(f"input file {quoted(name)}, {url}" for name, url in changed[:10])
        if not tool_may_write:
            sentence = (
                f"an input changed while the job ran, and not by its tool ({files}): what the tool"
                " has read of it is not what was registered. Put the right content back there, and"
                " see that nobody writes to the files of storages"
            )
            return AttemptError(ErrorClass.CHECKSUM_MISMATCH, sentence)
        sentence = (
            f"the tool wrote to its input, and damaged the storage's own file ({files}): put the"
            " right content back there. A tool that changes a file has to ask for a copy of it"
            " (InitialWorkDirRequirement, with writable: true)"
        )
        return AttemptError(ErrorClass.TOOL_REFUSED, sentence)


def mark(path: str) -> Mark:
    """As it is now; a file that is not there has a mark, too."""
    try:
        found = os.stat(path)
    except OSError:
        return _NOTHING
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _holds(url: str, path: str, checksum: str) -> bool:
    """Return whether the file has this checksum, as one has that the catalogue itself put there."""
    try:
        verify(url, path, checksum=checksum, size=None)
    except StorageError as error:
        return not isinstance(error, ChecksumMismatch)
    return True
