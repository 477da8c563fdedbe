"""Makes a chain, which carries a data set through a template."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import structlog

from sluice.contracts.chain_requirements import DatasetFacts, requires_text, unmet
from sluice.contracts.chains import NewChain
from sluice.contracts.datasets import Dataset
from sluice.contracts.parameters import findings
from sluice.contracts.problems import Finding
from sluice.contracts.states import DatasetState, DatasetType
from sluice.servicekit.database import Transaction
from wfms.chains.db import chains, datasets
from wfms.chains.db.chains import NewChainRow, TemplateVersion
from wfms.chains.domain.identity import ChainKey
from wfms.chains.domain.parameters import complete
from wfms.chains.domain.tasks import name_findings
from wfms.chains.usecases.advance_chain import advance_chain
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.find_files import DatasetGone, UnfitChain, find_files
from wfms.chains.usecases.find_secrets import find_secrets

log = structlog.get_logger(__name__)


async def create_chain(context: ChainsContext, new: NewChain) -> tuple[UUID, bool]:
    """Gives the chain's uid and whether it is new. One that carries the data set through this
    version of the template with the same parameters given is the one that there is (invariant 1);
    giving none is what a chain does that starts by itself.

    Effect: the chain, its steps and its inputs are stored; steps that read the input become
    starting. Messages: none. Errors: ``UnfitChain``, ``DatasetGone``; ``NotAvailable`` where the
    DMS cannot be asked for files that are parameters, or the operator service for secrets.
    """
    database = context.database
    key = ChainKey.of(new)
    async with database.connection() as connection:
        known = await chains.find_chain(connection, key)
    if known is not None:
        return known, False
    _check(key.uid, new)
    files = await find_files(context.dms, new)
    plan = await find_secrets(context.operator, new)
    async with database.transaction() as transaction:
        # The inputs' locks come first: their release and their taking into use exclude each other.
        released = await chains.lock_inputs(
            transaction.connection, [new.dataset.uid, *(file.uid for file in files.values())]
        )
        known = await chains.find_chain(transaction.connection, key)
        if known is not None:
            return known, False
        for needed in (new.dataset, *files.values()):
            if needed.uid in released:
                raise DatasetGone(
                    needed,
                    "was released for deletion: another chain had finished with it, or somebody"
                    " asked for it",
                )
        row = NewChainRow(
            uid=key.uid,
            variant=key.variant,
            template=TemplateVersion(new.template_id, new.template_name, new.template_version),
            plan=plan,
            params=complete(new.plan, new.params),
            dataset=new.dataset,
            keep_failed=context.keep_failed,
            rank=new.rank,
        )
        await _insert(transaction, row, files, now=database.clock.now())
    log.info(
        "chain.created", chain=str(key.uid), dataset=str(key.dataset), template=new.template_name
    )
    return key.uid, True


def _check(uid: UUID, new: NewChain) -> None:
    dataset = new.dataset
    if dataset.type in {DatasetType.INTERMEDIATE, DatasetType.LOGS}:
        raise UnfitChain(
            f"data set {dataset.name} is of type {dataset.type}: such data lives only inside its"
            " own chain"
        )
    wrong = [*findings(new.plan, new.params), *name_findings(uid, new.plan)]
    broken = unmet(new.plan, DatasetFacts.of(dataset), new.params)
    wrong += [Finding(message=requires_text([condition])) for condition in broken]
    if wrong:
        raise UnfitChain.of(new, wrong)
    if dataset.state in {DatasetState.DELETING, DatasetState.DELETED}:
        raise DatasetGone(dataset, f"is {dataset.state}")


async def _insert(
    transaction: Transaction, row: NewChainRow, files: Mapping[str, Dataset], *, now: datetime
) -> None:
    connection, uid = transaction.connection, row.uid
    await chains.insert_chain(connection, row, now=now)
    await datasets.insert_chain_dataset(connection, uid, row.dataset, now=now)
    for parameter, file in files.items():
        await datasets.insert_chain_dataset(connection, uid, file, port=parameter, now=now)
    await advance_chain(transaction, uid, now=now)
