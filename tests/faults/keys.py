"""Rotate the keys of all services while they send requests."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from sluice.setup.service_keys import forget_old_keys, rotate_keys


class StackKeys:
    """Keys of the stack in ``folder``; each process has copies, like a container."""

    def __init__(self, folder: Path) -> None:
        self._secrets = folder / "secrets"
        self._processes = folder / "processes"

    def rotate(self) -> int:
        """Rotate the keys, public ones first, and return their number."""
        changes = rotate_keys(self._secrets)
        self._copy_to_processes(self._secrets.glob("*.pub"))
        self._copy_to_processes(self._secrets.glob("*.key"))
        return len(changes)

    def remove_old_keys(self) -> None:
        forget_old_keys(self._secrets)
        self._copy_to_processes(self._secrets.glob("*.pub"))

    def _copy_to_processes(self, files: Iterable[Path]) -> None:
        """Replace the files in the folders of processes that have them."""
        for file in files:
            for old in self._processes.glob(f"*/secrets/{file.name}"):
                new = old.with_name(f"{old.name}.new")
                shutil.copyfile(file, new)
                new.replace(old)
