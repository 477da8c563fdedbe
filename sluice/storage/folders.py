"""Identities of local folders: two paths may name one folder, or nested folders."""

import os
from dataclasses import dataclass

#: Device and inode, which are the same for all paths, links and bind mounts of a folder.
_Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Folder:
    """A local folder.

    Attributes:
        path: The path without links.
        identity: The identity, or None if the folder does not exist.
        above: The identities of the existing folders on the path, with its own.
    """

    path: str
    identity: _Identity | None
    above: frozenset[_Identity]

    def holds(self, other: "Folder") -> bool:
        """Return whether ``other`` is this folder or is inside it."""
        return (
            other.path == self.path
            or other.path.startswith(self.path.rstrip("/") + "/")
            or (self.identity is not None and self.identity in other.above)
        )


def resolve_folder(path: str) -> Folder:
    """Return the folder at a path. This blocks as long as the file system does.

    Raises:
        OSError: The file system refuses access.
    """
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
