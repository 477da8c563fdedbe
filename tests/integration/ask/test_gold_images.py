"""Gold images are served like all others, so that nobody can tell them apart."""

import base64
import json

import httpx
import pytest
from structlog.testing import capture_logs

from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.human_tasks.ask import Show
from sluice.storage.reader import Reader
from tests.integration.ask.conftest import Browser, HumanTasks
from wfms.ask.domain.contents import largest

PAGE = "/ask/mass%20times/look"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LINES = [
    json.dumps({"image": base64.b64encode(PNG).decode(), "answer": "yes", "n": "x" * n}).encode()
    for n in range(3)
]
SELECT_GOLD_ITEMS = "SELECT uid, content #>> '{item,n}' FROM items WHERE known_answer IS NOT NULL"
#: Has each of the possible line ends, and an empty line.
GOLD = LINES[0] + b"\r\n\n" + LINES[1] + b"\r" + LINES[2]


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the size of each part that is read from a storage."""
    byte_counts: list[int] = []
    read = Reader.read

    def counting(self: Reader, offset: int, length: int) -> bytes:
        data = read(self, offset, length)
        byte_counts.append(len(data))
        return data

    monkeypatch.setattr(Reader, "read", counting)
    return byte_counts


async def show_images(human_tasks: HumanTasks) -> tuple[Browser, dict[str, str], list[str]]:
    """Return a browser that has all items, and addresses of images.

    The addresses are those of gold items, by their place in the file, and those of the others.
    """
    human_tasks.task([PNG] * 12, gold=GOLD, gold_every=2, show=Show.IMAGE, agree=1)
    await human_tasks.import_items()
    browser = await human_tasks.browser()
    page_items = await browser.next(
        count=30
    )  # With so many items, a draw without gold items happens once in 10^9.
    images = {str(item.id): f"{PAGE}/{item.image}" for item in page_items.items}
    rows = await human_tasks.rows_of(SELECT_GOLD_ITEMS)
    gold_images = {mark: images.pop(str(uid)) for uid, mark in rows if str(uid) in images}
    return browser, gold_images, list(images.values())


async def test_only_the_line_of_a_gold_image_is_read(
    human_tasks: HumanTasks, sizes: list[int]
) -> None:
    browser, gold_images, others = await show_images(human_tasks)
    assert gold_images
    assert others
    for mark, image in gold_images.items():
        sizes.clear()
        answer = await browser.http.get(image)
        assert (answer.content, answer.headers["content-type"]) == (PNG, "image/png")
        assert sizes == [len(LINES[len(mark)])]


@pytest.mark.parametrize("left", [None, b"", b"{}", b"text"])
async def test_cause_of_an_unreadable_image_is_only_logged(
    human_tasks: HumanTasks, left: bytes | None
) -> None:
    """``left`` is the content of the files; with None the files are deleted."""
    browser, gold_images, others = await show_images(human_tasks)
    files = [path for path in human_tasks.folder.glob("*/*") if path.is_file()]
    for path in files:
        path.unlink()
        if left is not None:
            path.write_bytes(left)
    with capture_logs() as logs:
        answers = [await browser.http.get(image) for image in [*gold_images.values(), *others]]
    problem = NotAvailable("the image cannot be read now").problem().model_dump(exclude_none=True)
    assert {answer.status_code for answer in answers} == {httpx.codes.SERVICE_UNAVAILABLE}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json() == problem
    log_entries = [log for log in logs if log["event"] == "ask.image_unreadable"]
    assert len(log_entries) == len(answers)
    assert {log["url"] for log in log_entries} == {path.as_uri() for path in files}


async def test_line_of_a_gold_item_has_a_size_limit(human_tasks: HumanTasks) -> None:
    most = largest(Show.TEXT)
    line = json.dumps({"text": "", "answer": "yes"}).encode()
    longest = line.replace(b'""', b'"' + b"x" * (most - len(line)) + b'"')
    for gold, reason in (
        (longest, ""),
        (longest + b" ", f"line 1: it has {most + 1} bytes, and at most {most} are shown"),
    ):
        uid = human_tasks.task([b"x"], gold=gold)
        await human_tasks.import_items()
        [(gold_reason,)] = await human_tasks.rows_of(
            "SELECT gold_reason FROM questions WHERE task_uid = $1", uid
        )
        assert reason in gold_reason
        assert bool(gold_reason) == bool(reason)
