"""Start steps: claim them, prepare storages and data sets, then mark each and send its task.

Several instances share the work by claims with a token. Another instance takes over a claim that
has expired. Everything before the final transaction may happen twice: data sets have unique names,
the task has a fixed uid, and the watcher ignores a repetition. The task is sent in the transaction
that marks the step in progress, so only the instance that wins sends it.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import structlog

from sluice.contracts.chains.chains import Watch
from sluice.contracts.common.problems import Conflict, ServiceError, Unprocessable
from sluice.contracts.common.states import (
    ChainState,
    DatasetState,
    StepState,
    StorageType,
    WatchKind,
)
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import ReusedTask, Task
from sluice.contracts.messaging.messages import WMS_DOWNSTREAM_COUNTS, WMS_TASKS, DownstreamCounts
from sluice.contracts.templates.plan import Source
from sluice.servicekit.database import TRANSIENT_ERRORS, Transaction, to_not_available
from sluice.servicekit.running.logging import log_ids
from wfms.chains.db import chains, datasets, steps
from wfms.chains.db.chains import LockedChain, StoredChain
from wfms.chains.db.steps import StepClaim
from wfms.chains.domain.early_release import early_released_inputs
from wfms.chains.domain.identity import dataset_name, task_uid
from wfms.chains.domain.parameters import given_files
from wfms.chains.domain.ranks import add_ranks
from wfms.chains.domain.storages import choose_storage
from wfms.chains.domain.tasks import (
    StepDatasets,
    before_port,
    dataset_folder,
    make_task,
    new_dataset,
    ports,
)
from wfms.chains.usecases.chains.advance_chain import advance_chain
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)

#: The reason of a step that an error in the program keeps from starting.
_UNEXPECTED = "an unexpected error, which is in the log of the chain service; it is tried again"

#: The data sets registered so far, and the URLs of their storages, by port. The logs have the port
#: None.
RegisteredDatasets = dict[str | None, Dataset]
Folders = Mapping[str | None, str]


@dataclass(frozen=True, slots=True)
class _Start:
    """A step that is ready to start; ``downstream_counts`` comes from ``early_released_inputs``."""

    task: Task
    downstream_counts: Mapping[UUID, int] = field(default_factory=dict)


class DatasetNameConflict(Conflict):
    """The DMS has a data set of this name that belongs to another chain or is no longer open."""

    def __init__(self, name: str, existing_dataset: Dataset | None) -> None:
        state = (
            "gone again"
            if existing_dataset is None
            else f"{existing_dataset.state}, of chain {existing_dataset.meta.get('chain')}"
        )
        super().__init__(
            f"the DMS refuses data set {name}: a data set of this name exists, {state}",
            dataset=name,
        )


async def start_steps(context: ChainsContext) -> bool:
    """Start the steps that are due, and return whether there may be more.

    A step becomes in progress, and its task is sent (``wms.tasks``, ``wms.downstream-counts``). It
    fails, with its chain, if another service refuses a request. It is canceled if its chain is
    ending. Otherwise it waits, with a visible reason. After a step has started, downstream steps
    that stream its files may be starting.
    """
    token = uuid4()
    try:
        async with context.database.connection() as connection:
            claims = await steps.claim_steps(
                connection,
                token,
                claim_duration=context.start_rules.claim_duration,
                limit=context.start_rules.batch,
            )
        started = await asyncio.gather(*(_start(context, claim) for claim in claims))
    except asyncio.CancelledError:  # at a stop, another instance continues at once
        async with context.database.connection() as connection:
            await steps.unclaim_steps(connection, token)
        raise
    return any(started) or len(claims) == context.start_rules.batch


async def _start(context: ChainsContext, claim: StepClaim) -> bool:
    """Start a step, and return whether it has started."""
    with log_ids(chain=claim.chain, task=claim.task):
        registered: RegisteredDatasets = {}
        try:
            chain = await _load(context, claim)
            start = None if chain.view.ending else await _process(context, claim, chain, registered)
            if start is None:
                await _find_leftovers(context, claim, chain, registered)
            return await _apply(context, claim, registered, start)
        except (Unprocessable, Conflict) as refusal:
            await _refuse(context, claim, registered, refusal)
        except ServiceError as error:
            await _postpone(context, claim, error.detail)
        except TRANSIENT_ERRORS as error:
            await _postpone(context, claim, to_not_available(error).detail)
        except Exception:
            # Process boundary: one step must not keep the others from starting.
            log.exception("step.start_failed", step=claim.step)
            await _postpone(context, claim, _UNEXPECTED)
    return False


async def _load(context: ChainsContext, claim: StepClaim) -> StoredChain:
    async with context.database.transaction() as transaction:
        chain = await chains.lock_chain(transaction.connection, claim.chain)
    assert chain is not None  # noqa: S101 - steps refer to their chain in the schema
    return chain


async def _process(
    context: ChainsContext,
    claim: StepClaim,
    chain: StoredChain,
    registered_datasets: RegisteredDatasets,
) -> _Start:
    """Choose storages, add the data sets to ``registered_datasets``, and inform the watcher."""
    plan = chain.view.plan
    step = plan.step(claim.step)
    storages = await context.dms.list_storages(all=True)
    data, logs = (
        choose_storage(kind, storages).url for kind in (StorageType.INTERMEDIATE, StorageType.LOGS)
    )
    urls = {port: logs if port is None else data for port in ports(plan, claim.step)}
    await _register(context, claim, chain, urls=urls, registered_datasets=registered_datasets)
    step_datasets = StepDatasets(
        sources=_select_source_datasets(chain, step.sources),
        outputs={
            port: dataset_folder(registered_datasets[port], data)
            for port in urls
            if port is not None
        },
        logs=dataset_folder(registered_datasets[None], logs),
        before=_find_reused_task(chain, claim.step),
    )
    task = make_task(
        chain.origin, plan, step=claim.step, params=chain.params, datasets=step_datasets
    )
    await context.watcher.watch(
        Watch(
            kind=WatchKind.TASK,
            uid=task.uid,
            chain_uid=claim.chain,
            step=claim.step,
            dat_in_uid=task.main_input.dat_in_uid,
            dat_out_uid=task.main_output.dat_out_uid if task.outputs else task.log_out_uid,
            log_out_uid=task.log_out_uid,
        )
    )
    return _Start(task, early_released_inputs(chain.view, step, step_datasets.sources))


async def _register(
    context: ChainsContext,
    claim: StepClaim,
    chain: StoredChain,
    *,
    urls: Folders,
    registered_datasets: RegisteredDatasets,
) -> None:
    async def register(port: str | None, url: str) -> None:
        new = new_dataset(
            chain.origin, chain.view.plan, step=claim.step, port=port, storage_url=url
        )
        try:
            registered_datasets[port] = await context.dms.register_dataset(new)
        except Conflict:
            # An earlier attempt has registered it on another storage, which is used.
            registered_datasets[port] = await _find_own_dataset(context, new.name, claim)

    answers = await asyncio.gather(
        *(register(port, url) for port, url in urls.items()), return_exceptions=True
    )
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer


async def _find_own_dataset(context: ChainsContext, name: str, claim: StepClaim) -> Dataset:
    existing = await context.dms.find_dataset_by_name(name)
    if (
        existing is None
        or existing.state is not DatasetState.OPEN
        or existing.meta.get("chain") != str(claim.chain)
    ):
        raise DatasetNameConflict(name, existing)
    return existing


async def _find_leftovers(
    context: ChainsContext,
    claim: StepClaim,
    chain: StoredChain,
    registered_datasets: RegisteredDatasets,
) -> None:
    """Find empty data sets of an interrupted start in the DMS, so that they are released."""
    for port in ports(chain.view.plan, claim.step):
        existing = await context.dms.find_dataset_by_name(
            dataset_name(claim.chain, claim.step, port)
        )
        if existing is not None:
            registered_datasets[port] = existing


async def _apply(
    context: ChainsContext,
    claim: StepClaim,
    registered_datasets: RegisteredDatasets,
    start: _Start | None,
) -> bool:
    now = context.database.clock.now()
    async with context.database.transaction() as transaction:
        current = await _lock_if_still_claimed(context, transaction, claim, registered_datasets)
        if current is None:
            return False
        if start is None or current.ending is not None:
            to, reason = StepState.CANCELED, current.reason
        else:
            to, reason = StepState.IN_PROGRESS, ""
            _send(transaction, start, rank=current.rank)
        await steps.move_steps(
            transaction.connection, claim.chain, [claim.step], to=to, now=now, reason=reason
        )
        await advance_chain(transaction, claim.chain, now=now)
    started = to is StepState.IN_PROGRESS
    log.info("step.started" if started else "step.discarded", step=claim.step)
    return started


async def _refuse(
    context: ChainsContext,
    claim: StepClaim,
    registered_datasets: RegisteredDatasets,
    refusal: ServiceError,
) -> None:
    now = context.database.clock.now()
    async with context.database.transaction() as transaction:
        if await _lock_if_still_claimed(context, transaction, claim, registered_datasets) is None:
            return
        await steps.move_steps(
            transaction.connection,
            claim.chain,
            [claim.step],
            to=StepState.FAILED,
            now=now,
            reason=refusal.detail,
        )
        sentence = f"step {claim.step} could not be started: {refusal.detail}"
        await chains.end_chain(
            transaction.connection, claim.chain, ChainState.FAILED, reason=sentence
        )
        await advance_chain(transaction, claim.chain, now=now)
    log.error("step.refused", step=claim.step, reason=refusal.detail)


async def _postpone(context: ChainsContext, claim: StepClaim, reason: str) -> None:
    async with context.database.connection() as connection:
        await steps.postpone_step(
            connection, claim, pause=context.start_rules.pause(claim.attempts), reason=reason
        )
    log.warning("step.postponed", step=claim.step, attempts=claim.attempts, reason=reason)


async def _lock_if_still_claimed(
    context: ChainsContext,
    transaction: Transaction,
    claim: StepClaim,
    registered_datasets: RegisteredDatasets,
) -> LockedChain | None:
    """Lock the chain, store its new data sets, and return it if the claim still holds.

    If the claim has expired, another instance has the step. It may have canceled the step
    before these data sets existed, so they are released here.
    """
    now = context.database.clock.now()
    chain = await chains.lock_chain_row(transaction.connection, claim.chain)
    for port, dataset in registered_datasets.items():
        await datasets.insert_chain_dataset(
            transaction.connection,
            claim.chain,
            dataset,
            step=claim.step,
            port=port,
            now=now,
        )
    if await steps.is_still_claimed(transaction.connection, claim):
        return chain
    await advance_chain(transaction, claim.chain, now=now)
    return None


def _send(transaction: Transaction, start: _Start, *, rank: float) -> None:
    """Send the task with the chain's ``rank``, which cannot change while the chain is locked."""
    task = start.task
    ranked_task = task.model_copy(update={"rank": add_ranks(task.rank, rank)})
    ids = {"chain": task.chain_uid, "task": task.uid}
    transaction.send(WMS_TASKS, ranked_task, subject=task.uid, **ids)
    if start.downstream_counts:
        counts = DownstreamCounts(task_uid=task.uid, counts=dict(start.downstream_counts))
        transaction.send(WMS_DOWNSTREAM_COUNTS, counts, subject=task.uid, **ids)


def _find_reused_task(chain: StoredChain, step: str) -> ReusedTask | None:
    earlier = chain.view.steps[step].jobs_from
    if earlier is None:
        return None
    ports = {
        output.port: chain.view.dataset(step, before_port(output.port))
        for output in chain.view.plan.step(step).outputs
    }
    return ReusedTask(
        task=task_uid(earlier, step),
        outputs={port: dataset.uid for port, dataset in ports.items() if dataset is not None},
    )


def _select_source_datasets(chain: StoredChain, sources: Iterable[Source]) -> dict[Source, UUID]:
    """Return the data sets of the sources; file parameters without a value are left out."""
    plan = chain.view.plan
    files = {
        Source(step=None, port=name): file.dataset
        for name, file in given_files(plan, chain.params).items()
    }
    uids = {Source(step=None, port=plan.data_input): chain.input_uid, **files}
    for source in sources:
        if source.step is not None:
            dataset = chain.view.dataset(source.step, source.port)
            # A step starts after its upstream tasks were sent. Their data sets are stored by then.
            assert dataset is not None  # noqa: S101 - see above
            uids[source] = dataset.uid
    return uids
