"""Storages lie only in allowed places, do not overlap, and can be disabled."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from dms.db.storages import insert_storage, lock_storages, set_enabled
from dms.domain.storage_errors import StorageRefused
from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.storages.enable_storage import enable_storage
from dms.usecases.storages.register_storage import register_storage
from dms.usecases.storages.storage_monitor import StorageMonitor
from dms.usecases.uploads.upload_next_dataset import upload_next_dataset
from sluice.contracts.common.problems import Conflict, NotFound, ServiceError, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset, NewStorage
from sluice.contracts.messaging.messages import UploadDataset
from sluice.servicekit.database import Connection
from tests.integration.dms.conftest import Dms
from tests.waiting import eventually

LOGS = StorageType.LOGS


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a foreign file, outside the places where storages may lie."""
    folder = tmp_path_factory.mktemp("outside")
    (folder / "precious").write_text("theirs")
    return folder


def make_storage(name: str, url: str | Path, **more: Any) -> NewStorage:
    return NewStorage(
        name=name, type=LOGS, url=str(url) if "://" in str(url) else f"file://{url}", **more
    )


REFUSED_URLS = [
    (
        "file://{outside}",
        "is outside the folders in which storages .*SLUICE_DMS_STORAGE_ROOTS .*--storage-root",
    ),
    ("file://{inside}-2", "is outside the folders in which storages may be"),
    ("file://{inside}/way-out", "is outside the folders in which storages may be"),
    ("file://{outside}/a b#c", "is outside the folders in which storages may be"),
    ("s3://bucket", "is outside the folders in which storages may be"),
    ("s3://bucket/a", "is outside the folders in which storages may be"),
    ("root://host:1094/a", "is outside the folders in which storages may be"),
    ("file:///", "is not an absolute URL|is not a plain folder"),
    ("file://localhost{inside}/new", "write it as file:///"),
    ("FILE://{inside}/new", "write it as file:///"),
    ("file://{inside}//new", "is not a plain folder"),
    ("file://{inside}/new/%2e", "is not a plain folder"),
    ("memory://a", "keeps nothing"),
    (
        "file://{inside}/missing",
        "the DMS has to write, read and delete a file there: there is no such folder",
    ),
]


async def test_storage_url_outside_the_allowed_places_is_refused(
    dms: Dms, outside: Path, subtests: pytest.Subtests
) -> None:
    (dms.folder / "new").mkdir()
    (dms.folder / "way-out").symlink_to(outside)
    for url, sentence in REFUSED_URLS:
        with subtests.test(url=url):
            named = url.format(inside=dms.folder, outside=outside)
            answer = await dms.http.post(
                "/api/v1/storages", json={"name": "x", "type": "logs", "url": named}
            )
            assert answer.status_code == 422
            assert re.search(sentence, answer.json()["detail"])
    assert len(await dms.client.list_storages(all=True)) == 4


OVERLAPPING = [
    ("logs/inner", False),
    ("logs/inner", True),
    ("logs-by-link", False),
    ("inner-by-link", True),
    ("output", True),
]


@pytest.mark.parametrize("enabled", [True, False])
async def test_storage_that_overlaps_another_storage_is_refused(
    dms: Dms, enabled: bool, subtests: pytest.Subtests
) -> None:
    """Invariant 4: a deletion on one storage could remove files of a read-only storage."""
    (dms.folder / "logs" / "inner").mkdir()
    (dms.folder / "logs-by-link").symlink_to("logs")
    (dms.folder / "inner-by-link").symlink_to("logs/inner")
    if not enabled:
        await dms.client.disable_storage("output-1")
        await dms.client.disable_storage("logs-1")
    for path, read_only in OVERLAPPING:
        other = "output-1" if path == "output" else "logs-1"
        refusal = (
            rf"'x'.*'{other}'.* are one folder, or one is in the other|name is '{other}', not 'x'"
        )
        new = make_storage("x", dms.folder / path, read_only=read_only)
        with (
            subtests.test(path=path, read_only=read_only),
            pytest.raises(Conflict, match=refusal),
        ):
            await dms.client.register_storage(new)


async def test_storage_around_other_storages_is_refused(dms: Dms, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="one is in the other"):
        await dms.client.register_storage(make_storage("all", tmp_path))


