"""Deliver agreed answers to the WMS: write a file for each item and report it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from uuid import UUID

import orjson
from pydantic import ValidationError

from sluice.contracts.common.naming import output_name_that_fits, own_name
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import ReportAnswer
from sluice.contracts.common.wording import first_fault
from sluice.contracts.human_tasks.annotation import (
    AcceptedAnswer,
    AnsweredJob,
    AnswerFile,
    AnswerInFile,
)
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.pilots.output_files import OutputFile
from sluice.storage.checksums import stream
from sluice.storage.errors import StorageError, StorageFull, StorageUnavailable
from sluice.storage.operations import put_bytes
from wfms.ask.db.decided_items import (
    DecidedItem,
    TaskWithDecidedItems,
    freeze_items,
    list_answers,
    list_items_to_deliver,
    list_tasks_to_deliver,
    mark_delivered,
)
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.process_tasks import TaskBlocked, process_tasks

#: Items in one round; files written at the same time.
PAGE, WRITERS = 200, 8
#: Number of the only attempt that a job of a human task has.
_ATTEMPT = 1


async def deliver_answers(context: AskContext) -> bool:
    """Deliver agreed answers to the WMS.

    Several instances may run it at once. Items that were decided long enough ago are fixed. Their
    files always have the same content. For an ended task no file is written: answers that the WMS
    does not have are withdrawn. A task or item that fails does not delay the others.

    Returns:
        Whether there are more.

    Raises:
        NotAvailable: The WMS does not answer, or a task failed for a reason that may pass.
    """
    async with context.database.connection() as connection:
        await freeze_items(connection, older=context.rules.settle, limit=PAGE)
        tasks = await list_tasks_to_deliver(connection)
    return await process_tasks(tasks, lambda task: _deliver(context, task))


async def _deliver(context: AskContext, task: TaskWithDecidedItems) -> bool:
    async with context.database.connection() as connection:
        items = await list_items_to_deliver(connection, task.uid, limit=PAGE)
        answers = await list_answers(connection, [item.uid for item in items])
    blocked: list[TaskBlocked] = []
    try:
        accepted = await _report_jobs(
            context, task.uid, await _write_files(items, answers, task, blocked), blocked
        )
    except NotFound:  # the task is deleted, so its answers are no longer needed
        accepted = [AcceptedAnswer(id=item.job, answer=ReportAnswer.STALE) for item in items]
    stale_by_job = {one.id: one.answer is ReportAnswer.STALE for one in accepted}
    async with context.database.transaction() as transaction:
        await mark_delivered(transaction.connection, task.uid, stale_by_job)
    has_more = len(items) == PAGE
    if blocked and not (has_more and accepted):
        raise blocked[0]
    return has_more


async def _write_files(
    items: Sequence[DecidedItem],
    answers: dict[UUID, list[AnswerInFile]],
    task: TaskWithDecidedItems,
    blocked_tasks: list[TaskBlocked],
) -> list[AnsweredJob]:
    """Write the files of items and return the jobs whose file was written.

    Reasons of failures are added to ``blocked_tasks``. If the storage takes no file at all, it
    gives up early.
    """
    writing = asyncio.Semaphore(WRITERS)
    written_count = unavailable_count = 0

    async def write(item: DecidedItem) -> AnsweredJob | None:
        nonlocal written_count, unavailable_count
        async with writing:
            if not written_count and unavailable_count >= WRITERS:
                return None
            try:
                job = await _write_answer(item, answers.get(item.uid, []), task)
            except (StorageError, ValidationError) as error:
                reason = first_fault(error) if isinstance(error, ValidationError) else str(error)
                blocked_tasks.append(TaskBlocked(f"answers cannot be written: {reason}"))
                unavailable_count += isinstance(error, StorageFull | StorageUnavailable)
                return None
            written_count += 1
            return job

    return [job for job in await asyncio.gather(*map(write, items)) if job is not None]


async def _write_answer(
    item: DecidedItem, answers: Sequence[AnswerInFile], task: TaskWithDecidedItems
) -> AnsweredJob:
    """Return the job of an item, after its file is written unless the task has ended.

    Raises:
        StorageError: The file cannot be written.
        ValidationError: The URL is too long.
    """
    file = AnswerFileRef.of(item, answers, task.output)
    if task.over:  # written before the WMS was told, if at all, and perhaps deleted since
        stored = stream(BytesIO(file.data).read, None)
    else:
        stored = await asyncio.to_thread(put_bytes, file.data, file.url)
    return AnsweredJob(
        id=item.job,
        output=OutputFile(
            port=task.output.port,
            name=file.name,
            size=stored.size,
            checksum=stored.checksum,
            url=file.url,
        ),
        asked_at=item.asked_at,
        answered_at=item.decided_at,
    )


async def _report_jobs(
    context: AskContext, task: UUID, jobs: Sequence[AnsweredJob], blocked_tasks: list[TaskBlocked]
) -> list[AcceptedAnswer]:
    """Report jobs to the WMS, and return what it says of them.

    Jobs whose file the WMS does not accept are added to ``blocked_tasks``.

    Raises:
        NotFound: The task no longer exists.
    """
    if not jobs:
        return []
    try:
        return (await context.wms.report_answers(task, jobs=jobs)).jobs
    except Unprocessable as refusal:
        blocked_tasks.append(
            TaskBlocked(f"the WMS cannot find the answers that were written: {refusal.detail}")
        )
        refused_ids = str(refusal.fields.get("jobs", "")).split(",")
    others = [job for job in jobs if str(job.id) not in refused_ids]
    return (
        await _report_jobs(context, task, others, blocked_tasks) if len(others) < len(jobs) else []
    )


@dataclass(frozen=True, slots=True)
class AnswerFileRef:
    """The file with the answers to one item."""

    name: str
    url: str
    data: bytes

    @classmethod
    def of(
        cls, item: DecidedItem, answers: Sequence[AnswerInFile], output: TaskOutput
    ) -> "AnswerFileRef":
        """Return the file of an item with its name, URL and content."""
        own = own_name(item.file.name)
        name = output_name_that_fits(item.seq, _ATTEMPT, own.rsplit(".", 1)[0], ".json")
        content = AnswerFile(
            answer=item.answer,
            agreed=item.agreed,
            name=own,
            item=item.content.get("item"),
            answers=list(answers),
        )
        data = orjson.dumps(content.model_dump(mode="json"), option=orjson.OPT_APPEND_NEWLINE)
        return cls(name, f"{output.dat_out_url}/{name}", data)
