"""Other names of folders that have a dot in theirs. Some expressions of templates take it for the
one before a file's ending."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from pilot.folders.ownership import PRIVATE, UnsafeFolderError, own_folder

_LINK = "slots"


class DotlessName:
    """Of ``folder``, which is named without links. ``unique``: what nobody else has in its name.
    ``mode``: of the folder that the other name lies in."""

    def __init__(self, folder: str, unique: str, mode: int = PRIVATE) -> None:
        self._folder = folder
        self._unique = unique
        self._mode = mode
        self._known = folder

    def now(self) -> str:
        """Without a dot: by a link that only this user can make, beside the system's temporary
        files. The folder's own name where that has none, or where no such link can be had. Made
        again where somebody tidied up."""
        if "." in self._folder and not self._leads(self._known):
            self._known = next(filter(self._leads, map(self._made, _places())), self._folder)
        return self._known

    def forget(self) -> None:
        """Nothing of it is left, also of one that another process has made."""
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
        """The folder's own name where that cannot be."""
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
