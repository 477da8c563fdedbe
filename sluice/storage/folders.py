"""Where local folders really lie: two paths may name one folder, or one folder within the other."""

import os
from dataclasses import dataclass

#: Device and inode: the same for a folder whatever path leads to it, by links and by bind mounts.
_Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Folder:
    """``path``: without links. ``identity``: None where there is no such folder; ``above``: of the
    folders that it lies in, those that exist, and its own."""

    path: str
    identity: _Identity | None
    above: frozenset[_Identity]

    def holds(self, other: "Folder") -> bool:
        """Is ``other`` this folder, or does it lie in it?"""
        return (
            other.path == self.path
            or other.path.startswith(self.path.rstrip("/") + "/")
            or (self.identity is not None and self.identity in other.above)
        )


def folder_at(path: str) -> Folder:
    """Blocks as long as its file system does. Raises ``OSError`` where that does not let anybody
    look."""
    real = os.path.realpath(path)
    identities: list[_Identity] = []
    at = real
    while True:
        try:
            stat = os.stat(at)
            identities.append((stat.st_dev, stat.st_ino))
        except (FileNotFoundError, NotADirectoryError):
            pass
        if at == "/":
            break
        at = os.path.dirname(at)
    own = identities[0] if os.path.isdir(real) else None
    return Folder(real, own, frozenset(identities))
