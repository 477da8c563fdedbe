"""Bundles: a CWL value and all its files in one file.

So a Directory, a File with its secondary files, or a list of files is moved, retried and deleted as
one file. A bundle is a tar archive (POSIX pax) with the value in ``value.json`` and the files below
``files/``. Locations in the value are paths in the archive. The same value and files give the same
bytes.
"""

import errno
import io
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from sluice.cwl_values.values import MAX_FOLDERS, find_unstorable_part
from sluice.storage.copying import PIECE, open_sparse_writer
from sluice.storage.places import build_location, parse_location
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

VALUE = "value.json"
#: The largest value that is read, in bytes.
MAX_VALUE = 64 << 20
_FILES = "files"
#: Fields of a File or Directory that depend on its place. Runners compute them again.
_PLACE_FIELDS = ("path", "dirname", "nameroot", "nameext")


class BundleError(Exception):
    """The value cannot be packed, or the file is not a bundle. The message is a sentence."""


def open_any(path: str) -> int:
    """Open a file or folder of this machine for reading. Links are followed.

    Raises:
        BundleError: It is neither a file nor a folder.
        OSError: It cannot be opened.
    """
    if not os.path.isfile(path) and not os.path.isdir(path):
        raise BundleError(f"{quoted(path)} is neither a file nor a directory, and cannot be kept")
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def pack(
    value: Any,
    path: Path,
    *,
    open_file: Callable[[str], int] = open_any,
    leave_out: Callable[[str], bool] = lambda _: False,
    keep_listings: bool = False,
) -> None:
    """Write ``value`` with its files to ``path``.

    Files are local: they have a ``location`` that is a file URL, or a ``path``, or else their
    content (literals). If the name of a file is taken in its folder, it gets another, as in
    cwltool: ``out.txt_2``.

    Args:
        value: A CWL value.
        path: The bundle to create.
        open_file: Opens each file and folder for reading. There is no other access to them.
        leave_out: Returns whether the entry of a folder with this name is left out.
        keep_listings: Whether folders keep the ``listing`` of their entries.

    Raises:
        BundleError: The value cannot be packed.
        OSError: A file cannot be read, or the bundle cannot be written. Also what ``open_file``
            raises.
    """
    unstorable = find_unstorable_part(value)
    if unstorable is not None:
        raise BundleError(str(unstorable))
    with (
        open_sparse_writer(path, "w") as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        packer = _Packer(archive, open_file, leave_out, keep_listings=keep_listings)
        content = json.dumps(
            packer.pack_value(value), ensure_ascii=False, separators=(",", ":")
        ).encode()
        member = _member(VALUE)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))


def unpack(path: Path, folder: Path) -> Any:
    """Return the value, with its files below ``folder`` and file URLs as locations.

    The archive is not trusted. Only plain files and directories below ``folder`` are written, and
    no location leads out of it.

    Raises:
        BundleError: The file is not a bundle.
        OSError: The bundle cannot be read, or its files cannot be written.
    """
    value: Any = _MISSING
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                if member.name == VALUE:
                    value = _read_value(archive, member)
                else:
                    _extract(archive, member, folder)
    except _NO_ARCHIVE as error:
        raise BundleError(f"{path.name} is not a bundle: {reason_of(error)}") from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise BundleError(f"{path.name} is not a bundle: {reason_of(error)}") from error
    if value is _MISSING:
        raise BundleError(f"{path.name} is not a bundle: it has no {VALUE}")
    return _set_locations(value, folder)


_NO_ARCHIVE = (
    tarfile.TarError,
    ValueError,
    RecursionError,
    # Names in the archive that collide.
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
)


_MISSING = object()


def find_free_name(name: str, used_names: set[str]) -> str:
    """Return ``name``, or a similar name that is not in ``used_names``, and add it there."""
    free, number = name, 1
    while free in used_names:
        number += 1
        free = f"{name}_{number}"
    used_names.add(free)
    return free


