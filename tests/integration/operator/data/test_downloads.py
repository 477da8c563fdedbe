"""Downloads by REST from storages that this machine does not have: resumed and verified."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from sluice.clientkit.connection import Connection
from sluice.clientkit.transfer import download
from sluice.clientkit.transfer.results import fetch_dataset, write_dataset_manifest
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.data.datasets import File
from sluice.servicekit.web.in_process import StreamingTransport
from sluice.storage import ChecksumMismatch
from tests.callers import allow_everybody
from tests.integration.operator.data.results import Results, create_filled_dataset


class UnreliableTransport(httpx.AsyncBaseTransport):
    """Cut answers after ``bytes_`` bytes, ``times`` times; ``ranges`` has the requested ranges."""

    def __init__(self, app: httpx.AsyncBaseTransport, *, bytes_: int, times: int) -> None:
        self._app = app
        self._bytes = bytes_
        self.left = times
        self.ranges: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.ranges.append(request.headers.get("range", ""))
        answer = await self._app.handle_async_request(request)
        if self.left == 0:
            return answer
        self.left -= 1
        return httpx.Response(
            answer.status_code, headers=answer.headers, stream=_CutStream(answer, self._bytes)
        )


class _CutStream(httpx.AsyncByteStream):
    def __init__(self, answer: httpx.Response, bytes_: int) -> None:
        self._answer, self._bytes = answer, bytes_

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.aiter_raw(self._bytes):
            yield piece
            raise httpx.ReadError("the cable is out")

    async def aclose(self) -> None:
        await self._answer.aclose()


def make_connection(
    results: Results, *, bytes_: int = 0, times: int = 0
) -> tuple[Connection, UnreliableTransport]:
    transport = UnreliableTransport(
        StreamingTransport(allow_everybody(results.operator.service.app)),
        bytes_=bytes_,
        times=times,
    )
    http = httpx.AsyncClient(transport=transport, base_url="http://operator.test")
    return Connection("http://operator.test", OperatorClient(http), DmsClient(http)), transport


async def make_remote_file(results: Results, name: str) -> File:
    """Return a file with an address that this machine cannot read."""
    uid, number = results.files[name]
    return (await results.dms.get_file(uid, number)).model_copy(
        update={"url": "s3://elsewhere/file"}
    )


async def test_interrupted_download_is_resumed(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_PAUSE", 0.0)
    file, target = await make_remote_file(results, "long.txt"), tmp_path / "here" / "long.txt"
    connection, transport = make_connection(results, bytes_=50_000, times=3)
    await download.fetch_files(connection, [(file, target)])
    assert transport.ranges == ["", "bytes=50000-", "bytes=100000-", "bytes=150000-"]
    assert target.read_text().endswith("line 19999\n")
    assert target.stat().st_size == file.size
    assert list(target.parent.iterdir()) == [target]


async def test_download_is_given_up_if_every_connection_fails(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_PAUSE", 0.0)
    file = await make_remote_file(results, "long.txt")
    connection, transport = make_connection(results, bytes_=0, times=0)

    async def nothing(request: httpx.Request) -> httpx.Response:
        transport.ranges.append("")
        raise httpx.ConnectError("nobody there")

    monkeypatch.setattr(transport, "handle_async_request", nothing)
    with pytest.raises(NotAvailable, match="cannot be downloaded"):
        await download.fetch_files(connection, [(file, tmp_path / "long.txt")])
    assert len(transport.ranges) == 5


async def test_endless_answer_is_given_up(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = await make_remote_file(results, "long.txt")
    connection, transport = make_connection(results)
    sent: list[int] = []

    async def pieces() -> AsyncIterator[bytes]:
        while (
            len(sent) < 2 * file.size
        ):  # An accepted answer would end here and fail by its content.
            sent.append(1)
            yield b"x"

    async def endless(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=pieces())

    monkeypatch.setattr(transport, "handle_async_request", endless)
    with pytest.raises(ChecksumMismatch, match=f"expected {file.size} bytes, found more"):
        await download.fetch_files(connection, [(file, tmp_path / "here" / "long.txt")])
    assert len(sent) == file.size + 1
    assert not list((tmp_path / "here").iterdir())


async def test_failed_download_leaves_no_file_behind(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_PAUSE", 0.0)
    connection, _ = make_connection(results)
    file, whole = (
        await make_remote_file(results, "long.txt"),
        await make_remote_file(results, "table.csv"),
    )
    [place] = results.folder.rglob("*-long.txt")
    place.write_bytes(b"x" * file.size)
    with pytest.raises((ChecksumMismatch, NotAvailable)):
        await download.fetch_files(connection, [(file, tmp_path / "got" / "long.txt")])
    with pytest.raises(NotFound):
        await download.fetch_files(
            connection, [(file.model_copy(update={"id": 99_999}), tmp_path / "got" / "gone")]
        )
    assert list((tmp_path / "got").iterdir()) == []
    await download.fetch_files(connection, [(whole, tmp_path / "got" / "table.csv")])
    assert (tmp_path / "got" / "table.csv").read_bytes() == b"run,hits\n312,<i>77</i>\n"


async def test_file_called_like_the_manifest_is_not_overwritten(
    results: Results, tmp_path: Path
) -> None:
    contents = {"manifest.json": b"mine", "000000-manifest.json": b"mine, too", "other": b"other"}
    dataset = await results.dms.get_dataset(
        await create_filled_dataset(results.dms, results.folder, contents)
    )
    connection, _ = make_connection(results)
    for _ in range(2):
        outputs = await fetch_dataset(connection, dataset, tmp_path / "got", force=False)
        write_dataset_manifest(tmp_path / "got", outputs, dataset=dataset)
        listed = json.loads((tmp_path / "got" / "manifest.json").read_text())["outputs"]
        downloaded_files = {
            entry["name"]: (tmp_path / "got" / entry["name"]).read_bytes() for entry in listed
        }
        assert sorted(downloaded_files.values()) == sorted(contents.values())
        assert len(list((tmp_path / "got").iterdir())) == 4


async def test_local_file_with_the_same_path_but_other_content_is_not_used(
    results: Results, tmp_path: Path
) -> None:
    """A storage of this machine may have the same folder as the system's."""
    uid, number = results.files["table.csv"]
    file = await results.dms.get_file(uid, number)
    other = tmp_path / "other.csv"
    other.write_bytes(b"run,hits\n312,<i>78</i>\n")
    connection, transport = make_connection(results)
    await download.fetch_files(
        connection, [(file.model_copy(update={"url": f"file://{other}"}), tmp_path / "got.csv")]
    )
    assert transport.ranges == [""]
    assert (tmp_path / "got.csv").read_bytes() == b"run,hits\n312,<i>77</i>\n"
    await download.fetch_files(connection, [(file, tmp_path / "copied.csv")])
    assert transport.ranges == [""], "the file is copied from its storage"
