"""Steps that people do: which tasks these can be."""

from sluice.contracts.states import TaskMode
from sluice.contracts.tasks import Task
from wms.domain.flow import each_inputs


def why_not_asked(task: Task) -> str | None:
    """Of a task that people do; None: each of its jobs is one file that they can be asked of."""
    is_each = (
        task.mode is TaskMode.MAP
        and task.batch == 1
        and not (task.single or task.combines)
        and len(each_inputs(task)) == len(task.outputs) == 1
    )
    return None if is_each else "people are asked of one file at a time, for one output"
