"""A problem of one task or item does not block the others."""

from pathlib import Path

import pytest

from sluice.contracts.common.problems import NotAvailable
from sluice.storage.entries import StoredFile
from sluice.storage.errors import StorageUnavailable
from tests.integration.ask.conftest import HumanTasks
from wfms.ask.usecases import deliver_answers

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


async def test_items_that_cannot_be_stored_are_refused_and_others_shown(
    human_tasks: HumanTasks,
) -> None:
    first = human_tasks.task(IMPOSSIBLE, agree=1)
    second = human_tasks.task([b'{"text": "fine", "x": 18446744073709551615}'], agree=1)
    await human_tasks.import_items()
    refused = {job.id for job in await human_tasks.refuse()}
    assert refused == {job.id for job in human_tasks.rows.jobs[first]}
    assert await (await human_tasks.browser()).answer_all("yes") == 1
    [answer] = await human_tasks.deliver()
    assert answer["item"] == {"text": "fine", "x": 18446744073709551615}
    assert [job.id for job in human_tasks.rows.answered] == [human_tasks.rows.jobs[second][0].id]


async def test_failing_task_does_not_block_the_import_of_others(
    human_tasks: HumanTasks,
) -> None:
    bad, good = sorted([human_tasks.task([b"9:00"]), human_tasks.task([b"10:00"])])
    await human_tasks.rows_of(
        f"ALTER TABLE items ADD CONSTRAINT no_bad_task CHECK (task_uid <> '{bad}')"
    )
    with pytest.raises(Exception, match="no_bad_task"):
        await human_tasks.import_items()
    assert await human_tasks.rows_of("SELECT task_uid FROM items") == [(good,)]
    await human_tasks.rows_of("ALTER TABLE items DROP CONSTRAINT no_bad_task")
    await human_tasks.import_items()
    assert await human_tasks.rows_of("SELECT count(*) FROM items") == [(2,)]


async def test_failing_storage_does_not_block_answers_of_other_tasks(
    human_tasks: HumanTasks, tmp_path: Path
) -> None:
    tasks = sorted([human_tasks.task([b"9:00"], agree=1), human_tasks.task([b"10:00"], agree=1)])
    await human_tasks.import_items()
    assert await (await human_tasks.browser()).answer_all("yes") == 2
    full, fine = (
        human_tasks.file_of(human_tasks.rows.tasks[uid].output.dat_out_url) for uid in tasks
    )
    full.rmdir()
    full.write_text("no folder")
    with pytest.raises(NotAvailable, match="answers cannot be written"):
        await human_tasks.deliver()
    assert [human_tasks.file_of(job.output.url).parent for job in human_tasks.rows.answered] == [
        fine
    ]
    full.unlink()
    full.mkdir()
    assert len(await human_tasks.deliver()) == 2


async def test_failing_item_does_not_block_other_items_of_its_task(human_tasks: HumanTasks) -> None:
    """The file of one item cannot be written, and the WMS does not find the file of another."""
    uid = human_tasks.task([b"7:00", b"8:00", b"9:00"], agree=1)
    place = human_tasks.file_of(human_tasks.rows.tasks[uid].output.dat_out_url)
    (taken := place / "00000001.1-1.json").mkdir(parents=True)
    human_tasks.rows.missing = {human_tasks.rows.jobs[uid][2].id}
    await human_tasks.import_items()
    assert await (await human_tasks.browser()).answer_all("yes") == 3
    with pytest.raises(NotAvailable, match="answers cannot be written"):
        await human_tasks.deliver()
    assert [job.id for job in human_tasks.rows.answered] == [human_tasks.rows.jobs[uid][0].id]
    taken.rmdir()
    with pytest.raises(NotAvailable, match="cannot find the answers that were written"):
        await human_tasks.deliver()
    assert len(human_tasks.rows.answered) == 2
    human_tasks.rows.missing = set()
    assert len(await human_tasks.deliver()) == 3


async def test_failing_items_do_not_block_the_next_page(
    human_tasks: HumanTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver_answers, "PAGE", 2)
    uid = human_tasks.task([b"7:00", b"8:00", b"9:00", b"10:00"], agree=1)
    human_tasks.rows.missing = {human_tasks.rows.jobs[uid][0].id}
    await human_tasks.import_items()
    await (await human_tasks.browser()).answer_all("yes")
    with pytest.raises(NotAvailable, match="cannot find the answers that were written"):
        await human_tasks.deliver()
    assert len(human_tasks.rows.answered) == 3


@pytest.mark.parametrize(
    "own", [f"{'a' * 236}.txt", "b" * 240, "ä" * 240, "%2f" * 80, f".{'c' * 239}"]
)
async def test_answers_of_items_with_long_names_have_distinct_files(
    human_tasks: HumanTasks, own: str
) -> None:
    human_tasks.task([b"7:00", b"8:00", b"9:00"], names=[own, f"x{own[1:]}", own], agree=1)
    await human_tasks.import_items()
    assert await (await human_tasks.browser()).answer_all("yes") == 3
    assert [file["name"] for file in await human_tasks.deliver()] == [own, f"x{own[1:]}", own]
    names = [job.output.name for job in human_tasks.rows.answered]
    assert len(set(names)) == 3
    assert max(len(name.encode()) for name in names) <= 240


async def test_unavailable_storage_is_not_tried_for_every_item_of_a_page(
    human_tasks: HumanTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    human_tasks.task([b"9:00"] * 40, agree=1)
    await human_tasks.import_items()
    await (await human_tasks.browser()).answer_all("yes")
    tried = []

    def put_bytes(data: bytes, url: str) -> StoredFile:
        tried.append(url)
        raise StorageUnavailable(url, f"does not answer to {len(data)} bytes")

    with monkeypatch.context() as patched:
        patched.setattr(deliver_answers, "put_bytes", put_bytes)
        with pytest.raises(NotAvailable, match="does not answer"):
            await human_tasks.deliver()
    assert len(tried) < 2 * deliver_answers.WRITERS
    assert len(await human_tasks.deliver()) == 40
