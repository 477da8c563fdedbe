"""Checks of a hanging storage do not block other work."""

import asyncio
import shutil
import threading
from collections.abc import Iterator

import pytest

from dms.usecases.files.file_work import FileWork
from dms.usecases.storages.storage_monitor import StorageMonitor
from sluice.contracts.common.states import StorageType
from sluice.storage import resolve_folder
from tests.integration.dms.conftest import Dms

#: The time limit of a check. Tests shorten it for storages that certainly hang.
LIMIT = "dms.usecases.files.file_work.PROBE_TIMEOUT_SECONDS"


@pytest.fixture
def answers() -> Iterator[threading.Event]:
    """An event that releases hanging threads. It is set at the end of the test at the latest."""
    answers = threading.Event()
    yield answers
    answers.set()


async def test_hanging_check_takes_only_one_thread_despite_repeated_requests(
    monkeypatch: pytest.MonkeyPatch, answers: threading.Event
) -> None:
    monkeypatch.setattr(LIMIT, 0.05)
    files, started = FileWork(copies=1, removals=1), threading.Semaphore(0)

    def hang() -> str:
        started.release()
        answers.wait()
        return "seen"

    for _ in range(20):
        with pytest.raises(TimeoutError):
            await files._run_probe("storage", hang)
    assert started.acquire(blocking=False)
    assert not started.acquire(blocking=False), "more than one thread hangs"
    monkeypatch.setattr(LIMIT, 60)
    probe = asyncio.create_task(files._run_probe("storage", hang))
    answers.set()
    assert await probe == "seen"
    assert await files._run_probe("storage", lambda: "again") == "again"
    await files.stop()


async def test_hanging_storage_keeps_its_last_check_or_gets_no_new_data(
    dms: Dms, monkeypatch: pytest.MonkeyPatch, answers: threading.Event
) -> None:
    url = dms.storages[StorageType.LOGS].url

    def hangs(path: str) -> object:
        if f"file://{path}" == url:
            assert answers.wait(20)
        return resolve_folder(path)

    def free(path: str) -> object:
        hangs(path)
        return usage(path)

    await dms.storage_monitor.check_all()
    usage = shutil.disk_usage
    monkeypatch.setattr(LIMIT, 2)
    monkeypatch.setattr("shutil.disk_usage", free)
    monkeypatch.setattr("dms.usecases.files.file_work.resolve_folder", hangs)
    await dms.storage_monitor.check_all()
    assert dms.storage_monitor.rejection_reasons == {}, "the last check of the storage was dropped"
    fresh = StorageMonitor(dms.database, dms.context.files, dms.settings.roots)
    await fresh.check_all()
    assert list(fresh.rejection_reasons.values()) == ["its file system does not answer"]
    for everything in (True, False):
        async with asyncio.timeout(10):
            storages = await dms.client.list_storages(type=StorageType.LOGS, all=everything)
        assert [one.url for one in storages] == [url], "the storage is missing from the list"
    assert fresh.free_now[url] == 0.0
    async with asyncio.timeout(10):
        monkeypatch.setattr(LIMIT, 60)
        assert not (await dms.client.disable_storage("logs-1")).enabled, (
            "the storage is still enabled"
        )
    assert (
        await dms.client.list_storages(type=StorageType.LOGS),
        dms.storage_monitor.rejection_reasons,
    ) == (
        [],
        {},
    )
    answers.set()
    await dms.context.files.inspect_folder(url.removeprefix("file://"))
    await dms.client.enable_storage("logs-1")
    await fresh.check_all()
    assert (fresh.rejection_reasons, fresh.free_now[url] > 0) == ({}, True)
