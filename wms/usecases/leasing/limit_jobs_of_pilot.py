"""Give fewer jobs to a pilot that fails where others succeed.

If it fails often, it only gets a job occasionally.
"""

from sluice.servicekit.database import Connection
from wms.db.pilots.pilot_times import PilotIdentity, WorkKind, may_probe
from wms.db.pilots.pilots_with_jobs import list_pilots_with_jobs
from wms.domain.scheduling.pilot_times import PilotLimit

#: Seconds between two jobs that show whether an untrusted pilot still fails.
PROBE_EVERY = 30.0


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
