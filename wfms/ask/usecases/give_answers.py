"""Gives the WMS what people agree on: a file for each item, and the word that it is there."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import orjson

from sluice.contracts.asking import AnsweredJob, AnswerFile, AnswerInFile
from sluice.contracts.naming import output_name, own_name
from sluice.contracts.pilots import OutputFile
from sluice.contracts.problems import NotFound, Unprocessable
from sluice.contracts.states import ReportAnswer
from sluice.contracts.tasks import TaskOutput
from sluice.storage.errors import StorageError
from sluice.storage.operations import put_bytes
from wfms.ask.db.giving import GivingItem, answers_to, freeze, given, giving_items, tasks_giving
from wfms.ask.db.questions import open_questions
from wfms.ask.usecases.context import AskContext
from wfms.ask.usecases.one_by_one import HeldUp, one_by_one

#: Items that are given at once; files written at the same time.
PAGE, WRITERS = 200, 8
#: Of the one attempt that the WMS knows of such a job.
_ATTEMPT = 1


async def give_answers(context: AskContext) -> bool:
    """Precondition: none; several instances may do it at once.

    Effect: what was decided long enough ago stands, and its file is written, always with the same
    in it; the WMS knows of it. What holds one task up holds up no other. True: there is more.
    Messages: none. Raises ``NotAvailable``.
    """
    async with context.database.connection() as connection:
        await freeze(connection, older=context.rules.settle, most=PAGE)
        tasks = await tasks_giving(connection)
        outputs = {one.task_uid: one.output for one in await open_questions(connection)}
    own = [task for task in tasks if task in outputs]
    return await one_by_one(own, lambda task: _give(context, task, outputs[task]))


async def _give(context: AskContext, task: UUID, output: TaskOutput) -> bool:
    async with context.database.connection() as connection:
        items = await giving_items(connection, task, most=PAGE)
        answers = await answers_to(connection, [item.uid for item in items])
    try:
        jobs = await _written(items, answers, output)
        taken = await context.wms.answered(task, jobs)
    except StorageError as error:
        raise HeldUp(f"answers cannot be written: {error}") from error
    except Unprocessable as refusal:
        raise HeldUp(f"the WMS does not find what was written: {refusal.detail}") from refusal
    except NotFound:
        return False  # it has ended since: the next look withdraws its items
    fates = {one.id: one.answer is ReportAnswer.STALE for one in taken.jobs}
    async with context.database.transaction() as transaction:
        await given(transaction.connection, task, fates)
    return len(items) == PAGE


async def _written(
    items: Sequence[GivingItem], answers: dict[UUID, list[AnswerInFile]], output: TaskOutput
) -> list[AnsweredJob]:
    writing = asyncio.Semaphore(WRITERS)

    async def write(item: GivingItem) -> AnsweredJob:
        file = AnswerGiven.of(item, answers.get(item.uid, []), output)
        async with writing:
            stored = await asyncio.to_thread(put_bytes, file.data, file.url)
        return AnsweredJob(
            id=item.job,
            output=OutputFile(
                port=output.port,
                name=file.name,
                size=stored.size,
                checksum=stored.checksum,
                url=file.url,
            ),
            asked_at=item.asked_at,
            answered_at=item.decided_at,
        )

    return list(await asyncio.gather(*map(write, items)))


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """The file of one item."""

    name: str
    url: str
    data: bytes

    @classmethod
    def of(
        cls, item: GivingItem, answers: Sequence[AnswerInFile], output: TaskOutput
    ) -> "AnswerGiven":
        own = own_name(item.file.name)
        name = output_name(item.seq, _ATTEMPT, f"{own.rsplit('.', 1)[0]}.json")
        content = AnswerFile(
            answer=item.answer,
            agreed=item.agreed,
            name=own,
            item=item.content.get("item"),
            answers=list(answers),
        )
        data = orjson.dumps(content.model_dump(mode="json"), option=orjson.OPT_APPEND_NEWLINE)
        return cls(name, f"{output.dat_out_url}/{name}", data)
