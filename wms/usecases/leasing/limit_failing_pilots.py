"""Give fewer jobs to a pilot that fails where others succeed.

If it fails often, it only gets a job occasionally.
"""

from collections.abc import Mapping

from sluice.servicekit.database import Connection
from wms.db.pilots.pilot_times import (
    PilotIdentity,
    WorkKind,
    list_active_identities,
    list_failing_works,
    list_times,
    may_probe,
)
from wms.db.pilots.pilots_with_jobs import list_pilots_with_jobs
from wms.domain.scheduling.pilot_times import PilotLimit, combine_times, decide_pilot_limit

#: Seconds between two jobs that show whether an untrusted pilot still fails.
PROBE_EVERY = 30.0

#: Limits of the pilots that are not fully trusted, by kind of work.
PilotLimitsByWork = Mapping[WorkKind, Mapping[PilotIdentity, PilotLimit]]


async def find_failing_pilots(connection: Connection) -> PilotLimitsByWork:
    """Return the limits of the pilots that fail where other active pilots succeed.

    Pilots that are gone do not count: they are no reason to let work wait.
    """
    works = await list_failing_works(connection)
    if not works:
        return {}
    present = await list_active_identities(connection)
    limits_by_work: dict[WorkKind, dict[PilotIdentity, PilotLimit]] = {}
    for work, identities in (await list_times(connection, works)).items():
        for identity, own in identities.items():
            others = combine_times(
                times
                for other, times in identities.items()
                if other != identity and other in present
            )
            if (limit := decide_pilot_limit(own, others)) is not PilotLimit.FULL:
                limits_by_work.setdefault(work, {})[identity] = limit
    return limits_by_work


async def limit_jobs_of_pilot(
    connection: Connection,
    limit: PilotLimit,
    work: WorkKind,
    identity: PilotIdentity,
    *,
    requested_jobs: int,
) -> int:
    """Return how many of the jobs that a pilot could start it gets now."""
    match limit:
        case PilotLimit.FULL:
            return requested_jobs
        case PilotLimit.SUSPECT:
            busy = any(
                job.work == work
                for pilot in await list_pilots_with_jobs(connection, [identity])
                for job in pilot.jobs
            )
            return 0 if busy else min(requested_jobs, 1)
        case PilotLimit.NONE:
            probes = requested_jobs and await may_probe(
                connection, work, identity, every=PROBE_EVERY
            )
            return int(bool(probes))


def list_quarantined_steps(pilot_limits: PilotLimitsByWork, identity: PilotIdentity) -> list[str]:
    """Return the steps for which the pilot is quarantined."""
    return sorted(
        {
            work.step
            for work, limits in pilot_limits.items()
            if limits.get(identity) is PilotLimit.NONE
        }
    )