async def test_only_one_of_two_concurrent_overlapping_storages_is_registered(dms: Dms) -> None:
    (dms.folder / "new" / "inner").mkdir(parents=True)
    contexts = (dms.context, dms.other_context)
    storages = [
        make_storage("outer", dms.folder / "new"),
        make_storage("inner", dms.folder / "new" / "inner"),
    ]
    answers = await asyncio.gather(
        *(register_storage(context, one) for context, one in zip(contexts, storages, strict=True)),
        return_exceptions=True,
    )
    assert [isinstance(answer, Conflict) for answer in answers].count(True) == 1, answers
    assert len(await dms.client.list_storages(type=LOGS)) == 2


@asynccontextmanager
async def lock_storages_during(dms: Dms, work: Awaitable[object]) -> AsyncIterator[Connection]:
    """Lock the storages in a transaction of another instance, for which ``work`` waits.

    After the transaction, ``work`` must fail with a conflict.
    """

    async def waits() -> bool:
        return bool(
            await dms.fetch(
                "SELECT 1 FROM pg_locks WHERE relation = 'storages'::regclass AND NOT granted"
            )
        )

    async with dms.other_context.database.transaction() as transaction:
        await lock_storages(transaction.connection)
        task = asyncio.ensure_future(work)
        await eventually(waits, what="the storages are waited for")
        yield transaction.connection
    with pytest.raises(Conflict, match="one is in the other"):
        await task


async def test_storage_registered_meanwhile_by_another_instance_is_compared(dms: Dms) -> None:
    (dms.folder / "new" / "inner").mkdir(parents=True)
    outer, inner = (
        make_storage("outer", dms.folder / "new"),
        make_storage("inner", dms.folder / "new" / "inner"),
    )
    async with lock_storages_during(dms, register_storage(dms.context, outer)) as connection:
        assert await insert_storage(connection, uuid4(), inner)
    assert {one.name for one in await dms.client.list_storages(type=LOGS)} == {"logs-1", "inner"}


async def test_storage_enabled_meanwhile_by_another_instance_is_compared(dms: Dms) -> None:
    for name in ("logs-1", "output-1"):
        await dms.client.disable_storage(name)
    (dms.folder / "logs").rmdir()
    (dms.folder / "logs").symlink_to("output")
    async with lock_storages_during(dms, enable_storage(dms.context, "logs-1")) as connection:
        await set_enabled(connection, "output-1", enabled=True)
    assert await dms.client.list_storages(type=LOGS) == []


async def test_concurrent_equal_registrations_make_only_one_storage(dms: Dms) -> None:
    (dms.folder / "new").mkdir()
    answers = await asyncio.gather(
        *(
            register_storage(context, make_storage("new", dms.folder / "new"))
            for context in (dms.context, dms.other_context) * 3
        )
    )
    assert len({storage.id for storage, _ in answers}) == 1
    assert [is_new for _, is_new in answers].count(True) == 1


