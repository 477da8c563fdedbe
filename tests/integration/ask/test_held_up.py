"""What is wrong with one task, or one item, keeps no other from its turn."""

from pathlib import Path

import pytest

from sluice.contracts.problems import NotAvailable
from tests.integration.ask.conftest import Asking
from wfms.ask.db import questions

#: JSON that cannot be kept, or would not come back as it was.
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


async def test_items_that_cannot_be_kept_are_refused_and_all_others_asked(asking: Asking) -> None:
    first = asking.task(IMPOSSIBLE, agree=1)
    second = asking.task([b'{"text": "fine", "x": 18446744073709551615}'], agree=1)
    await asking.take_in()
    refused = {job.id for job in await asking.refuse()}
    assert refused == {job.id for job in asking.rows.jobs[first]}
    assert await (await asking.browser()).answer_all("yes") == 1
    [given] = await asking.give()
    assert given["item"] == {"text": "fine", "x": 18446744073709551615}
    assert [job.id for job in asking.rows.answered] == [asking.rows.jobs[second][0].id]


async def test_a_task_that_fails_keeps_none_from_being_taken_in(
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


async def test_a_storage_that_takes_nothing_keeps_no_other_task_s_answers_back(
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
