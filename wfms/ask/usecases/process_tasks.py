"""Process tasks one after the other, without delays by tasks that fail."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from sluice.contracts.common.problems import NotAvailable

Task = TypeVar("Task")


class TaskBlocked(Exception):
    """The work on one task cannot continue for now. The message is for operators."""


async def process_tasks(tasks: Iterable[Task], do: Callable[[Task], Awaitable[bool]]) -> bool:
    """Work on each task and return whether any has more to do.

    An error of one task is raised after all others had their turn.

    Raises:
        NotAvailable: The WMS does not answer (at once), or a task is blocked.
    """
    more, first = False, None
    for task in tasks:
        try:
            more |= await do(task)
        except NotAvailable:
            raise
        except Exception as error:  # raised below, when all other tasks had their turn
            first = first or error
    match first:
        case None:
            return more
        case TaskBlocked():
            raise NotAvailable(str(first)) from first
        case _:
            raise first
