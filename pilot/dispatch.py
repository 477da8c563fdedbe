"""Delivery of frames to slots, in order.

A job with secrets waits until they arrive. Later frames for the same slot wait behind the job.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from pilot.backoff import Backoff
from pilot.domain.model import StopReason
from pilot.runner.protocol import JobFrame, StopFrame, ToSlot
from sluice.contracts.access.secrets import SecretValues
from sluice.contracts.common.problems import NotAvailable, ServiceError
from sluice.contracts.pilots.pilots import JobToken, LeasedJob

log = structlog.get_logger(__name__)

#: Requests secrets from the WMS. Raises ``ServiceError``.
AskForSecrets = Callable[[JobToken], Awaitable[SecretValues]]
Send = Callable[[int, ToSlot], None]


@dataclass(slots=True)
class _PendingJob:
    """A job that waits for its secrets.

    ``stop`` is the reason of a stop that arrived in the meantime.
    """

    frame: JobFrame
    values: "asyncio.Task[SecretValues]"
    stop: StopReason | None = None


@dataclass(slots=True)
class _SlotQueue:
    """The queue of frames for one slot.

    ``work`` sends the frames.
    """

    waiting: deque[ToSlot | _PendingJob] = field(default_factory=deque)
    work: "asyncio.Task[None] | None" = None

    def job_of(self, stop: StopFrame) -> "_PendingJob | JobFrame | None":
        """Return the waiting job that a stop frame names, or None."""
        for entry in self.waiting:
            if isinstance(entry, _PendingJob | JobFrame):
                job = (entry.frame if isinstance(entry, _PendingJob) else entry).job
                if (job.id, job.attempt) == (stop.id, stop.attempt):
                    return entry
        return None


class Dispatch:
    """Sends frames to slots and requests secrets for jobs.

    The values of secrets stay in memory until the job is sent, and are written nowhere else.
    """

    def __init__(self, send: Send, ask: AskForSecrets) -> None:
        self._send = send
        self._ask = ask
        self._lines: dict[int, _SlotQueue] = {}

    def send(self, slot: int, frame: ToSlot) -> None:
        """Send a frame to a slot, or queue it behind a job that waits for secrets.

        A stop is sent at once unless its job is queued. It ends the wait of a job for secrets.
        """
        line = self._lines.get(slot)
        if line is None:
            self._send(slot, frame)
        elif not isinstance(frame, StopFrame):
            line.waiting.append(frame)
        else:
            match line.job_of(frame):
                case _PendingJob() as entry:
                    entry.stop = frame.reason
                    entry.values.cancel()
                case JobFrame():
                    line.waiting.append(frame)
                case None:
                    self._send(slot, frame)

    def send_with_secrets(self, slot: int, frame: JobFrame) -> None:
        """Queue a job and send it once its secrets have arrived."""
        line = self._lines.setdefault(slot, _SlotQueue())
        line.waiting.append(_PendingJob(frame, asyncio.create_task(self._values(frame.job))))
        if line.work is None:
            line.work = asyncio.create_task(self._work(slot, line), name=f"secrets of slot {slot}")

    def forget(self, slot: int) -> None:
        """Drop all queued frames of a lost slot."""
        line = self._lines.pop(slot, None)
        if line is None:
            return
        if line.work is not None:
            line.work.cancel()
        for entry in line.waiting:
            if isinstance(entry, _PendingJob):
                entry.values.cancel()

    async def _work(self, slot: int, line: _SlotQueue) -> None:
        while line.waiting:
            entry = line.waiting[0]
            if isinstance(entry, _PendingJob):
                await asyncio.wait([entry.values])
                frame: ToSlot = _frame_of(entry)
            else:
                frame = entry
            line.waiting.popleft()
            self._send(slot, frame)
        del self._lines[slot]

    async def _values(self, job: LeasedJob) -> SecretValues:
        """Request the secrets of a job until the WMS answers.

        The request is canceled when the job is stopped.
        """
        backoff = Backoff()
        while True:
            try:
                return await self._ask(JobToken(id=job.id, attempt=job.attempt))
            except NotAvailable as error:
                log.warning("secrets.wait", job=job.id, reason=error.detail)
                await backoff.wait()


def _frame_of(entry: _PendingJob) -> JobFrame:
    if entry.stop is not None:
        return entry.frame.model_copy(update={"stop": entry.stop})
    error = entry.values.exception()
    if error is None:
        return entry.frame.model_copy(update={"secrets": entry.values.result().values})
    reason = error.detail if isinstance(error, ServiceError) else type(error).__name__
    log.warning("secrets.none", job=entry.frame.job.id, reason=reason)
    return entry.frame.model_copy(update={"trouble": reason})
