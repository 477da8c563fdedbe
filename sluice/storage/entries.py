"""Results of operations on storages, and names of temporary files."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime

from sluice.contracts.common.naming import file_key

_TEMPORARY = ".part-"
_TEMPORARY_NAME = re.compile(re.escape(_TEMPORARY) + r"[0-9a-f]{16}")
_PIECE = re.compile(re.escape(_TEMPORARY) + r"([0-9a-f]{32})-(\d{15})")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as stored. ``size`` is in bytes, ``checksum`` is ``sha256:<hex>``."""

    size: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A file found on a storage.

    ``name`` is the last part of its URL, ``size`` is in bytes, and ``modified`` is in UTC.
    """

    name: str
    url: str
    size: int
    modified: datetime


def make_temporary_name() -> str:
    """Return a name for a file until it is complete and verified."""
    return _TEMPORARY + secrets.token_hex(8)


def is_temporary(name: str) -> bool:
    """Return whether ``make_temporary_name`` or ``make_piece_name`` made this name.

    Such a file is being written, or its writer died. Other names with the same start belong to
    people.
    """
    return _TEMPORARY_NAME.fullmatch(name) is not None or parse_piece_name(name) is not None


def make_piece_name(file: str, offset: int) -> str:
    """Return the name of the piece of a file at an offset, until all pieces are joined."""
    return f"{_TEMPORARY}{file_key(file)}-{offset:015d}"


def parse_piece_name(name: str) -> tuple[str, int] | None:
    """Return the key of the file and the offset of a piece, or None for another name."""
    match = _PIECE.fullmatch(name)
    return None if match is None else (match[1], int(match[2]))
