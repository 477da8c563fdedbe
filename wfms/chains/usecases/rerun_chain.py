"""Run a chain that is over again, as a new chain that takes over its remaining data.

The DMS is asked outside of transactions which data still exists. Then the new chain is stored under
the lock of the old one, which releases no data sets meanwhile. If it has released needed data by
then, the request starts again.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import structlog

from sluice.clients.wms import WmsClient
from sluice.contracts.access.owners import Visibility, visibility
from sluice.contracts.chains.chains import NewChain, RerunChain, RerunPlan
from sluice.contracts.common.problems import Conflict, Finding, ServiceError
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.asset_refs import MARK, is_asset
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import TaskStatus
from sluice.contracts.templates.chain_requirements import requires_text, unmet_parameters
from sluice.contracts.templates.parameters import find_problems, find_unknown_fields
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Transaction
from wfms.chains.db import chains, datasets, reruns
from wfms.chains.db.chains import NewChainRow, StoredChain
from wfms.chains.db.quotas import require_quota
from wfms.chains.domain.identity import rerun_uid, task_uid
from wfms.chains.domain.parameters import complete
from wfms.chains.domain.rerun import Rerun, RerunRequest, from_outside, plan_rerun
from wfms.chains.domain.rerun_counts import describe_rerun_step
from wfms.chains.domain.tasks import before_port
from wfms.chains.usecases.advance_chain import advance_chain
from wfms.chains.usecases.cancel_chain import UnknownChain
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.find_assets import find_given_assets
from wfms.chains.usecases.find_files import ChainRefused, find_files, unknown_dataset
from wfms.chains.usecases.find_secrets import find_secrets
from wfms.chains.usecases.settle_failures import settle_failures

log = structlog.get_logger(__name__)

#: Number of attempts before a request fails.
TRIES = 3


class ChainNotEnded(Conflict):
    """The chain has not ended."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"chain {uid} has not ended: wait until it ends, or cancel it, before you rerun it",
            uid=uid,
        )


class RerunDataMissing(Conflict):
    """Data that the rerun needs no longer exists; the findings say which."""

    def __init__(self, uid: UUID, missing_data: tuple[str, ...]) -> None:
        problems = [Finding(message=sentence) for sentence in missing_data]
        super().__init__(
            f"chain {uid} cannot be run again: {'; '.join(missing_data)}",
            findings=problems,
            uid=uid,
        )


class ChainChanged(Conflict):
    """The chain released data sets during each of several attempts."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(f"the data of chain {uid} are being deleted: try again later", uid=uid)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A rerun that is planned and not stored.

    ``readable`` has the existing data sets by uid. ``plan`` has the newest versions of secrets.
    """

    before: StoredChain
    plan: Plan
    request: RerunRequest
    rerun: Rerun
    readable: Mapping[UUID, Dataset]
    ownership: Ownership

    @property
    def takes(self) -> dict[UUID, str]:
        """Return the data sets that the rerun takes over, with their ports in the rerun."""
        places = {place: place[1] for place in self.rerun.reads}
        for name in self.rerun.by_jobs:
            ports = [output.port for output in self.before.view.plan.step(name).outputs]
            places |= {(name, port): before_port(port) for port in ports}
        datasets_by_place = {place: self.before.view.dataset(*place) for place in places}
        return {
            dataset.uid: places[place]
            for place, dataset in datasets_by_place.items()
            if dataset is not None
        }


async def plan_chain_rerun(
    context: ChainsContext, uid: UUID, rerun_request: RerunChain, *, by: Person | None = None
) -> RerunPlan:
    """Return what ``rerun_chain`` would do; missing data is part of the answer.

    It raises the same errors as ``rerun_chain`` except ``RerunDataMissing`` and ``ChainChanged``.
    """
    draft = await _make_draft(context, uid, rerun_request, by=by)
    counts = await _counts(context.wms, draft)
    plan = draft.before.view.plan
    return RerunPlan(
        chain_uid=uid,
        steps=[
            describe_rerun_step(draft.rerun, draft.request, step, counts) for step in plan.steps
        ],
        params=dict(draft.request.params),
        missing=list(draft.rerun.missing),
    )