async def test_storage_is_probed_without_leaving_files(dms: Dms, tmp_path: Path) -> None:
    for name in ("written", "read"):
        (tmp_path / name).mkdir()
        await dms.client.register_storage(
            make_storage(name, tmp_path / name, read_only=name == "read")
        )
        assert list((tmp_path / name).iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(
        Unprocessable,
        match="cannot be used, the DMS has to read its list of files: there is no such folder",
    ):
        await dms.client.register_storage(make_storage("file", tmp_path / "file", read_only=True))


async def test_unwritable_storage_is_refused_unless_it_is_read_only(dms: Dms) -> None:
    dms.context.storage_monitor.roots = ("file:///proc",)
    with pytest.raises(Unprocessable, match="the DMS has to write, read and delete a file there: "):
        await register_storage(dms.context, make_storage("proc", "/proc/self"))
    _, is_new = await register_storage(
        dms.context, make_storage("proc", "/proc/self", read_only=True)
    )
    assert is_new


async def test_disabled_storage_gets_no_new_data_sets_and_its_data_stays_usable(dms: Dms) -> None:
    going, files = await dms.create_filled_dataset("going", 2)
    stored_uid, _ = await dms.create_filled_dataset("kept", 1)
    for _ in range(2):
        assert not (await dms.client.disable_storage("intermediate-1")).enabled
    assert await dms.client.list_storages(type=StorageType.INTERMEDIATE) == []
    [storage] = await dms.client.list_storages(type=StorageType.INTERMEDIATE, all=True)
    assert (storage.name, storage.enabled, storage.warning) == ("intermediate-1", False, None)
    for name, expected in ((storage.name, [storage.name]), ("intermediate", [])):
        named = await dms.http.get("/api/v1/storages", params={"name": name})
        assert [one["name"] for one in named.json()] == expected
    with pytest.raises(Unprocessable, match="is not in a registered, enabled storage"):
        await dms.dataset("more")
    await dms.client.delete_dataset(going)
    assert await delete_next_dataset(dms.context)
    assert not dms.path("going", files[0].name).exists()
    await dms.apply(UploadDataset(uid=stored_uid))
    assert await upload_next_dataset(dms.context)
    assert (await dms.client.get_dataset(stored_uid)).state is DatasetState.UPLOADED
    for _ in range(2):
        assert (await dms.client.enable_storage("intermediate-1")).enabled
    await dms.dataset("more")
    for call in (dms.client.disable_storage, dms.client.enable_storage):
        with pytest.raises(NotFound, match="no storage is called 'nothing else'"):
            await call("nothing else")


async def test_disabled_output_storage_gets_no_uploads(dms: Dms) -> None:
    uid, _ = await dms.create_filled_dataset("result", 1)
    await dms.client.disable_storage("output-1")
    await dms.apply(UploadDataset(uid=uid))
    assert await upload_next_dataset(dms.context)
    assert (await dms.row(uid))["reason"].startswith(
        "no storage of type output can take it: output-1 is disabled"
    )


async def test_storage_is_checked_when_it_is_enabled(dms: Dms) -> None:
    await dms.client.disable_storage("logs-1")
    (dms.folder / "logs").rename(dms.folder / "elsewhere")
    with pytest.raises(Unprocessable, match="there is no such folder"):
        await dms.client.enable_storage("logs-1")
    (dms.folder / "logs").symlink_to(dms.folder / "output")
    with pytest.raises(Conflict, match=r"storage 'logs-1': .* and storage 'output-1'"):
        await dms.client.enable_storage("logs-1")
    await dms.client.disable_storage("output-1")
    assert (await dms.client.enable_storage("logs-1")).enabled, (
        "a disabled storage blocked another storage"
    )
    with pytest.raises(Conflict, match=r"storage 'output-1': .* and storage 'logs-1'"):
        await dms.client.enable_storage("output-1")


class Legacy:
    """Storages that earlier releases accepted, with any folder and any scheme."""

    def __init__(self, dms: Dms, outside: Path) -> None:
        self._dms = dms
        self.outside = outside

    async def add(
        self, name: str, url: str | Path, *, type_: str = "logs", read_only: bool = False
    ) -> None:
        url = url if isinstance(url, str) else f"file://{url}"
        sql = (
            "INSERT INTO storages (id, name, type, url, read_only) VALUES (gen_random_uuid(), $1,"
            " $2, $3, $4)"
        )
        await self._dms.fetch(sql, name, type_, url, read_only)

    async def warnings(self) -> dict[str, str]:
        """Return the warnings of the storages after a check."""
        await self._dms.storage_monitor.check_all()
        return {
            one.name: one.warning
            for one in await self._dms.client.list_storages(all=True)
            if one.warning
        }


@pytest.fixture
def legacy(dms: Dms, outside: Path) -> Legacy:
    return Legacy(dms, outside)


async def test_disallowed_storage_of_an_earlier_release_gets_no_new_data(
    dms: Dms, legacy: Legacy
) -> None:
    await legacy.add("away", legacy.outside)
    await legacy.add("ram", "memory://x")
    uid = await dms.dataset("old", DatasetType.LOGS)
    warnings = await legacy.warnings()
    assert set(warnings) == {"away", "ram"}
    assert "it is outside the folders in which storages may be" in warnings["away"]
    assert "SLUICE_DMS_STORAGE_ROOTS" in warnings["ram"]
    assert {one.name for one in await dms.client.list_storages(type=LOGS)} == {"logs-1"}
    with pytest.raises(
        Unprocessable, match="storage 'away' gets no new data: it is outside the folders"
    ):
        await register(dms, f"file://{legacy.outside}/set")
    file = dms.write("old", 1, type_=DatasetType.LOGS)
    astray = file.model_copy(update={"url": f"file://{legacy.outside}/precious", "size": 6})
    with pytest.raises(Unprocessable, match="storage 'away' gets no new data"):
        await dms.client.register_many_files(uid, [astray])


async def test_storage_in_a_path_that_tools_may_read_is_refused(dms: Dms) -> None:
    """An allowed place for storages within the path is accepted, as it is hidden from tools."""
    for folder in ("opt/shared", "opt/store/one", "other"):
        (dms.folder / folder).mkdir(parents=True)
    (dms.folder / "way-in").symlink_to(dms.folder / "opt" / "shared")
    opt, roots = f"file://{dms.folder}/opt", (*dms.settings.roots, f"file://{dms.folder}/opt/store")
    monitor = StorageMonitor(dms.database, dms.context.files, roots, [opt])
    for name in ("opt", "opt/shared", "way-in"):
        with pytest.raises(StorageRefused, match=f"is in {dms.folder}/opt, which tools may read"):
            await monitor.require_free("new", f"file://{dms.folder}/{name}", [])
    for name in ("opt/store", "opt/store/one", "other"):
        real = str(dms.folder / name)
        assert await monitor.require_free("new", f"file://{real}", []) == real


async def register(dms: Dms, url: str) -> None:
    body = {"name": "there", "type": "logs", "url": url}
    answer = await dms.http.post("/api/v1/datasets", json=body)
    if not answer.is_success:
        raise {409: Conflict, 422: Unprocessable}.get(answer.status_code, ServiceError)(
            answer.json()["detail"]
        )


async def test_data_on_a_disallowed_storage_can_be_deleted(dms: Dms, legacy: Legacy) -> None:
    uid, files = await dms.create_filled_dataset("old", 2, DatasetType.LOGS)
    dms.storage_monitor.roots = ("file:///nowhere",)
    assert set(await legacy.warnings()) == {f"{type_}-1" for type_ in StorageType}
    assert (await dms.client.list_files(uid)).files
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert not dms.path("old", files[0].name, DatasetType.LOGS).exists()


async def test_overlap_of_storages_of_an_earlier_release_is_resolved_by_disabling(
    dms: Dms, legacy: Legacy
) -> None:
    (dms.folder / "logs" / "archive").mkdir()
    await legacy.add("archive", dms.folder / "logs" / "archive", type_="input", read_only=True)
    warnings = await legacy.warnings()
    assert set(warnings) == {"archive", "logs-1"}
    assert "it and storage 'archive'" in warnings["logs-1"]
    await dms.client.disable_storage("archive")
    assert await legacy.warnings() == {}
    await dms.dataset("again", DatasetType.LOGS)


async def test_nothing_on_a_read_only_storage_is_deleted_through_another(
    dms: Dms, legacy: Legacy
) -> None:
    """Invariant 4: the URLs do not show that one storage lies in the other."""
    (dms.folder / "logs" / "archive").mkdir()
    (dms.folder / "by-link").symlink_to("logs/archive")
    uid = await dms.dataset("archive", DatasetType.LOGS)
    file = dms.write("archive", 1, type_=DatasetType.LOGS)
    beside = dms.write("beside", 2, type_=DatasetType.LOGS)
    await dms.client.register_many_files(uid, [file, beside])
    (dms.folder / "logs" / "archive" / "empty").mkdir()
    url = f"{dms.storages[LOGS].url}/archive/empty"
    empty = (
        await dms.client.register_dataset(NewDataset(name="empty", type=DatasetType.LOGS, url=url))
    ).uid
    await legacy.add("archive", dms.folder / "by-link", type_="input", read_only=True)
    await dms.context.storage_monitor.check_all()
    await dms.client.delete_dataset(uid)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(uid)).state is DatasetState.DELETED
    assert dms.path("archive", file.name, DatasetType.LOGS).exists(), (
        "a file of a read-only storage was removed"
    )
    assert not dms.path("beside", beside.name, DatasetType.LOGS).exists()
    await dms.client.delete_dataset(empty)
    assert await delete_next_dataset(dms.context)
    assert (await dms.client.get_dataset(empty)).state is DatasetState.DELETED
    assert (dms.folder / "logs" / "archive" / "empty").is_dir()
