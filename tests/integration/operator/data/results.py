"""A finished chain with stored results in the real DMS."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from dms.settings import DmsSettings
from dms.wiring import build as build_dms
from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain, ChainDataset
from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset, NewFile, NewStorage
from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.running.lifecycle import running
from tests.conftest import DatabaseFactory
from tests.integration.operator.conftest import Operator
from tests.unit.cwl.samples import GRAPH

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)

EVIL = (
    b"<svg xmlns='http://www.w3.org/2000/svg' onload=\"document.title='taken'\">"
    b"<script>alert(1)</script></svg>"
)


@dataclass
class Results:
    """A finished chain with two outputs in the real DMS.

    ``files`` maps a file's own name to its data set and number.
    """

    operator: Operator
    dms: DmsClient
    chain: Chain
    outputs: list[UUID]
    files: dict[str, tuple[UUID, int]]
    folder: Path

    def path(self, name: str) -> str:
        uid, number = self.files[name]
        return f"/datasets/{uid}/files/{number}"

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.operator.http.get(path, headers=headers)


@pytest.fixture
async def results(
    operator: Operator, make_database: DatabaseFactory, tmp_path: Path
) -> AsyncIterator[Results]:
    url = await make_database("dms.db.migrations")
    settings = DmsSettings(
        database_url=url, broker_url=operator.database_url, storage_roots=str(tmp_path)
    )
    service = build_dms(settings, links=operator.links, transport=operator.transport)
    operator.links.apps["dms"] = service.app
    async with running(service):
        dms = DmsClient(operator.links.http("dms"))
        (tmp_path / "out").mkdir()
        await dms.register_storage(
            NewStorage(name="out", type=StorageType.OUTPUT, url=f"file://{tmp_path}/out")
        )
        template = await operator.client.store_template(NewTemplate(name="graph", cwl=GRAPH))
        contents = [
            {"00000000.1-total.json": b'{"lines": 7, "markup": "<b>"}'},
            {
                "00000000.1-plot.png": PNG,
                "00000001.2-evil.svg": EVIL,
                "00000002.1-table.csv": b"run,hits\n312,<i>77</i>\n",
                "00000003.1-long.txt": b"".join(b"line %d\n" % line for line in range(20_000)),
                "00000004.1-none": b"",
            },
        ]
        outputs = [await filled(dms, tmp_path / "out", files) for files in contents]
        entries = [
            ChainDataset(
                uid=uid,
                name=str(uid),
                step=output.step,
                port=output.port,
                state=ChainDatasetStatus.READY,
            )
            for output, uid in zip(template.plan.outputs, outputs, strict=False)
        ]
        chain = Chain(
            uid=uuid4(),
            state=ChainState.FINISHED,
            template_id=template.id,
            template="graph",
            template_version=1,
            dataset_uid=uuid4(),
            dataset_name="run 312",
            params={},
            created_at=datetime.now(UTC),
            ended_at=datetime.now(UTC),
            steps=[],
            datasets=entries,
        )
        operator.neighbours.chains[chain.uid] = chain
        files = {
            file.name[11:]: (uid, file.id)
            for uid in outputs
            for file in (await dms.list_files(uid)).files
        }
        yield Results(operator, dms, chain, outputs, files, tmp_path / "out")


async def filled(dms: DmsClient, root: Path, contents: dict[str, bytes]) -> UUID:
    name = uuid4().hex
    folder = root / name
    folder.mkdir(parents=True)
    dataset = await dms.register_dataset(
        NewDataset(name=name, type=DatasetType.OUTPUT, url=f"file://{folder}")
    )
    files = []
    for seq, (file, data) in enumerate(contents.items()):
        (folder / file).write_bytes(data)
        checksum = f"sha256:{hashlib.sha256(data).hexdigest()}"
        files.append(
            NewFile(
                seq=seq, name=file, size=len(data), checksum=checksum, url=f"file://{folder}/{file}"
            )
        )
    await dms.register_many_files(dataset.uid, files)
    await dms.close_dataset(dataset.uid)
    return dataset.uid
