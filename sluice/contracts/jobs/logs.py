"""Logs of running attempts."""

from typing import Annotated

from pydantic import ConfigDict, Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.states import JobState

#: Maximum number of bytes of each stream in a ``LiveLog``. These are the last ones.
LIVE_BYTES = 64 * 1024


class LiveStream(Contract):
    """The end of a tool's output on one stream.

    Attributes:
        start: The number of bytes before ``data``.
        data: The last bytes.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    start: Annotated[int, Field(ge=0)]
    data: Annotated[bytes, Field(max_length=LIVE_BYTES)]

    @property
    def end(self) -> int:
        """Return the number of bytes that the tool has written."""
        return self.start + len(self.data)


class LiveLog(Contract):
    """The live log of a running attempt, which its pilot writes beside the final log.

    Attributes:
        streams: The streams, with the keys ``stdout`` and ``stderr``.
    """

    streams: Annotated[dict[str, LiveStream], Field(max_length=2)]


class FollowedLog(Contract):
    """The output of a running job so far.

    Attributes:
        streams: The streams of the running attempt, as far as its pilot has written them to the
            storage. Empty if the job does not run.
    """

    state: JobState
    attempt: int
    streams: dict[str, LiveStream] = Field(default_factory=dict)
