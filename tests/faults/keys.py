"""Keys of services that change while they ask each other: new ones for all at once, and the old
ones are known no more a little later."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from sluice.setup.service_keys import forget_old_keys, rotate_keys


class StackKeys:
    """Of the stack in ``folder``. Each process has copies, as a container has."""

    def __init__(self, folder: Path) -> None:
        self._made = folder / "secrets"
        self._processes = folder / "processes"

    def change(self) -> int:
        """The public ones go out first; gives how many keys there are."""
        changes = rotate_keys(self._made)
        self._hand_out(self._made.glob("*.pub"))
        self._hand_out(self._made.glob("*.key"))
        return len(changes)

    def forget_old(self) -> None:
        forget_old_keys(self._made)
        self._hand_out(self._made.glob("*.pub"))

    def _hand_out(self, files: Iterable[Path]) -> None:
        """To those that have a file of that name."""
        for file in files:
            for old in self._processes.glob(f"*/secrets/{file.name}"):
                new = old.with_name(f"{old.name}.new")
                shutil.copyfile(file, new)
                new.replace(old)
