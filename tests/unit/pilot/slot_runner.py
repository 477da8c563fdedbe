"""Run a real slot process for tests: send jobs and receive reports."""

import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from pilot.domain.model import StopReason
from pilot.folders.run_folder import RunFolder
from pilot.runner.protocol import (
    SLOT_NUMBER,
    EndedFrame,
    ForgetFrame,
    FrameReader,
    JobFrame,
    ReadyFrame,
    RenewFrame,
    RunnerSettings,
    StopFrame,
    TaskFrame,
    UnloadedFrame,
    UnloadFrame,
    encode_frame,
    from_slot,
)
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.sandboxes import add_sandbox
from tests.waiting import wait_until


def has_ended(pid: int) -> bool:
    """Return whether the process has ended. A zombie counts as ended."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@dataclass
class Runner:
    """Run slots that are forked from one server process.

    ``environment`` is the environment of the server. ``settings`` are further settings of the
    slots; without them and without ``add_sandbox`` there is no sandbox. ``before`` is a
    command that runs its arguments as a command."""

    folder: Path
    grace: float = 0.5
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._readers: dict[socket.socket, FrameReader] = {}
        self.run = RunFolder(self.folder / "runs" / str(uuid.uuid4()))
        self.run.make()
        self._control, slot_socket = socket.socketpair()
        settings = RunnerSettings(
            pilot="tester",
            run_folder=str(self.run.path),
            grace=self.grace,
            memory_floor=64,
            **(add_sandbox(self.settings) | self.settings),
        )
        with slot_socket:
            self.server = subprocess.Popen(
                [
                    *self.before,
                    sys.executable,
                    "-m",
                    "pilot.runner",
                    str(slot_socket.fileno()),
                    settings.model_dump_json(),
                ],
                pass_fds=[slot_socket.fileno()],
                env={"PATH": os.environ["PATH"], **self.environment},
                start_new_session=True,
            )
        self.open_slot()

    def open_slot(self, slot: int = 0) -> None:
        self.connection, slot_socket = socket.socketpair()
        with slot_socket:
            socket.send_fds(self._control, [SLOT_NUMBER.pack(slot)], [slot_socket.fileno()])
        self._readers[self.connection] = FrameReader(self.connection)
        frame = self._receive()
        assert isinstance(frame, ReadyFrame)
        self.slot_pid = frame.pid

    def replace_slot(self) -> None:
        """End the process of the slot, and fork another one that has no tasks and warm workers."""
        self.connection.close()
        wait_until(lambda: has_ended(self.slot_pid), what="the slot ends")
        self.open_slot()

    def submit(self, task: PilotTask, *jobs: LeasedJob, **more: Any) -> None:
        """Send jobs to the slot. ``more`` has further fields of the frame of each job."""
        self.connection.sendall(encode_frame(TaskFrame(task=task)))
        for job in jobs:
            self.connection.sendall(encode_frame(JobFrame(job=job, **more)))

    def stop_job(self, job: LeasedJob, reason: StopReason) -> None:
        self.connection.sendall(
            encode_frame(StopFrame(id=job.id, attempt=job.attempt, reason=reason))
        )

    def renew(self, job: LeasedJob, deadline: float) -> None:
        """Renew the lease. ``deadline`` is a time of ``pilot.boot_clock``."""
        self.connection.sendall(
            encode_frame(RenewFrame(id=job.id, attempt=job.attempt, deadline=deadline))
        )

    def forget(self, task: PilotTask) -> None:
        self.connection.sendall(encode_frame(ForgetFrame(uid=task.uid)))

    def wait_for_end(self) -> EndedFrame:
        frame = self._receive()
        assert isinstance(frame, EndedFrame)
        return frame

    def attempt(self, task: PilotTask, job: LeasedJob, **more: Any) -> AttemptReport:
        self.submit(task, job, **more)
        return self.wait_for_end().report

    def close_connections(self) -> None:
        """Close the connections as if the pilot were killed."""
        self.connection.close()
        self._control.close()

    def close(self) -> None:
        self.close_connections()
        self.server.wait(20)

    def unload(self) -> None:
        self.connection.sendall(encode_frame(UnloadFrame()))

    def wait_for_unload(self) -> None:
        assert isinstance(self._receive(), UnloadedFrame)

    def _receive(self) -> ReadyFrame | EndedFrame | UnloadedFrame:
        until = time.monotonic() + 60

        def seconds_left() -> float:
            assert time.monotonic() < until, "the slot sends nothing"
            return until - time.monotonic()

        body = self._readers[self.connection].receive(seconds_left)
        assert body is not None, "the process of the slot has ended"
        return from_slot.validate_json(body)


@contextmanager
def open_slot_server(folder: Path) -> Iterator[Runner]:
    """Start a server of slots with a secret in its environment that no tool may see."""
    environment = {"SLUICE_SECRET": "hush", "PYTHONPATH": str(Path.cwd())}
    runner = Runner(folder, environment=environment)
    try:
        yield runner
    finally:
        runner.close()
