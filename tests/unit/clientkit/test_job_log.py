"""Following a growing log: each byte is printed once, and gaps are counted."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.clientkit.watch.job_log import Follower, remaining_parts
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.logs import FollowedLog, LiveStream


def make_followed_log(attempt: int = 1, **streams: tuple[int, bytes]) -> FollowedLog:
    live_streams = {
        name: LiveStream(start=start, data=data) for name, (start, data) in streams.items()
    }
    return FollowedLog(state=JobState.RUNNING, attempt=attempt, streams=live_streams)


def print_log(*looks: FollowedLog) -> bytes:
    pieces: list[bytes] = []
    follower = Follower(pieces.append)
    for look in looks:
        follower.take(look)
    return b"".join(pieces)


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=8), st.integers(1, 60))
def test_each_byte_of_a_log_is_printed_once_or_counted_as_left_out(
    text: bytes, sizes: list[int], window: int
) -> None:
    """Each look at the growing text sees only its last ``window`` bytes."""
    grown = [text[:size] for size in sorted(sizes)] + [text]
    looks = [
        make_followed_log(stdout=(max(0, len(part) - window), part[-window:])) for part in grown
    ]
    output = print_log(*looks)
    gaps = [int(gap) for gap in _list_gaps(output)]
    if not gaps:
        assert output == text
    assert len(output) - sum(len(f"\n… {gap} bytes left out …\n".encode()) for gap in gaps) + sum(
        gaps
    ) == len(text)


def _list_gaps(output: bytes) -> list[bytes]:
    parts = output.split("\n… ".encode())[1:]
    return [part.split(b" ")[0] for part in parts if " bytes left out …\n".encode() in part]


def test_both_streams_are_printed() -> None:
    first, second = (
        make_followed_log(stdout=(0, b"a"), stderr=(0, b"x")),
        make_followed_log(stdout=(0, b"ab"), stderr=(0, b"xy")),
    )
    assert print_log(first, first, second) == b"axby"


def test_new_attempt_or_shorter_stream_starts_again() -> None:
    assert (
        print_log(make_followed_log(stderr=(0, b"one\n")), make_followed_log(2, stderr=(0, b"on")))
        == b"one\non"
    )
    assert (
        print_log(make_followed_log(stderr=(0, b"one\n")), make_followed_log(stderr=(0, b"t")))
        == b"one\nt"
    )


LOG = (
    b"step s, job 1\noutcome finished\n\n--- stdout ---\nout 1\nout 2\n\n--- stderr ---\nerr"
    b" 1\nerr 2\n"
)


def test_rest_of_a_log_begins_after_the_bytes_already_seen() -> None:
    assert remaining_parts(LOG, {"stdout": 6, "stderr": 0}) == [b"out 2\n", b"err 1\nerr 2\n"]
    assert remaining_parts(LOG, {"stdout": 12, "stderr": 12}) == []
    assert remaining_parts(b"no sections", {"stdout": 3}) == []
    assert remaining_parts(
        LOG.replace(b"stdout", b"stderr", 1)[: LOG.index(b"\n--- stderr")], {"stderr": 6}
    ) == [b"out 2\n"]


def test_rest_of_a_truncated_log_begins_at_the_gap() -> None:
    cut = LOG.replace(b"out 2\n", "… 100 bytes left out …\nend\n".encode())
    [text, _] = remaining_parts(cut, {"stdout": 50})
    assert text == "\n… 100 bytes left out …\nend\n".encode()
