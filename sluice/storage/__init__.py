"""Reading and writing files on storages: local ones by plain system calls, all others through
fsspec."""

from sluice.storage.bundles import BundleError, free_name, pack, unpack
from sluice.storage.copying import copy_open, sparse_writer
from sluice.storage.entries import Entry, Stored, is_temporary, piece_name, piece_of
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
    join,
    put,
    put_bytes,
    put_open,
    remove,
    remove_folder_within,
    remove_within,
    verify,
)
from sluice.storage.places import (
    inside_by_name,
    local_path,
    local_url,
    location_of,
    path_of_location,
    require_within,
    through_link,
    within,
)
from sluice.storage.probe import probe
from sluice.storage.reader import Reader, open_reader
from sluice.storage.values import MOST_FOLDERS, MOST_JSON, MOST_NESTED, Flaw, flaw_in, read_json

__all__ = [
    "MOST_FOLDERS",
    "MOST_JSON",
    "MOST_NESTED",
    "BehindLink",
    "BundleError",
    "ChecksumMismatch",
    "Entry",
    "FileMissing",
    "Flaw",
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
    "copy_open",
    "entries",
    "fetch",
    "flaw_in",
    "folder_at",
    "free_name",
    "inside_by_name",
    "is_full",
    "is_temporary",
    "join",
    "link_open",
    "local_path",
    "local_url",
    "location_of",
    "open_reader",
    "pack",
    "path_of_location",
    "piece_name",
    "piece_of",
    "probe",
    "put",
    "put_bytes",
    "put_open",
    "read_json",
    "remove",
    "remove_folder_within",
    "remove_within",
    "require_within",
    "sparse_writer",
    "through_link",
    "unpack",
    "verify",
    "within",
]
