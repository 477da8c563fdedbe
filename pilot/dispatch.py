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
from sluice.contracts.pilots.leases import JobToken, LeasedJob

log = structlog.get_logger(__name__)

#: Requests secrets from the WMS. Raises ``ServiceError``.
RequestSecrets = Callable[[JobToken], Awaitable[SecretValues]]
Send = Callable[[int, ToSlot], None]


@dataclass(slots=True)
class _PendingJob:
    """A job that waits for its secrets.

    Attributes:
        stop: The reason of a stop that arrived in the meantime, if any.
    """

    frame: JobFrame
    values: "asyncio.Task[SecretValues]"
    stop: StopReason | None = None


@dataclass(slots=True)
class _SlotQueue:
    """The queue of frames for one slot.

    Attributes:
        work: The asyncio task that sends the frames.
    """

    waiting: deque[ToSlot | _PendingJob] = field(default_factory=deque)
    work: "asyncio.Task[None] | None" = None

    def find_job(self, stop: StopFrame) -> "_PendingJob | JobFrame | None":
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

    def __init__(self, send: Send, request_secrets: RequestSecrets) -> None:
        self._send = send
        self._request = request_secrets
        self._queues: dict[int, _SlotQueue] = {}

    def send(self, slot: int, frame: ToSlot) -> None:
        """Send a frame to a slot, or queue it behind a job that waits for secrets.

        A stop is sent at once unless its job is queued. It ends the wait of a job for secrets.
        """
        queue = self._queues.get(slot)
        if queue is None:
            self._send(slot, frame)
        elif not isinstance(frame, StopFrame):
            queue.waiting.append(frame)
        else:
            match queue.find_job(frame):
                case _PendingJob() as entry:
                    entry.stop = frame.reason
                    entry.values.cancel()
                case JobFrame():
                    queue.waiting.append(frame)
                case None:
                    self._send(slot, frame)

    def send_with_secrets(self, slot: int, frame: JobFrame) -> None:
        """Queue a job and send it once its secrets have arrived."""
        queue = self._queues.setdefault(slot, _SlotQueue())
        queue.waiting.append(
            _PendingJob(frame, asyncio.create_task(self._request_secrets(frame.job)))
        )
        if queue.work is None:
            queue.work = asyncio.create_task(
                self._send_all(slot, queue), name=f"secrets of slot {slot}"
            )

    def forget(self, slot: int) -> None:
        """Drop all queued frames of a lost slot."""
        queue = self._queues.pop(slot, None)
        if queue is None:
            return
        if queue.work is not None:
            queue.work.cancel()
        for entry in queue.waiting:
            if isinstance(entry, _PendingJob):
                entry.values.cancel()

    async def _send_all(self, slot: int, queue: _SlotQueue) -> None:
        while queue.waiting:
            entry = queue.waiting[0]
            if isinstance(entry, _PendingJob):
                await asyncio.wait([entry.values])
                frame: ToSlot = _build_frame(entry)
            else:
                frame = entry
            queue.waiting.popleft()
            self._send(slot, frame)
        del self._queues[slot]

    async def _request_secrets(self, job: LeasedJob) -> SecretValues:
        """Request the secrets of a job until the WMS answers.

        The request is canceled when the job is stopped.
        """
        backoff = Backoff()
        while True:
            try:
                return await self._request(JobToken(id=job.id, attempt=job.attempt))
            except NotAvailable as error:
                log.warning("secrets.wait", job=job.id, reason=error.detail)
                await backoff.wait()


def _build_frame(entry: _PendingJob) -> JobFrame:
    if entry.stop is not None:
        return entry.frame.model_copy(update={"stop": entry.stop})
    error = entry.values.exception()
    if error is None:
        return entry.frame.model_copy(update={"secrets": entry.values.result().values})
    reason = error.detail if isinstance(error, ServiceError) else type(error).__name__
    log.warning("secrets.none", job=entry.frame.job.id, reason=reason)
    return entry.frame.model_copy(update={"trouble": reason})
