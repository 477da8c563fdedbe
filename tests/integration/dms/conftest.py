"""A DMS on a real database and real folders, its background work still."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from dms.settings import DmsSettings
from dms.wiring import build
from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import NewDataset, NewFile, NewStorage, Storage
from sluice.contracts.states import DatasetType, StorageType
from sluice.servicekit.database import Database
from sluice.servicekit.links import ProcessLinks
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.topology import sluice_topology
from sluice.servicekit.transport.open import open_transport

TYPES = list(StorageType)
INTERMEDIATE = DatasetType.INTERMEDIATE


@dataclass
class Dms:
    """``client`` talks to the application; ``database`` is the catalogue; ``folder`` holds a storage of every type."""

    client: DmsClient
    http: httpx.AsyncClient
    database: Database
    settings: DmsSettings
    folder: Path
    storages: dict[StorageType, Storage]

    async def dataset(self, name: str, type_: DatasetType = DatasetType.INTERMEDIATE, **more: object) -> UUID:
        """An open data set with a folder on the storage of its type."""
        url = self.storages[StorageType(type_)].url + "/" + name
        return (await self.client.register_dataset(NewDataset(name=name, type=type_, url=url, **more))).uid

    def path(self, dataset: str, name: str, type_: DatasetType = DatasetType.INTERMEDIATE) -> Path:
        return self.folder / type_ / dataset / name

    def write(
        self, dataset: str, seq: int, content: bytes | None = None, type_: DatasetType = DatasetType.INTERMEDIATE
    ) -> NewFile:
        """A file in the data set's folder, as a pilot writes it, ready for registration."""
        data = content if content is not None else f"{dataset} {seq}".encode()
        path = self.path(dataset, f"{seq:08d}.1.bin", type_)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        checksum = f"sha256:{hashlib.sha256(data).hexdigest()}"
        return NewFile(seq=seq, name=path.name, size=len(data), checksum=checksum, url=f"file://{path}", meta={"seq": seq})

    async def fetch(self, sql: str, *args: object) -> list[dict[str, object]]:
        async with self.database.connection() as connection:
            return [dict(row) for row in await connection.fetch(sql, *args)]


@pytest.fixture
async def dms(database_url: str, tmp_path: Path) -> AsyncIterator[Dms]:
    """Loops and consumers do not run; tests call what they test."""
    settings = DmsSettings(database_url=database_url, broker_url=database_url)
    await Migrator(database_url, "dms.db.migrations").start()
    links, transport = ProcessLinks(), open_transport(database_url, sluice_topology())
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
    yield Dms(client, http, database, settings, tmp_path, storages)
    await links.stop()
    await database.stop()
