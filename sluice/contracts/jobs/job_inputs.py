"""The inputs of a single job: files and items of lists."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import Checksum, Contract, FileName, Metadata, StorageUrl


class InputFile(Contract):
    """An input file of a job.

    Attributes:
        port: The port of the tool that takes the file. Empty means the task's ``dat_in_port``.
    """

    seq: int
    name: FileName
    size: int
    checksum: Checksum
    url: StorageUrl
    meta: Metadata = Field(default_factory=dict)
    port: str = ""


class InputItem(Contract):
    """An item of a list as an input of a job.

    Attributes:
        name: The name that is shown to people in place of a file name.
        port: The port at which the task's arguments have the list.
        place: The index of the item, from 0.
    """

    seq: int
    name: FileName
    port: str
    place: Annotated[int, Field(ge=0)]


#: An input of a single job. Both types have ``seq``, ``name`` and ``port``.
JobInput = InputFile | InputItem
