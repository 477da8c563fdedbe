"""The output of a job while it runs (`sluice job logs -f`)."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sluice.cli.connection import Connection
from sluice.cli.moments import with_local_start
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.logs import FollowedLog

#: Seconds between two requests.
_PAUSE = 1.0

_STREAMS = ("stdout", "stderr")
_LEFT_OUT = re.compile("\n… [0-9]+ bytes left out …\n".encode())


@dataclass(slots=True)
class Follower:
    """The progress in an attempt's streams, whose new parts go to ``tell`` in order."""

    tell: Callable[[bytes], None]
    attempt: int = 0
    seen: dict[str, int] = field(default_factory=dict)

    def take(self, found: FollowedLog) -> None:
        """Pass on what is new.

        A new attempt begins at its start. So does a stream that became shorter, as in a job that
        runs its tool several times.
        """
        if found.attempt != self.attempt:
            self.attempt, self.seen = found.attempt, {}
        for name, stream in found.streams.items():
            seen = self.seen.get(name, 0)
            if stream.end < seen:
                seen = 0
            if stream.start > seen:
                self.tell(f"\n… {stream.start - seen} bytes left out …\n".encode())
            if stream.end > seen:
                self.tell(stream.data[max(0, seen - stream.start) :])
            self.seen[name] = stream.end


def rest_of(log: bytes, seen: Mapping[str, int]) -> list[bytes]:
    """Return what follows in a log after the seen part of each stream.

    If the log has a gap before the end of a seen part, the result begins at the gap.
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
        text, at = log[begin:place], seen.get(name, 0)
        gap = _LEFT_OUT.search(text)
        rest.append(text[at:] if gap is None or at <= gap.start() else text[gap.start() :])
    return [text for text in rest if text]


async def follow(connection: Connection, number: int, tell: Callable[[bytes], None]) -> JobState:
    """Pass on the output of a job until it has ended or waits for a person, and return its state.

    Raises:
        NotFound: There is no such job.
        NotAvailable: The system does not answer.
    """
    follower = Follower(tell)
    while True:
        found = await connection.operator.live_log(number)
        follower.take(found)
        if found.state.final or found.state is JobState.QUARANTINED:
            break
        await asyncio.sleep(_PAUSE)
    try:
        async with connection.operator.log_content(number) as content:
            log = await content.aread()
    except NotFound:  # it was canceled before it began, or its pilot is gone
        return found.state
    whole = with_local_start(log.decode(errors="surrogateescape"))
    unseen = [whole.encode(errors="surrogateescape")]
    for text in rest_of(log, follower.seen) if follower.seen else unseen:
        tell(text)
    return found.state
