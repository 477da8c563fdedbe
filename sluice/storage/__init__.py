"""Access to files on storages: local ones by system calls, all others through fsspec."""

from sluice.storage.copying import copy_open, open_sparse_writer
from sluice.storage.entries import (
    Entry,
    StoredFile,
    is_temporary,
    make_piece_name,
    parse_piece_name,
)
from sluice.storage.errors import (
    ChecksumMismatch,
    FileMissing,
    LinkInPath,
    NotAFile,
    OutsideStorage,
    StorageError,
    StorageFull,
    StorageUnavailable,
    is_full,
)
from sluice.storage.folders import Folder, resolve_folder
from sluice.storage.local import link_open
from sluice.storage.operations import (
    compute_checksum,
    copy,
    fetch,
    join,
    list_entries,
    put,
    put_bytes,
    put_open,
    remove,
    remove_folder_within,
    remove_within,
    verify,
)
from sluice.storage.places import (
    build_local_url,
    build_location,
    find_local_path,
    is_inside_by_name,
    is_within,
    leads_through_link,
    parse_location,
    require_within,
)
from sluice.storage.probe import probe
from sluice.storage.reader import Reader, open_reader

__all__ = [
    "ChecksumMismatch",
    "Entry",
    "FileMissing",
    "Folder",
    "LinkInPath",
    "NotAFile",
    "OutsideStorage",
    "Reader",
    "StorageError",
    "StorageFull",
    "StorageUnavailable",
    "StoredFile",
    "build_local_url",
    "build_location",
    "compute_checksum",
    "copy",
    "copy_open",
    "fetch",
    "find_local_path",
    "is_full",
    "is_inside_by_name",
    "is_temporary",
    "is_within",
    "join",
    "leads_through_link",
    "link_open",
    "list_entries",
    "make_piece_name",
    "open_reader",
    "open_sparse_writer",
    "parse_location",
    "parse_piece_name",
    "probe",
    "put",
    "put_bytes",
    "put_open",
    "remove",
    "remove_folder_within",
    "remove_within",
    "require_within",
    "resolve_folder",
    "verify",
]
