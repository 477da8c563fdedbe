"""Control of a slot by the pilot.

A thread receives frames, so that a stop takes effect at once.
"""

import os
import queue
import socket
import threading
from collections.abc import Callable

from pilot.boot_clock import boot_time
from pilot.domain.model import StopReason, Token
from pilot.runner.programs.orphans import kill_orphans
from pilot.runner.programs.running import RunningProgram
from pilot.runner.protocol import (
    ForgetFrame,
    FrameReader,
    JobFrame,
    RenewFrame,
    StopFrame,
    TaskFrame,
    UnloadFrame,
    to_slot,
)

#: Maximum pause in seconds. Boot time counts while the machine is suspended, and pauses do not.
_MAX_PAUSE = 5.0


class SlotControl:
    """Receives frames of the pilot.

    ``frames`` holds tasks and jobs in order. If the pilot is gone, the tool is killed and this
    process ends.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.frames: queue.SimpleQueue[TaskFrame | ForgetFrame | JobFrame | UnloadFrame] = (
            queue.SimpleQueue()
        )
        #: Readable once the current attempt must stop.
        self.wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        #: Called before this process ends because the pilot is gone.
        self.on_disconnect: Callable[[], None] = lambda: None
        self._connection = connection
        self._lock = threading.Lock()
        #: Boot times at which the jobs are stopped unless their leases are renewed.
        self._deadlines: dict[Token, float | None] = {}
        self._stops: dict[Token, StopReason] = {}
        self._current: Token | None = None
        self._running_program: RunningProgram | None = None

    def start(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._read, name="frames", daemon=True).start()

    def begin(self, token: Token) -> None:
        """Mark an attempt as the current one."""
        with self._lock:
            self._current = token
            self._drain_wake()

    def end(self, token: Token) -> None:
        """Forget an attempt that has ended."""
        with self._lock:
            self._current = None
            self._deadlines.pop(token, None)
            self._stops.pop(token, None)

    def stop_reason(self, token: Token) -> StopReason | None:
        """Return why an attempt must stop, or None."""
        return self._stops.get(token)

    def is_stopping(self) -> bool:
        """Return whether the current attempt must stop."""
        with self._lock:
            return self._current is not None and self._current in self._stops

    def grants_cleanup(self) -> bool:
        """Return whether a stopped tool gets time to clean up.

        It gets time only if the WMS has canceled the job. Other reasons are urgent.
        """
        with self._lock:
            return self._current is not None and self._stops.get(self._current) is StopReason.CANCEL

    @property
    def start_lock(self) -> threading.Lock:
        """Return a lock to hold while a tool is started.

        Otherwise the tool could escape if the pilot ends at that moment.
        """
        return self._lock

    def set_running(self, running_program: RunningProgram | None) -> None:
        """Set the running tool, or None once it is gone.

        The caller holds ``start_lock``.
        """
        self._running_program = running_program

    def _read(self) -> None:
        reader = FrameReader(self._connection)
        while (body := reader.receive(self._stop_overdue)) is not None:
            frame = to_slot.validate_json(body)
            if isinstance(frame, StopFrame):
                self._stop((frame.id, frame.attempt), frame.reason)
                continue
            if isinstance(frame, RenewFrame):
                self._renew((frame.id, frame.attempt), frame.deadline)
                continue
            if isinstance(frame, JobFrame):
                token = (frame.job.id, frame.job.attempt)
                with self._lock:
                    self._deadlines[token] = frame.deadline
                    if frame.stop is not None:
                        self._stops[token] = frame.stop
            self.frames.put(frame)
        self._end_process()

    def _renew(self, token: Token, deadline: float) -> None:
        with self._lock:
            if token in self._deadlines:
                self._deadlines[token] = deadline

    def _stop_overdue(self) -> float | None:
        """Stop attempts past their deadlines.

        Returns:
            The seconds until the next call, or None if there is no deadline.
        """
        now = boot_time()
        with self._lock:
            deadlines = {
                token: deadline
                for token, deadline in self._deadlines.items()
                if deadline is not None and token not in self._stops
            }
        for token, deadline in deadlines.items():
            if deadline <= now:
                self._stop(token, StopReason.LEASE)
        pause = min((moment - now for moment in deadlines.values() if moment > now), default=None)
        return None if pause is None else min(pause, _MAX_PAUSE)

    def _stop(self, token: Token, reason: StopReason) -> None:
        with self._lock:
            if token not in self._deadlines:
                return
            self._stops[token] = reason
            if self._current == token:
                os.eventfd_write(self.wake, 1)

    def _drain_wake(self) -> None:
        try:
            os.eventfd_read(self.wake)
        except BlockingIOError:
            return

    def _end_process(self) -> None:
        """Kill the tool and end this process.

        The lock is never released, so the main thread can neither start a tool nor report the
        killed one.
        """
        self._lock.acquire()
        running = self._running_program
        if running is not None:
            running.kill()
        self.on_disconnect()
        kill_orphans(frozenset() if running is None else frozenset({running.root}))
        os._exit(0)
