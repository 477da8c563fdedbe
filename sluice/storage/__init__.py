"""Reading and writing files on storages: local ones by plain system calls, all others through fsspec."""

from sluice.storage.bundles import BundleError, pack, unpack
from sluice.storage.entries import Entry, Stored, is_temporary
from sluice.storage.errors import (
    BehindLink,
    ChecksumMismatch,
    FileMissing,
    NoFile,
    OutsideStorage,
    StorageError,
    StorageFull,
    StorageUnavailable,
    is_full,
)
from sluice.storage.folders import Folder, folder_at
from sluice.storage.local import link_open
from sluice.storage.operations import (
    checksum_of,
    copy,
    entries,
    fetch,
    put,
    put_bytes,
    put_open,
    remove,
    remove_folder_within,
    remove_within,
    verify,
)
from sluice.storage.places import local_path, local_url, require_within, through_link, within
from sluice.storage.probe import probe
from sluice.storage.reading import Reader, open_reader

__all__ = [
    "BehindLink",
    "BundleError",
    "ChecksumMismatch",
    "Entry",
    "FileMissing",
    "Folder",
    "NoFile",
    "OutsideStorage",
    "Reader",
    "StorageError",
    "StorageFull",
    "StorageUnavailable",
    "Stored",
    "checksum_of",
    "copy",
    "entries",
    "fetch",
    "folder_at",
    "is_full",
    "is_temporary",
    "link_open",
    "local_path",
    "local_url",
    "open_reader",
    "pack",
    "probe",
    "put",
    "put_bytes",
    "put_open",
    "remove",
    "remove_folder_within",
    "remove_within",
    "require_within",
    "through_link",
    "unpack",
    "verify",
    "within",
]