async def rerun_chain(
    context: ChainsContext, uid: UUID, rerun_request: RerunChain, *, by: Person | None = None
) -> tuple[UUID, bool]:
    """Create a chain with the same data set and template version, for the person ``by``.

    Steps that are taken over are finished in it.

    Returns:
        Its uid, and whether it is new: the same key returns the first rerun.

    Raises:
        UnknownChain: There is no such chain.
        ChainNotEnded: The chain has not ended.
        ChainRefused: The parameters do not fit.
        NoSuchStep: The chain does not have the step to begin at.
        ConflictingRerunOptions: Both a step and failed jobs were asked for.
        NoFailedJobs: Only failed jobs were asked for, and none failed.
        RerunDataMissing: Data that it needs no longer exists.
        ChainChanged: The chain releases data sets at this moment.
        TooManyChains: A quota is used up.
        NotAvailable: Another service does not answer.
    """
    database = context.database
    new = rerun_uid(uid, rerun_request.key or uuid4())
    for _ in range(TRIES):
        async with database.connection() as connection:
            if await chains.chain_exists(connection, new):
                return new, False
        draft = await _make_draft(context, uid, rerun_request, by=by)
        if draft.rerun.missing:
            raise RerunDataMissing(uid, draft.rerun.missing)
        with suppress(ChainChanged):
            async with database.transaction() as transaction:
                stored = await _store_rerun(
                    transaction,
                    new,
                    draft,
                    keep_failed=context.keep_failed,
                    now=database.clock.now(),
                )
            if stored:
                log.info(
                    "chain.rerun", chain=str(new), rerun_of=str(uid), steps=list(draft.rerun.runs)
                )
            return new, stored
    raise ChainChanged(uid)


async def _make_draft(
    context: ChainsContext, uid: UUID, rerun_request: RerunChain, *, by: Person | None
) -> _Draft:
    async with context.database.transaction() as transaction:
        before = await chains.lock_chain(transaction.connection, uid)
    if before is None:
        raise UnknownChain(uid)
    if not before.view.state.final:
        raise ChainNotEnded(uid)
    plan = before.view.plan
    rerun_request = await _with_assets(context, before, rerun_request)
    params = complete(plan, {**before.params, **rerun_request.params})
    request = RerunRequest(
        chain=uid,
        input=before.input_uid,
        before=before.params,
        params=params,
        from_step=rerun_request.from_step,
        failed_only=rerun_request.failed_only,
    )
    reader_visibility = visibility([before.origin.group]) if by is None else by.visibility
    new_plan = await _check_plan(
        context, _to_new_chain(before, rerun_request), request, reader_visibility=reader_visibility
    )
    retained = [
        dataset.uid
        for dataset in before.view.datasets
        if dataset.step is not None and dataset.port is not None and dataset.is_retained
    ]
    outside = set(from_outside(plan, request).values())
    found_datasets = await context.dms.list_datasets_by_uid([*retained, *outside])
    _require_visible_inputs(found_datasets, outside, reader_visibility)
    # An open data set will be closed: its task has ended, or it is an input that is waited for.
    readable = {
        dataset.uid: dataset
        for dataset in found_datasets
        if dataset.state not in {DatasetState.DELETING, DatasetState.DELETED}
    }
    released = await _select_partly_deleted(context, readable.values())
    rerun = plan_rerun(before.view, request, readable=readable.keys(), released_datasets=released)
    ownership = Ownership(before.origin.owner if by is None else by.name, before.origin.group)
    return _Draft(before, new_plan, request, rerun, readable, ownership)


def _require_visible_inputs(
    datasets_to_read: Iterable[Dataset], outside: Collection[UUID], reader_visibility: Visibility
) -> None:
    """Require that all data from outside is still visible. Everybody sees assets.

    Raises:
        NotFound: A data set is no longer visible.
    """
    for dataset in datasets_to_read:
        if dataset.uid in outside and not (
            MARK in dataset.meta or reader_visibility.sees(dataset.group, dataset.shared_with)
        ):
            raise unknown_dataset(dataset.uid)


async def _select_partly_deleted(context: ChainsContext, datasets: Iterable[Dataset]) -> set[UUID]:
    """Return the data sets of which some files are deleted already."""
    current_datasets = await asyncio.gather(
        *(
            context.dms.get_dataset(dataset.uid)
            for dataset in datasets
            if dataset.type is DatasetType.INTERMEDIATE
        )
    )
    return {dataset.uid for dataset in current_datasets if dataset.released}


