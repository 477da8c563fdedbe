"""All services, wired as in production over the PostgreSQL transport.

The list of templates and the pilot belong to the test.
"""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from dms.settings import DmsSettings
from dms.wiring import build as build_dms
from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.naming import output_name
from sluice.contracts.common.states import AttemptOutcome, ChainState, StorageType
from sluice.contracts.data.datasets import NewDataset, NewFile, NewStorage
from sluice.contracts.pilots.leases import LeasedJob, LeaseRequest, PilotTask
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.output_files import OutputFile
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.contracts.pilots.reports import AttemptReport, Report
from sluice.contracts.templates.conditions import Equals
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import Template
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.transport.open import open_transport
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all
from tests.conftest import DatabaseFactory
from tests.integration.wfms.fake_operator import FakeOperator
from tests.unit.wfms.chains.plans import DELETE_ALL, make_three_steps
from tests.waiting import eventually
from wfms.chains.settings import ChainsSettings
from wfms.chains.wiring import build as build_chains
from wfms.intake.settings import IntakeSettings
from wfms.intake.wiring import build as build_intake
from wfms.watcher.settings import WatcherSettings
from wfms.watcher.wiring import build as build_watcher
from wms.settings import WmsSettings
from wms.wiring import build as build_wms

FILES = 3


def build_all(urls: dict[str, str], links: ProcessLinks, transport: Transport) -> list[Service]:
    broker = urls["broker"]
    services = [
        build_dms(
            DmsSettings(database_url=urls["dms"], broker_url=broker, storage_roots="/"),
            links=links,
            transport=transport,
        ),
        build_wms(
            WmsSettings(database_url=urls["wms"], broker_url=broker, look_at_outputs="no"),
            links=links,
            transport=transport,
        ),
        build_chains(
            ChainsSettings(database_url=urls["chains"], broker_url=broker),
            links=links,
            transport=transport,
        ),
        build_watcher(
            WatcherSettings(database_url=urls["watcher"], broker_url=broker),
            links=links,
            transport=transport,
        ),
        build_intake(
            IntakeSettings(database_url=urls["intake"], broker_url=broker),
            links=links,
            transport=transport,
        ),
    ]
    links.apps.update({service.name: service.app for service in services})
    return services


def serve_templates(links: ProcessLinks, plan: Plan) -> None:
    template = Template(id=uuid4(), name="wf", version=1, created_at=datetime.now(UTC), plan=plan)
    router = open_to_all(FakeOperator([template]).routes())
    links.apps["wfms.operator"] = create_app(
        "operator", [router], health=Health({}), metrics=ServiceMetrics()
    )


def write_file(path: Path, content: bytes) -> dict[str, Any]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {"name": path.name, "size": len(content), "checksum": checksum, "url": f"file://{path}"}


def run_job(job: LeasedJob, task: PilotTask) -> AttemptReport:
    """Write one file for each output port, and report success."""
    outputs = []
    for output in task.outputs:
        folder = Path(output.dat_out_url.removeprefix("file://"))
        outputs.append(
            OutputFile(
                port=output.port,
                **write_file(folder / output_name(job.seq, job.attempt, "x.dat"), b"done"),
            )
        )
    now = datetime.now(UTC)
    return AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=AttemptOutcome.FINISHED,
        started_at=now,
        ended_at=now,
        exit_code=0,
        outputs=outputs,
    )


def list_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


class Pilot:
    def __init__(self, wms: WmsClient) -> None:
        self.wms = wms
        self.uid = uuid4()
        self.tasks: dict[object, PilotTask] = {}

    async def register(self) -> None:
        node = NodeResources(cores=8, ram=8192, disk=100_000)
        await self.wms.register(
            RegisterPilot(uid=self.uid, name="p", host="h", slots=8, resources=node, version="1")
        )

    async def run_jobs(self) -> None:
        lease = await self.wms.lease(self.uid, LeaseRequest(jobs=8, wait=0.2, known_tasks=[]))
        self.tasks |= {task.uid: task for task in lease.tasks}
        if lease.jobs:
            reports = [run_job(job, self.tasks[job.task_uid]) for job in lease.jobs]
            await self.wms.report(self.uid, Report(reports=reports))


@asynccontextmanager
async def start_system(urls: dict[str, str], plan: Plan) -> AsyncIterator[ProcessLinks]:
    links, transport = ProcessLinks(), open_transport(urls["broker"], sluice_topology())
    serve_templates(links, plan)
    services = build_all(urls, links, transport)
    async with running(links, transport, *services):
        yield links


async def register_input(links: ProcessLinks, folder: Path, name: str) -> None:
    dms = DmsClient(links.http("dms"))
    dataset = await dms.register_dataset(NewDataset(name=name, meta={"kind": "raw"}))
    files = [
        NewFile(
            seq=seq, **write_file(folder / "input" / f"{name}-{seq}.raw", f"{name} {seq}".encode())
        )
        for seq in range(FILES)
    ]
    await dms.register_many_files(dataset.uid, files)
    await dms.close_dataset(dataset.uid)


async def list_chains(links: ProcessLinks) -> list[Chain]:
    return (await ChainsClient(links.http("wfms.chains")).list_chains()).chains


async def test_chains_finish_although_all_services_are_restarted_between_steps(
    make_database: DatabaseFactory, tmp_path: Path
) -> None:
    urls = {
        name: await make_database()
        for name in ("broker", "dms", "wms", "chains", "watcher", "intake")
    }
    plan = make_three_steps(match={"kind": Equals(value="raw")}, retention=DELETE_ALL)
    async with start_system(urls, plan) as links:
        for kind in StorageType:
            (tmp_path / kind).mkdir()
            await DmsClient(links.http("dms")).register_storage(
                NewStorage(name=kind, type=kind, url=f"file://{tmp_path / kind}")
            )
        await register_input(links, tmp_path, "a")
        pilot = Pilot(WmsClient(links.http("wms")))
        await pilot.register()

        async def is_first_step_done() -> bool:
            await pilot.run_jobs()
            return any(len(chain.datasets) > 3 for chain in await list_chains(links))

        await eventually(is_first_step_done, what="the second step has started", seconds=60)
        await register_input(links, tmp_path, "b")
    async with start_system(urls, plan) as links:
        pilot = Pilot(WmsClient(links.http("wms")))
        await pilot.register()

        async def are_both_finished() -> bool:
            await pilot.run_jobs()
            return [chain.state for chain in await list_chains(links)] == [ChainState.FINISHED] * 2

        await eventually(are_both_finished, what="both chains have finished", seconds=60)

        async def are_only_outputs_left() -> bool:
            return {path.parent.parent.name for path in list_files(tmp_path)} <= {"output"}

        await eventually(
            are_only_outputs_left, what="everything but the outputs is deleted", seconds=60
        )
    assert len(list_files(tmp_path / "output")) == 2, "each chain has one merged output"
