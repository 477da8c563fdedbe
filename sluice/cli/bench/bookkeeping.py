"""Bookkeeping alone: jobs per second from leased to registered in the catalogue, with pilots that run nothing."""

import asyncio
import os
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import asyncpg
import httpx
import uvloop

from sluice.cli.bench.result import Result
from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import Dataset, NewDataset, NewFile
from sluice.contracts.messages import WMS_TASKS, CloudEvent
from sluice.contracts.states import DatasetType, StorageType, TaskMode
from sluice.contracts.tasks import Task
from sluice.embedded.home import Home
from sluice.embedded.system import EmbeddedSystem, Options
from sluice.servicekit.transport.base import Message

CHECKSUM = "sha256:" + "0" * 64
#: Simulated pilots, in one process beside the services'.
PILOTS = 4


def bench_bookkeeping(jobs: int = 10_000, waiting: int = 0) -> Result:
    """``waiting``: so many jobs more are ready all the time."""
    with tempfile.TemporaryDirectory(prefix="sluice-bench-") as folder:
        figures = uvloop.run(_measure(Path(folder), jobs, waiting))  # as `sluice up` does
    peer = figures.pop("claims")
    rate = jobs / figures["seconds"]
    return Result(
        name="bookkeeping",
        value=rate,
        unit="jobs/s",
        target=">= 2500 jobs/s, <= 300 MB",
        peers={"PostgreSQL alone: claim and finish rows, 64 at a time": peer},
        ratio=rate / peer,
        details={"jobs": jobs, "waiting beside them": waiting, **{key: round(value, 2) for key, value in figures.items()}},
    )


async def _measure(folder: Path, jobs: int, waiting: int) -> dict[str, float]:
    system = EmbeddedSystem(Home(folder), Options(port=0, pilots=0))
    await system.start()
    try:
        async with httpx.AsyncClient(base_url=f"{system.url}/services/dms", timeout=300) as http:
            dms = DmsClient(http)
            started = time.perf_counter()
            task = await _make_task(system, dms, jobs + waiting)
            await _until_split(system.url, task.uid, jobs + waiting)
            prepared = time.perf_counter() - started
            seconds = await _run(system.url, dms, task, jobs)
        claims = await _claims(system.database_url("postgres"), jobs)
    finally:
        await system.stop()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "claims": claims, "seconds to register the files and make the jobs": prepared, "peak MB": memory}


async def _make_task(system: EmbeddedSystem, dms: DmsClient, files: int) -> Task:
    stores = {store.type: store.url for store in await dms.storages()}
    folder = f"{stores[StorageType.INPUT]}/bench"
    source = await dms.register_dataset(NewDataset(name="bench", on_demand=True, url=folder))
    for start in range(0, files, 10_000):
        numbers = range(start, min(start + 10_000, files))
        await dms.register_files(
            source.uid, [NewFile(seq=n, name=f"{n:08d}", size=1, checksum=CHECKSUM, url=f"{folder}/{n:08d}") for n in numbers]
        )
    await dms.close_dataset(source.uid)
    out = await _output(dms, "bench.out", DatasetType.INTERMEDIATE, stores[StorageType.INTERMEDIATE])
    logs = await _output(dms, "bench.logs", DatasetType.LOGS, stores[StorageType.LOGS])
    task = Task(
        uid=uuid4(),
        chain_uid=uuid4(),
        step="bench",
        template="bench",
        executable={"class": "CommandLineTool"},
        args={},
        mode=TaskMode.MAP,
        dat_in_uid=source.uid,
        dat_in_port="file",
        dat_out_uid=out.uid,
        dat_out_port="out",
        dat_stor_url=stores[StorageType.INTERMEDIATE],
        dat_out_url=str(out.url),
        log_out_uid=logs.uid,
        log_stor_url=stores[StorageType.LOGS],
        log_out_url=str(logs.url),
    )
    event = CloudEvent(
        id=str(uuid4()), source="urn:sluice:bench", type=WMS_TASKS, time=datetime.now(UTC), data=task.model_dump(mode="json")
    )
    if system.transport is None:
        raise RuntimeError("the system is not started")
    await system.transport.send([Message(event.id, WMS_TASKS, event.model_dump_json().encode())])
    return task


async def _output(dms: DmsClient, name: str, kind: DatasetType, storage: str) -> Dataset:
    return await dms.register_dataset(NewDataset(name=name, type=kind, url=f"{storage}/{name}"))


async def _until_split(url: str, task: UUID, jobs: int) -> None:
    async with httpx.AsyncClient(base_url=f"{url}/services/wms", timeout=30) as http:
        while True:
            answer = await http.get(f"/api/v1/tasks/{task}")
            if answer.is_success and answer.json()["total"] >= jobs:
                return
            await asyncio.sleep(0.05)


async def _run(url: str, dms: DmsClient, task: Task, jobs: int) -> float:
    """Seconds from the start of the pilots' process, its imports left out, until all outputs are in the catalogue."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "sluice.cli.bench.simulated_pilots",
        f"{url}/services/wms",
        str(jobs),
        str(PILOTS),
        env=os.environ.copy(),
    )
    started: float | None = None
    try:
        while True:
            count = (await dms.dataset(task.dat_out_uid)).count_files
            if started is None and count:
                started = time.perf_counter()
                first = count
            if started is not None and count >= jobs:
                return (time.perf_counter() - started) * jobs / (jobs - first)
            await asyncio.sleep(0.005 if started is None else 0.05)
    finally:
        await process.wait()


async def _claims(url: str, jobs: int) -> float:
    """Rows per second of the barest possible queue on the same server: claim 64 with SKIP LOCKED, finish them."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE TABLE claims (id bigint PRIMARY KEY, state text NOT NULL)")
        await connection.execute("INSERT INTO claims SELECT n, 'ready' FROM generate_series(1, $1::bigint) AS n", jobs)
        await connection.execute("CREATE INDEX ON claims (id) WHERE state = 'ready'")
        started = time.perf_counter()
        done = 0
        while done < jobs:
            rows = await connection.fetch(
                "UPDATE claims SET state = 'leased' WHERE id IN (SELECT id FROM claims WHERE state = 'ready' ORDER BY id "
                "LIMIT 64 FOR UPDATE SKIP LOCKED) RETURNING id"
            )
            await connection.execute("UPDATE claims SET state = 'finished' WHERE id = ANY($1::bigint[])", [r["id"] for r in rows])
            done += len(rows)
        return jobs / (time.perf_counter() - started)
    finally:
        await connection.close()
