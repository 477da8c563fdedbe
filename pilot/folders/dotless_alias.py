"""Paths without a dot for folders that have a dot in their paths.

Some expressions of templates take a dot in the name of a folder for the start of the file
extension.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from pilot.folders.ownership import PRIVATE, UnsafeFolderError, make_own_folder

_LINK = "slots"


class DotlessAlias:
    """A path without a dot for ``folder``, whose own path has no links.

    ``unique`` makes the name of the link's folder unique, and ``mode`` is that folder's mode.
    """

    def __init__(self, folder: str, unique: str, mode: int = PRIVATE) -> None:
        self._folder = folder
        self._unique = unique
        self._mode = mode
        self._path = folder

    def find_path(self) -> str:
        """Return a path of the folder without a dot, and create its link if necessary.

        The link is in a folder of temporary files and belongs to this user alone. If no such link
        is possible, the folder's own path is returned.
        """
        if "." in self._folder and not self._leads_to_folder(self._path):
            self._path = next(
                filter(self._leads_to_folder, map(self._make_link, _places())), self._folder
            )
        return self._path

    def remove(self) -> None:
        """Remove the link and its folder, even if another process of this user made them."""
        for place in _places():
            with suppress(OSError):
                above = os.open(
                    _get_link_folder(place, self._unique),
                    os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
                )
                try:
                    if (
                        os.fstat(above).st_uid == os.geteuid()
                        and os.readlink(_LINK, dir_fd=above) == self._folder
                    ):
                        os.unlink(_LINK, dir_fd=above)
                        os.rmdir(_get_link_folder(place, self._unique))
                finally:
                    os.close(above)

    def _make_link(self, place: str) -> str:
        """Create the link in ``place`` and return its path, or the folder's own path on failure."""
        try:
            folder = make_own_folder(Path(_get_link_folder(place, self._unique)), mode=self._mode)
            link = f"{folder}/{_LINK}"
            with suppress(FileExistsError):
                os.symlink(self._folder, link)
        except (UnsafeFolderError, OSError):
            return self._folder
        return link

    def _leads_to_folder(self, name: str) -> bool:
        try:
            return "." not in name and os.readlink(name) == self._folder
        except OSError:
            return False


def _places() -> list[str]:
    candidates = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108 - looked at, not written
    folders = dict.fromkeys(os.path.realpath(place) for place in candidates)
    return [place for place in folders if "." not in place and os.path.isdir(place)]


def _get_link_folder(place: str, unique: str) -> str:
    return f"{place}/sluice-{unique}"
