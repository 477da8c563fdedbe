"""Return the notices about what needs a person, from all services."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import httpx

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.contracts.chains.attention import (
    ChainCounts,
    Notice,
    NoticeList,
    WorkCounts,
)
from sluice.contracts.chains.chains import Chain, ChainListState
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainDatasetStatus
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import TaskStatus, UnschedulableTask
from sluice.contracts.pilots.pilot_list import PilotList
from wfms.operator.chains.usecases.unmatched.list_current_ties import list_current_ties
from wfms.operator.context import OperatorContext
from wfms.operator.monitoring.domain import chain_notices, data_notices, notices, pilot_notices
from wfms.operator.monitoring.domain.overview import MAX_PILOTS

#: Chains that are looked up at once for the names of their data sets.
_MAX_LOOKUPS = 100


@dataclass(frozen=True, slots=True)
class Attention:
    """Objects that need a person; a count is None if its service does not answer."""

    notices: NoticeList
    chains: ChainCounts | None
    work: WorkCounts | None
    pilots: PilotList | None


@dataclass(frozen=True, slots=True)
class _Part:
    notices: list[Notice]
    unshown_count: int = 0


async def get_attention(context: OperatorContext, *, limit: int) -> Attention:
    """Return at most ``limit`` notices, as ``notices.select_notices`` chooses them.

    If a service does not answer, its notices are missing and one notice says so.
    """
    (
        (chain_part, chain_counts),
        (wms_part, work, pilots),
        dms_part,
        intake_notices,
        storage_notices,
        broker_notices,
    ) = await asyncio.gather(
        _list_chain_notices(context, limit),
        _list_wms_notices(context, limit),
        _list_dms_notices(context.dms, limit),
        _list_intake_notices(context),
        _list_storage_notices(context),
        _list_broker_notices(context),
    )
    candidates = [
        *broker_notices,
        *notices.report_dead_letters(context.queues.recent_dead_letters),
        *storage_notices,
        *wms_part.notices,
        *intake_notices,
        *dms_part.notices,
        *chain_part.notices,
    ]
    selected = notices.select_notices(candidates, limit=limit)
    unshown = (
        chain_part.unshown_count
        + wms_part.unshown_count
        + dms_part.unshown_count
        + len(candidates)
        - len(selected)
    )
    return Attention(NoticeList(notices=selected, more=unshown), chain_counts, work, pilots)


async def _list_chain_notices(
    context: OperatorContext, limit: int
) -> tuple[_Part, ChainCounts | None]:
    """Return the notices of chains.

    Chains that failed, that finished with failed jobs and that are stuck are requested separately,
    so that no kind hides another.
    """
    chains = context.chains
    try:
        failed, finished, stuck, counts = await asyncio.gather(
            chains.list_chains(attention=True, state=ChainListState.FAILED, limit=limit),
            chains.list_chains(attention=True, state=ChainListState.FINISHED, limit=limit),
            chains.list_chains(attention=True, state=ChainListState.IN_PROGRESS, limit=limit),
            chains.get_counts(),
        )
    except ServiceError as error:
        text = f"The chain service does not answer, so chains are missing here: {error.detail}"
        return _Part([notices.error_notice(text)]), None
    listed_chains = [*failed.chains, *stuck.chains]
    unshown = max(0, counts.attention - len(listed_chains) - len(finished.chains))
    listed_notices = [
        notice for chain in listed_chains for notice in chain_notices.report_chain(chain)
    ]
    listed_notices += chain_notices.report_failures(
        finished.chains, await _find_retained_datasets(context.dms, finished.chains)
    )
    return _Part(listed_notices, unshown), counts


async def _find_retained_datasets(dms: DmsClient, chains: Sequence[Chain]) -> dict[UUID, Dataset]:
    """Return data sets that the chains have not released; none if the DMS does not answer."""
    uids = {
        dataset.uid
        for chain in chains
        for dataset in chain.datasets
        if dataset.state is not ChainDatasetStatus.FINISHED
    }
    try:
        return {dataset.uid: dataset for dataset in await dms.list_datasets_by_uid(sorted(uids))}
    except ServiceError:
        return {}


async def _list_wms_notices(
    context: OperatorContext, limit: int
) -> tuple[_Part, WorkCounts | None, PilotList | None]:
    wms = context.wms
    try:
        pilots, lost, troubled, work, steps, never = await asyncio.gather(
            wms.list_pilots(limit=MAX_PILOTS),
            wms.list_pilots(attention=True, limit=limit),
            wms.list_tasks(troubled=True, limit=limit),
            wms.get_counts(troubled=True),
            wms.list_steps(),
            wms.list_unschedulable_tasks(limit=limit),
        )
    except ServiceError as error:
        text = (
            "The WMS does not answer, so pilots and counts of jobs are missing here:"
            f" {error.detail}"
        )
        return _Part([notices.error_notice(text)]), None, None
    tasks, unfit = troubled.tasks, never.tasks
    datasets = await _find_dataset_names(context.chains, [*tasks, *unfit])
    wms_notices = pilot_notices.report_missing_pilots(pilots.pilots, waiting_jobs=work.waiting)
    wms_notices += pilot_notices.report_lost_pilots(lost.pilots)
    wms_notices += pilot_notices.report_quarantined_pilots(pilots.pilots)
    wms_notices += pilot_notices.report_troubled_pilots(pilots.pilots)
    wms_notices += pilot_notices.report_disabled_steps(steps.steps)
    wms_notices += chain_notices.report_unschedulable_tasks(unfit, datasets)
    wms_notices += [
        notice for task in tasks for notice in chain_notices.report_task(task, datasets)
    ]
    unshown = max(0, (work.troubled or 0) - len(tasks))
    unshown += never.number - len(unfit)
    return _Part(wms_notices, unshown + lost.total - len(lost.pilots)), work, pilots


async def _list_dms_notices(dms: DmsClient, limit: int) -> _Part:
    try:
        stalled = await dms.list_stalled_transfers(limit=limit)
    except ServiceError as error:
        text = (
            "The DMS does not answer, so stalled uploads and deletions are missing here:"
            f" {error.detail}"
        )
        return _Part([notices.error_notice(text)])
    return (
        _Part([])
        if stalled is None
        else _Part(data_notices.report_stalled_transfers(stalled.stalled), stalled.more)
    )


async def _list_storage_notices(context: OperatorContext) -> list[Notice]:
    """Return notices of full storages; other notices report services that do not answer."""
    storages, waits = await asyncio.gather(
        context.dms.list_storages(all=True),
        context.wms.list_storage_waits(),
        return_exceptions=True,
    )
    for answer in (storages, waits):
        if isinstance(answer, BaseException) and not isinstance(answer, ServiceError):
            raise answer
    return data_notices.report_full_storages(
        [] if isinstance(storages, BaseException) else storages,
        [] if isinstance(waits, BaseException) else waits.waits,
    )


async def _list_broker_notices(context: OperatorContext) -> list[Notice]:
    """Return a notice if the message broker takes no messages from a service."""
    reports = await asyncio.gather(*(_get_readiness(http) for http in context.others.values()))
    answers = (report.get("transport", "ok") for report in reports)
    return [
        notices.error_notice(
            f"Chains do not continue, because services cannot send messages: {answer}"
        )
        for answer in answers
        if answer != "ok"
    ][:1]


async def _get_readiness(http: httpx.AsyncClient) -> dict[str, str]:
    """Return the readiness report of a service. Other notices tell of one that does not answer."""
    try:
        report = (await http.get("/readyz")).json()
    except (ServiceError, httpx.HTTPError, ValueError):
        return {}
    return report if isinstance(report, dict) else {}


async def _find_dataset_names(
    chains: ChainsClient, tasks: Sequence[TaskStatus | UnschedulableTask]
) -> dict[UUID, str]:
    """Return the names of the input data sets by chain, as far as they are known."""
    uids = list(dict.fromkeys(task.chain_uid for task in tasks))[:_MAX_LOOKUPS]
    try:
        return {chain.uid: chain.dataset_name for chain in await chains.list_chains_by_uid(uids)}
    except ServiceError:
        return {}


async def _list_intake_notices(context: OperatorContext) -> list[Notice]:
    try:
        unmatched, ties = await asyncio.gather(
            context.intake.list_unmatched(limit=1), list_current_ties(context)
        )
    except ServiceError as error:
        return [
            notices.error_notice(
                f"The intake does not answer: new data sets get no chain now ({error.detail})"
            )
        ]
    return data_notices.report_intake(unmatched.total or len(unmatched.datasets), ties)
