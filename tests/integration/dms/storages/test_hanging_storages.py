"""Reads from a hanging storage do not block other storages, and opened files are closed."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from dms.domain.places import Root
from dms.usecases.files import file_reads, require_no_link
from dms.usecases.files.file_reads import FileReads, OpenFile
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import DatasetType, StorageType
from sluice.storage import Reader, StorageUnavailable, leads_through_link, open_reader
from tests.integration.dms.conftest import Dms
from tests.waiting import eventually


class Mount:
    """The file system of a storage that hangs until the event ``answers`` is set."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers = threading.Event()
        self.calls = 0
        self.opened: list[Reader] = []

    def open(self, url: str) -> Reader:
        self._wait(url)
        reader = open_reader(url)
        self.opened.append(reader)
        return reader

    def leads_through_link(self, storage_url: str, url: str, *, plain: set[str]) -> bool:
        self._wait(url)
        return leads_through_link(storage_url, url, plain=plain)

    def _wait(self, url: str) -> None:
        if url.startswith(self.url):
            self.calls += 1
            assert self.answers.wait(60)


@pytest.fixture
def mount(dms: Dms, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mount]:
    mount = Mount(dms.storages[StorageType.INTERMEDIATE].url)
    monkeypatch.setattr("dms.usecases.files.file_reads.storage.open_reader", mount.open)
    yield mount
    mount.answers.set()


async def can_read_log(dms: Dms) -> bool:
    written = dms.write("logs-of-a-step", 3, b"all is well\n", DatasetType.LOGS)
    answer = await dms.http.get("/api/v1/logs", params={"url": written.url})
    return (answer.status_code, answer.content) == (200, b"all is well\n")


async def test_hanging_reads_do_not_block_other_storages(dms: Dms, mount: Mount) -> None:
    uid, _ = await dms.create_filled_dataset("data")
    path = f"/api/v1/datasets/{uid}/files/{(await dms.client.list_files(uid)).files[0].id}/content"
    most = dms.settings.parallel_reads
    hanging = [asyncio.create_task(dms.http.get(path)) for _ in range(2 * most)]

    async def all_taken() -> bool:
        return mount.calls == most

    await eventually(all_taken, what="reads hang")
    assert await can_read_log(dms)
    for one in hanging:
        one.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    refused = await dms.http.get(path)
    assert refused.status_code == 503
    assert "does not answer" in refused.json()["detail"], (
        "the read was not refused although all threads hang"
    )
    mount.answers.set()

    async def answers() -> bool:
        return (await dms.http.get(path)).status_code == 200

    await eventually(answers, what="the storage is read again")


async def test_hanging_read_times_out(
    dms: Dms, mount: Mount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_reads, "READ_LIMIT", 0.05)
    uid, _ = await dms.create_filled_dataset("data", 1)
    [file] = (await dms.client.list_files(uid)).files
    answer = await dms.http.get(f"/api/v1/datasets/{uid}/files/{file.id}/content")
    assert (answer.status_code, "has not answered within" in answer.json()["detail"]) == (503, True)


async def test_checks_of_files_and_folders_on_a_hanging_storage_time_out(
    dms: Dms, mount: Mount, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = await dms.dataset("frames")
    monkeypatch.setattr(require_no_link, "leads_through_link", mount.leads_through_link)
    monkeypatch.setattr(file_reads, "READ_LIMIT", 0.05)
    with pytest.raises(
        NotAvailable,
        match=r"the folder of data set 'more' cannot be read: .* has not answered",
    ):
        await dms.dataset("more")
    with pytest.raises(NotAvailable, match=r"the files cannot be checked: .* has not answered"):
        await dms.client.register_many_files(uid, [dms.write("frames", 1)])
    monkeypatch.setattr(file_reads, "READ_LIMIT", 60)
    assert await can_read_log(dms)


def make_open_file(dms: Dms, reads: FileReads) -> OpenFile:
    written = dms.write("data", 1, b"content")
    storage = dms.storages[StorageType.INTERMEDIATE]
    return reads.file(
        Root(storage.id, storage.name, storage.type, storage.url, read_only=False, enabled=True),
        written.url,
    )


def is_closed_reader(reader: Reader) -> bool:
    try:
        reader.read(0, 1)
    except (ValueError, StorageUnavailable):
        return True
    return False


async def test_abandoned_file_is_closed_after_it_was_opened(dms: Dms, mount: Mount) -> None:
    reads = FileReads(1)
    file = make_open_file(dms, reads)
    opening = asyncio.create_task(file.open())

    async def is_opening() -> bool:
        return mount.calls == 1

    await eventually(is_opening, what="it is being opened")
    opening.cancel()
    with suppress(asyncio.CancelledError):
        await opening
    file.release()
    mount.answers.set()

    async def is_closed() -> bool:
        return len(mount.opened) == 1 and is_closed_reader(mount.opened[0])

    await eventually(is_closed, what="it is closed")
    await reads.stop()


async def test_file_is_not_closed_while_a_thread_reads_it(dms: Dms, mount: Mount) -> None:
    mount.answers.set()
    reads, read_started, go_on = FileReads(2), threading.Event(), threading.Event()
    file = make_open_file(dms, reads)

    def read(reader: Reader) -> bytes:
        read_started.set()
        assert go_on.wait(60)
        return reader.read(0, 100)

    reading = asyncio.create_task(file.run(read))
    assert await asyncio.to_thread(read_started.wait, 60)
    file.release()
    assert await reads.run(dms.storages[StorageType.INTERMEDIATE].url, lambda: True), (
        "an earlier request was not done"
    )
    go_on.set()
    assert await reading == b"content"
    assert is_closed_reader(mount.opened[0])
    await reads.stop()


async def test_file_is_closed_although_the_threads_stop_before_a_thread_is_free(
    dms: Dms, mount: Mount
) -> None:
    mount.answers.set()
    reads, read_started, go_on = FileReads(1), threading.Event(), threading.Event()
    file = make_open_file(dms, reads)
    await file.open()

    def keep_the_thread() -> None:
        read_started.set()
        assert go_on.wait(60)

    storage_url = dms.storages[StorageType.INTERMEDIATE].url
    blocker = asyncio.create_task(reads.run(storage_url, keep_the_thread))
    assert await asyncio.to_thread(read_started.wait, 60)
    file.release()
    await reads.stop()
    go_on.set()
    await blocker
    await eventually(lambda: is_closed_reader(mount.opened[0]), what="it is closed")
