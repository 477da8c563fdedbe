"""What the operations on storages answer with."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime

from sluice.contracts.naming import file_key

_TEMPORARY = ".part-"
_WRITTEN = re.compile(re.escape(_TEMPORARY) + r"[0-9a-f]{16}")
_PIECE = re.compile(re.escape(_TEMPORARY) + r"([0-9a-f]{32})-(\d{15})")


@dataclass(frozen=True, slots=True)
class Stored:
    """A file as it now lies on its storage. ``size`` in bytes, ``checksum`` as ``sha256:<hex>``."""

    size: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A file found on a storage. ``name``: last part of its URL; ``size`` in bytes; ``modified`` in
    UTC."""

    name: str
    url: str
    size: int
    modified: datetime


def temporary_name() -> str:
    """Name under which a file is written until it is complete and verified."""
    return _TEMPORARY + secrets.token_hex(8)


def is_temporary(name: str) -> bool:
    """Return whether ``temporary_name`` or ``piece_name`` made this name: the file is still being
    written, or its writer died. Other names that begin alike belong to people."""
    return _WRITTEN.fullmatch(name) is not None or piece_of(name) is not None


def piece_name(file: str, offset: int) -> str:
    """Under which the piece of a file lies that begins there, until all are joined."""
    return f"{_TEMPORARY}{file_key(file)}-{offset:015d}"


def piece_of(name: str) -> tuple[str, int] | None:
    """The key of the file that a piece of this name is of, and where it begins; None: it is
    none."""
    found = _PIECE.fullmatch(name)
    return None if found is None else (found[1], int(found[2]))
