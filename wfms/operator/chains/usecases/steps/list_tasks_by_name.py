"""The search for tasks by name: the input data set of the chain, a dot and the step."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from sluice.clients.chains import ChainsClient
from sluice.contracts.chains.chains import ChainTask, ChainTaskList
from sluice.contracts.common.base import Name
from sluice.contracts.common.states import StepState
from wfms.operator.context import OperatorContext

#: The newest chains of a data set that are searched. There are few reruns.
_CHAINS = 100
#: Data set names that are looked up concurrently.
_AT_ONCE = 8

_NAME: TypeAdapter[str] = TypeAdapter(Name)


@dataclass(frozen=True, slots=True)
class TaskSearch:
    """The conditions of a search.

    Attributes:
        limit: The maximum number of tasks.
    """

    name: str
    chain: UUID | None = None
    state: StepState | None = None
    limit: int | None = None


async def list_tasks_by_name(context: OperatorContext, search: TaskSearch) -> ChainTaskList:
    """Return the tasks that have the name.

    Names of data sets and of steps may contain dots, so each dot is tried as the separator.

    Raises:
        NotAvailable: Another service does not answer.
    """
    parts = list(_split_name(search.name))
    tasks: list[ChainTask] = []
    for first in range(0, len(parts), _AT_ONCE):
        page = parts[first : first + _AT_ONCE]
        matches = await asyncio.gather(
            *(context.dms.list_datasets_by_name(name) for name, _ in page)
        )
        for datasets, (_, step) in zip(matches, page, strict=True):
            for dataset in datasets:
                tasks += await _find_tasks_of_step(context.chains, dataset.uid, step, search)
    return ChainTaskList(tasks=tasks[: search.limit])


def _split_name(name: str) -> Iterator[tuple[str, str]]:
    """Yield each pair of data set name and step name that the text can mean.

    The loop ends where the first part is no valid name, so a long text has no more pairs.
    """
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


async def _find_tasks_of_step(
    chains: ChainsClient, dataset: UUID, step: str, search: TaskSearch
) -> list[ChainTask]:
    chain_page = (await chains.list_chains(dataset_uid=dataset, limit=_CHAINS)).chains
    uids = [
        planned.task_uid
        for chain in chain_page
        if search.chain in {None, chain.uid}
        for planned in chain.steps
        if planned.name == step
        and planned.task_uid is not None
        and search.state in {None, planned.state}
    ]
    return list(await asyncio.gather(*(chains.get_task(uid) for uid in uids)))
