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
    SearchLimitError,
    open_matching,
    read_states,
)
from pilot.runner.files.restored_files import PathOccupiedError, restore
from sluice.contracts.jobs.checkpoints import (
    MAX_LIST,
    Checkpoint,
    KeptCheckpoint,
    KeptFile,
    quoted_path,
)
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.storage import StorageError
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)

#: Seconds that the end of an attempt waits for its last checkpoint or a storage that hangs.
_MAX_WAIT = 10.0
#: Number of tries to read the files if the tool changes them meanwhile.
_MAX_TRIES = 3
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
        self._request: Checkpoint | None = task.needs.checkpoint
        self._checkpoint_store = CheckpointStore(task.log_out_url, job.seq, job.attempt)
        self._limit = limit
        self._add_line = note
        self._noted_lines: set[str] = set()
        #: The states of the restored files, and later of the files stored last.
        self._states: dict[bytes, FileState] = {}
        #: The stored files of the last list, by path and state, and the numbers of the files in the
        #: list before it.
        self._stored_files: dict[tuple[bytes, FileState], KeptFile] = {}
        self._previous_files: set[int] = set()
        self._last_checkpoint: KeptCheckpoint | None = None
        self._next_number = 0
        self._obsolete_files: set[int] = set()
        self._last = False
        self._is_stopped = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        #: A sentence about the checkpoint that the attempt resumed from, if any.
        self.resume_note = ""

    @property
    def may_exist(self) -> bool:
        """Return whether the storage may have a checkpoint of this job."""
        return self._request is not None and (
            self._checkpoint_store.attempt > 1 or self._next_number > 0
        )

    # --- before the tool runs ---

    def restore_newest(self, folder: str, require_running: Callable[[], None]) -> None:
        """Restore the newest complete checkpoint of the newest attempt that has one.

        ``folder`` is the job's folder. ``require_running`` raises an exception if the attempt must
        stop. The exception passes through.
        """
        if self._request is None:
            return
        for store in earlier_checkpoint_stores(self._checkpoint_store):
            tried: set[int] = set()
            for _ in range(_MAX_TRIES):  # The attempt may still run and store newer ones.
                checkpoints = [
                    checkpoint
                    for checkpoint in store.lists(note=self._note)
                    if checkpoint.number not in tried
                ]
                if any(
                    self._try_restore(store, checkpoint, folder, require_running)
                    for checkpoint in checkpoints
                ):
                    return
                if not checkpoints:
                    break
                tried |= {checkpoint.number for checkpoint in checkpoints}
        if self._noted_lines:
            self._note("no complete checkpoint was found: it started from the beginning")

    def _try_restore(
        self,
        store: CheckpointStore,
        checkpoint: KeptCheckpoint,
        folder: str,
        require_running: Callable[[], None],
    ) -> bool:
        time = _format_time(checkpoint.taken_at)
        description = f"the checkpoint of {time} (attempt {store.attempt})"

        require_running()

        def fetch(file: KeptFile, to: str) -> None:
            require_running()
            store.fetch(file, to)

        try:
            files = {_require_path(file): partial(fetch, file) for file in checkpoint.files}
            self._states = restore(folder, files)
        except (StorageError, PathOccupiedError, OSError) as error:
            self._note(f"{description} cannot be used: {reason_of(error)}")
            return False
        amount = _format_amount(len(checkpoint.files), checkpoint.size)
        self.resume_note = f"resumed from {description}, {amount}"
        self._note(self.resume_note)
        return True

    # --- while the tool runs ---

    def begin(self, folder: OpenFolder) -> None:
        """Start to store checkpoints periodically.

        ``folder`` is the job's folder.
        """
        if self._request is None:
            return
        if not self._limit:
            self._note("this pilot keeps no checkpoints (SLUICE_PILOT_CHECKPOINT_LIMIT is 0)")
            return
        out = os.open(OUT, _FOLDER, dir_fd=folder.descriptor)
        self._wake.clear()
        self._last = self._is_stopped = False
        self._thread = threading.Thread(
            target=self._run, args=(self._request, out), name="checkpoints", daemon=True
        )
        self._thread.start()

    def end(self, *, last: bool) -> None:
        """Stop storing checkpoints before the folder is emptied.

        ``last`` asks for a last checkpoint of the files that the tool has left.
        """
        if self._thread is None:
            return
        self._last = last
        self._is_stopped = not last
        self._wake.set()
        self._thread.join(_MAX_WAIT)
        self._is_stopped = True
        if self._thread.is_alive():
            self._note(f"its last checkpoint was not there after {_MAX_WAIT:.0f} s")
        self._thread = None
        if last and (checkpoint := self._last_checkpoint) is not None:
            amount = _format_amount(len(checkpoint.files), checkpoint.size)
            self._note(f"its last checkpoint is of {_format_time(checkpoint.taken_at)}, {amount}")

    def _run(self, request: Checkpoint, out: int) -> None:
        try:
            while not self._wake.wait(request.every):
                self._try_store(request, out)
            if self._last:
                self._try_store(request, out)
        finally:
            os.close(out)

    def _try_store(self, request: Checkpoint, out: int) -> None:
        try:
            with ExitStack() as closing:
                files = self._open_files(request, out, closing)
                if files is not None and files.states != self._states:
                    self._store(files)
        except _CheckpointAbandonedError:
            return
        except SearchLimitError as error:
            self._note(f"no checkpoint was kept: there are {error.limit}")
        except (StorageError, OSError) as error:
            self._note(f"a checkpoint could not be kept: {reason_of(error)}")
        except Exception as error:  # Thread boundary: the job continues without checkpoints.
            log.error("checkpoint.unexpected", exc_info=error)
            self._note(f"a checkpoint could not be kept: {type(error).__name__}")

    def _open_files(
        self, request: Checkpoint, out: int, exit_stack: ExitStack
    ) -> MatchingFiles | None:
        """Open all files in the state of one moment.

        The files are opened and then checked for changes. A tool that replaces files by renaming
        does not affect open files.
        """
        for _ in range(_MAX_TRIES):
            self._require_not_stopped()
            with ExitStack() as tried:
                files = open_matching(out, request.files, tried)
                if read_states(out, request.files) == files.states:
                    exit_stack.enter_context(tried.pop_all())
                    self._require_not_stopped()
                    return self._check_limit(files)
        self._note("a checkpoint was left out: the tool changed its files all the time")
        return None

    def _check_limit(self, files: MatchingFiles) -> MatchingFiles | None:
        """Return the files if their total size is within the limit, and None otherwise.

        Raises:
            SearchLimitError: The paths are too long in total.
        """
        for path, reason in list(files.skip_reasons.items())[:_MAX_NAMED]:
            self._note(f"{quoted(os.fsdecode(path))} is not kept in checkpoints: {reason}")
        if sum(len(quoted_path(path)) for path in files.files) > _MAX_PATHS:
            raise SearchLimitError(f"more than {_MAX_PATHS} characters in their paths")
        if files.size <= self._limit:
            return files
        amount = _format_amount(len(files.files), files.size)
        self._note(
            f"no checkpoint was kept: {amount} are more than this pilot keeps"
            f" ({self._limit >> 20} MiB, SLUICE_PILOT_CHECKPOINT_LIMIT)"
        )
        return None

    def _store(self, files: MatchingFiles) -> None:
        """Store the changed files and the list, then remove files that no list needs.

        Files named by the new list or the list before it are kept.
        """
        stored, first = {}, self._next_number
        try:
            for path, state in files.states.items():
                file = self._stored_files.get((path, state))
                stored[path, state] = file or self._store_file(path, state, files.files[path])
            self._require_not_stopped()
            newest_numbers = {file.number for file in self._stored_files.values()}
            checkpoint = KeptCheckpoint(
                number=0 if self._last_checkpoint is None else self._last_checkpoint.number + 1,
                taken_at=datetime.now(UTC),
                files=list(stored.values()),
                spent=sorted(self._obsolete_files | (self._previous_files - newest_numbers)),
            )
            self._checkpoint_store.put_list(checkpoint)
        except BaseException:
            self._obsolete_files |= set(range(first, self._next_number))
            self._remove_obsolete_files()
            raise
        self._obsolete_files |= self._previous_files - newest_numbers
        self._states, self._stored_files = files.states, stored
        self._previous_files, self._last_checkpoint = newest_numbers, checkpoint
        self._remove_obsolete_files()

    def _store_file(self, path: bytes, state: FileState, file: int) -> KeptFile:
        number, self._next_number = self._next_number, self._next_number + 1

        def check() -> None:
            self._require_not_stopped()
            now = os.fstat(file)
            if (now.st_size, now.st_mtime_ns) != state[2:]:
                self._note(
                    f"a checkpoint was left out: {quoted(os.fsdecode(path))} was written to, not"
                    " renamed"
                )
                raise _CheckpointAbandonedError

        stored = self._checkpoint_store.put(file, number, check=check)
        check()
        return KeptFile(
            path=quoted_path(path), number=number, size=stored.size, checksum=stored.checksum
        )

    def _remove_obsolete_files(self) -> None:
        for number in sorted(self._obsolete_files):
            try:
                self._checkpoint_store.remove_file(number)
            except (StorageError, OSError) as error:
                log.warning("checkpoint.not_removed", number=number, reason=reason_of(error))
            else:
                self._obsolete_files.discard(number)

    def _require_not_stopped(self) -> None:
        if self._is_stopped:
            raise _CheckpointAbandonedError

    def _note(self, line: str) -> None:
        if line not in self._noted_lines and len(self._noted_lines) < _MAX_NOTES:
            self._noted_lines.add(line)
            self._add_line(line)


def _require_path(file: KeptFile) -> bytes:
    """Return the path of a file.

    Raises:
        PathOccupiedError: The path is not usable.
    """
    path = file.plain_path
    if path is None:
        raise PathOccupiedError(os.fsencode(file.path))
    return path


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _format_amount(files: int, size: int) -> str:
    return f"{files} {'file' if files == 1 else 'files'}, {size} bytes"
