"""Finds tasks by what people call them: the name of the chain's input data set, a dot, and the
step."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from sluice.clients.chains import ChainsClient
from sluice.contracts.base import Name
from sluice.contracts.chains import ChainTask, ChainTaskList
from sluice.contracts.states import StepState
from wfms.operator.usecases.context import OperatorContext

#: Chains of one data set that are looked at, the newest; reruns are few.
_CHAINS = 100
#: Data sets asked for at the same time.
_AT_ONCE = 8

_NAME: TypeAdapter[str] = TypeAdapter(Name)


@dataclass(frozen=True, slots=True)
class TaskSearch:
    """``limit``: of the tasks. ``full``: with how many jobs were killed."""

    name: str
    chain: UUID | None = None
    state: StepState | None = None
    limit: int | None = None
    full: bool = False


async def find_tasks(context: OperatorContext, wanted: TaskSearch) -> ChainTaskList:
    """Effect: none. None of them where nothing has the name; of several chains the newest first.
    Names of data sets may have dots, and so may those of steps. Raises ``NotAvailable``."""
    parts = list(_readings(wanted.name))
    found: list[ChainTask] = []
    for first in range(0, len(parts), _AT_ONCE):
        page = parts[first : first + _AT_ONCE]
        called = await asyncio.gather(*(context.dms.datasets_called(name) for name, _ in page))
        for datasets, (_, step) in zip(called, page, strict=True):
            for dataset in datasets:
                found += await _of_step(context.chains, dataset.uid, step, wanted)
    return ChainTaskList(tasks=found[: wanted.limit])


def _readings(name: str) -> Iterator[tuple[str, str]]:
    """A data set's name and a step's: one pair for each dot at which a name may end; a long text
    has no more than others."""
    for place, letter in enumerate(name):
        if letter != ".":
            continue
        if place and not _is_name(name[:place]):
            return
        if place and name[place + 1 :]:
            yield name[:place], name[place + 1 :]


def _is_name(text: str) -> bool:
    try:
        _NAME.validate_python(text)
    except ValidationError:
        return False
    return True


async def _of_step(
    chains: ChainsClient, dataset: UUID, step: str, wanted: TaskSearch
) -> list[ChainTask]:
    carried = (await chains.chains(dataset_uid=dataset, limit=_CHAINS)).chains
    uids = [
        planned.task_uid
        for chain in carried
        if wanted.chain in {None, chain.uid}
        for planned in chain.steps
        if planned.name == step
        and planned.task_uid is not None
        and wanted.state in {None, planned.state}
    ]
    return list(await asyncio.gather(*(chains.task(uid, full=wanted.full) for uid in uids)))
