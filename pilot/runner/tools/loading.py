"""Loading of a task's executable."""

from pilot.runner.containers.containers import Containers
from pilot.runner.cwl.documents import load_document
from pilot.runner.tools.invocation import InvocationExecutable
from pilot.runner.tools.tool import CommandExecutable
from pilot.runner.tools.workflow import WorkflowExecutable
from sluice.contracts.pilots.leases import PilotTask
from sluice.text.visible_text import quoted

Executable = CommandExecutable | WorkflowExecutable | InvocationExecutable


def load_executable(
    task: PilotTask,
    folder: str,
    containers: Containers | None,
) -> Executable:
    """Load the executable of a task.

    ``folder`` is for its description, which cwltool reads from a file. ``containers`` is None if
    the node has no engine.

    Raises:
        AttemptError: The executable is not valid.
    """
    kind = task.executable.get("class")
    if kind == "Operation":
        return InvocationExecutable(task, containers)
    process = load_document(
        task.executable, folder, subject=f"the tool of step {quoted(task.step)}"
    )
    if kind == "CommandLineTool":
        return CommandExecutable(task, process, containers)
    return WorkflowExecutable(task, process, containers)
