"""Pilots that run nothing: they lease jobs, link a small file to each output and report success.

Run them as ``python -m bench.simulated_pilots WMS_URL JOBS PILOTS [TOKEN]``, where TOKEN is
the file with the token for registration. They share the processors with the measured system, so
their requests are built as plain JSON, which costs a fraction of a real pilot's.
"""

import asyncio
import hashlib
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import orjson

from sluice.clients.wms import WmsClient
from sluice.contracts.common.naming import log_name, output_name
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import AttemptOutcome, ReportAnswer
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot, SignOff
from sluice.network.http_clients import http_client
from sluice.pilot_access.auth import PilotAuth
from sluice.storage import find_local_path

#: The name of the file that outputs are links to.
_SOURCE = ".one-byte"
#: The number of jobs that a simulated pilot leases and reports at a time.
BATCH = 64
CHECKSUM = f"sha256:{hashlib.sha256(b'1').hexdigest()}"


async def run_pilots(url: str, jobs: int, pilots: int, token: Path | None = None) -> int:
    """Lease and report until ``jobs`` are done, and return their number.

    The last leases may add a few.

    Raises:
        ServiceError: A report is not accepted.
    """
    share = -(-jobs // pilots)
    return sum(
        await asyncio.gather(*(_run_pilot(url, number, share, token) for number in range(pilots)))
    )


async def _run_pilot(url: str, number: int, share: int, token: Path | None) -> int:
    async with http_client(url, timeout=60, auth=PilotAuth(token)) as http:
        return await _work(http, number, share)


async def _work(http: httpx.AsyncClient, number: int, share: int) -> int:
    uid = uuid4()
    node = NodeResources(cores=64, ram=256_000, disk=1_000_000)
    pilot = RegisterPilot(
        uid=uid, name=f"simulated-{number}", host="bench", slots=BATCH, resources=node, version="1"
    )
    await WmsClient(http).register(pilot)
    tasks: dict[str, dict[str, Any]] = {}
    done = 0
    while done < share:
        request = {"jobs": min(BATCH, share - done), "wait": 5, "known_tasks": list(tasks)}
        lease = await post(http, uid, "lease", request)
        tasks.update({task["uid"]: task for task in lease["tasks"]})
        if lease["jobs"]:
            reports = [report_success(job, tasks[job["task_uid"]]) for job in lease["jobs"]]
            answers = (await post(http, uid, "report", {"reports": reports}))["answers"]
            if any(answer["answer"] != ReportAnswer.ACCEPTED for answer in answers):
                raise ServiceError(f"a report was not accepted: {answers}")
        done += len(lease["jobs"])
    await WmsClient(http).sign_off(uid, SignOff())
    return done


async def post(http: httpx.AsyncClient, pilot: UUID, request: str, body: Any) -> Any:
    """Send a pilot's request and return the response.

    Raises:
        httpx.HTTPError: The request fails.
    """
    answer = await http.post(
        f"/api/v1/pilots/{pilot}/{request}",
        content=orjson.dumps(body),
        headers={"Content-Type": "application/json"},
    )
    answer.raise_for_status()
    return orjson.loads(answer.content)


def report_success(
    job: dict[str, Any], task: dict[str, Any], *, began: datetime | None = None
) -> dict[str, Any]:
    """Write the outputs of a job, and return the report that it has just finished.

    Args:
        job: The leased job.
        task: The job's task.
        began: When it began. Defaults to now.
    """
    now = datetime.now(UTC).isoformat()
    log = log_name(job["seq"], job["attempt"])
    return {
        "id": job["id"],
        "attempt": job["attempt"],
        "outcome": AttemptOutcome.FINISHED,
        "started_at": now if began is None else began.isoformat(),
        "ended_at": now,
        "exit_code": 0,
        "outputs": [_write_output(job, output) for output in task["outputs"]],
        "log": {
            "name": log,
            "size": 1,
            "checksum": CHECKSUM,
            "url": f"{task['log_out_url']}/{log}",
        },
    }


def _write_output(job: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
    name = output_name(job["seq"], job["attempt"], "out")
    _link_one_byte(Path(find_local_path(output["dat_out_url"]) or ""), name)
    return {
        "port": output["port"],
        "name": name,
        "size": 1,
        "checksum": CHECKSUM,
        "url": f"{output['dat_out_url']}/{name}",
    }


def _link_one_byte(folder: Path, name: str) -> None:
    """Link a file of one byte into a folder, which is the cheapest way to make a file.

    A file can have some ten thousand names. Then a new one is made.
    """
    source = folder / _SOURCE
    try:
        os.link(source, folder / name)
    except OSError:
        folder.mkdir(parents=True, exist_ok=True)
        source.unlink(missing_ok=True)
        source.write_bytes(b"1")
        os.link(source, folder / name)


if __name__ == "__main__":
    _url, _jobs, _pilots, *_token = sys.argv[1:]
    asyncio.run(run_pilots(_url, int(_jobs), int(_pilots), *map(Path, _token)))
