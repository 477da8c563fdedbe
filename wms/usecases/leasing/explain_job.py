"""Explain why a task or job does not run, or how it ended."""

from dataclasses import replace
from uuid import UUID

from sluice.contracts.jobs.tasks import Explanation
from sluice.servicekit.database import Connection
from wms.db.pilots.pilot_times import WorkKind
from wms.db.pilots.pilots_with_jobs import list_pilots_with_jobs
from wms.db.tasks.explanations import ReadyJob, find_ready_job, read_waiting_facts
from wms.db.tasks.ranking import find_boost
from wms.db.tasks.status import get_job_with_attempts, get_task_status
from wms.domain import explanations
from wms.domain.explanations import ReservedJobs, WaitingFacts
from wms.domain.scheduling.matching import Demand
from wms.domain.scheduling.pilot_times import PilotLimit
from wms.usecases.context import WmsContext
from wms.usecases.leasing.limit_failing_pilots import find_failing_pilots
from wms.usecases.leasing.reserve_jobs import get_other_pilots


async def explain_task(context: WmsContext, uid: UUID) -> Explanation:
    """Return the explanation of a task.

    Raises:
        NotFound: There is no such task.
    """
    async with context.database.connection() as connection:
        status = await get_task_status(connection, uid)
        facts = await _read_facts(context, connection, uid)
        text = explanations.explain_task_state(status, facts)
        boost = await find_boost(connection, uid)
    return Explanation(
        text=text
        if boost is None
        else explanations.add_boost(text, by=boost.by, reason=boost.reason)
    )


async def explain_job(context: WmsContext, job_id: int) -> Explanation:
    """Return the explanation of a job.

    Raises:
        NotFound: There is no such job.
    """
    async with context.database.connection() as connection:
        job = await get_job_with_attempts(connection, job_id)
        status = await get_task_status(connection, job.task_uid)
        cached_task = (await context.tasks.get(connection, [job.task_uid]))[job.task_uid]
        ready = await find_ready_job(connection, job_id)
        facts = await _read_facts(context, connection, job.task_uid)
    if ready is not None:
        demands = [_adapt_demand(demand, job.task_uid, ready) for demand in facts.demands]
        facts = replace(facts, demands=demands)
    pause = None if ready is None else ready.pause
    return Explanation(
        text=explanations.explain_job_state(
            job, status, retry=cached_task.task.retry, next_in=pause, facts=facts
        )
    )


async def _read_facts(context: WmsContext, connection: Connection, uid: UUID) -> WaitingFacts:
    facts = await read_waiting_facts(connection, uid)
    own = next((demand for demand in facts.demands if demand.uid == uid), None)
    if own is None:
        return facts
    return replace(
        facts,
        reserved_jobs=await _find_reserved_jobs(context, connection, own),
        untrusted_pilots=await _list_untrusted_pilots(context, connection, own),
    )


async def _find_reserved_jobs(
    context: WmsContext, connection: Connection, own_demand: Demand
) -> ReservedJobs | None:
    """Return the jobs that the idle pilot which would end one last leaves for others."""
    others = await get_other_pilots(context, connection, own_demand)
    if not others.quick:
        return None
    idle = [
        pilot
        for pilot in await list_pilots_with_jobs(connection, others.own_times)
        if not pilot.jobs
    ]
    candidates = [
        (len(reservations), reservations[0], pilot.identity)
        for pilot in idle
        if own_demand.find_misfit(pilot.node) is None
        and (reservations := others.list_reservations(pilot.identity, own_demand))
    ]
    if not candidates:
        return None
    jobs, first, idle_pilot = max(candidates, key=lambda candidate: candidate[1].seconds_earlier)
    busy_pilot = next(pilot.identity for pilot in others.quick if pilot.pilot == first.pilot)
    return ReservedJobs(jobs, idle_pilot.in_words, busy_pilot.in_words, first.seconds_earlier)


async def _list_untrusted_pilots(
    context: WmsContext, connection: Connection, own_demand: Demand
) -> list[str]:
    pilot_limits = await context.pilot_limits.get(None, lambda: find_failing_pilots(connection))
    failing = pilot_limits.get(WorkKind(own_demand.template, own_demand.step), {})
    identities = [identity for identity, limit in failing.items() if limit is PilotLimit.NONE]
    pilots = await list_pilots_with_jobs(connection, identities) if identities else []
    return sorted(
        pilot.identity.in_words for pilot in pilots if own_demand.find_misfit(pilot.node) is None
    )


def _adapt_demand(demand: Demand, uid: UUID, job: ReadyJob) -> Demand:
    """Return the task's demand for this job, which may need more memory than its task."""
    if demand.uid != uid:
        return demand
    return replace(demand, larger=job.ram, larger_gpu=job.gpu_memory)
