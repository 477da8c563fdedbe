"""Logs of attempts that still run."""

from typing import Annotated

from pydantic import ConfigDict, Field

from sluice.contracts.base import Contract
from sluice.contracts.states import JobState

#: Bytes of each stream that stand in a ``LiveLog``, the last ones.
LIVE_BYTES = 64 * 1024


class LiveStream(Contract):
    """The end of what a tool has written to one of its streams. ``start``: how many bytes of it
    come before ``data``."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    start: Annotated[int, Field(ge=0)]
    data: Annotated[bytes, Field(max_length=LIVE_BYTES)]

    @property
    def end(self) -> int:
        return self.start + len(self.data)


class LiveLog(Contract):
    """What a pilot puts beside the log of an attempt while it runs. ``streams``: by name,
    ``stdout`` and ``stderr``."""

    streams: Annotated[dict[str, LiveStream], Field(max_length=2)]


class FollowedLog(Contract):
    """``streams``: of the attempt that runs, as far as its pilot has put them where they can be
    read; none of a job that does not run."""

    state: JobState
    attempt: int
    streams: dict[str, LiveStream] = Field(default_factory=dict)
