"""Hands frames to the slots, in order. A job with secrets waits for them, and what comes behind it
in its slot waits with it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from pilot.backoff import Backoff
from pilot.domain.model import StopReason
from pilot.runner.protocol import JobFrame, StopFrame, ToSlot
from sluice.contracts.pilots import JobToken, LeasedJob
from sluice.contracts.problems import NotAvailable, ServiceError
from sluice.contracts.secrets import SecretValues

log = structlog.get_logger(__name__)

#: Asks the WMS; raises ``ServiceError``.
AskForSecrets = Callable[[JobToken], Awaitable[SecretValues]]
Send = Callable[[int, ToSlot], None]


@dataclass(slots=True)
class _Awaited:
    """A job whose secrets are being asked for, without them. ``stop``: it is to be stopped
    meanwhile."""

    frame: JobFrame
    values: "asyncio.Task[SecretValues]"
    stop: StopReason | None = None


@dataclass(slots=True)
class _Line:
    """What waits for one slot, in order; ``work`` hands it over."""

    waiting: deque[ToSlot | _Awaited] = field(default_factory=deque)
    work: "asyncio.Task[None] | None" = None

    def job_of(self, stop: StopFrame) -> "_Awaited | JobFrame | None":
        """That is meant, where it waits here."""
        for entry in self.waiting:
            if isinstance(entry, _Awaited | JobFrame):
                job = (entry.frame if isinstance(entry, _Awaited) else entry).job
                if (job.id, job.attempt) == (stop.id, stop.attempt):
                    return entry
        return None


class Dispatch:
    """``send``: to a slot. Values are in memory here until the job is handed over, and nowhere
    else."""

    def __init__(self, send: Send, ask: AskForSecrets) -> None:
        self._send = send
        self._ask = ask
        self._lines: dict[int, _Line] = {}

    def send(self, slot: int, frame: ToSlot) -> None:
        """A stop waits for nothing, unless its job does: which then waits no longer."""
        line = self._lines.get(slot)
        if line is None:
            self._send(slot, frame)
        elif not isinstance(frame, StopFrame):
            line.waiting.append(frame)
        else:
            match line.job_of(frame):
                case _Awaited() as entry:
                    entry.stop = frame.reason
                    entry.values.cancel()
                case JobFrame():
                    line.waiting.append(frame)
                case None:
                    self._send(slot, frame)

    def send_with_secrets(self, slot: int, frame: JobFrame) -> None:
        line = self._lines.setdefault(slot, _Line())
        line.waiting.append(_Awaited(frame, asyncio.create_task(self._values(frame.job))))
        if line.work is None:
            line.work = asyncio.create_task(self._work(slot, line), name=f"secrets of slot {slot}")

    def forget(self, slot: int) -> None:
        """The slot is lost, and with it what it was to get."""
        line = self._lines.pop(slot, None)
        if line is None:
            return
        if line.work is not None:
            line.work.cancel()
        for entry in line.waiting:
            if isinstance(entry, _Awaited):
                entry.values.cancel()

    async def _work(self, slot: int, line: _Line) -> None:
        while line.waiting:
            entry = line.waiting[0]
            if isinstance(entry, _Awaited):
                await asyncio.wait([entry.values])
                frame: ToSlot = _frame_of(entry)
            else:
                frame = entry
            line.waiting.popleft()
            self._send(slot, frame)
        del self._lines[slot]

    async def _values(self, job: LeasedJob) -> SecretValues:
        """As long as the WMS does not answer, it is asked again: until the job is stopped, or its
        lease ends."""
        backoff = Backoff()
        while True:
            try:
                return await self._ask(JobToken(id=job.id, attempt=job.attempt))
            except NotAvailable as error:
                log.warning("secrets.wait", job=job.id, reason=error.detail)
                await backoff.wait()


def _frame_of(entry: _Awaited) -> JobFrame:
    if entry.stop is not None:
        return entry.frame.model_copy(update={"stop": entry.stop})
    error = entry.values.exception()
    if error is None:
        return entry.frame.model_copy(update={"secrets": entry.values.result().values})
    reason = error.detail if isinstance(error, ServiceError) else type(error).__name__
    log.warning("secrets.none", job=entry.frame.job.id, reason=reason)
    return entry.frame.model_copy(update={"trouble": reason})
