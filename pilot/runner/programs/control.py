"""What the pilot's wishes do to a slot's work: frames come in on a thread of their own, so that a
stop is obeyed at once."""

import os
import queue
import socket
import threading
from collections.abc import Callable

from pilot.domain.model import StopReason, Token
from pilot.runner.programs.orphans import kill_orphans
from pilot.runner.programs.running import Running
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
from pilot.ticks import tick

#: Longest pause, seconds: ticks also pass while the machine sleeps, those of a pause do not.
_LONGEST = 5.0


class SlotControl:
    """``frames``: tasks and jobs in order. When the pilot is gone, the tool is killed and this
    process ends."""

    def __init__(self, connection: socket.socket) -> None:
        self.frames: queue.SimpleQueue[TaskFrame | ForgetFrame | JobFrame | UnloadFrame] = (
            queue.SimpleQueue()
        )
        #: Readable once the current attempt is to be stopped.
        self.wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        #: Called once the pilot is gone, before this process ends.
        self.on_gone: Callable[[], None] = lambda: None
        self._connection = connection
        self._lock = threading.Lock()
        #: With the ticks at which they are stopped, renewed or not.
        self._taken: dict[Token, float | None] = {}
        self._stops: dict[Token, StopReason] = {}
        self._current: Token | None = None
        self._running: Running | None = None

    def start(self) -> None:
        threading.Thread(target=self._read, name="frames", daemon=True).start()

    def begin(self, token: Token) -> None:
        with self._lock:
            self._current = token
            self._drain_wake()

    def end(self, token: Token) -> None:
        with self._lock:
            self._current = None
            self._taken.pop(token, None)
            self._stops.pop(token, None)

    def stop_reason(self, token: Token) -> StopReason | None:
        return self._stops.get(token)

    def taken(self) -> bool:
        """Is there a job that has not ended?"""
        with self._lock:
            return bool(self._taken)

    def stopping(self) -> bool:
        """Is the current attempt to be stopped?"""
        with self._lock:
            return self._current is not None and self._current in self._stops

    def gentle(self) -> bool:
        """May the tool that is to be stopped tidy up first? Only where the WMS has canceled it:
        other reasons are urgent."""
        with self._lock:
            return self._current is not None and self._stops.get(self._current) is StopReason.CANCEL

    def starting(self) -> threading.Lock:
        """Held while a tool is started, so that it cannot slip away from a pilot that ends at that
        moment."""
        return self._lock

    def started(self, running: Running | None) -> None:
        """The tool; None: it is gone. Called with ``starting()`` held."""
        self._running = running

    def _read(self) -> None:
        reader = FrameReader(self._connection)
        while (body := reader.receive(self._stop_overdue)) is not None:
            frame = to_slot.validate_json(body)
            if isinstance(frame, StopFrame):
                self._on_stop((frame.id, frame.attempt), frame.reason)
                continue
            if isinstance(frame, RenewFrame):
                self._renew((frame.id, frame.attempt), frame.deadline)
                continue
            if isinstance(frame, JobFrame):
                token = (frame.job.id, frame.job.attempt)
                with self._lock:
                    self._taken[token] = frame.deadline
                    if frame.stop is not None:
                        self._stops[token] = frame.stop
            self.frames.put(frame)
        self._pilot_gone()

    def _renew(self, token: Token, deadline: float) -> None:
        with self._lock:
            if token in self._taken:
                self._taken[token] = deadline

    def _stop_overdue(self) -> float | None:
        """Stops what is beyond its deadline. Seconds until it is to be called again; None: there is
        no deadline."""
        now = tick()
        with self._lock:
            ticks = {
                token: deadline
                for token, deadline in self._taken.items()
                if deadline is not None and token not in self._stops
            }
        for token, deadline in ticks.items():
            if deadline <= now:
                self._on_stop(token, StopReason.LEASE)
        left = min((each - now for each in ticks.values() if each > now), default=None)
        return None if left is None else min(left, _LONGEST)

    def _on_stop(self, token: Token, reason: StopReason) -> None:
        with self._lock:
            if token not in self._taken:
                return
            self._stops[token] = reason
            if self._current == token:
                os.eventfd_write(self.wake, 1)

    def _drain_wake(self) -> None:
        try:
            os.eventfd_read(self.wake)
        except BlockingIOError:
            return

    def _pilot_gone(self) -> None:
        """Never gives the lock back: the main thread can neither start a tool nor report the one
        killed here."""
        self._lock.acquire()
        running = self._running
        if running is not None:
            running.kill()
        self.on_gone()
        kill_orphans(frozenset() if running is None else frozenset({running.root}))
        os._exit(0)
