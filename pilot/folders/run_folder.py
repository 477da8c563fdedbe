"""The folder of one start of a pilot."""

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from pilot.domain.model import Token
from pilot.folders.deletion import delete_tree
from pilot.folders.dotless_names import DotlessName
from pilot.folders.ownership import PASSAGE, PRIVATE
from pilot.folders.work_folder import WorkFolder
from pilot.users.slot_user import SlotUser

_SLOTS, _SHARED, _PHASES, _DOCUMENTS, _SYSTEM = "slots", "shared", "phases", "documents", "system"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Folder of one start of a pilot."""

    path: Path

    @property
    def uid(self) -> UUID:
        return UUID(self.path.name)

    @property
    def journals(self) -> Path:
        return self.path / "journals"

    @property
    def documents(self) -> Path:
        """For descriptions of tools, which cwltool reads from files."""
        return self.path / _DOCUMENTS

    def make(self) -> None:
        for folder in (self.journals, self.documents):
            folder.mkdir(parents=True, exist_ok=True)

    def let_users_pass(self) -> None:
        """To the folders of its jobs, where other users than this process's work. Raises
        ``OSError``."""
        for name in (self.journals.name, _SHARED, _PHASES, _DOCUMENTS, _SYSTEM):
            (self.path / name).mkdir(exist_ok=True)
            (self.path / name).chmod(PRIVATE)
        self.slots.mkdir(exist_ok=True)
        for folder in (self.slots, self.path):
            folder.chmod(PASSAGE)

    def note_held(self, tokens: Iterable[Token]) -> None:
        self._note("held", json.dumps(list(tokens)))

    def held(self) -> list[Token]:
        """Empty where a kill struck while it was being written."""
        try:
            return [(token[0], token[1]) for token in json.loads((self.path / "held").read_text())]
        except (OSError, ValueError):
            return []

    def note_memory_group(self, folder: str) -> None:
        with contextlib.suppress(OSError):  # a full disk: no reason not to run
            self._note("memory_group", folder)

    def memory_group(self) -> str | None:
        """None where it had none."""
        with contextlib.suppress(OSError):
            return (self.path / "memory_group").read_text() or None
        return None

    def delete(self) -> None:
        self._plain(PRIVATE).forget()
        delete_tree(self.path)

    def forget_slot(self, pid: int) -> None:
        """Its process has ended, and had no job."""
        for folder in self.slots.glob(f"{pid}-*"):
            delete_tree(folder)
        delete_tree(self.shared_folder(pid))
        self.phase_file(pid).unlink(missing_ok=True)

    def phase_file(self, pid: int) -> Path:
        return self.path / _PHASES / str(pid)

    def shared_folder(self, pid: int) -> str:
        return f"{self.path}/{_SHARED}/{pid}"

    def job_sources(self) -> list[str]:
        """The folders, made, in which jobs have files of their own."""
        found = [f"{os.path.realpath(self.path)}/{name}" for name in (_SLOTS, _SHARED)]
        for folder in found:
            os.makedirs(folder, exist_ok=True)
        return found

    @property
    def system(self) -> Path:
        """For copies of the node's settings, that all tools may see."""
        return self.path / _SYSTEM

    def work_folder(self, pid: int, user: SlotUser | None = None) -> WorkFolder:
        """``user``: that the slot's tools run as, where it is another one than this process's."""
        mode = PRIVATE if user is None else PASSAGE
        return WorkFolder(f"{self.slots}/{pid}", self._plain(mode), user)

    @property
    def slots(self) -> Path:
        """For the folders of the slots' jobs."""
        return Path(os.path.realpath(self.path)) / _SLOTS

    def _plain(self, mode: int) -> DotlessName:
        return DotlessName(str(self.slots), self.path.name, mode)

    def _note(self, name: str, text: str) -> None:
        """For this user alone, also where others may pass. Raises ``OSError``."""
        place = self.path / name
        place.touch(0o600)
        place.write_text(text)
