"""Benchmark of the bookkeeping: jobs per second from leased to registered in the catalogue.

The pilots run nothing.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from uuid import UUID, uuid4

import asyncpg

from bench.measured_system import SystemUnderTest, run_embedded_system, use_separate_processes
from bench.result import BenchResult
from sluice.clientkit.connection import client
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import Conflict, ServiceError
from sluice.contracts.common.states import PilotState, StorageType
from sluice.contracts.data.datasets import Dataset, NewDataset, NewFile
from sluice.contracts.templates.templates import NewTemplate

CHECKSUM = "sha256:" + "0" * 64
#: Simulated pilots, in one process beside those of the services.
PILOTS = 4
#: Rounds of a measurement, of which the median counts.
ROUNDS = 3
#: Seconds without autovacuum before a measurement. Autovacuum starts once a minute.
QUIET_SECONDS = 5
#: Files in one request.
PAGE = 10_000
#: Seconds without progress after which a measurement is given up.
TIMEOUT = 120.0

WORKFLOW = """\
cwlVersion: v1.2
class: Workflow
requirements:
  ScatterFeatureRequirement: {}
inputs:
  files: File[]
outputs:
  copies: {type: "File[]", outputSource: copy/out}
steps:
  copy:
    scatter: file
    in: {file: files}
    out: [out]
    run:
      class: CommandLineTool
      baseCommand: cat
      requirements: {ToolTimeLimit: {timelimit: 60}}
      inputs:
        file: {type: File, inputBinding: {position: 1}}
      outputs:
        out: {type: stdout}
      stdout: $(inputs.file.basename)
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures with ``waiting`` ready jobs.

    Attributes:
        waiting: The number of ready jobs.
        rates: Jobs per second of each round.
        claims: Rows per second of the peer, right after the rounds.
        preparation: Seconds of the preparation.
        processor: Milliseconds per job, by process.
        memory: MiB, by process.
    """

    waiting: int
    rates: list[float]
    claims: float
    preparation: float
    processor: dict[str, float]
    memory: dict[str, float]

    @property
    def rate(self) -> float:
        """Return the median rate."""
        return median(self.rates)


def bench_bookkeeping(
    jobs: int = 10_000, waiting: Sequence[int] = (1,), stack: Path | None = None
) -> BenchResult:
    """Measure ``ROUNDS`` rounds of ``jobs`` for each number of ``waiting`` jobs.

    ``stack`` is the folder of separate processes to measure. Without it, an embedded system is
    started.
    """
    with run_embedded_system() if stack is None else use_separate_processes(stack) as system:
        figures = [asyncio.run(_measure(system, jobs, number)) for number in waiting]
    first = figures[0]
    details: dict[str, object] = {"system": system.kind, "jobs": jobs}
    for figure in figures:
        details[f"jobs/s with {figure.waiting} waiting, by round"] = [
            round(rate) for rate in figure.rates
        ]
        details[f"claims/s of PostgreSQL alone, beside {figure.waiting} waiting"] = round(
            figure.claims, 1
        )
        details[f"seconds to register files and make jobs, {figure.waiting} waiting"] = round(
            figure.preparation, 1
        )
        details[f"processor ms per job, {figure.waiting} waiting"] = {
            k: round(v, 3) for k, v in figure.processor.items() if v >= 0.0005
        }
    if len(figures) > 1:
        details[f"cost per job at {figures[-1].waiting} to that at {first.waiting}"] = round(
            first.rate / figures[-1].rate, 3
        )
    details["peak MiB"] = {name: round(peak) for name, peak in figures[-1].memory.items()}
    return BenchResult(
        name="bookkeeping",
        value=first.rate,
        unit="jobs/s",
        target=">= 2500 jobs/s, <= 1.1 x the cost at 1 000 000 waiting, <= 300 MB a process",
        peers={"PostgreSQL alone: claim and finish rows, 64 at a time": first.claims},
        ratio=first.rate / first.claims,
        details=details,
    )


@dataclass(frozen=True, slots=True)
class _Clients:
    operator: OperatorClient
    dms: DmsClient
    wms: WmsClient


async def _measure(system: SystemUnderTest, jobs: int, waiting_jobs: int) -> Figures:
    async with _connect(system) as clients:
        if [
            pilot
            for pilot in (await clients.wms.list_pilots()).pilots
            if pilot.state is PilotState.ACTIVE
        ]:
            raise Conflict(
                "pilots are at work on this system, and would take the jobs: stop them first"
            )
        started = time.perf_counter()
        dataset = await _register(clients.dms, ROUNDS * jobs + waiting_jobs)
        chain = await _request_chain(clients.operator, dataset)
        chain, task = await _wait_until_split(clients, chain, ROUNDS * jobs + waiting_jobs)
        prepared = time.perf_counter() - started
        await _wait_for_autovacuum(system.database)
        before = system.processor_seconds()
        [output] = [dataset.uid for dataset in chain.datasets if dataset.port == "out"]
        rates = [jobs / await _run(system, clients.dms, output, jobs) for _ in range(ROUNDS)]
        after = system.processor_seconds()
        claims = await _measure_claims(system.database, jobs)
        await clients.operator.cancel_chain(chain.uid)
        await _wait_until_ended(clients, task)
    processor = {
        name: 1000 * (after[name] - before.get(name, 0.0)) / (ROUNDS * jobs) for name in after
    }
    return Figures(waiting_jobs, rates, claims, prepared, processor, system.peak_memory())


@asynccontextmanager
async def _connect(system: SystemUnderTest) -> AsyncIterator[_Clients]:
    async with (
        client(system.operator, seconds=300) as operator,
        client(system.dms, seconds=300) as dms,
        client(system.wms, seconds=300) as wms,
    ):
        if (auth := system.auth("wms")) is not None:
            wms.auth = auth
        yield _Clients(OperatorClient(operator), DmsClient(dms), WmsClient(wms))


async def _register(dms: DmsClient, count: int) -> Dataset:
    """Return a closed data set of files that do not exist."""
    [store, *_] = await dms.list_storages(type=StorageType.INPUT)
    name = f"bench-{uuid4().hex[:12]}"
    folder = f"{store.url}/{name}"
    dataset = await dms.register_dataset(NewDataset(name=name, on_demand=True, url=folder))
    for start in range(0, count, PAGE):
        numbers = range(start, min(start + PAGE, count))
        files = [
            NewFile(seq=n, name=f"{n:08d}", size=1, checksum=CHECKSUM, url=f"{folder}/{n:08d}")
            for n in numbers
        ]
        await dms.register_many_files(dataset.uid, files)
    return await dms.close_dataset(dataset.uid, files=count)


async def _request_chain(operator: OperatorClient, dataset: Dataset) -> Chain:
    template = await operator.store_template(NewTemplate(name="bench-bookkeeping", cwl=WORKFLOW))
    return await operator.request_chain(dataset.uid, template.name)


async def _wait_until_split(clients: _Clients, chain: Chain, jobs: int) -> tuple[Chain, UUID]:
    """Return the chain with its data sets, and its task, when all jobs exist."""
    deadline = time.monotonic() + TIMEOUT
    created_jobs = 0
    while True:
        chain = await clients.operator.get_chain(chain.uid)
        if chain.state.final:
            raise ServiceError(f"the chain ended {chain.state}: {chain.reason}")
        [task] = [step.task_uid for step in chain.steps]
        for status in (await clients.wms.list_tasks(uid=[task])).tasks if task else []:
            if status.total >= jobs:
                return chain, status.uid
            created_jobs, deadline = (
                status.total,
                deadline if status.total == created_jobs else time.monotonic() + TIMEOUT,
            )
        if time.monotonic() > deadline:
            raise ServiceError(
                f"{created_jobs} of {jobs} jobs were made, and no more within {TIMEOUT:.0f} s"
            )
        await asyncio.sleep(0.05)


async def _wait_until_ended(clients: _Clients, task: UUID) -> None:
    """Wait for the cancellation of all jobs, so that it does not disturb the next measurement."""
    while not (await clients.wms.get_task(task)).state.final:  # noqa: ASYNC110 - it happens in another process
        await asyncio.sleep(0.1)


async def _run(system: SystemUnderTest, dms: DmsClient, output: UUID, jobs: int) -> float:
    """Return the seconds until all outputs are in the catalogue.

    The time begins with the first output, and is scaled to all jobs.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.simulated_pilots",
        system.wms,
        str(jobs),
        str(PILOTS),
        *([] if system.pilot_token is None else [str(system.pilot_token)]),
        env=os.environ.copy(),
    )
    initial_count = (await dms.get_dataset(output)).count_files
    first, started = 0, 0.0
    try:
        while True:
            count = (await dms.get_dataset(output)).count_files - initial_count
            now = time.perf_counter()
            if count and not first:
                first, started = count, now
            if count >= jobs:
                return (now - started) * jobs / (jobs - first)
            if process.returncode not in {None, 0}:
                raise ServiceError(
                    f"the simulated pilots ended with exit status {process.returncode}"
                )
            await asyncio.sleep(0.05 if first else 0.005)
    finally:
        await process.wait()


