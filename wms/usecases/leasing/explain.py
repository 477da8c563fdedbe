"""Explain why a task or job does not run, or how it ended."""

from dataclasses import replace
from uuid import UUID

from sluice.contracts.jobs.tasks import Explanation
from sluice.servicekit.database import Connection
from wms.db.pilots.pilots_with_jobs import pilots_with_jobs
from wms.db.pilots.worker_times import WorkKind
from wms.db.tasks.explanations import ReadyJob, ready_job, waiting_facts
from wms.db.tasks.ranking import boost_of
from wms.db.tasks.status import job_with_attempts, task_status
from wms.domain import explanations
from wms.domain.explanations import ReservedJobs, WaitingFacts
from wms.domain.scheduling.matching import Demand, misfit
from wms.domain.scheduling.worker_times import WorkerLimit
from wms.usecases.context import WmsContext
from wms.usecases.leasing.reserve_jobs import other_workers_of
from wms.usecases.leasing.trust_workers import look_for_failing


async def explain_task(context: WmsContext, uid: UUID) -> Explanation:
    """Return the explanation of a task.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        status = await task_status(connection, uid)
        facts = await _facts(context, connection, uid)
        text = explanations.task_explanation(status, facts)
        boost = await boost_of(connection, uid)
    return Explanation(
        text=text
        if boost is None
        else explanations.with_boost(text, by=boost.by, reason=boost.reason)
    )


async def explain_job(context: WmsContext, job_id: int) -> Explanation:
    """Return the explanation of a job.

    Raises:
        NotFound: There is no such job.
    """
    async with context.database.connection() as connection:
        job = await job_with_attempts(connection, job_id)
        status = await task_status(connection, job.task_uid)
        known = (await context.tasks.get(connection, [job.task_uid]))[job.task_uid]
        ready = await ready_job(connection, job_id)
        facts = await _facts(context, connection, job.task_uid)
    if ready is not None:
        demands = [_own(demand, job.task_uid, ready) for demand in facts.demands]
        facts = replace(facts, demands=demands)
    pause = None if ready is None else ready.pause
    return Explanation(
        text=explanations.job_explanation(
            job, status, retry=known.task.retry, next_in=pause, facts=facts
        )
    )


async def _facts(context: WmsContext, connection: Connection, uid: UUID) -> WaitingFacts:
    facts = await waiting_facts(connection, uid)
    own = next((demand for demand in facts.demands if demand.uid == uid), None)
    if own is None:
        return facts
    return replace(
        facts,
        kept=await _kept(context, connection, own),
        distrusted=await _quarantine_reasons(context, connection, own),
    )


async def _kept(context: WmsContext, connection: Connection, own: Demand) -> ReservedJobs | None:
    """Return the jobs that the idle pilot which would end one last leaves for others."""
    others = await other_workers_of(context, connection, own)
    if not others.quick:
        return None
    idle = [pilot for pilot in await pilots_with_jobs(connection, others.own) if not pilot.jobs]
    found = [
        (len(kept), kept[0], pilot.worker)
        for pilot in idle
        if misfit(own, pilot.node) is None and (kept := others.kept_from(pilot.worker, own))
    ]
    if not found:
        return None
    jobs, first, asking = max(found, key=lambda one: one[1].sooner)
    busy = next(pilot.worker for pilot in others.quick if pilot.pilot == first.pilot)
    return ReservedJobs(jobs, asking.in_words, busy.in_words, first.sooner)


async def _quarantine_reasons(
    context: WmsContext, connection: Connection, own: Demand
) -> list[str]:
    distrust = await context.distrust.get(None, lambda: look_for_failing(connection))
    failing = distrust.get(WorkKind(own.template, own.step), {})
    workers = [worker for worker, how in failing.items() if how is WorkerLimit.NONE]
    there = await pilots_with_jobs(connection, workers) if workers else []
    return sorted(pilot.worker.in_words for pilot in there if misfit(own, pilot.node) is None)


def _own(demand: Demand, uid: UUID, job: ReadyJob) -> Demand:
    """Return the task's demand for this job, which may need more memory than its task."""
    if demand.uid != uid:
        return demand
    return replace(demand, larger=job.ram, larger_gpu=job.gpu_memory)
