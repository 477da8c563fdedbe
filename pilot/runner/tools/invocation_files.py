"""Brings in the files that an invocation names."""

import os
import tempfile
from pathlib import Path
from typing import Any

from pilot.runner.failures import AttemptError
from pilot.runner.files.input_protection import ProtectedInputs
from pilot.runner.files.staging import file_url
from sluice.contracts.states import ErrorClass
from sluice.storage import BundleError, OutsideStorage, require_within, unpack


def bring_files(value: Any, *, source: str, folder: str, protected: ProtectedInputs) -> Any:
    """``value`` with every File and Directory brought into ``folder``. Raises ``AttemptError``.

    Their locations are places in the storage of the invocation, whose URL, ``source``, is
    ``<storage>/<data set>/<name>``.
    """
    return _Bringer(source.rsplit("/", 2)[0], folder, protected).brought(value)


class _Bringer:
    def __init__(self, storage: str, folder: str, protected: ProtectedInputs) -> None:
        self._storage = storage
        self._protected = protected
        self._folder = folder
        self._number = 0

    def brought(self, value: Any) -> Any:
        match value:
            case list():
                return [self.brought(item) for item in value]
            case {"class": "File" | "Directory", "location": str()}:
                return self._object(value, self._next())
            case dict():
                return {key: self.brought(item) for key, item in value.items()}
        return value

    def _next(self) -> str:
        """A folder of its own, called as no other file here can be."""
        self._number += 1
        return tempfile.mkdtemp(prefix=f"named-{self._number}-", dir=self._folder)

    def _object(self, value: dict[str, Any], place: str) -> dict[str, Any]:
        """``place``: a folder for it and what belongs to it."""
        url = self._url(value["location"])
        name = os.path.basename(str(value.get("basename") or url.rsplit("/", 1)[-1]))
        path = f"{place}/{name}"
        if value["class"] == "Directory":
            self._bring_folder(url, path, place)
        else:
            self._protected.bring(name, url, path, checksum=None, size=None)
        kept = {key: field for key, field in value.items() if key not in ("listing", "path")}
        found = {**kept, "location": file_url(path), "basename": name}
        if "secondaryFiles" in value:
            found["secondaryFiles"] = [
                self._beside(file, place) for file in value["secondaryFiles"]
            ]
        return found

    def _beside(self, value: dict[str, Any], place: str) -> dict[str, Any]:
        """A secondary file: a literal is written beside the primary one later, with what is brought
        for it here."""
        return self._object(value, place) if "location" in value else self.brought(value)

    def _url(self, location: str) -> str:
        url = f"{self._storage}/{location}"
        try:
            require_within(self._storage, url)
        except OutsideStorage as error:
            sentence = f"the invocation names {location[:200]!r}, which is not in its storage"
            raise AttemptError(ErrorClass.TOOL_REFUSED, sentence) from error
        return url

    def _bring_folder(self, url: str, path: str, place: str) -> None:
        archive, inside = f"{path}.tar", f"{place}/bundle"
        self._protected.bring(os.path.basename(path), url, archive, checksum=None, size=None)
        try:
            value = unpack(Path(archive), Path(inside))
        except BundleError as error:
            raise AttemptError(
                ErrorClass.TOOL_REFUSED, f"the directory {os.path.basename(path)!r}: {error}"
            ) from error
        os.unlink(archive)
        os.rename(f"{inside}/files/0/{value['basename']}", path)
