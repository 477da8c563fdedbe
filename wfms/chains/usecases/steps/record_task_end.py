"""Record that a task or an upload has ended, as the watcher reports it."""

from datetime import datetime
from typing import assert_never
from uuid import UUID

import structlog

from sluice.contracts.chains.chains import Release, TaskEnded
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.common.states import ChainState, StepState, TaskState, WatchKind
from sluice.servicekit.database import Database, Transaction
from sluice.servicekit.running.logging import log_ids
from wfms.chains.db import chains, datasets, steps
from wfms.chains.usecases.chains.advance_chain import advance_chain

log = structlog.get_logger(__name__)


class UnknownTask(NotFound):
    """No step has this task, or no step wrote this data set."""

    def __init__(self, task_ended: TaskEnded) -> None:
        subject = "task" if task_ended.kind is WatchKind.TASK else "uploaded data set"
        super().__init__(f"no chain has the {subject} {task_ended.uid}", uid=task_ended.uid)


class StateNotFinal(Unprocessable):
    """The state in the report of an end is not final."""

    def __init__(self, task_ended: TaskEnded) -> None:
        super().__init__(
            f"task {task_ended.uid} is reported as ended, but its state is {task_ended.state}",
            state=task_ended.state,
        )


class TaskNotSent(Conflict):
    """The step's task was not handed to the WMS, so it cannot have ended."""

    def __init__(self, task_ended: TaskEnded, state: StepState) -> None:
        super().__init__(f"task {task_ended.uid} was never sent: its step is {state}", state=state)


async def record_task_end(database: Database, task_ended: TaskEnded) -> Release:
    """End the step or upload, and move its chain on (see ``advance_chain``).

    Returns:
        All released data sets of the chain that the watcher is not known to have taken over. A
        repetition returns them again.

    Raises:
        UnknownTask: No step has the task, or no step wrote the data set.
        StateNotFinal: The reported state is not final.
        TaskNotSent: The step's task was not handed to the WMS.
    """
    if not task_ended.state.final:
        raise StateNotFinal(task_ended)
    now = database.clock.now()
    async with database.transaction() as transaction:
        match task_ended.kind:
            case WatchKind.TASK:
                chain = await _end_step(transaction, task_ended, now=now)
            case WatchKind.UPLOAD:
                chain = await _end_upload(transaction, task_ended, now=now)
            case _:
                assert_never(task_ended.kind)
        with log_ids(chain=chain, task=task_ended.uid):
            state = await advance_chain(transaction, chain, now=now)
            log.info(
                "chain.task_ended",
                kind=task_ended.kind,
                state=task_ended.state,
                chain_state=state,
                reason=task_ended.reason,
            )
        return Release(datasets=await datasets.list_releases(transaction.connection, chain))


async def _end_step(transaction: Transaction, task_ended: TaskEnded, *, now: datetime) -> UUID:
    connection = transaction.connection
    step = await steps.find_step_of_task(connection, task_ended.uid)
    if step is None or await chains.lock_chain_row(connection, step.chain) is None:
        raise UnknownTask(task_ended)
    chain, name = step.chain, step.step
    state = await steps.get_step_state(connection, step)
    if state.final:
        return chain
    if state is not StepState.IN_PROGRESS:
        raise TaskNotSent(task_ended, state)
    await steps.set_failed_jobs(connection, step, task_ended.failed_jobs)
    if task_ended.failed_jobs:
        await chains.set_unsettled(connection, chain, unsettled=True)
    match task_ended.state:
        case TaskState.FINISHED:
            await steps.move_steps(
                connection, chain, [name], to=StepState.FINISHED, now=now, reason=task_ended.reason
            )
        case TaskState.CANCELED:
            await steps.move_steps(
                connection, chain, [name], to=StepState.CANCELED, now=now, reason=task_ended.reason
            )
            await chains.end_chain(
                connection, chain, ChainState.CANCELED, reason=_sentence(name, task_ended)
            )
        case _:
            await steps.move_steps(
                connection, chain, [name], to=StepState.FAILED, now=now, reason=task_ended.reason
            )
            await chains.end_chain(
                connection, chain, ChainState.FAILED, reason=_sentence(name, task_ended)
            )
    return chain


def _sentence(step: str, task_ended: TaskEnded) -> str:
    return f"step {step} {task_ended.state}" + (
        f": {task_ended.reason}" if task_ended.reason else ""
    )


async def _end_upload(transaction: Transaction, task_ended: TaskEnded, *, now: datetime) -> UUID:
    connection = transaction.connection
    chain = await datasets.find_producer(connection, task_ended.uid)
    if chain is None or await chains.lock_chain_row(connection, chain) is None:
        raise UnknownTask(task_ended)
    if task_ended.state is TaskState.FINISHED:
        await datasets.mark_uploaded(connection, task_ended.uid, chain=chain, now=now)
    else:
        reason = f"the upload of output data set {task_ended.uid} {task_ended.state}" + (
            f": {task_ended.reason}" if task_ended.reason else ""
        )
        await chains.end_chain(connection, chain, ChainState.FAILED, reason=reason)
    return chain