async def _wait_for_autovacuum(url: str) -> None:
    """Wait until autovacuum has processed the loaded data, which is not part of a job's cost."""
    connection = await asyncpg.connect(url)
    try:
        quiet = 0
        while quiet < QUIET_SECONDS:
            workers = await connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"
            )
            quiet = 0 if workers else quiet + 1
            await asyncio.sleep(1)
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()


async def _measure_claims(url: str, jobs: int) -> float:
    """Return the rows per second of a minimal queue on the same server.

    It claims 64 rows with SKIP LOCKED and finishes them.
    """
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE TABLE claims (id bigint PRIMARY KEY, state text NOT NULL)")
        await connection.execute(
            "INSERT INTO claims SELECT n, 'ready' FROM generate_series(1, $1::bigint) AS n", jobs
        )
        await connection.execute("CREATE INDEX ON claims (id) WHERE state = 'ready'")
        started = time.perf_counter()
        done = 0
        while done < jobs:
            rows = await connection.fetch(
                "UPDATE claims SET state = 'leased' WHERE id IN (SELECT id FROM claims WHERE state"
                " = 'ready' ORDER BY id LIMIT 64 FOR UPDATE SKIP LOCKED) RETURNING id"
            )
            await connection.execute(
                "UPDATE claims SET state = 'finished' WHERE id = ANY($1::bigint[])",
                [r["id"] for r in rows],
            )
            done += len(rows)
        return jobs / (time.perf_counter() - started)
    finally:
        await connection.execute("DROP TABLE IF EXISTS claims")
        await connection.close()
