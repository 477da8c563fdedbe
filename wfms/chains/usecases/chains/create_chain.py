"""Create a chain, which carries a data set through a template."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from sluice.contracts.access.owners import Visibility, visibility
from sluice.contracts.chains.chains import NewChain
from sluice.contracts.common.problems import Conflict, Finding
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.asset_refs import ASSET_SCHEME, MARK, is_asset
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.chain_requirements import DatasetFacts, requires_text, unmet
from sluice.contracts.templates.parameters import find_problems
from sluice.servicekit.access.ownership import Ownership, ownership
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Connection, Transaction
from wfms.chains.db import chains, datasets
from wfms.chains.db.chains import NewChainRow, TemplateVersion
from wfms.chains.db.quotas import require_quota
from wfms.chains.domain.graph import link_findings
from wfms.chains.domain.identity import ChainKey
from wfms.chains.domain.parameters import complete
from wfms.chains.domain.tasks import name_findings
from wfms.chains.usecases.chains.advance_chain import advance_chain
from wfms.chains.usecases.chains.find_bound_assets import find_bound_assets
from wfms.chains.usecases.chains.find_files import find_files
from wfms.chains.usecases.chains.find_given_assets import find_given_assets
from wfms.chains.usecases.chains.find_secrets import find_secrets
from wfms.chains.usecases.chains.refusals import ChainRefused, DatasetDeleted
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.data.dataset_access import unknown_dataset

log = structlog.get_logger(__name__)

#: Number of attempts to find the newest versions of assets while versions are taken back.
TRIES = 5


class AssetsChanged(Conflict):
    """Versions of assets were taken back during each of several attempts to find them."""

    def __init__(self, new: NewChain) -> None:
        super().__init__(
            f"template {new.template}: assets that it is bound to are being withdrawn: try again"
        )


async def create_chain(
    context: ChainsContext, new: NewChain, *, by: Person | None = None
) -> tuple[UUID, bool]:
    """Create a chain, or find the existing one with the same data set, template and parameters.

    Invariant 1: there is one such chain. Without given parameters it is the chain that starts
    automatically. It gets the newest versions of the assets that its template is bound to.

    Args:
        context: Clients and settings.
        new: The chain to create.
        by: The person who requests the chain. None means that it starts automatically.

    Returns:
        The chain's uid, and whether it is new.

    Raises:
        ChainRefused: The data set or the parameters do not fit the template.
        DatasetDeleted: A data set is deleted or about to be.
        Forbidden: The person is not in the group.
        NotFound: The person does not see a data set.
        AssetsChanged: The versions of assets are being taken back.
        TooManyChains: A quota is used up, and a person asks.
        TooManyTriggeredChains: A quota is used up, and the chain starts automatically.
        NotAvailable: The DMS or the operator service does not answer.
    """
    reader_visibility = visibility([new.group]) if by is None else by.visibility
    owner = ownership(by, owner=new.owner, group=new.group)
    await _require_visible_dataset(context, new, reader_visibility, by=by)
    if any(map(is_asset, new.params.values())):
        _require_fitting(new)
        new = await find_given_assets(context.operator, new)
    for _ in range(TRIES):
        async with context.database.connection() as connection:
            key, exists = await _key(connection, new)
        if exists:
            return key.uid, False
        _require_acceptable(key.uid, new)
        asset_values = await find_bound_assets(context.operator, new)
        try:
            return await _create(
                context,
                new,
                asset_values,
                _ChainOwner(owner, reader_visibility, by_person=by is not None),
            )
        except (DatasetDeleted, ChainRefused):
            # A version may have been taken back meanwhile. Then the next attempt finds another
            # version, or a reason.
            if await find_bound_assets(context.operator, new) == asset_values:
                raise
    raise AssetsChanged(new)


async def _require_visible_dataset(
    context: ChainsContext, new: NewChain, reader_visibility: Visibility, *, by: Person | None
) -> None:
    """Require that the data set is visible: since it was matched, its sharing may have ended."""
    dataset = new.dataset
    if dataset.group != new.group:
        dataset = await context.dms.get_dataset(dataset.uid)
    if reader_visibility.sees(dataset.group, dataset.shared_with):
        return
    if by is None:
        raise ChainRefused(
            f"data set {dataset.name} is no longer shared with the group {new.group}"
        )
    raise unknown_dataset(dataset.uid)


def _with_params(new: NewChain, asset_values: Mapping[str, Any]) -> NewChain:
    return new.model_copy(update={"params": {**new.params, **asset_values}})


@dataclass(frozen=True, slots=True)
class _ChainOwner:
    """Who owns the chain, and who must see what it reads."""

    ownership: Ownership
    reader_visibility: Visibility
    by_person: bool


async def _key(connection: Connection, new: NewChain) -> tuple[ChainKey, bool]:
    """Return the key of the group's chain, and whether the chain exists.

    When a data set is given to another group, its existing chains stay with the old group.
    """
    plain, elsewhere = ChainKey.of(new), ChainKey.elsewhere(new)
    has_it = await chains.find_group_of_key(connection, plain)
    if has_it == new.group:
        return plain, True
    if await chains.find_group_of_key(connection, elsewhere) is not None:
        return elsewhere, True
    free = has_it is None and new.group == new.dataset.group
    return (plain if free else elsewhere), False


async def _create(
    context: ChainsContext,
    request: NewChain,
    asset_values: Mapping[str, Any],
    chain_owner: _ChainOwner,
) -> tuple[UUID, bool]:
    """Create the chain as ``create_chain`` does; ``asset_values`` has the bound parameters."""
    database, new = context.database, _with_params(request, asset_values)
    files = await find_files(context.dms, new, reader_visibility=chain_owner.reader_visibility)
    plan = await find_secrets(context.operator, new)
    copied = await _is_copy(context, new)
    async with database.transaction() as transaction:
        # Lock the inputs first, so that they cannot be released while this chain starts to use
        # them.
        released = await chains.lock_inputs(
            transaction.connection, [new.dataset.uid, *(file.uid for file in files.values())]
        )
        key, exists = await _key(transaction.connection, request)
        if exists:
            return key.uid, False
        for needed in (new.dataset, *files.values()):
            if needed.uid in released:
                raise DatasetDeleted(
                    needed,
                    "was released for deletion: another chain had finished with it, or somebody"
                    " asked for it",
                )
        await require_quota(
            transaction.connection, chain_owner.ownership, by_person=chain_owner.by_person
        )
        row = NewChainRow(
            uid=key.uid,
            variant=key.variant,
            template=TemplateVersion(new.template_id, new.template, new.template_version),
            plan=plan,
            params=complete(new.plan, new.params),
            dataset=new.dataset,
            keep_failed=context.keep_failed,
            rank=new.rank,
            ownership=chain_owner.ownership,
            input_copied=copied,
        )
        await _insert(transaction, row, files, now=database.clock.now())
    log.info("chain.created", chain=str(key.uid), dataset=str(key.dataset), template=new.template)
    return key.uid, True


async def _is_copy(context: ChainsContext, new: NewChain) -> bool:
    """Return whether deleting the first input loses nothing, where that decides what happens."""
    retention = new.plan.retention
    if retention.input == "keep" or retention.only_copies:
        return False
    return new.dataset.slice is not None or (await context.dms.get_dataset(new.dataset.uid)).copied


def _require_fitting(new: NewChain) -> None:
    if problems := find_problems(new.plan, new.params):
        raise ChainRefused.of(new, problems)


def _require_acceptable(uid: UUID, new: NewChain) -> None:
    dataset = new.dataset
    if MARK in dataset.meta:
        raise ChainRefused(
            f"data set {dataset.name} contains the asset {dataset.meta[MARK]}: give it to a chain"
            f" as a parameter ({ASSET_SCHEME}{dataset.meta[MARK]})"
        )
    if dataset.append_only is not None:
        raise ChainRefused(
            f"data set {dataset.name} is append-only and cannot be a chain's input: templates with"
            " 'every' in sluice:match take slices of it"
        )
    if dataset.type in {DatasetType.INTERMEDIATE, DatasetType.LOGS}:
        raise ChainRefused(
            f"data set {dataset.name} is of type {dataset.type}: such data can be used only within"
            " its own chain"
        )
    if dataset.count_files and not new.plan.takes_dataset:
        raise ChainRefused(
            f"template {new.template} takes no data set (all its inputs are parameters), but"
            f" {dataset.name} has files: start it without a data set"
        )
    if broken_links := link_findings(new.plan):
        raise ChainRefused.of(new, broken_links)
    problems = [*find_problems(new.plan, new.params), *name_findings(uid, new.plan)]
    broken = unmet(new.plan, DatasetFacts.of(dataset), new.params)
    problems += [Finding(message=requires_text([condition])) for condition in broken]
    if problems:
        raise ChainRefused.of(new, problems)
    if dataset.state in {DatasetState.DELETING, DatasetState.DELETED}:
        raise DatasetDeleted(dataset, f"is {dataset.state}")


async def _insert(
    transaction: Transaction, row: NewChainRow, files: Mapping[str, Dataset], *, now: datetime
) -> None:
    connection, uid = transaction.connection, row.uid
    await chains.insert_chain(connection, row, now=now)
    await datasets.insert_chain_dataset(connection, uid, row.dataset, now=now)
    for parameter, file in files.items():
        await datasets.insert_chain_dataset(connection, uid, file, port=parameter, now=now)
    await advance_chain(transaction, uid, now=now)
