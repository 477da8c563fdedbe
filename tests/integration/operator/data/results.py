"""A finished chain with stored results in the real DMS."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import httpx

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.datasets import NewDataset, NewFile
from tests.integration.operator.conftest import Operator

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


async def create_filled_dataset(dms: DmsClient, root: Path, contents: dict[str, bytes]) -> UUID:
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
