"""A problem of one task or item does not block the others."""

from pathlib import Path

import pytest

from sluice.contracts.common.problems import NotAvailable
from sluice.storage.entries import StoredFile
from sluice.storage.errors import StorageUnavailable
from tests.integration.ask.conftest import Asking
from wfms.ask.db import questions
from wfms.ask.usecases import give_answers

#: JSON that cannot be stored, or that would not be read back unchanged.
IMPOSSIBLE = [
    rb'{"text": "a\u0000b"}',
    rb'{"text": "x\ud800"}',
    rb'{"text": "ok", "\udfff": 1}',
    b'{"text": "ok", "x": NaN}',
    b'{"text": "ok", "x": 1e999}',
    b'{"text": "ok", "x": 123456789012345678901234567890}',
    b'{"text": "ok", "x": ' + b"[" * 260 + b"]" * 260 + b"}",
    b'{"text": "ok", "x": ' + b"[" * 9000 + b"]" * 9000 + b"}",
]


async def test_items_that_cannot_be_stored_are_refused_and_others_shown(asking: Asking) -> None:
    first = asking.task(IMPOSSIBLE, agree=1)
    second = asking.task([b'{"text": "fine", "x": 18446744073709551615}'], agree=1)
    await asking.take_in()
    refused = {job.id for job in await asking.refuse()}
    assert refused == {job.id for job in asking.rows.jobs[first]}
    assert await (await asking.browser()).answer_all("yes") == 1
    [answer] = await asking.give()
    assert answer["item"] == {"text": "fine", "x": 18446744073709551615}
    assert [job.id for job in asking.rows.answered] == [asking.rows.jobs[second][0].id]


async def test_failing_task_does_not_block_the_import_of_others(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = sorted([asking.task([b"9:00"]), asking.task([b"10:00"])])
    insert = questions.INSERT_ITEMS
    broken = insert.replace("SELECT uid, $1,", f"SELECT uid, nullif($1, '{bad}'::uuid),")
    assert broken != insert
    monkeypatch.setattr(questions, "INSERT_ITEMS", broken)
    with pytest.raises(Exception, match="task_uid"):
        await asking.take_in()
    assert await asking.rows_of("SELECT task_uid FROM items") == [(good,)]
    monkeypatch.setattr(questions, "INSERT_ITEMS", insert)
    await asking.take_in()
    assert await asking.rows_of("SELECT count(*) FROM items") == [(2,)]


async def test_failing_storage_does_not_block_answers_of_other_tasks(
    asking: Asking, tmp_path: Path
) -> None:
    tasks = sorted([asking.task([b"9:00"], agree=1), asking.task([b"10:00"], agree=1)])
    await asking.take_in()
    assert await (await asking.browser()).answer_all("yes") == 2
    full, fine = (asking.file_of(asking.rows.tasks[uid].output.dat_out_url) for uid in tasks)
    full.rmdir()
    full.write_text("no folder")
    with pytest.raises(NotAvailable, match="answers cannot be written"):
        await asking.give()
    assert [asking.file_of(job.output.url).parent for job in asking.rows.answered] == [fine]
    full.unlink()
    full.mkdir()
    assert len(await asking.give()) == 2


async def test_failing_item_does_not_block_other_items_of_its_task(asking: Asking) -> None:
    """The file of one item cannot be written, and the WMS does not find the file of another."""
    uid = asking.task([b"7:00", b"8:00", b"9:00"], agree=1)
    place = asking.file_of(asking.rows.tasks[uid].output.dat_out_url)
    (taken := place / "00000001.1-1.json").mkdir(parents=True)
    asking.rows.missing = {asking.rows.jobs[uid][2].id}
    await asking.take_in()
    assert await (await asking.browser()).answer_all("yes") == 3
    with pytest.raises(NotAvailable, match="answers cannot be written"):
        await asking.give()
    assert [job.id for job in asking.rows.answered] == [asking.rows.jobs[uid][0].id]
    taken.rmdir()
    with pytest.raises(NotAvailable, match="does not find what was written"):
        await asking.give()
    assert len(asking.rows.answered) == 2
    asking.rows.missing = set()
    assert len(await asking.give()) == 3


async def test_failing_items_do_not_block_the_next_page(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(give_answers, "PAGE", 2)
    uid = asking.task([b"7:00", b"8:00", b"9:00", b"10:00"], agree=1)
    asking.rows.missing = {asking.rows.jobs[uid][0].id}
    await asking.take_in()
    await (await asking.browser()).answer_all("yes")
    with pytest.raises(NotAvailable, match="does not find what was written"):
        await asking.give()
    assert len(asking.rows.answered) == 3


@pytest.mark.parametrize(
    "own", [f"{'a' * 236}.txt", "b" * 240, "ä" * 240, "%2f" * 80, f".{'c' * 239}"]
)
async def test_answers_of_items_with_long_names_have_distinct_files(
    asking: Asking, own: str
) -> None:
    asking.task([b"7:00", b"8:00", b"9:00"], names=[own, f"x{own[1:]}", own], agree=1)
    await asking.take_in()
    assert await (await asking.browser()).answer_all("yes") == 3
    assert [file["name"] for file in await asking.give()] == [own, f"x{own[1:]}", own]
    names = [job.output.name for job in asking.rows.answered]
    assert len(set(names)) == 3
    assert max(len(name.encode()) for name in names) <= 240


async def test_unavailable_storage_is_not_tried_for_every_item_of_a_page(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking.task([b"9:00"] * 40, agree=1)
    await asking.take_in()
    await (await asking.browser()).answer_all("yes")
    tried = []

    def put_bytes(data: bytes, url: str) -> StoredFile:
        tried.append(url)
        raise StorageUnavailable(url, f"does not answer to {len(data)} bytes")

    with monkeypatch.context() as patched:
        patched.setattr(give_answers, "put_bytes", put_bytes)
        with pytest.raises(NotAvailable, match="does not answer"):
            await asking.give()
    assert len(tried) < 2 * give_answers.WRITERS
    assert len(await asking.give()) == 40
