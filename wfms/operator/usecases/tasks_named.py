"""Tasks by what people call them: the name of the chain's input data set, a dot, and the step."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.contracts.chains import ChainTask, ChainTaskList
from sluice.contracts.states import StepState

#: Chains of one data set that are looked at, the newest; reruns are few.
_CHAINS = 100


@dataclass(frozen=True, slots=True)
class TasksWanted:
    """``limit``: of the tasks. ``full``: with how many jobs were killed."""

    name: str
    chain: UUID | None = None
    state: StepState | None = None
    limit: int | None = None
    full: bool = False


async def tasks_named(dms: DmsClient, chains: ChainsClient, wanted: TasksWanted) -> ChainTaskList:
    """Effect: none. None where nothing has the name; of several chains the newest first. Names of data sets may have dots, and so
    may those of steps. Raises ``NotAvailable``."""
    places = [place for place, letter in enumerate(wanted.name) if letter == "."]
    parts = [(wanted.name[:place], wanted.name[place + 1 :]) for place in places]
    datasets = await asyncio.gather(*(dms.dataset_named(name) for name, _ in parts))
    found: list[ChainTask] = []
    for dataset, (_, step) in zip(datasets, parts, strict=True):
        if dataset is not None:
            found += await _of_step(chains, dataset.uid, step, wanted)
    return ChainTaskList(tasks=found[: wanted.limit])


async def _of_step(chains: ChainsClient, dataset: UUID, step: str, wanted: TasksWanted) -> list[ChainTask]:
    carried = (await chains.chains(dataset=dataset, limit=_CHAINS)).chains
    uids = [
        one.task_uid
        for chain in carried
        if wanted.chain in {None, chain.uid}
        for one in chain.steps
        if one.name == step and one.task_uid is not None and wanted.state in {None, one.state}
    ]
    return list(await asyncio.gather(*(chains.task(uid, full=wanted.full) for uid in uids)))
