"""Storages that attempts write to, files that they have stored, and their measured values."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, Field

from sluice.contracts.common.base import Checksum, Contract, FileName, StorageUrl
from sluice.contracts.common.bounds import NewUrl
from sluice.contracts.data.counts import Counts

#: Maximum size of an output file in bytes (9 PB). Sums of many sizes fit into the catalogue.
MAX_SIZE = 2**53
Size = Annotated[int, Field(ge=0, le=MAX_SIZE)]
#: The start or end of an attempt, by the clock of its node, which may be wrong.
ReportedTime = Annotated[
    datetime,
    AwareDatetime,
    Field(ge=datetime(1970, 1, 1, tzinfo=UTC), le=datetime(2100, 1, 1, tzinfo=UTC)),
]
#: A measured value in MiB or seconds.
MeasuredAmount = Annotated[float, Field(ge=0, le=2**53, allow_inf_nan=False)]


class OutputFile(Contract):
    """An output file that is stored under its final name.

    Attributes:
        number: The number of its entry in the job. None stands for the number of the job.
        counts: The tool's counts for this file.
    """

    port: str
    name: FileName
    size: Size
    checksum: Checksum
    url: NewUrl
    number: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    counts: Counts | None = None


class LogFile(Contract):
    """The log of an attempt, which is stored under its final name."""

    name: FileName
    size: Size
    checksum: Checksum
    url: NewUrl


class StorageUrls(Contract):
    """The storages that jobs write to. Pilots remove files of attempts only there."""

    urls: list[StorageUrl]
