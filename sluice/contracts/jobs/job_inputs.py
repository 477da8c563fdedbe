"""The inputs of a single job: files and items of lists."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import Checksum, Contract, FileName, Metadata, StorageUrl


class InputFile(Contract):
    """An input file of a job.

    ``port`` is the port of the tool that takes the file. If it is empty, the task's
    ``dat_in_port`` takes the file.
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

    The task's arguments have the list at ``port``. ``place`` is the index of the item, from 0.
    ``name`` is shown to people in place of a file name.
    """

    seq: int
    name: FileName
    port: str
    place: Annotated[int, Field(ge=0)]


#: An input of a single job. Both types have ``seq``, ``name`` and ``port``.
JobInput = InputFile | InputItem
