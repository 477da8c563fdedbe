"""Checkpoints of one attempt (``sluice:checkpoint``).

The checkpoint of an earlier attempt is restored. Then the files that the tool changes are stored
periodically. An error with a checkpoint is written to the log and does not stop the job.
"""

import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial

import structlog

from pilot.checkpoints.checkpoint_store import CheckpointStore, earlier_checkpoint_stores
from pilot.folders.work_folder import OUT, OpenFolder
from pilot.runner.files.matching_files import (
    FileState,
    MatchingFiles,
    TooManyError,
    matching_states,
    open_matching,
)
from pilot.runner.files.restored_files import PathOccupiedError, restore
from sluice.contracts.jobs.checkpoints import (
    MAX_LIST,
    Checkpoint,
    KeptCheckpoint,
    KeptFile,
    quoted_path,
)
from sluice.contracts.pilots.pilots import LeasedJob, PilotTask
from sluice.storage import StorageError
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)

#: Seconds that the end of an attempt waits for its last checkpoint or a storage that hangs.
_LONGEST_WAIT = 10.0
#: Number of tries to read the files if the tool changes them meanwhile.
_LOOKS = 3
#: Maximum number of matching paths named in the log that are not kept.
_MAX_NAMED = 5
_MAX_NOTES = 50
#: Maximum total length of the paths of a checkpoint. The list may not exceed ``MAX_LIST``.
_MAX_PATHS = MAX_LIST // 2

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _CheckpointAbandonedError(Exception):
    """The checkpoint is no longer wanted, or one of its files has changed."""


