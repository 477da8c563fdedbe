"""What is told of a log that grows: each byte once, in order, and where something is missing how
much."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.cli.watch.job_log import Follower, rest_of
from sluice.contracts.logs import FollowedLog, LiveStream
from sluice.contracts.states import JobState


def found(attempt: int = 1, **streams: tuple[int, bytes]) -> FollowedLog:
    made = {name: LiveStream(start=start, data=data) for name, (start, data) in streams.items()}
    return FollowedLog(state=JobState.RUNNING, attempt=attempt, streams=made)


def told(*looks: FollowedLog) -> bytes:
    said: list[bytes] = []
    follower = Follower(said.append)
    for look in looks:
        follower.take(look)
    return b"".join(said)


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=8), st.integers(1, 60))
def test_each_byte_is_told_once_or_said_to_be_left_out(
    text: bytes, sizes: list[int], window: int
) -> None:
    """The text as it grew, of which the last ``window`` bytes could be read each time."""
    grown = [text[:size] for size in sorted(sizes)] + [text]
    looks = [found(stdout=(max(0, len(part) - window), part[-window:])) for part in grown]
    said = told(*looks)
    gaps = [int(gap) for gap in _gaps(said)]
    if not gaps:
        assert said == text
    assert len(said) - sum(len(f"\n… {gap} bytes left out …\n".encode()) for gap in gaps) + sum(
        gaps
    ) == len(text)


def _gaps(said: bytes) -> list[bytes]:
    parts = said.split("\n… ".encode())[1:]
    return [part.split(b" ")[0] for part in parts if " bytes left out …\n".encode() in part]


def test_both_streams_are_told() -> None:
    first, second = (
        found(stdout=(0, b"a"), stderr=(0, b"x")),
        found(stdout=(0, b"ab"), stderr=(0, b"xy")),
    )
    assert told(first, first, second) == b"axby"


def test_another_attempt_and_a_stream_that_became_shorter_begin_anew() -> None:
    assert told(found(stderr=(0, b"one\n")), found(2, stderr=(0, b"on"))) == b"one\non"
    assert told(found(stderr=(0, b"one\n")), found(stderr=(0, b"t"))) == b"one\nt"


LOG = (
    b"step s, job 1\noutcome finished\n\n--- stdout ---\nout 1\nout 2\n\n--- stderr ---\nerr"
    b" 1\nerr 2\n"
)


def test_the_rest_of_a_log_is_what_comes_behind_what_was_seen() -> None:
    assert rest_of(LOG, {"stdout": 6, "stderr": 0}) == [b"out 2\n", b"err 1\nerr 2\n"]
    assert rest_of(LOG, {"stdout": 12, "stderr": 12}) == []
    assert rest_of(b"no sections", {"stdout": 3}) == []
    assert rest_of(
        LOG.replace(b"stdout", b"stderr", 1)[: LOG.index(b"\n--- stderr")], {"stderr": 6}
    ) == [b"out 2\n"]


def test_where_the_log_is_not_whole_the_rest_begins_at_the_gap() -> None:
    cut = LOG.replace(b"out 2\n", "… 100 bytes left out …\nend\n".encode())
    [text, _] = rest_of(cut, {"stdout": 50})
    assert text == "\n… 100 bytes left out …\nend\n".encode()
