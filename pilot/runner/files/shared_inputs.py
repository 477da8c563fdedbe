"""Files that all jobs of a task are given: brought to the node once for each slot, and linked into
the folder of each job."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pilot.folders.deletion import delete_tree
from pilot.runner.files.asset_cache import AssetCache
from pilot.runner.files.input_protection import Mark, ProtectedInputs, mark
from sluice.contracts.asset_refs import MARK
from sluice.contracts.job_inputs import InputFile
from sluice.contracts.pilots import PilotTask
from sluice.storage import local_url

#: Of so many tasks, those used last, the files are kept.
MOST_TASKS = 4


@dataclass(frozen=True, slots=True)
class _Kept:
    """``linked``: it is a link to the storage's own file."""

    mark: Mark
    linked: bool


class SharedFiles:
    """Of the tasks of one slot, in ``folder``, which is made when there is something to keep.
    ``cache``: of all slots, for files of assets; None: there is none."""

    def __init__(self, folder: str, cache: AssetCache | None = None) -> None:
        self._folder = folder
        self._cache = cache
        self._kept: dict[UUID, dict[str, _Kept]] = {}

    def of(self, task: PilotTask, protected: ProtectedInputs) -> Sequence[InputFile]:
        """The task's shared inputs where they lie on this node, content verified; ``protected`` of
        the job is told which of them are links. Raises ``AttemptError``, ``OSError``."""
        if not task.shared_inputs:
            return ()
        kept = self._kept[task.uid] = self._kept.pop(task.uid, {})  # the one used last stands last
        while len(self._kept) > MOST_TASKS:
            self.forget(next(iter(self._kept)))
        place = f"{self._folder}/{task.uid}"
        os.makedirs(place, exist_ok=True)
        return [
            self._brought(file, f"{place}/{number}", kept, protected)
            for number, file in enumerate(task.shared_inputs)
        ]

    def forget(self, uid: UUID) -> None:
        """The task gets no more jobs here."""
        if self._kept.pop(uid, None) is not None:
            delete_tree(f"{self._folder}/{uid}")

    def _brought(
        self, file: InputFile, path: str, kept: dict[str, _Kept], protected: ProtectedInputs
    ) -> InputFile:
        """Fetched where it is not there yet, and again where a tool wrote to its input."""
        known = kept.get(path)
        if known is None or known.mark != mark(path):
            cache = self._cache if MARK in file.meta else None
            if cache is not None and cache.give(file, path):
                kept[path] = _Kept(mark(path), linked=False)
            else:
                linked = protected.bring(
                    file.name, file.url, path, checksum=file.checksum, size=file.size
                )
                kept[path] = _Kept(mark(path), linked)
        elif known.linked:
            protected.note(file.name, file.url, path, checksum=file.checksum)
        # The storage's own, if that is what it is: the job need not be able to enter this folder.
        return file.model_copy(update={"url": local_url(os.path.realpath(path))})
