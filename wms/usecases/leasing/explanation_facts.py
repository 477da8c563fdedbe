"""The facts that explain why a task or its jobs wait."""

from dataclasses import replace
from uuid import UUID

from sluice.servicekit.database import Connection
from wms.db.pilots.pilot_times import WorkKind
from wms.db.pilots.pilots_with_jobs import list_pilots_with_jobs
from wms.db.tasks.explanations import get_waiting_facts
from wms.domain.explanations import ReservedJobs, WaitingFacts
from wms.domain.scheduling.matching import Demand
from wms.domain.scheduling.pilot_times import PilotLimit
from wms.usecases.context import WmsContext
from wms.usecases.leasing.get_cached_other_pilots import get_cached_other_pilots
from wms.usecases.leasing.pilot_limits import list_pilot_limits


async def get_explanation_facts(
    context: WmsContext, connection: Connection, uid: UUID
) -> WaitingFacts:
    """Return the facts why the ready jobs of a task wait, also for other pilots."""
    facts = await get_waiting_facts(connection, uid)
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
    others = await get_cached_other_pilots(context, connection, own_demand)
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
    pilot_limits = await context.pilot_limits.get(None, lambda: list_pilot_limits(connection))
    failing = pilot_limits.get(WorkKind(own_demand.template, own_demand.step), {})
    identities = [identity for identity, limit in failing.items() if limit is PilotLimit.NONE]
    pilots = await list_pilots_with_jobs(connection, identities) if identities else []
    return sorted(
        pilot.identity.in_words for pilot in pilots if own_demand.find_misfit(pilot.node) is None
    )
