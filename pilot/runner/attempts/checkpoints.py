"""Checkpoints of one attempt (``sluice:checkpoint``): what the one before has kept is put in place,
and what the tool changes from then on is kept again and again. Whatever goes wrong with them, the
job goes on, and its log says so."""

import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial

import structlog

from pilot.checkpoints.shelf import Shelf, shelves_before
from pilot.folders.work_folder import OUT, OpenFolder
from pilot.runner.files.matching_files import (
    FileState,
    MatchingFiles,
    TooManyError,
    matching_states,
    open_matching,
)
from pilot.runner.files.restored_files import NoPlaceError, restore
from sluice.contracts.checkpoints import (
    MOST_LIST,
    Checkpoint,
    KeptCheckpoint,
    KeptFile,
    quoted_path,
)
from sluice.contracts.pilots import LeasedJob, PilotTask
from sluice.os_errors import reason_of
from sluice.storage import StorageError
from sluice.visible_text import quoted

log = structlog.get_logger(__name__)

#: Seconds that the end of an attempt waits for its last checkpoint, or for a storage that hangs.
_LONGEST_WAIT = 10.0
#: Times that the files are looked at anew where the tool changes some of them meanwhile.
_LOOKS = 3
#: Of files that match and are none, so many are named in the log.
_MOST_NAMED = 5
_MOST_NOTES = 50
#: Characters of all paths of a checkpoint, as its list has them, which is read up to a length.
_MOST_PATHS = MOST_LIST // 2

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _CutOffError(Exception):
    """Nobody waits for this checkpoint any more, or a file of it has changed."""


class Checkpoints:
    """Of one attempt; of a step that keeps none, nothing happens. ``limit``: bytes of all files
    together; 0: none are kept. ``note``: a line for the job's log, each but once."""

    def __init__(
        self, task: PilotTask, job: LeasedJob, *, limit: int, note: Callable[[str], None]
    ) -> None:
        self._asked: Checkpoint | None = task.needs.checkpoint
        self._shelf = Shelf(task.log_out_url, job.seq, job.attempt)
        self._limit = limit
        self._tell = note
        self._told: set[str] = set()
        #: What the tool began with, and then what was kept last.
        self._states: dict[bytes, FileState] = {}
        #: The files on the storage that the last list names, by what they were here; and the
        #: numbers of those that the list before names.
        self._stored: dict[tuple[bytes, FileState], KeptFile] = {}
        self._before: set[int] = set()
        self._kept: KeptCheckpoint | None = None
        self._next = 0
        self._spent: set[int] = set()
        self._last = False
        self._over = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        #: One sentence, where the attempt went on from a checkpoint.
        self.went_on = ""

    @property
    def may_be_there(self) -> bool:
        """On the storage, of this job."""
        return self._asked is not None and (self._shelf.attempt > 1 or self._next > 0)

    # --- before the tool runs ---

    def put_in_place(self, folder: str, require: Callable[[], None]) -> None:
        """The newest that is whole, of the newest attempt that has one. ``folder``: the job's.
        ``require``: raises where the attempt is to stop. Raises what that raises."""
        if self._asked is None:
            return
        for shelf in shelves_before(self._shelf):
            tried: set[int] = set()
            for _ in range(_LOOKS):  # it may still run, and keep newer ones meanwhile
                lists = [kept for kept in shelf.lists(note=self._note) if kept.number not in tried]
                if any(self._is_placed(shelf, kept, folder, require) for kept in lists):
                    return
                if not lists:
                    break
                tried |= {kept.number for kept in lists}
        if self._told:
            self._note("no whole checkpoint was found: it started from nothing")

    def _is_placed(
        self, shelf: Shelf, kept: KeptCheckpoint, folder: str, require: Callable[[], None]
    ) -> bool:
        what = f"the checkpoint of {_time(kept.taken_at)} (attempt {shelf.attempt})"

        require()

        def bring(file: KeptFile, to: str) -> None:
            require()
            shelf.fetch(file, to)

        try:
            files = {_plain(file): partial(bring, file) for file in kept.files}
            self._states = restore(folder, files)
        except (StorageError, NoPlaceError, OSError) as error:
            self._note(f"{what} cannot be used: {reason_of(error)}")
            return False
        self.went_on = f"went on from {what}, {_amount(len(kept.files), kept.size)}"
        self._note(self.went_on)
        return True

    # --- while it runs ---

    def begin(self, folder: OpenFolder) -> None:
        """``folder``: the job's."""
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
        """Before the folder is emptied. ``last``: once more, as the tool has left its files."""
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
        except _CutOffError:
            return
        except TooManyError as error:
            self._note(f"no checkpoint was kept: there are {error.what}")
        except (StorageError, OSError) as error:
            self._note(f"a checkpoint could not be kept: {reason_of(error)}")
        except Exception as error:  # boundary of a thread: the job goes on without
            log.error("checkpoint.unexpected", exc_info=error)
            self._note(f"a checkpoint could not be kept: {type(error).__name__}")

    def _look(self, asked: Checkpoint, out: int, closing: ExitStack) -> MatchingFiles | None:
        """All files as they were at one moment: opened, and afterwards still the same. A tool that
        renames leaves alone what is open."""
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
        """Raises ``TooManyError``."""
        for path, why in list(found.passed.items())[:_MOST_NAMED]:
            self._note(f"{quoted(os.fsdecode(path))} is not kept in checkpoints: {why}")
        if sum(len(quoted_path(path)) for path in found.files) > _MOST_PATHS:
            raise TooManyError(f"more than {_MOST_PATHS} characters in their paths")
        if found.size <= self._limit:
            return found
        self._note(
            f"no checkpoint was kept: {_amount(len(found.files), found.size)} are more than this"
            f" pilot keeps ({self._limit >> 20} MiB, SLUICE_PILOT_CHECKPOINT_LIMIT)"
        )
        return None

    def _store(self, found: MatchingFiles) -> None:
        """What has changed, then the list; then what neither this nor the list before names
        goes."""
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
                raise _CutOffError

        put = self._shelf.put(file, number, check=check)
        check()
        return KeptFile(path=quoted_path(path), number=number, size=put.size, checksum=put.checksum)

    def _remove_spent(self) -> None:
        for number in sorted(self._spent):
            try:
                self._shelf.remove_file(number)
            except (StorageError, OSError) as error:
                log.warning("checkpoint.not_removed", number=number, reason=str(error))
            else:
                self._spent.discard(number)

    def _require_wanted(self) -> None:
        if self._over:
            raise _CutOffError

    def _note(self, line: str) -> None:
        if line not in self._told and len(self._told) < _MOST_NOTES:
            self._told.add(line)
            self._tell(line)


def _plain(file: KeptFile) -> bytes:
    """Raises ``NoPlaceError``."""
    path = file.plain_path
    if path is None:
        raise NoPlaceError(os.fsencode(file.path))
    return path


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def _amount(files: int, size: int) -> str:
    return f"{files} {'file' if files == 1 else 'files'}, {size} bytes"
