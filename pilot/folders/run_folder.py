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
from pilot.folders.work_folder import WorkFolder


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

    def make(self) -> None:
        self.journals.mkdir(parents=True, exist_ok=True)

    def note_held(self, tokens: Iterable[Token]) -> None:
        (self.path / "held").write_text(json.dumps(list(tokens)))

    def held(self) -> list[Token]:
        """Empty where a kill struck while it was being written."""
        try:
            return [(token[0], token[1]) for token in json.loads((self.path / "held").read_text())]
        except (OSError, ValueError):
            return []

    def note_memory_group(self, folder: str) -> None:
        with contextlib.suppress(OSError):  # a full disk: no reason not to run
            (self.path / "memory_group").write_text(folder)

    def memory_group(self) -> str | None:
        """None where it had none."""
        with contextlib.suppress(OSError):
            return (self.path / "memory_group").read_text() or None
        return None

    def delete(self) -> None:
        self._slots.forget()
        delete_tree(self.path)

    def phase_file(self, pid: int) -> Path:
        return self.path / "phases" / str(pid)

    def shared_folder(self, pid: int) -> str:
        return f"{self.path}/shared/{pid}"

    def job_sources(self) -> list[str]:
        """The folders, made, in which jobs have files of their own."""
        found = [f"{os.path.realpath(self.path)}/{name}" for name in ("slots", "shared")]
        for folder in found:
            os.makedirs(folder, exist_ok=True)
        return found

    @property
    def system(self) -> Path:
        """For copies of the node's settings, that all tools may see."""
        return self.path / "system"

    def work_folder(self, pid: int) -> WorkFolder:
        return WorkFolder(f"{os.path.realpath(self.path)}/slots/{pid}", self._slots)

    @property
    def _slots(self) -> DotlessName:
        return DotlessName(f"{os.path.realpath(self.path)}/slots", self.path.name)
