"""The reasons why ready jobs of a step do not run."""

import asyncio
import time
from collections.abc import Callable, Sequence

from sluice.clientkit.connection import Connection
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.states import ChainState, StepState
from sluice.embedded.readiness import read_pilots_down, read_refusal
from sluice.scheduling.stalled_steps import LONG_WAIT, is_stalled, reason_in

#: Receives the name of a step, or the upload, and the reason.
OnWait = Callable[[str, str], None]

#: A step cannot have this name, because of the spaces.
_UPLOAD = "the upload"


class UnschedulableStep(OSError):
    """No node exists or can be launched for a step, or no pilot of the system starts."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"step {step} cannot run, for {reason}")


class ChainWaits:
    """Reports why a chain waits, again only if the reason changes in more than its numbers.

    With ``for_nodes``, it also waits for nodes that do not exist and cannot be launched. Otherwise,
    ``UnschedulableStep`` is raised.
    """

    def __init__(self, connection: Connection, on_wait: OnWait | None, *, for_nodes: bool) -> None:
        self._connection = connection
        self._on_wait = on_wait
        self._for_nodes = for_nodes
        self._since: dict[str, float] = {}
        self._reported_reasons: dict[str, str] = {}

    async def check_tasks(self, tasks: Sequence[ChainTask]) -> None:
        """Report the steps whose ready jobs have not run for a while.

        Raises:
            UnschedulableStep: No node can ever run the jobs of a step.
        """
        now = time.monotonic()
        for task in tasks if self._on_wait or not self._for_nodes else ():
            jobs = task.jobs
            if jobs is None or not is_stalled(
                ready=jobs.ready, leased=jobs.leased, running=jobs.running
            ):
                self._since.pop(task.step, None)
            elif now - self._since.setdefault(task.step, now) > LONG_WAIT:
                self._since[task.step] = now
                await self._require_schedulable(task)
                await self._report(task)

    def check_starts(self, chain: Chain) -> None:
        """Report steps whose task cannot be created yet, for example without a storage."""
        for step in chain.steps:
            if step.state is not StepState.STARTING or not step.reason:
                continue
            now = time.monotonic()
            if now - self._since.setdefault(f"start of {step.name}", now) > LONG_WAIT:
                self._report_if_new(step.name, step.reason)

    def check_upload(self, chain: Chain) -> None:
        """Report an upload of outputs that does not proceed."""
        if chain.state is not ChainState.UPLOADING or not chain.reason:
            self._since.pop(_UPLOAD, None)
            return
        now = time.monotonic()
        if now - self._since.setdefault(_UPLOAD, now) > LONG_WAIT:
            self._report_if_new(_UPLOAD, chain.reason)

    async def _require_schedulable(self, task: ChainTask) -> None:
        if self._for_nodes:
            return
        refusal = await asyncio.to_thread(read_refusal, self._connection.url)
        if refusal is not None:
            raise UnschedulableStep(task.step, refusal)
        outlook = await self._connection.operator.get_outlook(task.task_uid)
        if outlook.never:
            raise UnschedulableStep(task.step, outlook.reason)

    async def _report(self, task: ChainTask) -> None:
        if self._on_wait is None:
            return
        why = (await self._connection.operator.explain_task(task.task_uid)).text
        down = await asyncio.to_thread(read_pilots_down, self._connection.url)
        self._report_if_new(task.step, f"{why} ({'; '.join(down)})" if down else why)

    def _report_if_new(self, subject: str, sentence: str) -> None:
        reason = reason_in(sentence)
        if self._on_wait and self._reported_reasons.get(subject) != reason:
            self._reported_reasons[subject] = reason
            self._on_wait(subject, sentence)
