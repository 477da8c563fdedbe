"""A data set is to be carried through a template: makes the chain."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import structlog

from sluice.clients.dms import DmsClient
from sluice.contracts.chains import NewChain
from sluice.contracts.datasets import Dataset
from sluice.contracts.states import ChainState, DatasetState, DatasetType
from sluice.servicekit.database import Connection, Database, Transaction
from wfms.chains.db import chains, datasets
from wfms.chains.domain.identity import chain_uid, task_uid
from wfms.chains.domain.parameters import complete, findings
from wfms.chains.domain.tasks import name_findings
from wfms.chains.usecases.find_files import DatasetGone, UnfitChain, find_files
from wfms.chains.usecases.settle_chain import settle_chain

log = structlog.get_logger(__name__)


async def create_chain(database: Database, new: NewChain, dms: DmsClient) -> tuple[UUID, bool]:
    """Gives the chain's uid and whether it is new; a repetition gives the first (invariant 1).

    Effect: the chain, its steps and its inputs are stored; steps that read the input become starting. Messages: none.
    Errors: ``UnfitChain``, ``DatasetGone``; ``NotAvailable`` where the DMS cannot be asked for files that are parameters.
    """
    uid = chain_uid(new.dataset.uid, new.template_id, new.template_version)
    async with database.connection() as connection:
        known = await _known(connection, new)
    if known is not None:
        return known, False
    _check(uid, new)
    files = await find_files(dms, new)
    async with database.transaction() as transaction:
        # The inputs' locks come first: their release and their taking into use exclude each other.
        released = await chains.lock_inputs(transaction.connection, [new.dataset.uid, *(one.uid for one in files.values())])
        known = await _known(transaction.connection, new)
        if known is not None:
            return known, False
        for one in (new.dataset, *files.values()):
            if one.uid in released:
                raise DatasetGone(one, "was released for deletion after another chain had finished")
        await _insert(transaction, uid, new, files, now=database.clock.now())
    log.info("chain.created", chain=str(uid), dataset=str(new.dataset.uid), template=new.template_name)
    return uid, True


async def _known(connection: Connection, new: NewChain) -> UUID | None:
    known: UUID | None = await connection.fetchval(chains.FIND_CHAIN, new.dataset.uid, new.template_id, new.template_version)
    return known


def _check(uid: UUID, new: NewChain) -> None:
    dataset = new.dataset
    if dataset.type in {DatasetType.INTERMEDIATE, DatasetType.LOGS}:
        raise UnfitChain(f"data set {dataset.name} is of type {dataset.type}: such data lives only inside its own chain")
    wrong = [*findings(new.plan, new.params), *name_findings(uid, new.plan)]
    if wrong:
        raise UnfitChain.of(new, wrong)
    if dataset.state in {DatasetState.DELETING, DatasetState.DELETED}:
        raise DatasetGone(dataset, f"is {dataset.state}")


async def _insert(transaction: Transaction, uid: UUID, new: NewChain, files: Mapping[str, Dataset], *, now: datetime) -> None:
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
    for name, one in files.items():
        await datasets.insert_dataset(transaction.connection, uid, one.uid, name=one.name, place=(None, name), now=now)
    await settle_chain(transaction, uid, now=now)
