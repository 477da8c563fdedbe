"""The output of a job while it runs (`sluice job logs -f`)."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import with_local_start
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.logs import FollowedLog

#: Seconds between two requests.
_PAUSE = 1.0

_STREAMS = ("stdout", "stderr")
_GAP = re.compile("\n… [0-9]+ bytes left out …\n".encode())


@dataclass(slots=True)
class Follower:
    """The printed part of an attempt's streams. New parts go to ``write`` in order."""

    write: Callable[[bytes], None]
    attempt: int = 0
    stream_ends: dict[str, int] = field(default_factory=dict)

    def take(self, log: FollowedLog) -> None:
        """Print the new parts.

        A new attempt begins at its start. So does a stream that became shorter, as in a job that
        runs its tool several times.
        """
        if log.attempt != self.attempt:
            self.attempt, self.stream_ends = log.attempt, {}
        for name, stream in log.streams.items():
            end = self.stream_ends.get(name, 0)
            if stream.end < end:
                end = 0
            if stream.start > end:
                self.write(f"\n… {stream.start - end} bytes left out …\n".encode())
            if stream.end > end:
                self.write(stream.data[max(0, end - stream.start) :])
            self.stream_ends[name] = stream.end


def remaining_parts(log: bytes, stream_ends: Mapping[str, int]) -> list[bytes]:
    """Return the parts of a log that follow the printed part of each stream.

    If the log has a gap before the end of a printed part, the result begins at the gap.
    """
    rest, place = [], 0
    marks = {name: f"\n--- {name} ---\n".encode() for name in _STREAMS}
    for number, name in enumerate(_STREAMS):
        begin = log.find(marks[name], place)
        if begin < 0:
            continue
        begin += len(marks[name])
        ends = [log.find(marks[later], begin) for later in _STREAMS[number + 1 :]]
        place = min((end for end in ends if end >= 0), default=len(log))
        text, at = log[begin:place], stream_ends.get(name, 0)
        gap = _GAP.search(text)
        rest.append(text[at:] if gap is None or at <= gap.start() else text[gap.start() :])
    return [text for text in rest if text]


async def follow(connection: Connection, number: int, write: Callable[[bytes], None]) -> JobState:
    """Print the output of a job until it has ended or waits for a person, and return its state.

    Raises:
        NotFound: There is no such job.
        NotAvailable: The system does not answer.
    """
    follower = Follower(write)
    while True:
        live_log = await connection.operator.get_live_log(number)
        follower.take(live_log)
        if live_log.state.final or live_log.state is JobState.QUARANTINED:
            break
        await asyncio.sleep(_PAUSE)
    try:
        async with connection.operator.stream_log(number) as content:
            log = await content.aread()
    except NotFound:  # it was canceled before it began, or its pilot is gone
        return live_log.state
    full_log = with_local_start(log.decode(errors="surrogateescape"))
    unseen = [full_log.encode(errors="surrogateescape")]
    for text in remaining_parts(log, follower.stream_ends) if follower.stream_ends else unseen:
        write(text)
    return live_log.state