async def _check_plan(
    context: ChainsContext, new: NewChain, request: RerunRequest, *, reader_visibility: Visibility
) -> Plan:
    """Return the plan of the new chain.

    Only newly given parameters and secrets are checked. The others were checked when the chain was
    created.
    """
    plan = new.plan
    problems = find_problems(plan, {**request.params, **new.params})
    problems = problems or find_unknown_fields(plan, request.params)
    problems += [
        Finding(message=requires_text([condition]))
        for condition in unmet_parameters(plan, request.params)
    ]
    if problems:
        raise ChainRefused.of(new, problems)
    await find_files(context.dms, new, reader_visibility=reader_visibility)
    return await find_secrets(context.operator, new)


async def _with_assets(
    context: ChainsContext, before: StoredChain, rerun_request: RerunChain
) -> RerunChain:
    """Return the request with the versions of the assets that were given now.

    The chain's own assets stay the same, because the data that is taken over was made with them.

    Raises:
        ChainRefused: An asset does not exist or does not fit its parameter.
        NotAvailable: The operator service does not answer.
    """
    plan = before.view.plan
    if not any(map(is_asset, rerun_request.params.values())):
        return rerun_request
    new = _to_new_chain(before, rerun_request)
    if problems := find_problems(plan, {**before.params, **rerun_request.params}):
        raise ChainRefused.of(new, problems)
    with_assets = await find_given_assets(context.operator, new)
    return rerun_request.model_copy(update={"params": with_assets.params})


def _to_new_chain(before: StoredChain, rerun_request: RerunChain) -> NewChain:
    return NewChain(
        dataset=before.dataset,
        template_id=before.template.id,
        template=before.template.name,
        template_version=before.template.version,
        plan=before.view.plan,
        params=rerun_request.params,
        group=before.origin.group,
    )


async def _store_rerun(
    transaction: Transaction, new: UUID, draft: _Draft, *, keep_failed: timedelta, now: datetime
) -> bool:
    """Store the new chain; return False if somebody else has stored the same rerun.

    Raises:
        ChainChanged: The chain has released a needed data set meanwhile.
    """
    connection, before = transaction.connection, draft.before
    locked = await chains.lock_chain_row(connection, before.uid)
    if await chains.chain_exists(connection, new):
        return False
    outside = {
        name: uid
        for name, uid in from_outside(before.view.plan, draft.request).items()
        if uid in draft.readable
    }
    if await chains.lock_inputs(connection, [*outside.values(), *draft.takes]):
        raise ChainChanged(before.uid)
    await require_quota(connection, draft.ownership, by_person=True)
    row = NewChainRow(
        uid=new,
        variant=str(new),
        template=before.template,
        plan=draft.plan,
        params=draft.request.params,
        dataset=before.dataset,
        keep_failed=keep_failed,
        rerun_of=before.uid,
        rank=0.0 if locked is None else locked.rank,
        ownership=draft.ownership,
        input_copied=before.view.input_copied,
    )
    await chains.insert_chain(connection, row, now=now)
    complete_steps = [
        step.name for step in before.view.plan.steps if step.name not in draft.rerun.runs
    ]
    await reruns.take_steps(
        connection, new, before=before.uid, complete_steps=complete_steps, jobs=draft.rerun.by_jobs
    )
    for name, uid in outside.items():
        port = None if name == before.view.plan.data_input else name
        await datasets.insert_chain_dataset(
            connection, new, draft.readable[uid], port=port, now=now
        )
    if not await datasets.take_datasets(
        connection, new, before=before.uid, ports=draft.takes, now=now
    ):
        raise ChainChanged(before.uid)
    await advance_chain(transaction, new, now=now)
    if before.view.unsettled:
        await settle_failures(transaction, before.uid, now=now)
    return True


async def _counts(wms: WmsClient, draft: _Draft) -> dict[str, TaskStatus]:
    """Return the counts of the steps' tasks, by step; none if the WMS does not answer."""
    tasks = {
        name: task_uid(step.taken_from or draft.before.uid, name)
        for name, step in draft.before.view.steps.items()
        if step.sent
    }
    try:
        answer = await wms.list_tasks(uid=list(tasks.values()))
    except ServiceError as error:
        log.warning("wms.no_counts", reason=error.detail)
        return {}
    status_by_uid = {status.uid: status for status in answer.tasks}
    return {name: status_by_uid[uid] for name, uid in tasks.items() if uid in status_by_uid}
