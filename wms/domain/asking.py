"""Steps that people do: who has answered, as far as the WMS asks, and which tasks can be asked."""

from uuid import UUID

from sluice.contracts.states import TaskMode
from sluice.contracts.tasks import Task
from wms.domain.flow import each_inputs

#: In the place of a pilot, in attempts: whoever answered stands in the file.
PEOPLE = UUID("a5ced000-0000-4000-8000-000000000000")


def why_not_asked(task: Task) -> str | None:
    """Of a task that people do; None: each of its jobs is one file that they can be asked of."""
    is_each = (
        task.mode is TaskMode.MAP
        and task.batch == 1
        and not (task.single or task.combines)
        and len(each_inputs(task)) == len(task.outputs) == 1
    )
    return None if is_each else "people are asked of one file at a time, for one output"
