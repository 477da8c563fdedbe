"""Requests and answers of the DMS about periods, runs and frames."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import Contract, Metadata, Name, Timestamp
from sluice.contracts.common.bounds import NewMetadata, NewText


class NewPeriod(Contract):
    """A period of data taking with its physics goal."""

    name: Name
    goal: NewText = ""
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None


class Period(NewPeriod):
    """A period of data taking, with its number of runs."""

    goal: str = ""
    runs: int = 0


class EndTime(Contract):
    """A request to set the end of a period or run.

    Attributes:
        ended_at: The end. Null if it has not ended after all.
    """

    ended_at: Timestamp | None


class NewRun(Contract):
    """A run: some hours of data taking under constant conditions."""

    number: Annotated[int, Field(ge=0)]
    period: Name
    conditions: NewMetadata = Field(default_factory=dict)
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None


class Run(NewRun):
    """A run, with its number of frames."""

    conditions: Metadata = Field(default_factory=dict)
    frames: int = 0


class NewFrame(Contract):
    """A numbered block of a few seconds of detector data, and the file that contains it."""

    number: Annotated[int, Field(ge=0)]
    file_id: int | None = None
    meta: NewMetadata = Field(default_factory=dict)


class NewFrames(Contract):
    """Frames to register."""

    frames: Annotated[list[NewFrame], Field(max_length=10_000)]


class Frame(NewFrame):
    """A registered frame."""

    meta: Metadata = Field(default_factory=dict)
    run: int
