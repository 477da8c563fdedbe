"""The tool of a task, a CWL CommandLineTool, loaded once and prepared for each job."""

from collections.abc import Mapping
from typing import Any

import cwltool.process

from pilot.runner.containers.containers import Containers
from pilot.runner.cwl.exact_values import make_exact
from pilot.runner.cwl.requirements import changes_inputs
from pilot.runner.failures import AttemptError
from pilot.runner.files.input_protection import ProtectedInputs
from pilot.runner.files.job_files import JobFiles
from pilot.runner.job_secrets import JobSecrets
from pilot.runner.tools.command_line import CommandLine
from pilot.runner.tools.prepared_job import PreparedJob, WarmCommand
from pilot.runner.tools.warm_start import count_start_arguments
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.pilots.leases import PilotTask
from sluice.text.visible_text import quoted


class CommandExecutable:
    """The tool of a task."""

    def __init__(self, task: PilotTask, tool: Any, containers: Containers | None) -> None:
        self._task = task
        self._command_line = CommandLine(tool, containers)
        self._types = get_input_types(tool)
        self.error_class = self._command_line.error_class
        #: Whether it changes its inputs and needs copies of them.
        self.in_place = changes_inputs(task.executable)

    def prepare(
        self,
        job_files: JobFiles,
        values: Mapping[str, list[Any]],
        *,
        source: str,
        protected_inputs: ProtectedInputs,
        secrets: JobSecrets,
        gpus: int,
    ) -> PreparedJob:
        """Prepare a job.

        ``values`` are the values at each data port. ``source`` is the URL of the first file.
        ``protected_inputs`` stages further files. ``gpus`` is the number of GPUs.

        Raises:
            AttemptError: The tool and the values do not fit.
        """
        order = create_job_order(self._task, self._types, values) | secrets.placeholders
        prepared = self._command_line.prepare(
            job_files, order, self._task.needs.resources, secrets=secrets.store, gpus=gpus
        )
        warm = self._task.needs.warm
        if warm is not None and prepared.container is None:
            start_count = count_start_arguments(
                prepared.arguments, self._command_line.base_command, job_files.folder
            )
            prepared.warm = WarmCommand(warm, start_count)
        return prepared

    def collect(self, prepared_job: PreparedJob, exit_code: int) -> Mapping[str, Any]:
        """Return the output object.

        Raises:
            AttemptError: The outputs are missing or not acceptable.
        """
        return self._command_line.collect(prepared_job, exit_code)


def get_input_types(process: Any) -> dict[str, Any]:
    """Return the CWL types of the inputs of a process, by port."""
    return {cwltool.process.shortname(port["id"]): port["type"] for port in process.tool["inputs"]}


def create_job_order(
    task: PilotTask, types: Mapping[str, Any], values: Mapping[str, list[Any]]
) -> dict[str, Any]:
    """Return the job order: parameters and the values at each data port.

    A scattered parameter gets one item. A data port gets a list, a single value or None. For plain
    files the type of the port decides.

    Raises:
        AttemptError: The tool has no such port.
    """
    items = {port: values[port][0] for port in task.needs.items}
    order: dict[str, Any] = make_exact({**task.args, **items})
    takes_list = {bundle.port: bundle.whole for bundle in task.bundles}
    for port in filter(None, (task.dat_in_port, *task.side_ports)):
        if port not in types:
            raise AttemptError(ErrorClass.TOOL_FAILED, f"the tool has no input {quoted(port)}")
        port_values = values.get(port, [])
        order[port] = (
            port_values
            if takes_list.get(port, _takes_list(types[port]))
            else next(iter(port_values), None)
        )
    return order


def _takes_list(cwl_type: Any) -> bool:
    options = cwl_type if isinstance(cwl_type, list) else [cwl_type]
    return any(isinstance(option, dict) and option.get("type") == "array" for option in options)
