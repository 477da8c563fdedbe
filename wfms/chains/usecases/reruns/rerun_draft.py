"""A rerun that is planned and not stored."""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from sluice.contracts.access.owners import Visibility, visibility
from sluice.contracts.chains.chains import NewChain, RerunChain
from sluice.contracts.common.problems import Conflict, Finding
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.asset_refs import MARK, is_asset
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.chain_requirements import requires_text, unmet_parameters
from sluice.contracts.templates.parameters import find_problems, find_unknown_fields
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.access.ownership import Ownership
from sluice.servicekit.access.principal import Person
from wfms.chains.db import chains
from wfms.chains.db.chains import StoredChain
from wfms.chains.domain.parameters import complete
from wfms.chains.domain.rerun import Rerun, RerunRequest, from_outside, plan_rerun
from wfms.chains.domain.tasks import before_port
from wfms.chains.usecases.chains.find_files import find_files
from wfms.chains.usecases.chains.find_given_assets import find_given_assets
from wfms.chains.usecases.chains.find_secrets import find_secrets
from wfms.chains.usecases.chains.get_chain import UnknownChain
from wfms.chains.usecases.chains.refusals import ChainRefused
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.data.dataset_access import unknown_dataset


class ChainNotEnded(Conflict):
    """The chain has not ended."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"chain {uid} has not ended: wait until it ends, or cancel it, before you rerun it",
            uid=uid,
        )


@dataclass(frozen=True, slots=True)
class RerunDraft:
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


async def make_rerun_draft(
    context: ChainsContext, uid: UUID, rerun_request: RerunChain, *, by: Person | None
) -> RerunDraft:
    """Plan a rerun of a chain that has ended, and return what ``rerun_chain`` would store.

    Raises:
        UnknownChain: There is no such chain.
        ChainNotEnded: The chain has not ended.
        ChainRefused: The parameters do not fit.
        NoSuchStep: The chain does not have the step to begin at.
        ConflictingRerunOptions: Both a step and failed jobs were asked for.
        NoFailedJobs: Only failed jobs were asked for, and none failed.
        NotFound: An input is no longer visible.
        NotAvailable: Another service does not answer.
    """
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
    return RerunDraft(before, new_plan, request, rerun, readable, ownership)


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
