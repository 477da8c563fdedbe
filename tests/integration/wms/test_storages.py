"""Where pilots may remove what their attempts wrote."""

from uuid import uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import NewStorage
from sluice.contracts.problems import NotFound
from sluice.contracts.states import StorageType
from sluice.storage import local_url
from tests.integration.wms.stage import Stage
from wms.usecases.list_storage_urls import list_storage_urls


async def test_a_pilot_is_told_the_storages_that_jobs_write_to_and_may_have_written_to(
    stage: Stage, dms: DmsClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pilot = await stage.add_pilot()
    kinds = (StorageType.INTERMEDIATE, StorageType.OUTPUT, StorageType.LOGS)
    urls = {name: local_url(tmp_path_factory.mktemp(name)) for name in (*kinds, "kept")}
    for kind in kinds:
        await dms.register_storage(NewStorage(name=kind, type=kind, url=urls[kind]))
    await dms.register_storage(
        NewStorage(name="kept", type=StorageType.OUTPUT, url=urls["kept"], read_only=True)
    )
    await dms.disable_storage("logs")
    found = await list_storage_urls(stage.context, dms, pilot)
    assert set(found.urls) == {urls[kind] for kind in kinds}


async def test_nobody_else_is_told(stage: Stage, dms: DmsClient) -> None:
    with pytest.raises(NotFound):
        await list_storage_urls(stage.context, dms, uuid4())
