"""Files come to data sets over the network in pieces."""

import asyncio
import hashlib

import pytest

from dms.domain.places import Root
from dms.usecases.files.file_work import FileWork
from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from sluice.contracts.common.naming import file_key
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.assets import PIECE, JoinedFile, JoinPieces, PieceAt
from sluice.storage import Entry
from tests.integration.dms.conftest import Dms

INPUT = DatasetType.INPUT
DATA = bytes(range(256)) * 40
SUM = f"sha256:{hashlib.sha256(DATA).hexdigest()}"


def join_request(name: str = "model.pt", *, seq: int = 0, checksum: str | None = SUM) -> JoinPieces:
    return JoinPieces(seq=seq, name=name, size=len(DATA), checksum=checksum, meta={"a": 1})


async def test_pieces_are_joined_to_a_file_that_is_registered_once(dms: Dms) -> None:
    uid, client = await dms.dataset("set", INPUT), dms.client
    await client.send_piece(uid, DATA[6000:], file="model.pt", offset=6000)
    with pytest.raises(Conflict, match="only 0 of the 10240 bytes of file"):
        await client.join_pieces(uid, join_request())
    await client.send_piece(uid, DATA[:6000], file="model.pt", offset=0)
    key = file_key("model.pt")
    assert await client.list_pieces(uid) == [
        PieceAt(file=key, offset=0, size=6000),
        PieceAt(file=key, offset=6000, size=len(DATA) - 6000),
    ]
    joined = await client.join_pieces(uid, join_request())
    assert joined == JoinedFile(size=len(DATA), checksum=SUM)
    assert await client.join_pieces(uid, join_request()) == joined, (
        "a repeated request got another answer"
    )
    assert dms.path("set", "model.pt", INPUT).read_bytes() == DATA
    assert [path.name for path in dms.path("set", "x", INPUT).parent.iterdir()] == ["model.pt"]
    [file] = (await client.list_files(uid)).files
    assert (file.name, file.seq, file.checksum) == ("model.pt", 0, SUM)
    assert file.meta == {"a": 1}


async def test_pieces_with_a_wrong_checksum_are_discarded(dms: Dms) -> None:
    uid, client = await dms.dataset("set", INPUT), dms.client
    await client.send_piece(uid, b"x" * len(DATA), file="model.pt", offset=0)
    with pytest.raises(Unprocessable, match="has not arrived as it was announced"):
        await client.join_pieces(uid, join_request())
    assert await client.list_pieces(uid) == []
    assert not dms.path("set", "model.pt", INPUT).exists()
    assert (await client.get_dataset(uid)).count_files == 0
    await client.send_piece(uid, DATA, file="model.pt", offset=0)
    assert (await client.join_pieces(uid, join_request(checksum=None))).checksum == SUM


async def test_concurrent_senders_of_the_same_file_succeed(dms: Dms) -> None:
    uid, client = await dms.dataset("set", INPUT), dms.client

    async def send() -> str:
        await client.send_piece(uid, DATA, file="model.pt", offset=0)
        return (await client.join_pieces(uid, join_request())).checksum

    assert set(await asyncio.gather(send(), send(), send())) == {SUM}
    assert (await client.get_dataset(uid)).count_files == 1


async def test_overlapping_joins_of_a_file_return_the_same_file(
    dms: Dms, monkeypatch: pytest.MonkeyPatch
) -> None:
    uid, client = await dms.dataset("set", INPUT), dms.client
    await client.send_piece(uid, DATA, file="model.pt", offset=0)
    files_in, first = FileWork.files_in, asyncio.Lock()

    async def after_another(files: FileWork, root: Root, path: str) -> list[Entry]:
        if not first.locked():
            async with first:
                await client.join_pieces(uid, join_request())
        return await files_in(files, root, path)

    monkeypatch.setattr(FileWork, "files_in", after_another)
    assert (await client.join_pieces(uid, join_request())).checksum == SUM
    assert (await client.get_dataset(uid)).count_files == 1


async def test_pieces_for_unsuitable_data_sets_and_names_are_refused(dms: Dms) -> None:
    client = dms.client
    closed = await dms.dataset("closed", INPUT)
    await client.send_piece(closed, b"", file="empty", offset=0)
    await client.join_pieces(closed, JoinPieces(seq=0, name="empty", size=0))
    await client.close_dataset(closed)
    between = await dms.dataset("between")
    opened = await dms.dataset("open", INPUT)
    for uid, data, why, kind in (
        (closed, b"x", "is closed", Conflict),
        (between, b"x", "must be of type input", Unprocessable),
        (opened, b"x" * (PIECE + 1), "a piece may have at most", Unprocessable),
    ):
        with pytest.raises(kind, match=why):
            await client.send_piece(uid, data, file="model.pt", offset=0)
    with pytest.raises(Unprocessable, match="file"):
        await client.send_piece(opened, b"x", file="../model.pt", offset=0)
    with pytest.raises(NotFound):
        await client.send_piece(dms.storages[next(iter(dms.storages))].id, b"x", file="a", offset=0)


async def test_incomplete_pieces_are_deleted_with_their_data_set(dms: Dms) -> None:
    uid, client = await dms.dataset("set", INPUT), dms.client
    await client.send_piece(uid, DATA, file="model.pt", offset=0)
    await client.delete_dataset(uid)
    await delete_next_dataset(dms.context)
    assert not dms.path("set", "x", INPUT).parent.exists()
