"""Pilots are told on which storages they may remove files of their attempts."""

from uuid import uuid4

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import NewStorage
from sluice.storage import build_local_url
from tests.integration.wms.wms_fixture import WmsFixture
from wms.usecases.limits.list_storage_urls import list_storage_urls


async def test_pilot_gets_the_storages_that_jobs_may_have_written_to(
    wms: WmsFixture, dms: DmsClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pilot = await wms.add_pilot()
    kinds = (StorageType.INTERMEDIATE, StorageType.OUTPUT, StorageType.LOGS)
    urls = {name: build_local_url(tmp_path_factory.mktemp(name)) for name in (*kinds, "kept")}
    for kind in kinds:
        await dms.register_storage(NewStorage(name=kind, type=kind, url=urls[kind]))
    await dms.register_storage(
        NewStorage(name="kept", type=StorageType.OUTPUT, url=urls["kept"], read_only=True)
    )
    await dms.disable_storage("logs")
    storages = await list_storage_urls(wms.context, dms, pilot)
    assert set(storages.urls) == {urls[kind] for kind in kinds}


async def test_unknown_pilot_gets_no_storages(wms: WmsFixture, dms: DmsClient) -> None:
    with pytest.raises(NotFound):
        await list_storage_urls(wms.context, dms, uuid4())
