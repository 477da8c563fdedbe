"""The folder of one run of a pilot."""

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pilot.domain.model import Token
from pilot.folders.deletion import delete_tree
from pilot.folders.dotless_alias import DotlessAlias
from pilot.folders.ownership import PASSAGE, PRIVATE
from pilot.folders.work_folder import WorkFolder
from pilot.isolation.users.slot_user import SlotUser

_SLOTS, _SHARED, _PHASES, _DOCUMENTS, _SYSTEM = "slots", "shared", "phases", "documents", "system"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Folder of one run of a pilot, from its start to its end."""

    path: Path

    @property
    def uid(self) -> UUID:
        """Return the uid of the run."""
        return UUID(self.path.name)

    @property
    def journals(self) -> Path:
        """Return the folder of the journals."""
        return self.path / "journals"

    @property
    def documents(self) -> Path:
        """Return the folder of tool descriptions, which cwltool reads from files."""
        return self.path / _DOCUMENTS

    def make(self) -> None:
        """Create the folders that every run has."""
        for folder in (self.journals, self.documents):
            folder.mkdir(parents=True, exist_ok=True)

    def let_users_pass(self) -> None:
        """Let the users of slots reach the folders of the run's jobs.

        Raises:
            OSError: A folder could not be created or its mode not be changed.
        """
        for name in (self.journals.name, _SHARED, _PHASES, _DOCUMENTS, _SYSTEM):
            (self.path / name).mkdir(exist_ok=True)
            (self.path / name).chmod(PRIVATE)
        self.slots.mkdir(exist_ok=True)
        for folder in (self.slots, self.path):
            folder.chmod(PASSAGE)

    def save_tokens(self, tokens: Iterable[Token]) -> None:
        """Record the jobs that the pilot has."""
        self._write("held", json.dumps(list(tokens)))

    def read_tokens(self) -> list[Token]:
        """Return the recorded jobs, or an empty list if the record is missing or incomplete."""
        try:
            return [(token[0], token[1]) for token in json.loads((self.path / "held").read_text())]
        except (OSError, ValueError):
            return []

    def save_memory_group(self, folder: str) -> None:
        """Record the folder of the memory groups."""
        with contextlib.suppress(OSError):  # A full disk must not prevent the run.
            self._write("memory_group", folder)

    def read_memory_group(self) -> str | None:
        """Return the recorded folder of the memory groups, or None."""
        with contextlib.suppress(OSError):
            return (self.path / "memory_group").read_text() or None
        return None

    def delete(self) -> None:
        """Delete the folder of the run."""
        self._create_alias(PRIVATE).remove()
        delete_tree(self.path)

    def forget_slot(self, pid: int) -> None:
        """Delete the folders of a slot process that has ended without a job."""
        for folder in self.slots.glob(f"{pid}-*"):
            delete_tree(folder)
        delete_tree(self.shared_folder(pid))
        self.phase_file(pid).unlink(missing_ok=True)

    def phase_file(self, pid: int) -> Path:
        """Return the file that a slot process writes its progress to."""
        return self.path / _PHASES / str(pid)

    def shared_folder(self, pid: int) -> str:
        """Return the folder of the inputs that a slot's jobs share."""
        return f"{self.path}/{_SHARED}/{pid}"

    def job_sources(self) -> list[str]:
        """Create the folders in which jobs have files, and return their paths."""
        sources = [f"{os.path.realpath(self.path)}/{name}" for name in (_SLOTS, _SHARED)]
        for folder in sources:
            os.makedirs(folder, exist_ok=True)
        return sources

    @property
    def system(self) -> Path:
        """Return the folder for copies of the node's settings, which all tools may see."""
        return self.path / _SYSTEM

    def work_folder(self, pid: int, user: SlotUser | None = None) -> WorkFolder:
        """Return the work folder of a slot.

        ``user`` is the user of the slot's tools, or None if they run as this process's user.
        """
        mode = PRIVATE if user is None else PASSAGE
        return WorkFolder(f"{self.slots}/{pid}", self._create_alias(mode), user)

    @property
    def slots(self) -> Path:
        """Return the folder of the slots' work folders, with links resolved."""
        return Path(os.path.realpath(self.path)) / _SLOTS

    def _create_alias(self, mode: int) -> DotlessAlias:
        return DotlessAlias(str(self.slots), self.path.name, mode)

    def _write(self, name: str, text: str) -> None:
        """Write a file that only this user can read.

        Raises:
            OSError: The file could not be written.
        """
        place = self.path / name
        place.touch(0o600)
        place.write_text(text)
