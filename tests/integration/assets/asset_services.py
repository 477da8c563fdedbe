"""Helpers for the tests of assets."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.wiring import make_context as dms_context
from sluice.clients.operator import OperatorClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import InputMode
from sluice.contracts.data.asset_refs import AssetRef
from sluice.contracts.data.assets import (
    AssetDraft,
    AssetVersion,
    NewAsset,
    NewAssetFile,
    StoredAsset,
)
from sluice.contracts.data.datasets import File
from sluice.contracts.templates.plan import Parameter, Plan, Source, StepInput
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport.base import Transport
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step
from wfms.operator.assets.usecases.delete_removed_assets import delete_removed_assets
from wfms.operator.settings import OperatorSettings
from wfms.operator.wiring import make_context

#: Path and content of each file.
Files = dict[str, bytes]


def describe_asset(files: Files, *, with_checksum: bool = True, note: str = "") -> NewAsset:
    """Describe a new version; ``with_checksum`` gives its files checksums."""
    return NewAsset(
        files=[
            NewAssetFile(
                path=path,
                size=len(data),
                checksum=f"sha256:{hashlib.sha256(data).hexdigest()}" if with_checksum else None,
            )
            for path, data in files.items()
        ],
        note=note,
    )


def make_bound_plan(ref: str, kind: Any = "File") -> Plan:
    """Return a plan whose step takes the asset ``ref`` as its parameter ``model``."""
    mode = InputMode.ONE if kind == "File" else InputMode.ALL
    side = StepInput(port="at_model", source=Source(step=None, port="model"), mode=mode)
    return make_plan(
        make_step("only", sides=[side]),
        outputs=[("only", "out")],
        parameters={"model": Parameter(type=kind, required=True)},
        assets={"model": AssetRef.read(ref)},
    )


@dataclass
class Assets:
    wfms: WfmsFixture
    app: Any
    settings: OperatorSettings
    transport: Transport
    person: Person | None = None

    @property
    def client(self) -> OperatorClient:
        if self.person is None:
            return self.wfms.operator
        return OperatorClient(self.wfms.links.http_of(self.person, "wfms.operator"))

    def by(self, person: Person) -> "Assets":
        """Return the same services, which get the requests of a person."""
        return replace(self, person=person)

    async def begin(self, name: str, files: Files, **more: Any) -> AssetDraft:
        return await self.client.begin_asset(name, describe_asset(files, **more))

    async def send(self, name: str, draft: AssetDraft, files: Files) -> None:
        assert draft.uid is not None
        for missing in draft.missing:
            await self.send_file(name, draft.uid, missing.number, files[missing.path])

    async def send_file(self, name: str, draft: UUID, number: int, data: bytes) -> None:
        await self.client.send_asset_piece(name, draft, number, data, offset=0)
        await self.client.complete_asset_file(name, draft, number=number)

    async def put(self, name: str, files: Files, **more: Any) -> StoredAsset:
        draft = await self.begin(name, files, **more)
        if draft.uid is None:
            assert draft.version is not None
            return StoredAsset(version=draft.version, new=False, newest=draft.version.version)
        await self.send(name, draft, files)
        return await self.client.complete_asset(name, draft.uid)

    async def put_version(self, name: str, data: bytes) -> AssetVersion:
        return (await self.put(name, {"model.pt": data})).version

    async def chain(self, name: str, plan_: Plan, **params: Any) -> Chain:
        """Start a chain on a data set of this name."""
        template = self.wfms.add_template(plan_, name=f"wf-{name}")
        return await self.wfms.create_chain(await self.wfms.create_input(name), template, **params)

    @asynccontextmanager
    async def database(self) -> AsyncIterator[Database]:
        """Open the database of the operator service."""
        database = Database(self.settings.database_url, source="operator")
        async with running(database):
            yield database

    async def run_loops(self) -> None:
        """Run the loops that delete: that of the operator service and that of the DMS."""
        async with self.database() as database:
            context = make_context(
                self.settings, database, links=self.wfms.links, transport=self.transport
            )
            await delete_removed_assets(context)
        dms = dms_context(self.wfms.dms_settings, self.wfms.dms_database)
        while await delete_next_dataset(dms):
            pass
        await dms.files.stop()

    def stored(self, version: AssetVersion) -> Files:
        """Return the stored files of the version's own folder."""
        files_by_name: Files = {}
        for folder in (self.wfms.folder / "input").glob(f"asset.{version.name}.*"):
            files_by_name |= {path.name: path.read_bytes() for path in folder.iterdir()}
        return files_by_name


def get_version(chain: Chain) -> str:
    """Return the version that the chain got as its parameter."""
    return str(chain.params["model"]["asset"])


def read_content(file: File) -> bytes:
    return Path(file.url.removeprefix("file://")).read_bytes()
