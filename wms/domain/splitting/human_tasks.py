"""Which tasks can be human tasks."""

from sluice.contracts.common.states import TaskMode
from sluice.contracts.jobs.tasks import Task
from wms.domain.splitting.dataflow_rules import list_scattered_inputs


def explain_no_human_task(task: Task) -> str | None:
    """Return why a human task is not possible, or None if each of its jobs is one file."""
    is_each = (
        task.mode is TaskMode.MAP
        and task.batch == 1
        and not (task.single or task.combines)
        and len(list_scattered_inputs(task)) == len(task.outputs) == 1
    )
    return None if is_each else "a human task takes one file at a time and has one output"
