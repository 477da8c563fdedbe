"""Files that a client says exist, and what is wrong with them."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.base import Checksum, Contract, StorageUrl


class StatedFile(Contract):
    """A file that a client says exists."""

    url: StorageUrl
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum


class CheckFiles(Contract):
    """A request to check files.

    With ``content``, files are read and compared with their checksums. Otherwise only sizes are
    compared, for files on file systems.
    """

    files: Annotated[list[StatedFile], Field(max_length=10_000)]
    content: bool = False


class FileFaults(Contract):
    """What is wrong with each file, in the order of the request, or None."""

    faults: list[str | None]