class Checkpoints:
    """Checkpoints of one attempt. Without ``sluice:checkpoint`` nothing happens.

    ``limit`` is the maximum size of all files in bytes; 0 disables checkpoints. ``note`` adds a
    line to the job's log. Each line is added once.
    """

    def __init__(
        self, task: PilotTask, job: LeasedJob, *, limit: int, note: Callable[[str], None]
    ) -> None:
        self._asked: Checkpoint | None = task.needs.checkpoint
        self._shelf = CheckpointStore(task.log_out_url, job.seq, job.attempt)
        self._limit = limit
        self._tell = note
        self._told: set[str] = set()
        #: The states of the restored files, and later of the files stored last.
        self._states: dict[bytes, FileState] = {}
        #: The stored files of the last list, by path and state, and the numbers of the files in the
        #: list before it.
        self._stored: dict[tuple[bytes, FileState], KeptFile] = {}
        self._before: set[int] = set()
        self._kept: KeptCheckpoint | None = None
        self._next = 0
        self._spent: set[int] = set()
        self._last = False
        self._over = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        #: A sentence about the checkpoint that the attempt resumed from, if any.
        self.went_on = ""

    @property
    def may_be_there(self) -> bool:
        """Return whether the storage may have a checkpoint of this job."""
        return self._asked is not None and (self._shelf.attempt > 1 or self._next > 0)

    # --- before the tool runs ---

    def put_in_place(self, folder: str, require: Callable[[], None]) -> None:
        """Restore the newest complete checkpoint of the newest attempt that has one.

        ``folder`` is the job's folder. ``require`` raises an exception if the attempt must stop.
        The exception passes through.
        """
        if self._asked is None:
            return
        for shelf in earlier_checkpoint_stores(self._shelf):
            tried: set[int] = set()
            for _ in range(_LOOKS):  # The attempt may still run and store newer ones.
                lists = [kept for kept in shelf.lists(note=self._note) if kept.number not in tried]
                if any(self._is_placed(shelf, kept, folder, require) for kept in lists):
                    return
                if not lists:
                    break
                tried |= {kept.number for kept in lists}
        if self._told:
            self._note("no whole checkpoint was found: it started from nothing")

    def _is_placed(
        self, shelf: CheckpointStore, kept: KeptCheckpoint, folder: str, require: Callable[[], None]
    ) -> bool:
        what = f"the checkpoint of {_time(kept.taken_at)} (attempt {shelf.attempt})"

        require()

        def bring(file: KeptFile, to: str) -> None:
            require()
            shelf.fetch(file, to)

        try:
            files = {_plain(file): partial(bring, file) for file in kept.files}
            self._states = restore(folder, files)
        except (StorageError, PathOccupiedError, OSError) as error:
            self._note(f"{what} cannot be used: {reason_of(error)}")
            return False
        self.went_on = f"went on from {what}, {_amount(len(kept.files), kept.size)}"
        self._note(self.went_on)
        return True

    # --- while the tool runs ---

    def begin(self, folder: OpenFolder) -> None:
        """Start to store checkpoints periodically.

        ``folder`` is the job's folder.
        """
        if self._asked is None:
            return
        if not self._limit:
            self._note("this pilot keeps no checkpoints (SLUICE_PILOT_CHECKPOINT_LIMIT is 0)")
            return
        out = os.open(OUT, _FOLDER, dir_fd=folder.descriptor)
        self._wake.clear()
        self._last = self._over = False
        self._thread = threading.Thread(
            target=self._work, args=(self._asked, out), name="checkpoints", daemon=True
        )
        self._thread.start()

    def end(self, *, last: bool) -> None:
        """Stop storing checkpoints before the folder is emptied.

        ``last`` asks for a last checkpoint of the files that the tool has left.
        """
        if self._thread is None:
            return
        self._last = last
        self._over = not last
        self._wake.set()
        self._thread.join(_LONGEST_WAIT)
        self._over = True
        if self._thread.is_alive():
            self._note(f"its last checkpoint was not there after {_LONGEST_WAIT:.0f} s")
        self._thread = None
        if last and (kept := self._kept) is not None:
            told = f"{_time(kept.taken_at)}, {_amount(len(kept.files), kept.size)}"
            self._note(f"its last checkpoint is of {told}")

    def _work(self, asked: Checkpoint, out: int) -> None:
        try:
            while not self._wake.wait(asked.every):
                self._keep(asked, out)
            if self._last:
                self._keep(asked, out)
        finally:
            os.close(out)

    def _keep(self, asked: Checkpoint, out: int) -> None:
        try:
            with ExitStack() as closing:
                found = self._look(asked, out, closing)
                if found is not None and found.states != self._states:
                    self._store(found)
        except _CheckpointAbandonedError:
            return
        except TooManyError as error:
            self._note(f"no checkpoint was kept: there are {error.what}")
        except (StorageError, OSError) as error:
            self._note(f"a checkpoint could not be kept: {reason_of(error)}")
        except Exception as error:  # Thread boundary: the job goes on without checkpoints.
            log.error("checkpoint.unexpected", exc_info=error)
            self._note(f"a checkpoint could not be kept: {type(error).__name__}")

    def _look(self, asked: Checkpoint, out: int, closing: ExitStack) -> MatchingFiles | None:
        """Open all files in the state of one moment.

        The files are opened and then checked for changes. A tool that replaces files by renaming
        does not affect open files.
        """
        for _ in range(_LOOKS):
            self._require_wanted()
            with ExitStack() as tried:
                found = open_matching(out, asked.files, tried)
                if matching_states(out, asked.files) == found.states:
                    closing.enter_context(tried.pop_all())
                    self._require_wanted()
                    return self._within_limit(found)
        self._note("a checkpoint was left out: the tool changed its files all the time")
        return None

    def _within_limit(self, found: MatchingFiles) -> MatchingFiles | None:
        """Return the files if their total size is within the limit, and None otherwise.

        Raises:
            TooManyError: The paths are too long in total.
        """
        for path, why in list(found.passed.items())[:_MAX_NAMED]:
            self._note(f"{quoted(os.fsdecode(path))} is not kept in checkpoints: {why}")
        if sum(len(quoted_path(path)) for path in found.files) > _MAX_PATHS:
            raise TooManyError(f"more than {_MAX_PATHS} characters in their paths")
        if found.size <= self._limit:
            return found
        self._note(
            f"no checkpoint was kept: {_amount(len(found.files), found.size)} are more than this"
            f" pilot keeps ({self._limit >> 20} MiB, SLUICE_PILOT_CHECKPOINT_LIMIT)"
        )
        return None

    def _store(self, found: MatchingFiles) -> None:
        """Store the changed files and the list, then remove files that no list needs.

        Files named by the new list or the list before it are kept.
        """
        stored, first = {}, self._next
        try:
            for path, state in found.states.items():
                file = self._stored.get((path, state))
                stored[path, state] = file or self._stored_file(path, state, found.files[path])
            self._require_wanted()
            newest = {file.number for file in self._stored.values()}
            kept = KeptCheckpoint(
                number=0 if self._kept is None else self._kept.number + 1,
                taken_at=datetime.now(UTC),
                files=list(stored.values()),
                spent=sorted(self._spent | (self._before - newest)),
            )
            self._shelf.put_list(kept)
        except BaseException:
            self._spent |= set(range(first, self._next))
            self._remove_spent()
            raise
        self._spent |= self._before - newest
        self._states, self._stored, self._before, self._kept = found.states, stored, newest, kept
        self._remove_spent()

    def _stored_file(self, path: bytes, state: FileState, file: int) -> KeptFile:
        number, self._next = self._next, self._next + 1

        def check() -> None:
            self._require_wanted()
            now = os.fstat(file)
            if (now.st_size, now.st_mtime_ns) != state[2:]:
                self._note(
                    f"a checkpoint was left out: {quoted(os.fsdecode(path))} was written to, not"
                    " renamed"
                )
                raise _CheckpointAbandonedError

        put = self._shelf.put(file, number, check=check)
        check()
        return KeptFile(path=quoted_path(path), number=number, size=put.size, checksum=put.checksum)

    def _remove_spent(self) -> None:
        for number in sorted(self._spent):
            try:
                self._shelf.remove_file(number)
            except (StorageError, OSError) as error:
                log.warning("checkpoint.not_removed", number=number, reason=reason_of(error))
            else:
                self._spent.discard(number)

    def _require_wanted(self) -> None:
        if self._over:
            raise _CheckpointAbandonedError

    def _note(self, line: str) -> None:
        if line not in self._told and len(self._told) < _MAX_NOTES:
            self._told.add(line)
            self._tell(line)


def _plain(file: KeptFile) -> bytes:
    """Return the path of a file.

    Raises:
        PathOccupiedError: The path is not usable.
    """
    path = file.plain_path
    if path is None:
        raise PathOccupiedError(os.fsencode(file.path))
    return path


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _amount(files: int, size: int) -> str:
    return f"{files} {'file' if files == 1 else 'files'}, {size} bytes"
