"""What the operations on storages answer with."""

import secrets
from dataclasses import dataclass
from datetime import datetime

_TEMPORARY = ".part-"


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
    """Is this the name of a file that is still being written, or whose writer died?"""
    return name.startswith(_TEMPORARY)
