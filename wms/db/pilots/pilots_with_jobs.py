"""Statements on the jobs that pilots have: which pilot could have run a job earlier."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.in_flight import ATTEMPTS_IN_FLIGHT
from wms.db.pilots.pilot_times import PilotIdentity, WorkKind
from wms.db.pilots.pilots import build_node
from wms.domain.scheduling.matching import PilotNode

_SELECT_PILOTS_WITH_JOBS = statement(f"""
-- Active pilots with these identities, a row for each attempt in the order of leases, or one row
-- without an attempt. Uses the index jobs_in_flight.
SELECT p.uid, p.name, p.host, t.template, t.step, f.state = '{{job.RUNNING}}' AS runs,
    extract(epoch FROM now() - coalesce(f.started_at, f.leased_at))::float8 AS since,
    CASE WHEN row_number() OVER (PARTITION BY p.uid) = 1 THEN p.resources END AS resources,
    p.engines, p.sandbox
FROM pilots AS p
JOIN unnest($1::text[], $2::text[]) AS i (name, host) ON p.name = i.name AND p.host = i.host
LEFT JOIN ({ATTEMPTS_IN_FLIGHT}) AS f ON f.pilot = p.uid LEFT JOIN tasks AS t ON t.uid = f.task_uid
WHERE p.state = '{{pilot.ACTIVE}}'
ORDER BY f.leased_at, f.id
""")


@dataclass(frozen=True, slots=True)
class AssignedJobRow:
    """A job that a pilot has.

    Attributes:
        since: Seconds since it started if it ``runs``, else since its lease.
    """

    work: WorkKind
    runs: bool
    since: float


@dataclass(frozen=True, slots=True)
class PilotWithJobs:
    """A pilot that takes jobs, with the jobs that it has."""

    pilot: UUID
    identity: PilotIdentity
    node: PilotNode
    jobs: list[AssignedJobRow] = field(default_factory=list)


async def list_pilots_with_jobs(
    connection: Connection, identities: Iterable[PilotIdentity]
) -> list[PilotWithJobs]:
    """Return the active pilots with these identities and their jobs, in no order."""
    columns = list(zip(*identities, strict=True)) or [(), ()]
    rows = await connection.fetch(_SELECT_PILOTS_WITH_JOBS, *map(list, columns))
    pilots = {
        row["uid"]: PilotWithJobs(
            row["uid"], PilotIdentity(row["name"], row["host"]), build_node(row)
        )
        for row in rows
        if row["resources"] is not None
    }
    for row in rows:
        if row["step"] is not None:
            work = WorkKind(row["template"], row["step"])
            pilots[row["uid"]].jobs.append(AssignedJobRow(work, row["runs"], row["since"]))
    return list(pilots.values())
