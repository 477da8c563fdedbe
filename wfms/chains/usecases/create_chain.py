"""A data set is to be carried through a template: makes the chain."""

from datetime import datetime
from uuid import UUID

import structlog

from sluice.contracts.chains import NewChain
from sluice.contracts.datasets import Dataset
from sluice.contracts.problems import Conflict, Unprocessable
from sluice.contracts.states import ChainState, DatasetState, DatasetType
from sluice.servicekit.database import Database, Transaction
from wfms.chains.db import chains, datasets
from wfms.chains.domain.identity import chain_uid, task_uid
from wfms.chains.domain.parameters import complete, findings
from wfms.chains.domain.tasks import name_findings
from wfms.chains.usecases.settle_chain import settle_chain

log = structlog.get_logger(__name__)


class DatasetGone(Conflict):
    """The data set is deleted, or about to be."""

    def __init__(self, dataset: Dataset, why: str) -> None:
        super().__init__(f"data set {dataset.name} {why}: no chain can start on it", dataset=dataset.uid, state=dataset.state)


class UnfitChain(Unprocessable):
    """The data set is of the wrong type, or parameters or names do not fit the plan; ``findings`` say what is wrong."""


async def create_chain(database: Database, new: NewChain) -> tuple[UUID, bool]:
    """Gives the chain's uid and whether it is new; a repetition gives the first (invariant 1).

    Effect: the chain, its steps and its input are stored; steps that read the input become starting. Messages: none.
    Errors: ``UnfitChain``, ``DatasetGone``.
    """
    uid = chain_uid(new.dataset.uid, new.template_id, new.template_version)
    async with database.transaction() as transaction:
        # The input's lock comes first: its release and its taking into use exclude each other.
        released = await transaction.connection.fetchval(chains.LOCK_INPUT, new.dataset.uid)
        known: UUID | None = await transaction.connection.fetchval(
            chains.FIND_CHAIN, new.dataset.uid, new.template_id, new.template_version
        )
        if known is not None:
            return known, False
        _check(uid, new, released=released is not None)
        await _insert(transaction, uid, new, now=database.clock.now())
    log.info("chain.created", chain=str(uid), dataset=str(new.dataset.uid), template=new.template_name)
    return uid, True


def _check(uid: UUID, new: NewChain, *, released: bool) -> None:
    dataset = new.dataset
    if dataset.type in {DatasetType.INTERMEDIATE, DatasetType.LOGS}:
        raise UnfitChain(f"data set {dataset.name} is of type {dataset.type}: such data lives only inside its own chain")
    wrong = [*findings(new.plan, new.params), *name_findings(uid, new.plan)]
    if wrong:
        listed = "; ".join(finding.message for finding in wrong)
        raise UnfitChain(f"template {new.template_name} cannot take data set {dataset.name}: {listed}", findings=wrong)
    if dataset.state in {DatasetState.DELETING, DatasetState.DELETED}:
        raise DatasetGone(dataset, f"is {dataset.state}")
    if released:
        raise DatasetGone(dataset, "was released for deletion after another chain had finished")


async def _insert(transaction: Transaction, uid: UUID, new: NewChain, *, now: datetime) -> None:
    dataset = new.dataset
    await transaction.connection.execute(
        chains.INSERT_CHAIN,
        uid,
        ChainState.IN_PROGRESS,
        new.template_id,
        new.template_name,
        new.template_version,
        new.plan.model_dump(mode="json"),
        complete(new.plan, new.params),
        dataset.uid,
        dataset.name,
        dataset.model_dump(mode="json"),
        now,
    )
    names = [step.name for step in new.plan.steps]
    await chains.insert_steps(transaction.connection, uid, names, [task_uid(uid, name) for name in names])
    await datasets.insert_dataset(transaction.connection, uid, dataset.uid, name=dataset.name, place=(None, None), now=now)
    await settle_chain(transaction, uid, now=now)
