"""Follow tasks and uploads to their end, and report it.

One round looks at every watch that is not reported. It claims a page of watches, asks the WMS and
the DMS in bulk, and tells the chain service. It then marks the watch and sends the deletions in one
transaction. The end is stored before it is reported, so that it is not asked for again. A report
that was sent but not marked is sent again: the chain service answers a repetition like the first.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import structlog

from sluice.contracts.chains.chains import TaskEnded
from sluice.contracts.common.problems import NotFound, ServiceError
from sluice.contracts.common.states import WatchKind
from sluice.servicekit.running.logging import log_ids
from wfms.watcher.db import watches
from wfms.watcher.db.watches import OpenWatch
from wfms.watcher.domain.outcome import (
    Outcome,
    final_task_state,
    task_outcome,
    unsent_outcome,
    upload_outcome,
)
from wfms.watcher.usecases.context import WatcherContext
from wfms.watcher.usecases.request_deletions import request_deletions

log = structlog.get_logger(__name__)

#: Tasks in one request: their uids are in the query string.
PAGE = 100


async def follow_watches(context: WatcherContext) -> None:
    """Report watches whose task or upload has ended, and send ``dms.deletions``.

    A service that does not answer is asked again in the next round.
    """
    token, after = uuid4(), UUID(int=0)
    while True:
        page: list[OpenWatch] | None = None
        try:
            async with context.database.connection() as connection:
                page = await watches.claim_watches(
                    connection,
                    token,
                    claim_duration=context.rules.claim_duration,
                    after=after,
                    limit=PAGE,
                )
            ended = await _find_ended(context, page)
            await asyncio.gather(*(_report(context, watch) for watch in ended))
        finally:  # also when stopped during the claim: the next instance continues at once
            if page != []:
                async with context.database.connection() as connection:
                    await watches.unclaim_watches(connection, token)
        if len(page) < PAGE:
            return
        after = page[-1].uid


async def _find_ended(context: WatcherContext, page: Sequence[OpenWatch]) -> list[OpenWatch]:
    """Return the watches that have ended, after storing their outcomes."""
    running = [watch for watch in page if watch.outcome is None]
    tasks = [watch for watch in running if watch.kind is WatchKind.TASK]
    uploads = [watch for watch in running if watch.kind is WatchKind.UPLOAD]
    task_outcomes, upload_outcomes = await asyncio.gather(
        _find_task_outcomes(context, tasks), _find_upload_outcomes(context, uploads)
    )
    if not (outcomes := task_outcomes | upload_outcomes):
        return [watch for watch in page if watch.outcome]
    now = context.database.clock.now()
    async with context.database.transaction() as transaction:
        for uid, outcome in sorted(outcomes.items()):
            await watches.end_watch(transaction.connection, uid, outcome, now=now)
    return [
        replace(watch, outcome=watch.outcome or outcomes[watch.uid])
        for watch in page
        if watch.outcome or watch.uid in outcomes
    ]


async def _find_task_outcomes(
    context: WatcherContext, tasks: Sequence[OpenWatch]
) -> dict[UUID, Outcome]:
    if not tasks:
        return {}
    try:
        answer = await context.wms.list_tasks(uid=[watch.uid for watch in tasks], limit=PAGE)
    except ServiceError as error:
        log.warning("wms.no_answer", reason=error.detail)
        return {}
    outcomes = {
        task.uid: outcome for task in answer.tasks if (outcome := task_outcome(task)) is not None
    }
    known_uids = {task.uid for task in answer.tasks}
    oldest_time = context.database.clock.now() - context.rules.unknown_after
    for watch in tasks:
        if watch.uid not in known_uids and watch.created_at <= oldest_time:
            outcome = await _find_unsent_outcome(context, watch)
            if outcome is not None:
                outcomes[watch.uid] = outcome
    return outcomes


async def _find_unsent_outcome(context: WatcherContext, watch: OpenWatch) -> Outcome | None:
    try:
        return unsent_outcome((await context.chains.get_task(watch.uid)).state)
    except ServiceError as error:
        log.warning("task.unknown", task=str(watch.uid), reason=error.detail)
        return None


async def _find_upload_outcomes(
    context: WatcherContext, uploads: Sequence[OpenWatch]
) -> dict[UUID, Outcome]:
    if not uploads:
        return {}
    try:
        datasets_by_uid = {
            dataset.uid: dataset
            for dataset in await context.dms.list_uploads([watch.uid for watch in uploads])
        }
    except ServiceError as error:
        log.warning("dms.no_answer", reason=error.detail)
        return {}
    for watch in uploads:
        if watch.uid not in datasets_by_uid:
            log.warning("upload.unknown", dataset=str(watch.uid))
    return {
        uid: outcome
        for uid, dataset in datasets_by_uid.items()
        if (outcome := upload_outcome(dataset)) is not None
    }


async def _report(context: WatcherContext, watch: OpenWatch) -> None:
    outcome = watch.outcome
    assert outcome is not None  # noqa: S101 - only ended ones come here
    ended = TaskEnded(
        kind=watch.kind,
        uid=watch.uid,
        uid_prev=watch.dat_in_uid,
        state=final_task_state(outcome.state),
        failed_jobs=outcome.failed_jobs,
        reason=outcome.reason,
    )
    with log_ids(task=watch.uid):
        try:
            release = (await context.chains.report_task_end(ended)).datasets
        except NotFound as error:
            log.error("watch.chain_missing", reason=error.detail)
            release = []
        except ServiceError as error:
            log.warning("report.postponed", reason=error.detail)
            return
        async with context.database.transaction() as transaction:
            await watches.mark_reported(transaction.connection, watch.uid)
            await request_deletions(transaction, release, database=context.database)
        log.info("watch.reported", state=outcome.state, released=len(release))
