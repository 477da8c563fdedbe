"""The services of the WfMS and the real DMS on real databases; tests run the loops step by step."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
from fastapi import APIRouter

from dms.settings import DmsSettings
from dms.usecases.datasets.apply_deletion import apply_deletion
from dms.usecases.datasets.close_complete_datasets import close_complete_datasets
from dms.usecases.removal.apply_release import apply_release
from dms.usecases.uploads.apply_upload import apply_upload
from dms.usecases.uploads.upload_next_dataset import upload_next_dataset
from dms.wiring import build as build_dms
from dms.wiring import make_context
from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.clients.watcher import WatcherClient
from sluice.clients.wms import WmsClient
from sluice.contracts.access.secrets import Secret
from sluice.contracts.chains.chains import Chain, NewChain
from sluice.contracts.common.states import StorageType, TaskState
from sluice.contracts.data.datasets import Dataset, NewDataset, NewFile, NewStorage
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.messaging.messages import (
    DMS_DELETIONS,
    DMS_UPLOADS,
    WMS_DOWNSTREAM_COUNTS,
    WMS_TASKS,
    CloudEvent,
    DeleteDataset,
    DownstreamCounts,
    ReleaseFiles,
    UploadDataset,
)
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import Template
from sluice.servicekit.access.principal import THIS_PROCESS, set_principal
from sluice.servicekit.database import Database
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.open import open_transport
from sluice.servicekit.web.http import Health, create_app
from tests.callers import allow_everybody, open_to_all
from tests.conftest import DatabaseFactory
from tests.integration.wfms.fake_operator import FakeOperator
from tests.integration.wfms.fake_wms import FakeWms
from tests.integration.wfms.faults import FragileDatabase, FragileHttp, Fuse
from wfms.chains.api.attention import router as attention_router
from wfms.chains.api.chains import router as chains_router
from wfms.chains.api.dependencies import ChainsWakes
from wfms.chains.api.reruns import router as reruns_router
from wfms.chains.api.tasks import router as tasks_router
from wfms.chains.usecases.context import ChainsContext, StartRules
from wfms.chains.usecases.data.collect_outputs import collect_outputs
from wfms.chains.usecases.data.delete_outputs import delete_outputs
from wfms.chains.usecases.data.delete_requested_datasets import delete_requested_datasets
from wfms.chains.usecases.data.hand_over_releases import hand_over_releases
from wfms.chains.usecases.data.watch_uploads import watch_uploads
from wfms.chains.usecases.reruns.expire_rerun_data import expire_rerun_data
from wfms.chains.usecases.steps.start_steps import start_steps
from wfms.chains.usecases.steps.stop_tasks import stop_tasks
from wfms.intake.api.dependencies import IntakeWakes
from wfms.intake.api.unmatched import router as unmatched_router
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.match_datasets import match_datasets
from wfms.intake.usecases.start_chains import start_chains
from wfms.intake.usecases.start_triggered_chains import start_triggered_chains
from wfms.watcher.api.dependencies import WatcherWakes
from wfms.watcher.api.watches import router as watches_router
from wfms.watcher.usecases.context import FollowRules, WatcherContext
from wfms.watcher.usecases.follow_watches import follow_watches

NONE = timedelta(0)
SERVICES = ("wfms.chains", "wfms.watcher", "wfms.intake")


def _do_nothing() -> None:
    """Do nothing: there is no loop to wake."""


@dataclass
class WfmsFixture:
    """The services under test; ``fuse`` crashes them, or their requests to other services."""

    folder: Path
    databases: dict[str, FragileDatabase] = field(default_factory=dict)
    links: ProcessLinks = field(default_factory=ProcessLinks)
    wms: FakeWms = field(default_factory=FakeWms)
    templates: list[Template] = field(default_factory=list)
    secrets: dict[str, Secret] = field(default_factory=dict)
    deletions: list[UUID] = field(default_factory=list)
    fuse: Fuse = field(default_factory=Fuse)
    http: dict[str, FragileHttp] = field(default_factory=dict)
    #: How long the claims of a dead instance last.
    claim_duration: timedelta = NONE
    #: How long the intermediate data of a failed chain are kept.
    keep_failed: timedelta = NONE
    #: How many chains of a trigger cycle start one after the other.
    generations: int = 20

    async def open(self, make_database: DatabaseFactory) -> None:
        for name in SERVICES:
            url = await make_database(f"{name}.db.migrations")
            self.databases[name] = FragileDatabase(url, source=name)
            self.databases[name].fuse = self.fuse
            await self.databases[name].start()
        url = await make_database("dms.db.migrations")
        transport = open_transport(url, sluice_topology())
        # Tests do not write most of the files.
        self.dms_settings = DmsSettings(
            database_url=url, broker_url=url, storage_roots=str(self.folder), verify_files=False
        )
        service = build_dms(self.dms_settings, links=self.links, transport=transport)
        self.dms_database = next(part for part in service.components if isinstance(part, Database))
        await self.dms_database.start()
        self.links.apps["dms"] = service.app
        self._serve()
        for kind in StorageType:
            (self.folder / kind).mkdir()
            await self.dms.register_storage(
                NewStorage(name=f"{kind}-1", type=kind, url=f"file://{self.folder / kind}")
            )

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()
        for database in (*self.databases.values(), self.dms_database):
            await database.stop()

    def _serve(self) -> None:
        self._clients: list[httpx.AsyncClient] = []
        self.dms, self.wms_client = DmsClient(self.client("dms")), WmsClient(self.client("wms"))
        self.chains, self.watcher = (
            ChainsClient(self.client("wfms.chains")),
            WatcherClient(self.client("wfms.watcher")),
        )
        self.operator = OperatorClient(self.client("wfms.operator"))
        operator = FakeOperator(self.templates, self.secrets)
        self._add_app("wms", [open_to_all(self.wms.routes())])
        self._add_app("wfms.operator", [open_to_all(operator.routes())])
        self._add_chains_app()
        self._add_app(
            "wfms.watcher",
            [watches_router],
            self.databases["wfms.watcher"],
            WatcherWakes(_do_nothing),
        )
        self._add_app(
            "wfms.intake", [unmatched_router], self.intake_context, IntakeWakes(_do_nothing)
        )

    def _add_chains_app(self) -> None:
        routers = [chains_router, reruns_router, tasks_router, attention_router]
        self._add_app(
            "wfms.chains", routers, self.chains_context, ChainsWakes(_do_nothing, _do_nothing)
        )

    def _add_app(self, name: str, routers: list[APIRouter], *provided: object) -> None:
        self.links.apps[name] = create_app(
            name, routers, health=Health({}), metrics=ServiceMetrics(), provide=provided
        )

    @property
    def chains_context(self) -> ChainsContext:
        return ChainsContext(
            database=self.databases["wfms.chains"],
            dms=self.dms,
            wms=self.wms_client,
            watcher=self.watcher,
            operator=self.operator,
            start_rules=StartRules(
                claim_duration=self.claim_duration, first_pause=NONE, longest_pause=NONE
            ),
            keep_failed=self.keep_failed,
            cancel_again=NONE,
        )

    @property
    def intake_context(self) -> IntakeContext:
        return IntakeContext(
            database=self.databases["wfms.intake"],
            dms=self.dms,
            operator=self.operator,
            chains=self.chains,
            claim_duration=self.claim_duration,
            longest_pause=NONE,
            generations=self.generations,
        )

    def keep_failed_data(self, time: timedelta) -> None:
        """Keep the data of failed chains that are created from now on."""
        self.keep_failed = time
        self._add_chains_app()

    def client(self, service: str) -> httpx.AsyncClient:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            set_principal(scope, THIS_PROCESS)
            await self.links.apps[service](scope, receive, send)

        self.http[service] = FragileHttp(allow_everybody(app), self.fuse)
        client = httpx.AsyncClient(transport=self.http[service], base_url=f"http://{service}")
        self._clients.append(client)
        return client

    # One round of each loop.

    async def start_steps(self) -> bool:
        return await start_steps(self.chains_context)

    async def stop_tasks(self) -> bool:
        return await stop_tasks(self.chains_context)

    async def watch_uploads(self) -> bool:
        return await watch_uploads(self.chains_context)

    async def delete_outputs(self) -> bool:
        return await delete_outputs(self.chains_context)

    async def expire_rerun_data(self) -> bool:
        return await expire_rerun_data(self.databases["wfms.chains"])

    async def delete_requested(self) -> bool:
        return await delete_requested_datasets(
            self.chains_context, claim_duration=self.claim_duration
        )

    async def hand_over_releases(self) -> bool:
        return await hand_over_releases(self.chains_context)

    async def follow_watches(self) -> bool:
        context = WatcherContext(
            database=self.databases["wfms.watcher"],
            wms=self.wms_client,
            dms=self.dms,
            chains=self.chains,
            rules=FollowRules(claim_duration=self.claim_duration, unknown_after=NONE),
        )
        await follow_watches(context)
        return False

    async def collect_outputs(self) -> bool:
        return await collect_outputs(self.chains_context)

    async def start_triggered_chains(self) -> bool:
        return await start_triggered_chains(self.intake_context)

    async def match_datasets(self, page: int = 100) -> bool:
        return await match_datasets(replace(self.intake_context, page=page))

    async def start_chains(self) -> bool:
        return await start_chains(self.intake_context)

    async def deliver_messages(self) -> None:
        """Deliver the messages of all outboxes to their consumers."""
        for database in self.databases.values():
            async with database.connection() as connection:
                bodies = [
                    row["body"]
                    for row in await connection.fetch("DELETE FROM outbox RETURNING body, id")
                ]
            for body in bodies:
                await self._apply_event(CloudEvent.model_validate_json(body))

    async def _apply_event(self, event: CloudEvent) -> None:
        async with self.dms_database.transaction() as transaction:
            match event.type:
                case name if name == WMS_TASKS:
                    self.wms.accept(Task.model_validate(event.data))
                case name if name == WMS_DOWNSTREAM_COUNTS:
                    message = DownstreamCounts.model_validate(event.data)
                    self.wms.downstream_counts[message.task_uid] = message.counts
                case name if name == DMS_UPLOADS:
                    await apply_upload(transaction, UploadDataset.model_validate(event.data))
                case name if name == DMS_DELETIONS:
                    deletion = DeleteDataset.model_validate(event.data)
                    self.deletions.append(deletion.uid)
                    await apply_deletion(transaction, deletion)
                case other:
                    raise AssertionError(f"unexpected message {other}")

    # Actions of the other services.

    async def close_complete_datasets(self) -> None:
        """Close complete slices and all other complete data sets."""
        while await close_complete_datasets(self.dms_database):
            pass

    async def create_input(self, name: str, **more: Any) -> Dataset:
        """Return a closed input data set with one file."""
        dataset = await self.dms.register_dataset(NewDataset(name=name, **more))
        path = self.folder / "input" / f"{name}.raw"
        path.write_bytes(b"raw")
        checksum = "sha256:" + "0" * 64
        file = NewFile(seq=0, name=path.name, size=3, checksum=checksum, url=f"file://{path}")
        await self.dms.register_many_files(dataset.uid, [file])
        return await self.dms.close_dataset(dataset.uid)

    def add_template(self, plan: Plan, *, name: str = "wf", version: int = 1) -> Template:
        template = Template(
            id=uuid4(), name=name, version=version, created_at=datetime.now(UTC), plan=plan
        )
        self.templates.append(template)
        return template

    async def create_chain(self, dataset: Dataset, template: Template, **params: Any) -> Chain:
        return await self.chains.create_chain(self.make_request(dataset, template, **params))

    def make_request(self, dataset: Dataset, template: Template, **params: Any) -> NewChain:
        return NewChain(
            dataset=dataset,
            template_id=template.id,
            template=template.name,
            template_version=template.version,
            plan=template.plan,
            params=params,
        )

    async def end_task(self, uid: UUID, state: TaskState = TaskState.FINISHED, **more: Any) -> None:
        """End a task and close its data sets, as the WMS does."""
        task = self.wms.tasks[uid]
        self.wms.end(uid, state, **more)
        for dataset in (*(output.dat_out_uid for output in task.outputs), task.log_out_uid):
            await self.dms.close_dataset(dataset)

    async def end_running_tasks(self) -> None:
        """End each running task after its upstream tasks."""
        while running_tasks := [uid for uid in self.wms.tasks if self.wms.can_end(uid)]:
            for uid in running_tasks:
                if self.wms.tasks[uid].step == self.wms.failing_tasks:
                    await self.end_task(
                        uid, TaskState.FAILED, failed=2, reason="2 of 2 jobs failed"
                    )
                else:
                    tolerated = self.wms.tasks[uid].step in self.wms.tolerant_tasks
                    await self.end_task(uid, failed=int(tolerated))

    async def release(self, dataset: UUID, *seqs: int) -> None:
        """Release files, as if the only downstream step were done with them."""
        message = ReleaseFiles(
            dataset_uid=dataset, task_uid=uuid4(), downstream_count=1, seqs=list(seqs)
        )
        async with self.dms_database.transaction() as transaction:
            await apply_release(transaction, message)

    async def upload_all(self) -> None:
        context = make_context(self.dms_settings, self.dms_database)
        while await upload_next_dataset(context):
            pass
        await context.files.stop()
        await context.reads.stop()

    async def run_loops(self) -> None:
        """Run every loop once and deliver every message."""
        for run_loop in (
            self.match_datasets,
            self.start_chains,
            self.start_steps,
            self.stop_tasks,
            self.watch_uploads,
        ):
            await run_loop()
        await self.deliver_messages()
        await self.end_running_tasks()
        await self.upload_all()
        for run_loop in (
            self.follow_watches,
            self.hand_over_releases,
            self.delete_outputs,
            self.delete_requested,
        ):
            await run_loop()
        await self.deliver_messages()

    async def fetch_rows(self, service: str, sql: str, *args: Any) -> list[dict[str, Any]]:
        async with self.databases[service].connection() as connection:
            return [dict(row) for row in await connection.fetch(sql, *args)]

    async def get_chain(self, uid: UUID) -> Chain:
        return await self.chains.get_chain(uid)
