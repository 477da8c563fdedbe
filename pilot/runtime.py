"""Execution of what the pilot's core decides, and events for the core."""

import asyncio
import contextlib
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import assert_never

import structlog

from pilot.backoff import Backoff
from pilot.boot_clock import boot_time
from pilot.dispatch import Dispatch, RequestSecrets
from pilot.domain.core import PilotCore
from pilot.domain.disk_pauses import DiskPauses
from pilot.domain.model import (
    AttemptEnded,
    CurrentTime,
    DescribeTask,
    Event,
    ForgetTask,
    Instruction,
    KillSlot,
    PilotStarted,
    ReleaseSlot,
    Renew,
    ReportDeadSlot,
    RunJob,
    SendReport,
    SlotLost,
    SlotReady,
    SlotReleased,
    StartSlot,
    StopJob,
    Token,
    ToolUnloaded,
    UnloadWarmWorker,
)
from pilot.folders.disk_space import MIN_SPACE, has_space
from pilot.folders.run_folder import RunFolder
from pilot.reports.journal import read_journals
from pilot.reports.outbox import Outbox
from pilot.runner.protocol import (
    EndedFrame,
    ForgetFrame,
    JobFrame,
    RenewFrame,
    StopFrame,
    TaskFrame,
    UnloadFrame,
)
from pilot.slot_processes import SlotListener, SlotProcesses
from sluice.contracts.common.numbers import size_text
from sluice.contracts.pilots.heartbeats import Heartbeat
from sluice.contracts.pilots.reports import AttemptReport
from sluice.text.os_errors import os_error_sentence

log = structlog.get_logger(__name__)


def now() -> CurrentTime:
    """Return the current boot time and the UTC time."""
    return CurrentTime(boot_time=boot_time(), wall=datetime.now(UTC))


