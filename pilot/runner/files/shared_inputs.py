"""Files that all jobs of a task get.

They are fetched once for each slot and linked into the folder of each job.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pilot.folders.deletion import delete_tree
from pilot.runner.files.asset_cache import AssetCache
from pilot.runner.files.input_protection import Mark, ProtectedInputs, read_mark
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.pilots.leases import PilotTask
from sluice.storage import build_local_url

#: Number of tasks whose files are kept, those used last.
MAX_TASKS = 4


@dataclass(frozen=True, slots=True)
class _SharedFile:
    """A file that the slot keeps for the jobs of a task.

    Attributes:
        linked: Whether it is a link to the storage's own file.
    """

    mark: Mark
    linked: bool


class SharedFiles:
    """Shared inputs of the tasks of one slot.

    They are kept in ``folder``, which is created when needed. ``cache`` is the cache of all slots
    for files of assets, or None.
    """

    def __init__(self, folder: str, cache: AssetCache | None = None) -> None:
        self._folder = folder
        self._cache = cache
        self._task_files: dict[UUID, dict[str, _SharedFile]] = {}

    def stage_inputs(
        self, task: PilotTask, protected_inputs: ProtectedInputs
    ) -> Sequence[InputFile]:
        """Return the shared inputs of a task, verified, with their places on this node.

        ``protected_inputs`` records which of them are links.

        Raises:
            AttemptError: A file could not be fetched.
            OSError: A file could not be kept.
        """
        if not task.shared_inputs:
            return ()
        # The task used last is last.
        task_files = self._task_files[task.uid] = self._task_files.pop(task.uid, {})
        while len(self._task_files) > MAX_TASKS:
            self.forget(next(iter(self._task_files)))
        place = f"{self._folder}/{task.uid}"
        os.makedirs(place, exist_ok=True)
        return [
            self._stage(file, f"{place}/{number}", task_files, protected_inputs)
            for number, file in enumerate(task.shared_inputs)
        ]

    def forget(self, uid: UUID) -> None:
        """Delete the files of a task that gets no more jobs here."""
        if self._task_files.pop(uid, None) is not None:
            delete_tree(f"{self._folder}/{uid}")

    def _stage(
        self,
        file: InputFile,
        path: str,
        task_files: dict[str, _SharedFile],
        protected_inputs: ProtectedInputs,
    ) -> InputFile:
        """Fetch a file unless it is kept and unchanged.

        A tool may have written to its input.
        """
        shared_file = task_files.get(path)
        if shared_file is None or shared_file.mark != read_mark(path):
            cache = self._cache if MARK in file.meta else None
            if cache is not None and cache.link_file(file, path):
                task_files[path] = _SharedFile(read_mark(path), linked=False)
            else:
                linked = protected_inputs.fetch(
                    file.name, file.url, path, checksum=file.checksum, size=file.size
                )
                task_files[path] = _SharedFile(read_mark(path), linked)
        elif shared_file.linked:
            protected_inputs.record_link(file.name, file.url, path, checksum=file.checksum)
        # The job may not be able to enter this folder, so the target of a link is used.
        return file.model_copy(update={"url": build_local_url(os.path.realpath(path))})
