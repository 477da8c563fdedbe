"""The files of a template: from a disk (command line), or from an upload only."""

import os
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from sluice.cwl.reading.findings import suggest_or_list
from sluice.cwl.reading.yaml_text import MAX_BYTES
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

#: An absolute path of any operating system, also as an address.
_ABSOLUTE = re.compile(r"file:|/|\\|[A-Za-z]:[\\/]", re.IGNORECASE)
#: The size in bytes of a file or directory that becomes a literal, and the number of its files.
MAX_LITERAL = 1 << 20
_MAX_FILES = 1000
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def is_relative(name: str) -> bool:
    """Return whether the name is a path relative to another file.

    Addresses, absolute paths and expressions are not.
    """
    return not (_ABSOLUTE.match(name) or _ADDRESS.match(name) or "$(" in name or "${" in name)


class FileRefused(Exception):
    """The file is not available. ``message`` says which file and why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FileSet(Protocol):
    """Files by key. The key is also the name in findings.

    The key of the first file comes from outside. ``find`` makes the others.
    """

    def find(self, base: str, name: str) -> str:
        """Return the key of the file that the file ``base`` calls ``name``.

        Raises:
            FileRefused: The file is not available.
        """
        ...

    def list_folder(self, base: str, name: str) -> dict[str, str]:
        """Return the keys of all files in a folder by path in it.

        The file ``base`` calls the folder ``name``.

        Raises:
            FileRefused: The folder is not available, or too large for a template.
        """
        ...

    def text(self, key: str) -> str:
        """Return the text of a file.

        Raises:
            FileRefused: The file is not available.
        """
        ...

    def identity(self, key: str) -> str:
        """Return a text that is the same for all keys of one file."""
        ...


def _refuse_addresses(name: str) -> None:
    if _ADDRESS.match(name) and not _ABSOLUTE.match(name):
        raise FileRefused(
            f"{quoted(name)} is an address; only files are read: fetch it, and name the file"
        )


def _check_size(count: int, size: int, folder: object) -> None:
    if count > _MAX_FILES or size > MAX_LITERAL:
        raise FileRefused(
            f"{quoted(str(folder))} is too large for a template: at most {_MAX_FILES} files and"
            f" {MAX_LITERAL} bytes (1 MiB)"
        )


def _refuse_folder(error: OSError) -> None:
    raise error


class DiskFiles:
    """Files on a disk, with paths as keys.

    ``texts`` has the texts that were read. ``portable`` refuses absolute references, which could
    not be uploaded.
    """

    def __init__(self, *, portable: bool = False) -> None:
        self._portable = portable
        self.texts: dict[str, str] = {}

    def find(self, base: str, name: str) -> str:
        """Return the path of a file."""
        _refuse_addresses(name)
        if self._portable and _ABSOLUTE.match(name):
            raise FileRefused(
                f"{quoted(name)} is an absolute path: name the file relative to this one, so that"
                " it can be uploaded with it"
            )
        return str(Path(base).parent / unquote(name.removeprefix("file://")))

    def list_folder(self, base: str, name: str) -> dict[str, str]:
        """List the visible files in a folder and its subfolders.

        Links that lead out of the folder, and files that are not regular, refuse it.
        """
        root = Path(self.find(base, name))
        paths: dict[str, str] = {}
        size = 0
        try:
            for parent, folders, names in os.walk(root, onerror=_refuse_folder):
                folders[:] = [name for name in folders if not name.startswith(".")]
                linked = [name for name in folders if Path(parent, name).is_symlink()]
                visible = [name for name in names if not name.startswith(".")]
                for path in (Path(parent, name) for name in [*linked, *visible]):
                    if not path.is_file() or not path.resolve().is_relative_to(root.resolve()):
                        raise FileRefused(
                            f"{quoted(str(path))} is not a file in {quoted(str(root))}"
                        )
                    paths[path.relative_to(root).as_posix()] = str(path)
                    size += path.stat().st_size
                _check_size(len(paths), size, root)
        except OSError as error:
            raise FileRefused(f"{quoted(str(root))} cannot be read: {reason_of(error)}") from error
        return paths

    def text(self, key: str) -> str:
        """Read a file."""
        path = Path(key)
        try:
            if path.stat().st_size > MAX_BYTES:
                raise FileRefused(
                    f"{quoted(key)} is too large for a template: at most {MAX_BYTES} bytes (2 MiB)"
                    " are read"
                )
            # Path.read_text would convert line ends.
            self.texts[key] = path.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise FileRefused(f"{quoted(key)} is not text in UTF-8") from error
        except (OSError, ValueError) as error:
            raise FileRefused(f"{quoted(key)} cannot be read: {reason_of(error)}") from error
        return self.texts[key]

    def identity(self, key: str) -> str:
        """Return the real path."""
        return os.path.realpath(key)


class UploadedFiles:
    """Files of an upload, with paths within it as keys.

    ``unusable`` has the reasons why files in the upload are not texts.
    """

    def __init__(self, texts: Mapping[str, str], unusable: Mapping[str, str] | None = None) -> None:
        self._texts = texts
        self._unusable = unusable or {}

    def find(self, base: str, name: str) -> str:
        """Return the normalized path of a file within the upload."""
        _refuse_addresses(name)
        name = unquote(name)
        key = self._resolve(base, name)
        if key not in self._texts and key not in self._unusable:
            hint = suggest_or_list(key, self._texts) if len(self._texts) > 1 else ""
            raise FileRefused(
                f"{quoted(key)} is not in the upload: send it along (several files, or a zip){hint}"
            )
        return key

    @staticmethod
    def _resolve(base: str, name: str) -> str:
        """Return the normalized path of what ``base`` calls ``name``, within the upload."""
        if _ABSOLUTE.match(name):
            raise FileRefused(
                f"{quoted(name)} is an absolute path, and only the upload is read: name it relative"
                " to this file"
            )
        key = posixpath.normpath(posixpath.join(posixpath.dirname(base), name))
        if key == ".." or key.startswith("../"):
            raise FileRefused(
                f"{quoted(name)} is outside of what was uploaded: upload the folder that holds both"
            )
        return key

    def list_folder(self, base: str, name: str) -> dict[str, str]:
        """List the uploaded files in a folder and its subfolders."""
        _refuse_addresses(name)
        folder = self._resolve(base, unquote(name))
        prefix = "" if folder == "." else f"{folder}/"
        keys = [*self._texts, *self._unusable]
        paths = {key.removeprefix(prefix): key for key in keys if key.startswith(prefix)}
        size = sum(len(self._texts.get(key, "").encode()) for key in paths.values())
        _check_size(len(paths), size, folder)
        return paths

    def text(self, key: str) -> str:
        """Return the text of a file."""
        if key in self._unusable:
            raise FileRefused(f"{quoted(key)} {self._unusable[key]}")
        return self._texts[key]

    def identity(self, key: str) -> str:
        """Return the path itself."""
        return key
