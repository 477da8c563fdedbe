"""Room on storages: what is missing, and the work that waits for it."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, StorageUrl, Timestamp, absent

#: Bytes. A storage with fewer free ones is full, whatever is to be written there.
MIN_FREE = 1 << 20
#: Bytes that can be asked for: of a job's outputs, or of all that a storage has to take.
MAX_NEEDED = 2**53

Needed = Annotated[int, Field(ge=0, le=MAX_NEEDED)]


class FullStorage(Contract):
    """Why an attempt could not store its outputs: ``storage`` had no room for ``needed`` bytes.

    ``storage``: URL of the file that did not fit.
    """

    storage: StorageUrl
    needed: Needed = 0


class RoomNeeded(Contract):
    """``PUT /storages/{name}/needed``: jobs wait until the storage has room for so many bytes;
    null: none waits any more."""

    needed: Needed | None


class StorageRoom(Contract):
    """What is free on a storage now, in bytes; null: that is not known, or there is no limit.

    ``full``: nothing fits, whatever its size.
    """

    free: int | None
    full: bool = False


class RoomWait(Contract):
    """Tasks whose jobs wait for room on a storage.

    ``name`` of the storage is empty where the DMS has not told it yet. ``needed``: bytes that the
    largest attempt asked for; ``free``: bytes that were free when last looked at, if known.
    ``jobs`` are ready and not given to pilots; ``tasks``: whose they are.
    """

    url: StorageUrl
    name: str = ""
    needed: int = 0
    free: Annotated[int | None, Field(exclude_if=absent)] = None
    since: Timestamp
    jobs: int
    tasks: list[UUID]


class RoomWaitList(Contract):
    waits: list[RoomWait]
