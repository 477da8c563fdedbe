"""Tests of live logs, which show the output of a tool while it runs and are deleted when it has
ended."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pilot.runner.attempts.live_log import LiveLogs
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.logs import LIVE_BYTES, LiveLog
from tests.unit.pilot.attempts import make_python_tool
from tests.unit.pilot.builders import make_job, make_task, write_input
from tests.unit.pilot.job_pipes import make_waiting_code, release_tool
from tests.unit.pilot.slot_runner import Runner
from tests.waiting import wait_until

#: Prints a line at the start and after each gate.
TALK = f"""
import sys
print('begun', file=sys.stderr, flush=True)
{make_waiting_code("half")}
print('half', file=sys.stderr, flush=True)
{make_waiting_code("done")}
print('done', file=sys.stderr, flush=True)
"""


@contextmanager
def open_stream(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_stream(path: Path, name: str = "stderr") -> tuple[int, bytes]:
    """Return the start and the bytes of the stream in the live log; no bytes if there is none."""
    try:
        live_stream = LiveLog.model_validate_json(path.read_bytes()).streams[name]
    except FileNotFoundError:
        return 0, b""
    return live_stream.start, live_stream.data


def test_live_log_follows_a_running_job_and_is_deleted_at_its_end(root: Path) -> None:
    runner = Runner(root.parent / "pilot", settings={"live_logs": 0.05})
    file = root / "logs" / "00000004.2-live.json"
    task_ = make_task(root, make_python_tool(TALK))
    job_ = make_job(task_, [write_input(root / "in" / "a.dat")], attempt=2, seq=4)
    runner.submit(task_, job_)
    wait_until(lambda: read_stream(file) == (0, b"begun\n"))
    release_tool(runner, "half")
    wait_until(lambda: read_stream(file) == (0, b"begun\nhalf\n"))
    release_tool(runner, "done")
    report = runner.wait_for_end().report
    assert report.outcome is AttemptOutcome.FINISHED
    assert sorted(os.listdir(root / "logs")) == ["00000004.2.log"]
    assert "begun\nhalf\ndone\n" in (root / "logs" / "00000004.2.log").read_text()
    runner.close()


def test_live_log_has_the_end_of_a_long_stream_and_its_offset(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/live.json"
    with LiveLogs(0.02) as logs, open_stream(tmp_path / "out") as out:
        os.write(out, b"a" * LIVE_BYTES + b"b" * 1000)
        with logs.follow(url, {"stdout": out}):
            wait_until(
                lambda: (
                    read_stream(tmp_path / "live.json", "stdout")
                    == (1000, b"a" * (LIVE_BYTES - 1000) + b"b" * 1000)
                )
            )
            assert (tmp_path / "live.json").stat().st_size < 180_000 / 2
    assert not (tmp_path / "live.json").exists()


def test_short_run_writes_no_live_log(tmp_path: Path) -> None:
    with LiveLogs(3600.0) as logs, open_stream(tmp_path / "out") as out:
        os.write(out, b"text")
        with logs.follow(f"file://{tmp_path}/logs/live.json", {"stdout": out}):
            pass
    assert os.listdir(tmp_path) == ["out"]


def test_live_log_is_not_written_before_the_tool_writes(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "live.json"
    with (
        LiveLogs(0.01) as logs,
        open_stream(tmp_path / "err") as err,
        logs.follow(f"file://{file}", {"stderr": err}),
    ):
        assert not file.exists()
        os.write(err, b"text")
        wait_until(lambda: read_stream(file) == (0, b"text"))


def test_live_log_that_cannot_be_written_does_not_disturb_the_job(root: Path) -> None:
    (root / "logs").mkdir(parents=True)
    (root / "logs" / "00000000.1-live.json").mkdir()
    with LiveLogs(0.01) as logs, open_stream(root / "out") as out:
        os.write(out, b"x")
        with logs.follow(f"file://{root}/logs/00000000.1-live.json", {"stdout": out}):
            os.write(out, b"y")
    assert (root / "logs" / "00000000.1-live.json").is_dir()
