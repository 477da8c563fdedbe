"""Files that somebody says are there, and what is wrong with them."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.base import Checksum, Contract, StorageUrl


class ClaimedFile(Contract):
    """A file that somebody says is there."""

    url: StorageUrl
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum


class LookAtFiles(Contract):
    """``content``: read them, and compare with the checksums; else the sizes are compared, as far
    as they lie on file systems."""

    files: Annotated[list[ClaimedFile], Field(max_length=10_000)]
    content: bool = False


class FoundFaults(Contract):
    """What is wrong with each file, in their order; None: nothing."""

    faults: list[str | None]
