"""Deliver the messages of tasks to the DMS."""

from uuid import UUID, uuid4

import orjson

from dms.usecases.removal.apply_release import apply_release
from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.messaging.messages import DMS_FILES, DMS_RELEASES, RegisterFiles, ReleaseFiles
from sluice.servicekit.database import Database
from tests.integration.wms.wms_fixture import WmsFixture


async def register_output(dms: DmsClient) -> UUID:
    """Register a data set that a task can write."""
    new = NewDataset(name=f"o-{uuid4()}", type=DatasetType.INTERMEDIATE)
    return (await dms.register_dataset(new)).uid


async def deliver_files(wms: WmsFixture, dms: DmsClient) -> None:
    """Deliver the file messages about the tasks' outputs to the DMS."""
    outputs = {output.dat_out_uid for task in wms.tasks.values() for output in task.outputs}
    async with wms.database.connection() as connection:
        rows = await connection.fetch(
            "SELECT id, body FROM outbox WHERE destination = $1 ORDER BY id", DMS_FILES
        )
    for row in rows:
        message = RegisterFiles.model_validate(orjson.loads(row["body"])["data"])
        if message.dataset_uid not in outputs:
            continue
        if message.files:
            await dms.register_many_files(message.dataset_uid, message.files)
        if message.close_at is not None:
            await dms.close_dataset(message.dataset_uid, files=message.close_at)
    await wms.execute(
        "DELETE FROM outbox WHERE id = ANY($1::bigint[])", [row["id"] for row in rows]
    )


async def list_release_messages(wms: WmsFixture) -> list[ReleaseFiles]:
    """Return the release messages in the outbox, in order."""
    async with wms.database.connection() as connection:
        rows = await connection.fetch(
            "SELECT body FROM outbox WHERE destination = $1 ORDER BY id", DMS_RELEASES
        )
    return [ReleaseFiles.model_validate(orjson.loads(row["body"])["data"]) for row in rows]


async def deliver_releases(wms: WmsFixture, catalogue: Database) -> None:
    """Apply the release messages to the catalogue. Repeated calls apply them again."""
    for message in await list_release_messages(wms):
        async with catalogue.transaction() as transaction:
            await apply_release(transaction, message)
