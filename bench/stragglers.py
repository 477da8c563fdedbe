"""Benchmark of speculative execution: the same jobs on four pilots, one of which is slow.

The slow pilot takes ten times as long. The peer runs without speculative execution.
"""

import asyncio
import contextlib
import math
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

from bench.result import BenchResult
from bench.simulated_pilots import post, report_success
from bench.system import fresh_system
from sluice.clientkit.connection import Connection, connected
from sluice.clientkit.transfer.upload import upload_files
from sluice.clients.wms import WmsClient
from sluice.contracts.common.problems import Conflict
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot, SignOff
from sluice.contracts.templates.templates import NewTemplate
from sluice.embedded.home import Home
from sluice.network.http_clients import http_client
from sluice.pilot_access.auth import PilotAuth

#: Seconds of a job on each pilot.
JOB_SECONDS = (0.2, 0.2, 0.2, 2.0)
#: Seconds between two heartbeats.
_HEARTBEAT_SECONDS = 0.5
#: Seconds between two checks whether a step has ended. The step's own times count.
_POLL_SECONDS = 0.2

_WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
$namespaces: {{sluice: "urn:sluice:cwl:"}}
requirements: {{ScatterFeatureRequirement: {{}}}}
inputs: {{files: "File[]"}}
outputs: {{copies: {{type: "File[]", outputSource: copy/out}}}}
steps:
  copy:
    scatter: file
    in: {{file: files}}
    out: [out]
    sluice:retry: {{speculate: {speculate}}}
    run:
      class: CommandLineTool
      baseCommand: cat
      requirements: {{ToolTimeLimit: {{timelimit: 60}}}}
      inputs: {{file: {{type: File, inputBinding: {{position: 1}}}}}}
      outputs: {{out: {{type: stdout}}}}
      stdout: out.txt
"""


class _Pilot:
    """A pilot that pretends to run one job at a time for ``seconds``.

    ``token`` is the file with the token for registration.
    """

    def __init__(self, wms_url: str, token: Path, number: int, seconds: float) -> None:
        self._http = http_client(wms_url, timeout=60, auth=PilotAuth(token))
        self._number, self._seconds = number, seconds
        self._uid = uuid4()
        self._tasks: dict[str, dict[str, Any]] = {}

    async def work(self, end: asyncio.Event) -> None:
        """Work until ``end`` is set."""
        async with self._http:
            await self._work(end)

    async def _work(self, end: asyncio.Event) -> None:
        node = NodeResources(cores=1, ram=4000, disk=10_000)
        name = f"straggling-{self._number}"
        pilot = RegisterPilot(
            uid=self._uid, name=name, host="bench", slots=1, resources=node, version="1"
        )
        wms = WmsClient(self._http)
        await wms.register(pilot)
        while not end.is_set():
            request = {"jobs": 1, "wait": 0.5, "known_tasks": list(self._tasks)}
            lease = await post(self._http, self._uid, "lease", request)
            self._tasks.update({task["uid"]: task for task in lease["tasks"]})
            for job in lease["jobs"]:
                await self._run(job)
        await wms.sign_off(self._uid, SignOff())

    async def _run(self, job: dict[str, Any]) -> None:
        """Wait until the job is done here or by another pilot."""
        began, deadline = datetime.now(UTC), time.monotonic() + self._seconds
        token = {"id": job["id"], "attempt": job["attempt"]}
        beat = {"running": [token | {"started_at": began.isoformat()}], "waiting": []}
        while (remaining := deadline - time.monotonic()) > 0:
            answer = await post(self._http, self._uid, "heartbeat", beat)
            if answer["commands"]:
                confirmed = {"running": [], "waiting": [], "confirmed": [token]}
                await post(self._http, self._uid, "heartbeat", confirmed)
                return
            await asyncio.sleep(min(remaining, _HEARTBEAT_SECONDS))
        report = report_success(job, self._tasks[job["task_uid"]], began=began)
        await post(self._http, self._uid, "report", {"reports": [report]})


def bench_stragglers(jobs: int = 400, rounds: int = 3) -> BenchResult:
    """Measure the seconds from the first job to the end of the step on one system.

    The result is the median of ``rounds`` rounds in which both variants take turns.
    """
    with tempfile.TemporaryDirectory(prefix="sluice-bench-stragglers-") as folder:
        files = [Path(folder) / f"{number:05}.txt" for number in range(jobs)]
        for path in files:
            path.write_text(path.name)
        with fresh_system("--pilots", "0") as (url, home):
            speculative, plain = asyncio.run(_measure(url, files, rounds, Home(home).pilot_token))
    lower_bound = compute_best_seconds(jobs)
    value, plain_seconds = median(speculative), median(plain)
    return BenchResult(
        name="stragglers",
        value=value,
        unit="s",
        target="<= 1.25 x the lower bound, <= 1.02 x without speculative execution",
        peers={
            "lower bound, computed": lower_bound,
            "without speculative execution": plain_seconds,
        },
        ratio=value / lower_bound,
        details={
            "jobs": jobs,
            "seconds a job, by pilot": list(JOB_SECONDS),
            "by round, s": [round(seconds, 2) for seconds in speculative],
            "without speculative execution, by round, s": [round(seconds, 2) for seconds in plain],
        },
    )


def compute_best_seconds(jobs: int, pilots: Sequence[float] = JOB_SECONDS) -> float:
    """Return the least time in which these pilots can do ``jobs`` jobs, each one at a time."""
    ends = sorted(n * seconds for seconds in pilots for n in range(1, jobs + 1))
    return next(end for end in ends if sum(math.floor(end / s + 1e-9) for s in pilots) >= jobs)


async def _measure(
    url: str, files: Sequence[Path], rounds: int, token: Path
) -> tuple[list[float], list[float]]:
    times: dict[str, list[float]] = {"true": [], "false": []}
    end = asyncio.Event()
    async with connected(url) as connection:
        pilots = [
            _Pilot(f"{url}/services/wms", token, number, seconds)
            for number, seconds in enumerate(JOB_SECONDS)
        ]
        working = [asyncio.create_task(pilot.work(end)) for pilot in pilots]
        try:
            for number in range(rounds):
                for speculate, samples in times.items():
                    name = f"stragglers-{speculate}-{number}"
                    samples.append(await _time_step(connection, files, name, speculate=speculate))
        finally:
            end.set()
            done = await asyncio.gather(*working, return_exceptions=True)
    for outcome in done:
        if isinstance(outcome, BaseException):
            raise outcome
    return times["true"], times["false"]


async def _time_step(
    connection: Connection, files: Sequence[Path], name: str, *, speculate: str
) -> float:
    """Return the seconds from the step's first job to its end, and cancel the rest of the chain."""
    cwl = _WORKFLOW.format(speculate=speculate)
    template = await connection.operator.store_template(
        NewTemplate(name=f"bench-stragglers-{speculate}", cwl=cwl)
    )
    dataset = await upload_files(connection, files, dataset=NewDataset(name=name, on_demand=True))
    chain = await connection.operator.request_chain(dataset.uid, template.name)
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        for task in (await connection.operator.list_tasks(chain_uid=chain.uid)).tasks:
            jobs = task.jobs
            if jobs is not None and jobs.started_at is not None and jobs.ended_at is not None:
                with contextlib.suppress(Conflict):  # the chain has already ended
                    await connection.operator.cancel_chain(chain.uid)
                return (jobs.ended_at - jobs.started_at).total_seconds()
