"""Observation of a chain until its end."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from sluice.clientkit.connection import Connection
from sluice.clientkit.watch.outage import OutageMessages
from sluice.clientkit.watch.wait_reasons import ChainWaits, OnWait
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import Job
from sluice.scheduling.backoff import pause_after

#: Seconds between two checks of a chain: at first, at most, and the factor of their growth.
FIRST_PAUSE, MAX_PAUSE, PAUSE_GROWTH = 0.05, 0.5, 1.3


async def wait_for_chain(connection: Connection, dataset_uid: UUID) -> Chain:
    """Return the chain that the intake creates for a data set.

    Raises:
        TimeoutError: No template took the data set within 30 seconds.
    """
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for chain in (await connection.operator.list_chains(limit=5)).chains:
            if chain.dataset_uid == dataset_uid:
                return chain
        await asyncio.sleep(FIRST_PAUSE)
    raise TimeoutError("no template took the data set within 30 s")


async def follow_chain(
    connection: Connection,
    chain: Chain,
    *,
    on_look: Callable[[Chain, Sequence[ChainTask]], None],
    on_wait: OnWait | None = None,
    on_outage: Callable[[str], None] | None = None,
    for_nodes: bool = False,
) -> Chain:
    """Observe a chain until it has ended.

    Args:
        connection: The connection to the system.
        chain: The chain in its last known state.
        on_look: Receives the chain and its tasks with their counts at each check.
        on_wait: Receives a step without a running job for a while, or a stalled upload, and the
            reason, whenever the reason changes.
        on_outage: Receives a sentence when the system has not answered for a while, and another one
            when it answers again.
        for_nodes: Whether to wait for a suitable node if there is none.

    Raises:
        UnschedulableStep: No node has what a step needs, and none can be launched that has.
    """
    checks = 0
    waits = ChainWaits(connection, on_wait, for_nodes=for_nodes)
    outage = OutageMessages(connection.url, on_outage or (lambda _: None))
    while True:
        try:
            chain, tasks = await asyncio.gather(
                connection.operator.get_chain(chain.uid),
                connection.operator.list_tasks(chain_uid=chain.uid),
            )
            outage.record_answer()
            on_look(chain, tasks.tasks)
            await waits.check_tasks(tasks.tasks)
            waits.check_starts(chain)
            waits.check_upload(chain)
        except NotAvailable:
            outage.record_failure()  # an outage of the system does not lose its work
        if chain.state.final:
            return chain
        checks += 1
        await asyncio.sleep(
            pause_after(checks, first=FIRST_PAUSE, max_pause=MAX_PAUSE, factor=PAUSE_GROWTH)
        )


async def failed_jobs(connection: Connection, tasks: Sequence[ChainTask]) -> list[tuple[str, Job]]:
    """Return all failed jobs with their steps."""
    failures: list[tuple[str, Job]] = []
    for task in tasks:
        if task.jobs is not None and task.jobs.failed:
            failed = connection.operator.iterate_jobs(task.task_uid, state=JobState.FAILED)
            failures += [(task.step, job) async for job in failed]
    return failures


def failures_json(failed_jobs: Sequence[tuple[str, Job]]) -> list[dict[str, Any]]:
    """Return failed jobs as JSON, for scripts."""
    return [
        {
            "step": step,
            "job": job.id,
            "inputs": job.inputs,
            "class": job.error_class,
            "message": job.message,
        }
        for step, job in failed_jobs
    ]