class PilotRuntime:
    """Connects the pilot's core with slots, outbox and run folder.

    ``changed`` is set after each event for the core. ``needs_jobs`` is set while a slot has no next
    job.
    """

    def __init__(
        self,
        core: PilotCore,
        slot_processes: SlotProcesses,
        outbox: Outbox,
        run: RunFolder,
        *,
        request_secrets: RequestSecrets,
    ) -> None:
        self.core = core
        self.changed = asyncio.Event()
        self.needs_jobs = asyncio.Event()
        self.needs_jobs.set()
        self.finished = asyncio.Event()
        self._slot_processes = slot_processes
        self._dispatch = Dispatch(slot_processes.send, request_secrets)
        self._outbox = outbox
        self._run = run
        self._disk_pauses = DiskPauses()
        self._journals: dict[Token, str] = {}
        #: Backoff of each slot that has started and has not ended a job since.
        self._starts: dict[int, Backoff] = {}
        self._side_work: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the slot processes and tell the core.

        Raises:
            OSError: The slot processes could not be started.
        """
        listener = SlotListener(
            self._on_slot_ready,
            self._on_attempt_ended,
            lambda slot: self.tell(ToolUnloaded(slot)),
            self._on_slot_lost,
            self._on_slot_released,
        )
        await self._slot_processes.start(listener)
        self.tell(PilotStarted())

    def tell(self, event: Event) -> None:
        """Pass an event to the core and carry out the core's instructions."""
        for instruction in self.core.handle(event, now()):
            self._carry_out(instruction)
        self.changed.set()
        if self.core.supplied:
            self.needs_jobs.clear()
        else:
            self.needs_jobs.set()
        if self.core.draining and self.core.idle and not self._side_work:
            self.finished.set()

    def heartbeat(self) -> Heartbeat:
        """Return the heartbeat to send now."""
        heartbeat = self.core.heartbeat(self._slot_processes.progress())
        return heartbeat.model_copy(update={"trouble": self._describe_trouble()})

    def limit_jobs(self, requested_count: int) -> int:
        """Return how many of the ``requested_count`` jobs the node's disk has space for."""
        if not has_space(self._run.path):
            return 0
        return self._disk_pauses.limit_jobs(requested_count, now().boot_time)

    def _describe_trouble(self) -> str:
        """Return why the pilot takes no jobs, or an empty string when it takes jobs."""
        with contextlib.suppress(OSError):
            if not has_space(self._run.path):
                return f"its disk is full (less than {size_text(MIN_SPACE)} free)"
        if self._disk_pauses.is_persistent:
            return "its disk had no space for the last job: one job is tried occasionally"
        return ""

    def save_tokens(self) -> None:
        """Record the pilot's jobs, so that a pilot started after a kill can give them back."""
        try:
            self._run.save_tokens(self.core.tokens)
        except OSError as error:  # The disk is full: the jobs wait until their leases end.
            log.warning(
                "pilot.tokens_not_saved",
                reason=os_error_sentence(error),
                note="free space on the pilot's disk, or its jobs wait after a kill",
            )

    def _on_slot_ready(self, slot: int) -> None:
        log.info("slot.ready", slot=slot)
        self.tell(SlotReady(slot))

    def _on_slot_lost(self, slot: int, reason: str) -> None:
        self._dispatch.forget(slot)
        self.tell(SlotLost(slot, reason))

    def _on_slot_released(self, slot: int) -> None:
        self._starts.pop(slot, None)
        self.tell(SlotReleased(slot))

    def _on_attempt_ended(self, slot: int, frame: EndedFrame) -> None:
        self._starts.pop(slot, None)
        self._disk_pauses.attempt_ended(frame.report, now().boot_time)
        if frame.journal is not None:
            self._journals[(frame.report.id, frame.report.attempt)] = frame.journal
        self.tell(AttemptEnded(slot, frame.report, frame.seconds, frame.loaded))

    def _carry_out(self, instruction: Instruction) -> None:
        match instruction:
            case DescribeTask(slot=slot, task=task):
                self._dispatch.send(slot, TaskFrame(task=task))
            case ForgetTask(slot=slot, uid=uid):
                self._dispatch.send(slot, ForgetFrame(uid=uid))
            case RunJob():
                self._run_job(instruction)
            case StopJob(slot=slot, token=token, reason=reason):
                log.info("job.stop", job=token[0], attempt=token[1], reason=reason)
                self._dispatch.send(slot, StopFrame(id=token[0], attempt=token[1], reason=reason))
            case Renew(slot=slot, token=(job, attempt), deadline=deadline):
                self._dispatch.send(slot, RenewFrame(id=job, attempt=attempt, deadline=deadline))
            case UnloadWarmWorker(slot=slot):
                self._dispatch.send(slot, UnloadFrame())
            case KillSlot(slot=slot):
                self._slot_processes.kill_slot(slot)
            case SendReport(report=report):
                self._send(report)
            case ReportDeadSlot(report=report):
                self._start_side_work(self._report_dead_slot(report))
            case StartSlot(slot=slot):
                self._start_side_work(self._start_slot(slot))
            case ReleaseSlot(slot=slot):
                self._slot_processes.release_slot(slot)
            case _:
                assert_never(instruction)

    def _run_job(self, instruction: RunJob) -> None:
        frame = JobFrame(
            job=instruction.job, gpus=list(instruction.gpus), deadline=instruction.deadline
        )
        if instruction.secrets:
            self._dispatch.send_with_secrets(instruction.slot, frame)
        else:
            self._dispatch.send(instruction.slot, frame)

    def _send(self, report: AttemptReport) -> None:
        self._outbox.add(report, self._journals.pop((report.id, report.attempt), None))

    async def _report_dead_slot(self, report: AttemptReport) -> None:
        traces = await asyncio.to_thread(read_journals, self._run.journals)
        trace = traces.get((report.id, report.attempt))
        if trace is not None and trace.report is not None:
            self._outbox.add(trace.report, trace.journal)
            return
        if trace is not None:
            await self._outbox.file_remover.remove(trace.urls)
        self._outbox.add(report)

    async def _start_slot(self, slot: int) -> None:
        """Start a slot, and retry until it succeeds or the pilot is drained.

        The start may fail because the launcher of the slots has just ended or the disk is full.
        """
        while not (self.core.draining and self.core.idle):
            if slot in self._starts:
                await self._starts[slot].wait()
            else:
                self._starts[slot] = Backoff(max_pause=30.0)
            try:
                await self._slot_processes.start_slot(slot)
            except OSError as error:
                log.error("slot.not_started", slot=slot, error=os_error_sentence(error))
            else:
                return

    def _start_side_work(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._side_work.add(task)
        task.add_done_callback(self._on_side_work_done)

    def _on_side_work_done(self, task: "asyncio.Task[None]") -> None:
        self._side_work.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("pilot.side_work_failed", error=repr(task.exception()))
        if self.core.draining and self.core.idle and not self._side_work:
            self.finished.set()
