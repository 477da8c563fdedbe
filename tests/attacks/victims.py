"""Files of the node that belong to nobody's job, and what became of them."""

import os
from dataclasses import dataclass, field
from pathlib import Path

#: Stands in the content of every victim, and in the name of one: where it is found, something was
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
    """Made in ``folder``, which is on the file system of the storages, so that what is taken can be
    moved."""

    folder: Path
    _before: list[tuple[str, object]] = field(init=False)

    def __post_init__(self) -> None:
        for name, text in _FILES.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        self._before = sorted(self._now().items())

    def check(self, root: Path) -> None:
        """They are as they were, and nothing of them is in any other file below ``root``."""
        changed = [file for file in sorted(self._now().items()) if file not in self._before]
        assert changed == []
        assert len(self._now()) == len(self._before)
        for folder, _, names in os.walk(root):
            if not Path(folder).is_relative_to(self.folder):
                for name in names:
                    path = Path(folder) / name
                    assert MARK not in name
                    assert path.is_symlink() or MARK.encode() not in path.read_bytes(), path

    def _now(self) -> dict[str, object]:
        """Content and place of each: another name for one would show, too."""
        found: dict[str, object] = {}
        for path in self.folder.rglob("*"):
            status = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (status.st_ino, status.st_mode, status.st_nlink, content)
        return found
