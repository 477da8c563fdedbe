"""Work on one task after the other, of which none keeps the others from their turn."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from sluice.contracts.problems import NotAvailable

Task = TypeVar("Task")


class HeldUp(Exception):
    """By what is this task's alone; the reason is for who runs the system."""


async def one_by_one(tasks: Iterable[Task], do: Callable[[Task], Awaitable[bool]]) -> bool:
    """Whether any has more to do. What fails with one is raised when all others have had their
    turn. Raises ``NotAvailable`` where one was held up, and at once where the WMS does not
    answer.
    """
    more, first = False, None
    for task in tasks:
        try:
            more |= await do(task)
        except NotAvailable:
            raise
        except Exception as error:
            first = first or error
    match first:
        case None:
            return more
        case HeldUp():
            raise NotAvailable(str(first)) from first
        case _:
            raise first
