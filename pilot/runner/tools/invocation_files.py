"""Staging of the files that an invocation names."""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from pilot.runner.failures import AttemptError
from pilot.runner.files.input_protection import ProtectedInputs
from pilot.runner.files.staging import file_url
from sluice.contracts.common.states import ErrorClass
from sluice.cwl_values import BundleError, unpack
from sluice.storage import OutsideStorage, parse_location, require_within
from sluice.text.visible_text import quoted

#: Fields of a File or Directory that are valid on the storage only.
_STORAGE_FIELDS = ("listing", "path", "checksum")
_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")
#: Errors whose messages reveal whether a file exists and with which content.
_REVEALING_ERRORS = (ErrorClass.CHECKSUM_MISMATCH, ErrorClass.STAGE_IN_FAILED)


def stage_files(value: Any, *, source: str, folder: str, protected_inputs: ProtectedInputs) -> Any:
    """Return ``value`` with each File and Directory staged in ``folder``.

    Locations are paths in the storage of the invocation. Its URL, ``source``, is ``<storage>/<data
    set>/<name>``. The storage also has files of other groups, which the pilot may read. A file
    therefore needs its checksum, known only to those who see the file in the catalogue.

    Raises:
        AttemptError: A file could not be staged. The message does not reveal whether another file
            is there.
    """
    return _InvocationStaging(source.rsplit("/", 2)[0], folder, protected_inputs).stage(value)


class _InvocationStaging:
    def __init__(self, storage: str, folder: str, protected_inputs: ProtectedInputs) -> None:
        self._storage = storage
        self._protected_inputs = protected_inputs
        self._folder = folder
        self._number = 0

    def stage(self, value: Any) -> Any:
        match value:
            case list():
                return [self.stage(item) for item in value]
            case {"class": "File" | "Directory", "location": str()}:
                return self._stage_object(value, self._create_folder())
            case dict():
                return {key: self.stage(item) for key, item in value.items()}
        return value

    def _create_folder(self) -> str:
        """Create a folder with a unique name."""
        self._number += 1
        return tempfile.mkdtemp(prefix=f"named-{self._number}-", dir=self._folder)

    def _stage_object(self, value: dict[str, Any], place: str) -> dict[str, Any]:
        """Stage a File or Directory.

        ``place`` is a folder for it and its secondary files.
        """
        url = self._create_url(value["location"])
        name = os.path.basename(str(value.get("basename") or url.rsplit("/", 1)[-1]))
        if name in ("", ".", ".."):
            raise AttemptError(
                ErrorClass.TOOL_REFUSED,
                f"the invocation names a file {quoted(name)}: give it a name",
            )
        path = f"{place}/{name}"
        if value["class"] == "Directory":
            self._stage_folder(value, url, path, place)
        else:
            self._stage_file(value, url, path)
        fields = {key: field for key, field in value.items() if key not in _STORAGE_FIELDS}
        staged = {**fields, "location": file_url(path), "basename": name}
        if "secondaryFiles" in value:
            staged["secondaryFiles"] = [
                self._stage_secondary_file(file, place) for file in value["secondaryFiles"]
            ]
        return staged

    def _stage_secondary_file(self, value: dict[str, Any], place: str) -> dict[str, Any]:
        """Stage a secondary file.

        A literal is written beside the primary file later. Only its parts are staged here.
        """
        return self._stage_object(value, place) if "location" in value else self.stage(value)

    def _create_url(self, location: str) -> str:
        url = f"{self._storage}/{location}"
        try:
            require_within(self._storage, url)
        except OutsideStorage as error:
            sentence = f"the invocation names {quoted(location)}, which is not in its storage"
            raise AttemptError(ErrorClass.TOOL_REFUSED, sentence) from error
        return url

    def _stage_file(self, value: dict[str, Any], url: str, path: str) -> None:
        checksum = value.get("checksum")
        if not (isinstance(checksum, str) and _CHECKSUM.fullmatch(checksum)):
            raise AttemptError(
                ErrorClass.TOOL_REFUSED,
                f"the invocation gives no checksum of {quoted(value['location'])}: run it with"
                " `sluice cwl-runner` of this release",
            )
        try:
            self._protected_inputs.fetch(
                os.path.basename(path), url, path, checksum=checksum, size=None
            )
        except AttemptError as error:
            if error.error_class not in _REVEALING_ERRORS:
                raise
            raise AttemptError(
                ErrorClass.STAGE_IN_FAILED,
                f"{quoted(value['location'])} cannot be read, or is not the file whose checksum"
                " the invocation gives: it was removed or changed since",
            ) from None

    def _stage_folder(self, value: dict[str, Any], url: str, path: str, place: str) -> None:
        archive, inside = f"{path}.tar", f"{place}/bundle"
        self._stage_file(value, url, archive)
        try:
            bundle = unpack(Path(archive), Path(inside))
        except BundleError as error:
            raise AttemptError(
                ErrorClass.TOOL_REFUSED, f"the directory {quoted(os.path.basename(path))}: {error}"
            ) from error
        os.unlink(archive)
        os.rename(parse_location(bundle["location"]), path)
