"""Files that all jobs of a task are given: brought to the node once for each slot, and linked into the folder of each job."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from pilot.runner.failures import stage_in_error
from sluice.contracts.pilots import InputFile, PilotTask
from sluice.storage import StorageError, fetch, local_url

#: What tells that nobody has written to a file: device, inode, size, time of change.
_Mark = tuple[int, int, int, int]

#: Of so many tasks, those used last, the files are kept.
MOST_TASKS = 4


class SharedFiles:
    """Of the tasks of one slot, in ``folder``, which is made when there is something to keep."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._marks: dict[UUID, dict[str, _Mark]] = {}

    def of(self, task: PilotTask) -> Sequence[InputFile]:
        """The task's shared inputs where they lie on this node, content verified. Raises ``AttemptError``, ``OSError``."""
        if not task.shared_inputs:
            return ()
        marks = self._marks[task.uid] = self._marks.pop(task.uid, {})  # the one used last stands last
        while len(self._marks) > MOST_TASKS:
            self.forget(next(iter(self._marks)))
        place = f"{self._folder}/{task.uid}"
        os.makedirs(place, exist_ok=True)
        return [self._kept(file, f"{place}/{number}", marks) for number, file in enumerate(task.shared_inputs)]

    def forget(self, uid: UUID) -> None:
        """The task gets no more jobs here."""
        if self._marks.pop(uid, None) is not None:
            shutil.rmtree(f"{self._folder}/{uid}", ignore_errors=True)

    def _kept(self, file: InputFile, path: str, marks: dict[str, _Mark]) -> InputFile:
        """Fetched where it is not there yet, and again where a tool wrote to its input."""
        if path not in marks or marks[path] != _mark(path):
            try:
                fetch(file.url, Path(path), checksum=file.checksum, size=file.size)
            except StorageError as error:
                raise stage_in_error(file.name, error) from error
            marks[path] = _mark(path)
        return file.model_copy(update={"url": local_url(path)})


def _mark(path: str) -> _Mark:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return (0, 0, 0, 0)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
