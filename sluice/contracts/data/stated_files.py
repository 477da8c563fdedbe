"""Files that a client says exist, and the results of checking them."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import Checksum, Contract, StorageUrl


class StatedFile(Contract):
    """A file that a client says exists."""

    url: StorageUrl
    size: Annotated[int, Field(ge=0)]
    checksum: Checksum


class CheckFiles(Contract):
    """A request to check files.

    Attributes:
        files: The files.
        content: Read the files and compare their checksums. Otherwise only sizes are compared, and
            only of files on file systems.
    """

    files: Annotated[list[StatedFile], Field(max_length=10_000)]
    content: bool = False


class FileFaults(Contract):
    """The results of checking files.

    Attributes:
        faults: What is wrong with each file, in the order of the request. None for a file without
            fault.
    """

    faults: list[str | None]
