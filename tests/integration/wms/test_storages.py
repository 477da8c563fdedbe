"""Where pilots may remove what their attempts wrote."""

from uuid import uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import NewStorage
from sluice.contracts.problems import NotFound
from sluice.contracts.states import StorageType
from tests.integration.wms.stage import Stage
from wms.usecases.list_storages import list_storages


async def test_a_pilot_is_told_the_storages_that_jobs_write_to(stage: Stage, dms: DmsClient) -> None:
    pilot = await stage.add_pilot()
    for kind in (StorageType.INTERMEDIATE, StorageType.OUTPUT, StorageType.LOGS):
        await dms.register_storage(NewStorage(name=kind.value, type=kind, url=f"s3://{kind.value}"))
    await dms.register_storage(NewStorage(name="kept", type=StorageType.OUTPUT, url="s3://kept", read_only=True))
    found = await list_storages(stage.workload, dms, pilot)
    assert set(found.urls) == {"s3://intermediate", "s3://output", "s3://logs"}


async def test_nobody_else_is_told(stage: Stage, dms: DmsClient) -> None:
    with pytest.raises(NotFound):
        await list_storages(stage.workload, dms, uuid4())
