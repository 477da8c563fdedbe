"""Paths without a dot for folders that have a dot in their paths.

Some expressions of templates take a dot in the name of a folder for the start of the file
extension.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from pilot.folders.ownership import PRIVATE, UnsafeFolderError, own_folder

_LINK = "slots"


class DotlessAlias:
    """A path without a dot for ``folder``, whose own path has no links.

    ``unique`` makes the name of the link's folder unique, and ``mode`` is that folder's mode.
    """

    def __init__(self, folder: str, unique: str, mode: int = PRIVATE) -> None:
        self._folder = folder
        self._unique = unique
        self._mode = mode
        self._known = folder

    def now(self) -> str:
        """Return a path of the folder without a dot, and create its link if necessary.

        The link lies in a folder of temporary files and belongs to this user alone. If no such link
        is possible, the folder's own path is returned.
        """
        if "." in self._folder and not self._leads(self._known):
            self._known = next(filter(self._leads, map(self._made, _places())), self._folder)
        return self._known

    def forget(self) -> None:
        """Remove the link and its folder, even if another process of this user made them."""
        for place in _places():
            with suppress(OSError):
                above = os.open(
                    _own(place, self._unique),
                    os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
                )
                try:
                    if (
                        os.fstat(above).st_uid == os.geteuid()
                        and os.readlink(_LINK, dir_fd=above) == self._folder
                    ):
                        os.unlink(_LINK, dir_fd=above)
                        os.rmdir(_own(place, self._unique))
                finally:
                    os.close(above)

    def _made(self, place: str) -> str:
        """Create the link in ``place`` and return its path, or the folder's own path on failure."""
        try:
            link = f"{own_folder(Path(_own(place, self._unique)), mode=self._mode)}/{_LINK}"
            with suppress(FileExistsError):
                os.symlink(self._folder, link)
        except (UnsafeFolderError, OSError):
            return self._folder
        return link

    def _leads(self, name: str) -> bool:
        try:
            return "." not in name and os.readlink(name) == self._folder
        except OSError:
            return False


def _places() -> list[str]:
    places = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108 - looked at, not written
    found = dict.fromkeys(os.path.realpath(place) for place in places)
    return [place for place in found if "." not in place and os.path.isdir(place)]


def _own(place: str, unique: str) -> str:
    return f"{place}/sluice-{unique}"
