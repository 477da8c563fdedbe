"""A storage that hangs, while it is looked at or tried out, holds up nobody else."""

import asyncio
import threading

import pytest

from dms.usecases.file_work import FileWork
from dms.usecases.watch_storages import StorageWatch
from sluice.contracts.states import StorageType
from sluice.storage import folder_at
from tests.integration.dms.conftest import Dms


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dms.usecases.file_work.LOOK_LIMIT", 0.05)


async def test_a_look_that_hangs_takes_one_thread_however_often_it_is_asked_for(limit: None) -> None:
    files, answers, begun = FileWork(copies=1, removals=1), threading.Event(), threading.Semaphore(0)

    def hang() -> str:
        begun.release()
        answers.wait()
        return "seen"

    for _ in range(20):
        with pytest.raises(TimeoutError):
            await files._look("storage", hang)
    assert begun.acquire(blocking=False)
    assert not begun.acquire(blocking=False), "one thread hangs, not twenty"
    looking = asyncio.create_task(files._look("storage", hang))
    answers.set()
    assert await looking == "seen"
    assert await files._look("storage", lambda: "again") == "again"
    await files.stop()


async def test_a_storage_that_hangs_is_where_it_was_or_gets_no_new_data(
    dms: Dms, limit: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    url = dms.storages[StorageType.LOGS].url

    def hangs(path: str) -> object:
        if f"file://{path}" == url:
            answers.wait()
        return folder_at(path)

    await dms.watch.look()
    monkeypatch.setattr("dms.usecases.file_work.folder_at", hangs)
    await dms.watch.look()
    assert dms.watch.objections == {}, "it was looked at before"
    fresh = StorageWatch(dms.database, dms.shop.files, dms.settings.roots)
    await fresh.look()
    assert list(fresh.objections.values()) == ["its file system does not answer"]
    answers.set()
    await dms.shop.files.look_at(url.removeprefix("file://"))
    await fresh.look()
    assert fresh.objections == {}
