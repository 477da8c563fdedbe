"""Why the jobs of a step that are ready are not at work."""

import time
from collections.abc import Callable, Sequence

from sluice.cli.connect import Connection
from sluice.cli.stalled import LONG_WAIT, is_stalled, reason_in
from sluice.contracts.chains import ChainTask

#: Step, reason.
OnWait = Callable[[str, str], None]


class Waits:
    """Asks the system for the reason, and tells it when it is another one, whatever the numbers in it."""

    def __init__(self, connection: Connection, on_wait: OnWait | None) -> None:
        self._connection = connection
        self._on_wait = on_wait
        self._since: dict[str, float] = {}
        self._told: dict[str, str] = {}

    async def look(self, tasks: Sequence[ChainTask]) -> None:
        now = time.monotonic()
        for task in tasks if self._on_wait else ():
            jobs = task.jobs
            if jobs is None or not is_stalled(ready=jobs.ready, leased=jobs.leased, running=jobs.running):
                self._since.pop(task.step, None)
            elif now - self._since.setdefault(task.step, now) > LONG_WAIT:
                self._since[task.step] = now
                await self._tell(task)

    async def _tell(self, task: ChainTask) -> None:
        sentence = (await self._connection.operator.explain_task(task.task_id)).text
        reason = reason_in(sentence)
        if self._on_wait and self._told.get(task.step) != reason:
            self._told[task.step] = reason
            self._on_wait(task.step, sentence)
