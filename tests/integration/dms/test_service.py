"""The DMS works as a whole, with its transport, consumers, loops and events."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from dms.wiring import build
from sluice.contracts.common.base import Contract
from sluice.contracts.common.states import DatasetState, StorageType
from sluice.contracts.messaging.messages import (
    DMS_DELETIONS,
    DMS_FILES,
    DMS_UPLOADS,
    CloudEvent,
    DeleteDataset,
    RegisterFiles,
    UploadDataset,
)
from sluice.contracts.messaging.queues import INTAKE_WAKE
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.base import Message, Transport
from sluice.servicekit.transport.open import open_transport
from tests.integration.dms.conftest import Dms
from tests.waiting import eventually


@pytest.fixture
async def transport(dms: Dms) -> AsyncIterator[Transport]:
    """A transport that two instances of the service use."""
    transport = open_transport(dms.settings.broker_url, sluice_topology())
    settings = dms.settings.model_copy(update={"poll_period": 0.2})
    services = [build(settings, links=ProcessLinks(), transport=transport) for _ in range(2)]
    async with running(transport, *services):
        yield transport


def make_message(queue: str, data: Contract, number: int) -> Message:
    event = CloudEvent(
        id=f"{queue}-{number}",
        source="urn:test",
        type=queue,
        time="2026-01-01T00:00:00Z",
        data=data.model_dump(mode="json"),
    )
    return Message(event.id, queue, event.model_dump_json().encode())


async def are_in_state(dms: Dms, uids: list[UUID], state: DatasetState) -> bool:
    return all([(await dms.client.get_dataset(uid)).state is state for uid in uids])


async def test_data_sets_complete_their_lifecycle_by_messages_delivered_twice(
    dms: Dms, transport: Transport
) -> None:
    uploaded, deleted = (
        [await dms.dataset(f"u{n}") for n in range(3)],
        [await dms.dataset(f"d{n}") for n in range(3)],
    )
    sent = [
        make_message(
            DMS_FILES,
            RegisterFiles(
                dataset_uid=uid,
                files=[dms.write(f"{letter}{n}", seq)],
                close_at=20 if seq == 7 else None,
            ),
            100 * number + seq,
        )
        for number, (letter, n, uid) in enumerate(
            [("u", n, uid) for n, uid in enumerate(uploaded)]
            + [("d", n, uid) for n, uid in enumerate(deleted)]
        )
        for seq in range(20)
    ]
    uploads = [
        make_message(DMS_UPLOADS, UploadDataset(uid=uid), n) for n, uid in enumerate(uploaded)
    ]
    await transport.send([*sent, *uploads])
    await transport.send([*reversed(sent), *uploads])
    await eventually(lambda: are_in_state(dms, uploaded, DatasetState.UPLOADED), what="uploaded")
    await eventually(lambda: are_in_state(dms, deleted, DatasetState.CLOSED), what="closed")
    deletions = [
        make_message(DMS_DELETIONS, DeleteDataset(uid=uid), n) for n, uid in enumerate(deleted)
    ]
    await transport.send(deletions * 2)
    await eventually(lambda: are_in_state(dms, deleted, DatasetState.DELETED), what="deleted")
    assert dms.files_on(StorageType.INTERMEDIATE) == []
    assert len(dms.files_on(StorageType.OUTPUT)) == 60
    assert {(await dms.client.get_dataset(uid)).count_files for uid in uploaded + deleted} == {20}

    async def all_events() -> bool:
        return await transport.depth(INTAKE_WAKE) == 9

    await eventually(all_events, what="an event for each closing and each upload, no more")
    for queue in (DMS_FILES, DMS_UPLOADS, DMS_DELETIONS):
        assert await transport.dead_letters(queue, limit=10) == []


async def test_message_that_contradicts_the_catalogue_becomes_a_dead_letter(
    dms: Dms, transport: Transport
) -> None:
    uid, files = await dms.create_filled_dataset("set", 1, close=False)
    changed_file = files[0].model_copy(update={"size": 12345})
    good = RegisterFiles(dataset_uid=uid, files=[dms.write("set", 5)])
    await transport.send(
        [
            make_message(DMS_FILES, RegisterFiles(dataset_uid=uid, files=[changed_file]), 1),
            make_message(DMS_FILES, good, 2),
        ]
    )

    async def dead() -> bool:
        return len(await transport.dead_letters(DMS_FILES, limit=10)) == 1

    await eventually(dead, what="the contradicting message is put aside")
    (letter,) = await transport.dead_letters(DMS_FILES, limit=10)
    assert "file '00000000.1-data.bin' is registered already, with another size" in letter.reason

    async def registered() -> bool:
        return (await dms.client.get_dataset(uid)).count_files == 2

    await eventually(registered, what="the good one is applied")
