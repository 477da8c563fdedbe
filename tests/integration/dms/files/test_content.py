"""File content is served whole, in ranges and as archives, but never damaged or deleted."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from dms.usecases.files import pack_archive
from sluice.contracts.common.states import DatasetType, StorageType
from sluice.contracts.data.datasets import File, NewFile
from sluice.contracts.messaging.messages import DeleteDataset
from tests.integration.dms.conftest import Dms

CONTENT = bytes(range(256)) * 8192  # more than a chunk


@pytest.fixture
def reading(dms: Dms) -> httpx.AsyncClient:
    """A client that notices when a response breaks off."""
    return dms.links.http("dms", streams=True)


async def count_bytes_before_break(reading: httpx.AsyncClient, path: str, **query: str) -> int:
    """Return the number of bytes that came before the response broke off."""
    got = 0
    try:
        async with reading.stream("GET", path, params=query) as answer:
            assert answer.status_code == 200
            async for piece in answer.aiter_bytes():
                got += len(piece)
    except httpx.RemoteProtocolError:
        return got
    pytest.fail("the response did not break off")


def read_tar(answer: httpx.Response) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]


async def register_file(
    dms: Dms, content: bytes = CONTENT, name: str = "set"
) -> tuple[str, File, Path]:
    """Register a file and return the path of its content, the file, and its place on disk."""
    uid = await dms.dataset(name)
    await dms.client.register_many_files(uid, [dms.write(name, 0, content)])
    await dms.client.close_dataset(uid)
    [file] = (await dms.client.list_files(uid)).files
    return f"/api/v1/datasets/{uid}/files/{file.id}/content", file, dms.path(name, file.name)


async def test_file_is_served_with_its_checksum_and_never_as_a_page(dms: Dms) -> None:
    path, file, _ = await register_file(dms)
    answer = await dms.http.get(path)
    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert answer.headers["etag"] == f'"sha256:{hashlib.sha256(CONTENT).hexdigest()}"'
    assert answer.headers["content-length"] == str(len(CONTENT))
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith('attachment; filename="data.bin"')
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    file_record = (await dms.http.get(path.removesuffix("/content"))).json()
    assert File.model_validate(file_record) == file


async def test_range_and_conditional_requests_are_honoured(dms: Dms) -> None:
    path, file, _ = await register_file(dms)
    tag, size = f'"{file.checksum}"', len(CONTENT)

    async def ask(method: str = "GET", **headers: str) -> httpx.Response:
        return await dms.http.request(
            method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )

    part = await ask(range="bytes=500000-700000")
    assert (part.status_code, part.content) == (206, CONTENT[500000:700001])
    assert part.headers["content-range"] == f"bytes 500000-700000/{size}"
    assert (await ask(range="bytes=-7", if_range=tag)).content == CONTENT[-7:]
    assert (await ask(range="bytes=-7", if_range='"another"')).status_code == 200
    assert (
        await ask(range="bytes=-7", if_range="Sat, 03 Oct 2026 10:00:00 GMT")
    ).status_code == 200
    behind = await ask(range=f"bytes={size}-")
    assert (behind.status_code, behind.headers["content-range"]) == (416, f"bytes */{size}")
    assert behind.headers["content-type"] == "application/problem+json"
    same = await ask(if_none_match=tag)
    assert (same.status_code, same.content) == (304, b"")
    head = await ask("HEAD", range="bytes=0-3")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(size))
    empty, _, _ = await register_file(dms, b"", "empty")
    assert (await dms.http.get(empty)).content == b""


async def test_damaged_file_breaks_off_before_its_end(dms: Dms, reading: httpx.AsyncClient) -> None:
    path, _, place = await register_file(dms)
    place.write_bytes(CONTENT[:-1] + b"x")
    assert 0 < await count_bytes_before_break(reading, path) < len(CONTENT)
    place.write_bytes(b"short")
    answer = await dms.http.get(path)
    assert answer.status_code == 503
    assert f"expected {len(CONTENT)} bytes, found 5 bytes" in answer.json()["detail"]


async def test_deleted_unknown_and_foreign_files_are_not_served(dms: Dms, tmp_path: Path) -> None:
    path, file, place = await register_file(dms)
    other = await dms.dataset("other")
    for wrong_path in (
        path.replace(str(file.id), "999"),
        path.replace(str(file.dataset_uid), str(other)),
        path.replace(str(file.dataset_uid), str(uuid4())),
    ):
        assert (await dms.http.get(wrong_path)).status_code == 404
    assert (
        "no data set has the uid"
        in (await dms.http.get(path.replace(str(file.dataset_uid), str(uuid4())))).json()["detail"]
    )
    secret = tmp_path / "secret"
    secret.write_bytes(CONTENT)
    place.unlink()
    place.symlink_to(secret)
    outside = await dms.http.get(path)
    assert (outside.status_code, "is outside its storage" in outside.json()["detail"]) == (
        503,
        True,
    )
    await dms.apply(DeleteDataset(uid=file.dataset_uid))
    response = await dms.http.get(path)
    assert (response.status_code, response.json()["detail"]) == (
        404,
        f"file '{file.name}' has been deleted",
    )


async def test_logs_are_served_only_from_storages_for_logs(dms: Dms) -> None:
    written = dms.write("logs-of-a-step", 3, b"all is well\n", DatasetType.LOGS)
    answer = await dms.http.get(
        "/api/v1/logs", params={"url": written.url}, headers={"range": "bytes=-5"}
    )
    assert (answer.status_code, answer.content) == (206, b"well\n")
    data = dms.write("data", 3, b"data")
    root = dms.storages[StorageType.LOGS].url
    for url in (
        data.url,
        f"{root}/%2e%2e/{StorageType.INPUT}/x",
        root,
        "http://example.org/x",
        f"file://localhost{root[7:]}/x",
    ):
        assert (await dms.http.get("/api/v1/logs", params={"url": url})).status_code == 422, url
    (dms.folder / "logs" / "circle").symlink_to("circle")
    for name, why in (
        ("x" * 256, "has a name of more than 255 bytes"),
        ("ä" * 128, "has a name of more than 255 bytes"),
        ("x/" * 2100 + "x", "has a path of more than 4095 bytes"),
        ("x\0y", "does not stay inside storage"),
        ("circle", "is not the URL of a log: no file can be there"),
        ("logs-of-a-step", "is not the URL of a log: this is not a regular file"),
    ):
        refused = await dms.http.get("/api/v1/logs", params={"url": f"{root}/{name}"})
        assert (refused.status_code, why in refused.json()["detail"]) == (422, True), refused.text
    assert (
        await dms.http.get("/api/v1/logs", params={"url": f"{written.url}/x"})
    ).status_code == 404, "a path below a file was not answered with 404"
    (dms.folder / "logs" / "link").symlink_to(dms.path("data", data.name))
    assert (await dms.http.get("/api/v1/logs", params={"url": f"{root}/link"})).status_code == 422
    assert (await dms.http.get("/api/v1/logs", params={"url": f"{root}/gone"})).status_code == 404


async def register_files(dms: Dms, name: str, contents: dict[str, bytes]) -> UUID:
    uid, files = await dms.dataset(name), []
    for seq, (file, data) in enumerate(contents.items()):
        path = dms.path(name, file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        checksum = f"sha256:{hashlib.sha256(data).hexdigest()}"
        files.append(
            NewFile(seq=seq, name=file, size=len(data), checksum=checksum, url=f"file://{path}")
        )
    await dms.client.register_many_files(uid, files)
    await dms.client.close_dataset(uid)
    return uid


async def test_archive_contains_all_files_of_several_data_sets(dms: Dms) -> None:
    """Files have their own names where these differ, and else the names of the catalogue."""
    differ = await register_files(
        dms, "differ", {"00000000.1-a.txt": b"a", "00000001.2-b ü.bin": CONTENT, "plain.log": b""}
    )
    clash = await register_files(
        dms, "clash", {"00000000.1-out.txt": b"one", "00000001.1-out.txt": b"two"}
    )
    expected = {
        "first/a.txt": b"a", "first/b ü.bin": CONTENT, "first/plain.log": b"",
        "second/00000000.1-out.txt": b"one", "second/00000001.1-out.txt": b"two",
    }  # fmt: skip
    query = {
        "dataset_uid": [str(differ), str(clash)],
        "folder": ["first", "second"],
        "name": "both ü",
    }
    zipped = await dms.http.get("/api/v1/archive", params=query)
    assert zipped.headers["content-type"] == "application/zip"
    assert "filename*=UTF-8''both%20%C3%BC.zip" in zipped.headers["content-disposition"]
    archive = zipfile.ZipFile(io.BytesIO(zipped.content))
    assert {info.filename: archive.read(info) for info in archive.infolist()} == expected
    tarred = await dms.http.get("/api/v1/archive", params={**query, "format": "tar"})
    assert read_tar(tarred) == expected
    alone = await dms.http.get("/api/v1/archive", params={"dataset_uid": str(clash)})
    assert zipfile.ZipFile(io.BytesIO(alone.content)).namelist() == [
        "00000000.1-out.txt",
        "00000001.1-out.txt",
    ]


async def test_incomplete_archive_is_refused_or_breaks_off(
    dms: Dms, reading: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, files = await dms.create_filled_dataset("done", 3)
    still_open = await dms.dataset("open")

    async def refused(**query: object) -> tuple[int, str]:
        answer = await dms.http.get("/api/v1/archive", params=query)  # type: ignore[arg-type] # lists of values
        return answer.status_code, answer.json()["detail"]

    assert await refused(dataset_uid=str(still_open)) == (
        409,
        "data set 'open' is open: only a complete data set can be packed",
    )
    assert (await refused(dataset_uid=[str(done), str(uuid4())], folder=["a", "b"]))[0] == 404
    assert (await refused(dataset_uid=[str(done), str(done)]))[0] == 422
    assert (await refused(dataset_uid=str(done), folder=".."))[0] == 422
    monkeypatch.setattr(pack_archive, "MAX_ZIPPED", 2)
    assert await refused(dataset_uid=str(done)) == (
        422,
        "3 files are too many for a zip, which has at most 2: request a tar",
    )
    dms.path("done", files[1].name).write_bytes(b"done_1")  # same length, other content
    await count_bytes_before_break(reading, "/api/v1/archive", dataset_uid=str(done), format="tar")


async def test_many_small_files_are_packed_page_by_page(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack_archive, "_PAGE", 7)
    uid, files = await dms.create_filled_dataset("many", 50)
    tarred = await dms.http.get(
        "/api/v1/archive", params={"dataset_uid": str(uid), "format": "tar"}
    )
    # The tool gave all files the same name, so the archive has the catalogue's names.
    assert list(read_tar(tarred)) == [file.name for file in files]
