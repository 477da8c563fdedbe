"""Turn the jobs of the WMS that wait for annotations into items."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from uuid import UUID, uuid4, uuid5

from sluice.contracts.common.problems import NotFound
from sluice.contracts.human_tasks.annotation import HumanJob, HumanTask
from sluice.contracts.human_tasks.ask import Ask, Show
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.storage.errors import FileMissing, NotAFile, StorageError
from sluice.storage.reader import open_reader
from sluice.text.visible_text import quoted
from wfms.ask.db.questions import (
    NewItem,
    OpenQuestion,
    add_items,
    end_question,
    insert_question,
    list_open_questions,
    store_gold_reason,
    store_reason,
)
from wfms.ask.domain.contents import ItemContent, UnreadableContent, largest, read_content
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.process_tasks import process_tasks

#: Jobs in one round; files read at the same time.
PAGE, READERS = 200, 8
#: Namespace of the uids of gold items, which are made from their content.
_GOLD = UUID("7d3a0b0e-58d2-5a39-9e1c-0f5f8f1c9a11")


async def import_items(context: AskContext) -> bool:
    """Import the human tasks of the WMS and their jobs.

    Several instances may run it at once. Jobs whose files cannot be shown become items with a
    reason. Items of ended tasks are withdrawn unless their answers were delivered. A task that
    fails does not delay the others.

    Returns:
        Whether there may be more at once.

    Raises:
        NotAvailable: The WMS does not answer.
    """
    async with context.database.connection() as connection:
        known_tasks = {question.task_uid for question in await list_open_questions(connection)}
    human_tasks = (await context.wms.list_human_tasks()).tasks
    current_tasks = {task.uid for task in human_tasks}
    async with context.database.connection() as connection:
        for task in human_tasks:
            if task.uid not in known_tasks and _has_gold(task):
                await insert_question(connection, task)
        questions = await list_open_questions(connection)

    async def import_question(question: OpenQuestion) -> bool:
        if question.task_uid in current_tasks:
            return await _import_jobs(context, question)
        if question.task_uid not in known_tasks:
            return False  # another instance imported it from a newer list
        async with context.database.transaction() as transaction:
            await end_question(transaction.connection, question.task_uid)
        return False

    return await process_tasks(questions, import_question)


def _has_gold(task: HumanTask) -> bool:
    """Return whether the gold items of a task can be read.

    The files that all jobs of a task get are known once its jobs exist, a little later than the
    task.
    """
    return task.ask.gold is None or any(file.port == task.ask.gold for file in task.files)


async def _import_jobs(context: AskContext, question: OpenQuestion) -> bool:
    try:
        if question.ask.gold is not None and not question.gold_read:
            await _import_gold_items(context, question)
        jobs = await context.wms.list_human_jobs(
            question.task_uid, after=question.read_to, limit=PAGE
        )
    except NotFound:
        return False  # the task has ended since: the next round notices
    if not jobs.jobs:
        return False
    try:
        items = await _items(question.ask, jobs.jobs)
    except StorageError as error:
        async with context.database.connection() as connection:
            await store_reason(connection, question.task_uid, f"waiting for a storage: {error}")
        return False
    async with context.database.transaction() as transaction:
        last = jobs.jobs[-1].id
        await add_items(transaction.connection, question, items, read_to=last)
    return len(jobs.jobs) == PAGE


async def _items(ask: Ask, jobs: Sequence[HumanJob]) -> list[NewItem]:
    """Return the items of jobs.

    Raises:
        StorageError: A storage does not answer.
    """
    reading = asyncio.Semaphore(READERS)

    async def item(job: HumanJob) -> NewItem:
        async with reading:
            try:
                content = await asyncio.to_thread(_read, job.input, ask.show)
            except (UnreadableContent, FileMissing, NotAFile) as error:
                return NewItem(uuid4(), job.id, job.seq, job.input, {}, reason=str(error))
        return NewItem(uuid4(), job.id, job.seq, job.input, _without_empty_fields(content))

    return list(await asyncio.gather(*map(item, jobs)))


def _read(file: InputFile, show: Show) -> ItemContent:
    """Read the content of an item.

    Raises:
        UnreadableContent: The content cannot be shown.
        StorageError: The file cannot be read.
    """
    _require_small(file.size, show)
    with open_reader(file.url) as reader:
        return read_content(reader.read(0, largest(show)), show)


def _require_small(size: int, show: Show) -> None:
    """Check the size of an item.

    Raises:
        UnreadableContent: The item is too large.
    """
    if size > largest(show):
        raise UnreadableContent(f"it has {size} bytes, and at most {largest(show)} are shown")


async def _import_gold_items(context: AskContext, question: OpenQuestion) -> None:
    [file] = [file for file in question.files if file.port == question.ask.gold]
    try:
        data = await asyncio.to_thread(_read_whole_file, file)
        items, reason = list(_gold_items(question, file, data)), ""
        if not items:
            reason = f"no items with known answers are in {quoted(file.name)}: add some"
    except UnreadableContent as error:
        items, reason = [], f"items with known answers cannot be read: {quoted(file.name)}: {error}"
    except StorageError as error:
        items, reason = None, f"waiting for a storage: {error}"
    async with context.database.transaction() as transaction:
        if items is not None:
            await add_items(transaction.connection, question, items, read_to=None)
        await store_gold_reason(transaction.connection, question.task_uid, reason)


def _read_whole_file(file: InputFile) -> bytes:
    with open_reader(file.url) as reader:
        return reader.read(0, file.size)


def _gold_items(question: OpenQuestion, file: InputFile, data: bytes) -> Iterator[NewItem]:
    """Yield the gold items in a file. Items of equal content are shared by all tasks of a step.

    Raises:
        UnreadableContent: A line is no gold item.
    """
    end = 0
    for number, ended in enumerate(data.splitlines(keepends=True)):
        begin, end = end, end + len(ended)
        line = ended.rstrip(b"\r\n")
        if not line.strip():
            continue
        try:
            _require_small(len(line), question.ask.show)
            content = read_content(line, question.ask.show)
        except UnreadableContent as error:
            raise UnreadableContent(f"line {number + 1}: {error}") from error
        if content.known_answer not in question.ask.answers:
            answers = ", ".join(map(quoted, question.ask.answers))
            raise UnreadableContent(
                f"line {number + 1}: 'answer' is {quoted(content.known_answer)}:"
                f" give one of {answers}"
            )
        name = f"{question.group}/{question.template}/{question.step}/{line!r}"
        yield NewItem(
            _as_random_uid(uuid5(_GOLD, name)),
            None,
            number,
            file,
            _without_empty_fields(content),
            known_answer=content.known_answer,
            line=(begin, len(line)),
        )


def _as_random_uid(uid: UUID) -> UUID:
    """Return a UUID that looks like a random one (``uuid4``).

    Otherwise its version bits would show that the answer is known.
    """
    return UUID(int=uid.int, version=4)


def _without_empty_fields(content: ItemContent) -> dict[str, object]:
    fields = asdict(content)
    return {
        key: value
        for key, value in fields.items()
        if value not in (None, "") and key != "known_answer"
    }
