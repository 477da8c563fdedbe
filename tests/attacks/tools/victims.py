"""Files of the node that belong to no job, and a check that they are unchanged and were not
read."""

import os
from dataclasses import dataclass, field
from pathlib import Path

#: A mark in the content of each victim and in the name of one. Where it is found, a victim was
#: read.
MARK = "nobody-may-see-this"

_FILES = {
    "secret.txt": MARK,
    f"{MARK}.txt": "a name alone tells, too",
    "folder/member.txt": MARK,
    "answer.json": f'{{"o": "{MARK}"}}',
    "errors": f"first\n{MARK}\n",
}


@dataclass
class Victims:
    """Foreign files in ``folder``, on the file system of the storages, so that they could be moved
    there."""

    folder: Path
    _initial_state: list[tuple[str, object]] = field(init=False)

    def __post_init__(self) -> None:
        for name, text in _FILES.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        self._initial_state = sorted(self._read_state().items())

    def check(self, root: Path) -> None:
        """Check that the victims are unchanged and that no other file below ``root`` has their
        content."""
        changed = [
            file for file in sorted(self._read_state().items()) if file not in self._initial_state
        ]
        assert changed == []
        assert len(self._read_state()) == len(self._initial_state)
        for folder, _, names in os.walk(root):
            if not Path(folder).is_relative_to(self.folder):
                for name in names:
                    path = Path(folder) / name
                    assert MARK not in name
                    assert path.is_symlink() or MARK.encode() not in path.read_bytes(), path

    def _read_state(self) -> dict[str, object]:
        """Return the content and the inode of each victim. The number of links shows further
        names."""
        states: dict[str, object] = {}
        for path in self.folder.rglob("*"):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            states[str(path)] = (status.st_ino, status.st_mode, status.st_nlink, content)
        return states
