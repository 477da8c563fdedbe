"""Free space on storages, and the jobs that wait for it."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import Contract, StorageUrl, Timestamp

#: A storage with fewer free bytes counts as full.
MIN_FREE = 1 << 20
#: The largest number of bytes in a request for free space.
MAX_NEEDED = 2**53

Needed = Annotated[int, Field(ge=0, le=MAX_NEEDED)]


class FullStorage(Contract):
    """The storage that had no space for the outputs of an attempt.

    Attributes:
        storage: The URL of the file that did not fit.
        needed: Bytes that the outputs need.
    """

    storage: StorageUrl
    needed: Needed = 0


class SpaceNeeded(Contract):
    """A notice that jobs wait for free space on a storage.

    Attributes:
        needed: Bytes that a job needs. Null if no job waits any more.
    """

    needed: Needed | None


class StorageSpace(Contract):
    """The free space of a storage.

    Attributes:
        free: Free bytes. Null if they are not known or unlimited.
        full: Whether the storage has no space for any file.
    """

    free: int | None
    full: bool = False


class StorageWait(Contract):
    """A storage that has no space for jobs, and the tasks that wait for it.

    Attributes:
        url: The URL of the storage.
        name: Its name. Empty until the DMS has told the name.
        needed: Bytes that the largest attempt needs.
        free: Bytes that were free at the last check, if known.
        since: When the first task began to wait.
        jobs: The number of ready jobs that are not leased to pilots.
        tasks: The tasks of these jobs.
    """

    url: StorageUrl
    name: str = ""
    needed: int = 0
    free: int | None = None
    since: Timestamp
    jobs: int
    tasks: list[UUID]


class StorageWaitList(Contract):
    """The storages that jobs wait for, the longest wait first."""

    waits: list[StorageWait]