class _Packer:
    def __init__(
        self,
        archive: tarfile.TarFile,
        open_file: Callable[[str], int],
        leave_out: Callable[[str], bool],
        *,
        keep_listings: bool,
    ) -> None:
        self._archive = archive
        self._open_file = open_file
        self._leave_out = leave_out
        self._keep_listings = keep_listings
        self._number = 0
        #: The names that are used in each folder.
        self._used_names: dict[str, set[str]] = {}

    def pack_value(self, value: Any, folder: str | None = None) -> Any:
        """Add the files of a value, and return the value with their new locations.

        Args:
            value: The value.
            folder: The folder of a secondary file, which is that of its primary file.
        """
        match value:
            case list():
                return [self.pack_value(item) for item in value]
            case {"class": "File" | "Directory"}:
                return self._object(value, folder)
            case dict():
                return {key: self.pack_value(item) for key, item in value.items()}
        return value

    def _object(self, value: dict[str, Any], folder: str | None) -> dict[str, Any]:
        if folder is None:
            folder, self._number = f"{_FILES}/{self._number}", self._number + 1
        packed = {key: field for key, field in value.items() if key not in _PLACE_FIELDS}
        source = _local_path(value)
        _require_name(packed.get("basename"))
        if source is None:
            packed.pop("location", None)
            if "contents" not in packed and "listing" not in packed:
                raise BundleError(
                    f"a {value['class']} has neither a place nor content:"
                    f" {value.get('basename') or '(no name)'}"
                )
        else:
            packed["basename"] = find_free_name(
                value.get("basename") or os.path.basename(source.rstrip("/")),
                self._used_names.setdefault(folder, set()),
            )
            packed["location"] = f"{folder}/{packed['basename']}"
            self._add(source, packed["location"], within=())
            if value["class"] == "Directory" and "listing" in packed:
                listing = packed.pop("listing")
                if self._keep_listings:
                    packed["listing"] = self._listing(listing, source, packed["location"])
                return packed
        for key in ("secondaryFiles", "listing"):
            if key in packed:
                packed[key] = [
                    self.pack_value(file, folder if source is not None else None)
                    for file in packed[key]
                ]
        return packed

    def _listing(self, listing: list[Any], source: str, folder: str) -> list[Any]:
        """Return the listing of ``source``, which is ``folder`` in the archive."""
        packed = []
        for entry in listing:
            name = entry.get("basename") or os.path.basename(_local_path(entry) or "")
            _require_name(name)
            if self._leave_out(name):
                continue
            path, place = os.path.join(source, name), f"{folder}/{name}"
            if not os.path.exists(path):
                raise BundleError(f"{quoted(source)} has no {quoted(name)}, which its listing has")
            fields = {key: field for key, field in entry.items() if key not in _PLACE_FIELDS}
            if "listing" in fields:
                fields["listing"] = self._listing(fields["listing"], path, place)
            packed.append({**fields, "basename": name, "location": place})
        return packed

    def _add(self, source: str, name: str, *, within: tuple[tuple[int, int], ...]) -> None:
        """Add a file or folder.

        Args:
            source: The local path.
            name: The name in the archive.
            within: Device and inode of the folders around it.
        """
        descriptor = self._open_file(source)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISDIR(status.st_mode):
                with open(descriptor, "rb", closefd=False) as file:
                    self._append(_member(name, status), file)
                return
            names = sorted(n for n in os.listdir(descriptor) if not self._leave_out(n))
        finally:
            os.close(descriptor)
        here = (status.st_dev, status.st_ino)
        if here in within:
            raise BundleError(f"{quoted(name)} is a link to a folder that contains it")
        if len(within) >= MAX_FOLDERS:
            raise BundleError(
                f"{quoted(name)} is more than {MAX_FOLDERS} folders deep: make it flatter, or"
                " an archive"
            )
        self._append(_member(name, status))
        for entry in names:
            self._add(f"{source}/{entry}", f"{name}/{entry}", within=(*within, here))

    def _append(self, member: tarfile.TarInfo, file: IO[bytes] | None = None) -> None:
        self._archive.addfile(member, file)
        self._archive.getmembers().clear()  # otherwise the archive keeps all of them in memory


def _member(name: str, status: os.stat_result | None = None) -> tarfile.TarInfo:
    """Return an archive member without owner, time and links, which differ each time."""
    member = tarfile.TarInfo(name)
    executable = False
    if status is not None:
        folder = stat.S_ISDIR(status.st_mode)
        member.type, member.size = (
            (tarfile.DIRTYPE, 0) if folder else (tarfile.REGTYPE, status.st_size)
        )
        executable = folder or bool(status.st_mode & 0o100)
    member.mode = 0o755 if executable else 0o644
    return member


def _require_name(name: str | None) -> None:
    """Check that a name does not lead out of its folder or into another.

    Raises:
        BundleError: It does.
    """
    if name and (name in (".", "..") or "/" in name or "\0" in name):
        raise BundleError(f"{quoted(name)} is not a file name")


def _local_path(value: dict[str, Any]) -> str | None:
    location = str(value.get("location") or "")
    if location.startswith("file://"):
        try:
            return parse_location(location)
        except ValueError as error:
            raise BundleError(str(error)) from error
    path = value.get("path") or (location if location.startswith("/") else None)
    return None if path is None else str(path)


def _open_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """Open a file of the archive. Sparse files are refused."""
    if member.issparse():  # a few bytes may claim many TB
        raise BundleError(
            f"it has {quoted(member.name)}, which is sparse: write the archive without holes"
        )
    file = archive.extractfile(member) if member.isreg() else None
    if file is None:
        raise BundleError(f"it has {quoted(member.name)}, which is not a plain file")
    return file


def _read_value(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Any:
    if member.size > MAX_VALUE:
        raise BundleError(f"its {VALUE} has more than {MAX_VALUE >> 20} MiB")
    with _open_member(archive, member) as content:
        value = json.load(content)
    unstorable = find_unstorable_part(value)
    if unstorable is not None:
        raise BundleError(f"its {VALUE}: {unstorable}")
    return value


def _has_place(name: str) -> bool:
    """Return whether a bundle may have a file under this name."""
    parts = name.split("/")
    return parts[0] == _FILES and len(parts) > 2 and not {"", ".", ".."} & set(parts)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    if not _has_place(member.name) or not (member.isreg() or member.isdir()):
        raise BundleError(f"it has {quoted(member.name)}, which has no place in a bundle")
    target = folder / member.name
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.isdir():
        target.mkdir(exist_ok=True)
        return
    with _open_member(archive, member) as source, open_sparse_writer(target) as file:
        shutil.copyfileobj(source, file, PIECE)
    target.chmod(member.mode & 0o777)


def _set_locations(value: Any, folder: Path) -> Any:
    for entry in _objects(value):
        # A `path` in the value could lead anywhere.
        entry.pop("path", None)
        _require_name(entry.get("basename"))
        if "location" in entry:
            location = entry["location"]
            if not _has_place(location) or not os.path.exists(folder / location):
                raise BundleError(
                    f"its {VALUE} names {quoted(location)}, which the archive does not have"
                )
            entry["location"] = build_location(folder / location)
        elif not {"contents", "listing"} & entry.keys():
            raise BundleError(
                f"its {VALUE} has a {entry['class']} with neither a place nor content"
            )
    return value


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all Files and Directories in a value, outer ones first."""
    if isinstance(value, dict):
        if value.get("class") in ("File", "Directory"):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
