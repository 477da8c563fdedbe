"""What a job gets for itself: files, and items of lists."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.base import Checksum, Contract, FileName, Metadata, StorageUrl


class InputFile(Contract):
    """``port``: of the tool that takes it; empty: the task's ``dat_in_port``."""

    seq: int
    name: FileName
    size: int
    checksum: Checksum
    url: StorageUrl
    meta: Metadata = Field(default_factory=dict)
    port: str = ""


class InputItem(Contract):
    """Of the list that the task's arguments have at ``port``, the one at ``place``, from 0.
    ``name``: in the place of a file's, for people."""

    seq: int
    name: FileName
    port: str
    place: Annotated[int, Field(ge=0)]


#: What a job gets for itself; both have ``seq``, ``name`` and ``port``.
JobInput = InputFile | InputItem
