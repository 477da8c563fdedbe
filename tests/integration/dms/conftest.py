"""A DMS with a real database and real folders, without background loops."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from dms.settings import DmsSettings
from dms.usecases.context import DmsContext
from dms.usecases.datasets.apply_deletion import apply_deletion
from dms.usecases.datasets.close_complete_datasets import close_complete_datasets
from dms.usecases.files.apply_registration import apply_registration
from dms.usecases.removal.apply_release import apply_release
from dms.usecases.storages.storage_monitor import StorageMonitor
from dms.usecases.uploads.apply_upload import apply_upload
from dms.wiring import PLANNING, build, make_context
from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset, NewFile, NewStorage, Storage
from sluice.contracts.messaging.messages import (
    DeleteDataset,
    RegisterFiles,
    ReleaseFiles,
    UploadDataset,
)
from sluice.servicekit.database import Database
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory

TYPES = list(StorageType)
INTERMEDIATE = DatasetType.INTERMEDIATE


@dataclass
class Dms:
    """A DMS application with its catalogue and a folder with a storage of every type."""

    client: DmsClient
    http: httpx.AsyncClient
    database: Database
    settings: DmsSettings
    folder: Path
    storages: dict[StorageType, Storage]
    #: The contexts of the loops of two instances.
    context: DmsContext
    other_context: DmsContext
    #: Links to the application, which ``http`` uses, too.
    links: ProcessLinks
    #: The application's monitor of the storages.
    storage_monitor: StorageMonitor

    async def dataset(
        self, name: str, type_: DatasetType = DatasetType.INTERMEDIATE, **more: Any
    ) -> UUID:
        """Register an open data set with a folder on the storage of its type."""
        url = self.storages[StorageType(type_)].url + "/" + name
        return (
            await self.client.register_dataset(NewDataset(name=name, type=type_, url=url, **more))
        ).uid

    def path(self, dataset: str, name: str, type_: DatasetType = DatasetType.INTERMEDIATE) -> Path:
        return self.folder / type_ / dataset / name

    def write(
        self,
        dataset: str,
        seq: int,
        content: bytes | None = None,
        type_: DatasetType = DatasetType.INTERMEDIATE,
    ) -> NewFile:
        """Write a file as a pilot does, and return it for registration."""
        data = content if content is not None else f"{dataset} {seq}".encode()
        path = self.path(dataset, f"{seq:08d}.1-data.bin", type_)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        checksum = f"sha256:{hashlib.sha256(data).hexdigest()}"
        return NewFile(
            seq=seq,
            name=path.name,
            size=len(data),
            checksum=checksum,
            url=f"file://{path}",
            meta={"seq": seq},
        )

    async def create_filled_dataset(
        self,
        name: str,
        files: int = 3,
        type_: DatasetType = INTERMEDIATE,
        *,
        close: bool = True,
        **more: Any,
    ) -> tuple[UUID, list[NewFile]]:
        """Register a data set with existing files, closed unless ``close`` is false."""
        uid = await self.dataset(name, type_, **more)
        new = [self.write(name, seq, type_=type_) for seq in range(files)]
        await self.client.register_many_files(uid, new)
        if close:
            await self.client.close_dataset(uid)
        return uid, new

    async def apply(
        self, message: RegisterFiles | ReleaseFiles | DeleteDataset | UploadDataset
    ) -> None:
        """Apply a message as its consumer does, in a transaction of its own."""
        async with self.database.transaction() as transaction:
            match message:
                case RegisterFiles():
                    await apply_registration(transaction, message)
                case ReleaseFiles():
                    await apply_release(transaction, message)
                case DeleteDataset():
                    await apply_deletion(transaction, message)
                case UploadDataset():
                    await apply_upload(transaction, message)
        await close_complete_datasets(self.database)

    async def row(self, uid: UUID) -> dict[str, Any]:
        return (await self.fetch("SELECT * FROM datasets WHERE uid = $1", uid))[0]

    def files_on(self, type_: StorageType) -> list[str]:
        """Return every file on the storage by its path below the root."""
        root = self.folder / type_
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())

    async def fetch(self, sql: str, *args: object) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return [dict(row) for row in await connection.fetch(sql, *args)]


@pytest.fixture
async def catalogue_url(make_database: DatabaseFactory) -> str:
    return await make_database("dms.db.migrations")


@pytest.fixture
async def dms(catalogue_url: str, tmp_path: Path) -> AsyncIterator[Dms]:
    """A DMS whose loops and consumers do not run. Tests call what they test."""
    settings = DmsSettings(
        database_url=catalogue_url, broker_url=catalogue_url, storage_roots=str(tmp_path)
    )
    links, transport = ProcessLinks(), open_transport(catalogue_url, sluice_topology())
    service = build(settings, links=links, transport=transport)
    database = next(part for part in service.components if isinstance(part, Database))
    await database.start()
    links.apps["dms"] = service.app
    http = links.http("dms")
    client = DmsClient(http)
    storages: dict[StorageType, Storage] = {}
    for type_ in TYPES:
        (tmp_path / type_).mkdir()
        new = NewStorage(name=f"{type_}-1", type=type_, url=f"file://{tmp_path / type_}")
        storages[type_] = await client.register_storage(new)
    other = Database(catalogue_url, source="dms", settings=PLANNING)
    await other.start()
    monitor = next(part for part in service.components if isinstance(part, StorageMonitor))
    context = replace(make_context(settings, database), storage_monitor=monitor)
    other_context = make_context(settings, other)
    yield Dms(
        client, http, database, settings, tmp_path, storages, context, other_context, links, monitor
    )
    await links.stop()
    for each in (context, other_context):
        await each.files.stop()
        await each.reads.stop()
    await other.stop()
    await database.stop()
