"""Pilots that run nothing: they lease, report success with outputs that were never written, and go on. A process of its own:
``python -m sluice.cli.bench.simulated_pilots WMS_URL JOBS PILOTS``."""

import asyncio
import sys
from datetime import UTC, datetime
from uuid import uuid4

import httpx

from sluice.clients.wms import WmsClient
from sluice.contracts.naming import log_name, output_name
from sluice.contracts.pilots import (
    AttemptReport,
    Lease,
    LeasedJob,
    LeaseRequest,
    LogFile,
    NodeResources,
    OutputFile,
    PilotTask,
    RegisterPilot,
    Report,
)
from sluice.contracts.states import AttemptOutcome

#: Jobs a simulated pilot leases and reports at a time.
BATCH = 64
CHECKSUM = "sha256:" + "0" * 64


async def run_pilots(url: str, jobs: int, pilots: int) -> int:
    """Leases and reports until ``jobs`` are done; how many that were (the last leases may bring a few more)."""
    share = -(-jobs // pilots)
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        client = WmsClient(http)
        return sum(await asyncio.gather(*(_pilot(client, number, share) for number in range(pilots))))


async def _pilot(client: WmsClient, number: int, share: int) -> int:
    uid = uuid4()
    node = NodeResources(cores=64, ram=256_000, disk=1_000_000)
    pilot = RegisterPilot(uid=uid, name=f"simulated-{number}", host="bench", slots=BATCH, resources=node, version="1")
    await client.register(pilot)
    tasks: dict[str, PilotTask] = {}
    done = 0
    while done < share:
        request = LeaseRequest(jobs=min(BATCH, share - done), wait=5, known_tasks=[task.uid for task in tasks.values()])
        lease: Lease = await client.lease(uid, request)
        tasks.update({str(task.uid): task for task in lease.tasks})
        if lease.jobs:
            reports = [_success(job, tasks[str(job.task_uid)]) for job in lease.jobs]
            await client.report(uid, Report(reports=reports))
        done += len(lease.jobs)
    return done


def _success(job: LeasedJob, task: PilotTask) -> AttemptReport:
    now = datetime.now(UTC)
    out, log = output_name(job.seq, job.attempt, "out"), log_name(job.seq, job.attempt)
    return AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=AttemptOutcome.FINISHED,
        started_at=now,
        ended_at=now,
        exit_code=0,
        outputs=[
            OutputFile(port=o.port, name=out, size=1, checksum=CHECKSUM, url=f"{o.dat_out_url}/{out}") for o in task.outputs
        ],
        log=LogFile(name=log, size=1, checksum=CHECKSUM, url=f"{task.log_out_url}/{log}"),
    )


if __name__ == "__main__":
    print(asyncio.run(run_pilots(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
