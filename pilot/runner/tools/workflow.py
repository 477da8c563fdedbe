"""A step whose executable is a Workflow or an ExpressionTool, run in a process inside one job."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from pilot.folders.work_folder import OUT, TMP
from pilot.node.engines import ENGINE_VARIABLES
from pilot.runner.containers.container_run import ContainerRun
from pilot.runner.containers.containers import Containers
from pilot.runner.cwl.exact_values import write_document
from pilot.runner.cwl.process_files import write_process
from pilot.runner.cwl.requirements import changes_inputs, requests_network
from pilot.runner.expressions.engine import get_engine
from pilot.runner.failures import AttemptError
from pilot.runner.files.access_errors import read_result
from pilot.runner.files.input_protection import ProtectedInputs
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from pilot.runner.inner_workflow.containers import InnerContainers
from pilot.runner.inner_workflow.process import (
    CONTAINERS,
    EXIT_REFUSED,
    FAILURE,
    JAVASCRIPT,
    ORDER,
    PROCESS,
    RESULT,
)
from pilot.runner.job_secrets import JobSecrets
from pilot.runner.tools.prepared_job import PreparedJob
from pilot.runner.tools.tool import create_job_order, get_input_types
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.jobs.checkpoints import FINISHED_STEPS
from sluice.contracts.pilots.leases import PilotTask
from sluice.text.os_errors import reason_of


class WorkflowExecutable:
    """The workflow of a task, used like ``CommandExecutable``."""

    def __init__(
        self,
        task: PilotTask,
        process: Any,
        containers: Containers | None,
    ) -> None:
        self.task = task
        self.in_place = changes_inputs(task.executable)
        self._containers = containers
        if (
            containers is None
            and task.needs.container is not None
            and task.needs.container.required
        ):
            sentence = (
                "the workflow requires containers, and this pilot's node has no engine to run them"
            )
            raise AttemptError(ErrorClass.INTERNAL, sentence)
        self._types = get_input_types(process)

    def error_class(self, exit_code: int) -> ErrorClass | None:
        """Return the error class of an exit code, or None for success.

        cwltool has already judged the exit codes of the tools inside.
        """
        if exit_code == 0:
            return None
        return ErrorClass.TOOL_REFUSED if exit_code == EXIT_REFUSED else ErrorClass.TOOL_FAILED

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

        ``values`` are the values at each data port.

        Raises:
            AttemptError: The workflow and the values do not fit, or an image could not be pulled.
            OSError: A file could not be written.
        """
        folder = job_files.folder
        place = f"{folder}/{TMP}"
        write_process(self.task.executable, f"{place}/{PROCESS}")
        order = create_job_order(self.task, self._types, values) | secrets.placeholders
        write_document(order, f"{place}/{ORDER}")
        with open(f"{place}/{JAVASCRIPT}", "w") as file:
            file.write(get_engine().javascript.model_dump_json())
        container = self._pull_images(place)
        variables = (
            "PATH",
            "PYTHONPATH",
            "LANG",
            "LC_ALL",
            *(() if container is None else ENGINE_VARIABLES),
        )
        checkpoint = self.task.needs.checkpoint
        keeps_steps = checkpoint is not None and FINISHED_STEPS in checkpoint.files
        environment = {name: os.environ[name] for name in variables if name in os.environ}
        return PreparedJob(
            arguments=[
                sys.executable,
                "-m",
                "pilot.runner.inner_workflow",
                place,
                f"{folder}/{OUT}",
                *(["keep"] if keeps_steps else []),
            ],
            environment=environment | {"HOME": f"{folder}/{OUT}", "TMPDIR": place},
            stdin=None,
            stdout=None,
            stderr=None,
            job=place,
            job_files=job_files,
            container=container,
            failure=f"{place}/{FAILURE}",
            own_python=True,
            network=requests_network(self.task.executable),
            stdin_data=secrets.serialize_for_inner_process(),
            note=self._describe_container(container),
        )

    def _describe_container(self, container: ContainerRun | None) -> str:
        requirement = self.task.needs.container
        if requirement is None:
            return ""
        images = ", ".join(image.name for image in requirement.images)
        return (
            f"containers {images} are hints, and this node has no engine: the tools run without"
            " them"
            if container is None
            else f"containers {images}"
        )

    def _pull_images(self, place: str) -> ContainerRun | None:
        """Pull the images, and write their names to ``place``."""
        if self._containers is None or self.task.needs.container is None:
            return None
        inner = InnerContainers(
            engine=self._containers.engine,
            options=self._containers.options(),
            images={
                image.name: self._containers.images.pull(image)
                for image in self.task.needs.container.images
            },
        )
        with open(f"{place}/{CONTAINERS}", "w") as file:
            file.write(inner.model_dump_json())
        return ContainerRun(self._containers, None)

    def collect(self, prepared_job: PreparedJob, exit_code: int) -> Mapping[str, Any]:
        """Return the output object.

        Raises:
            AttemptError: The outputs are missing or not acceptable.
        """
        try:
            outputs: dict[str, Any] = read_result(
                prepared_job.job_files, f"{prepared_job.job}/{RESULT}"
            )
        except ValueError as error:
            sentence = f"the workflow's outputs cannot be read: {reason_of(error)}"
            raise AttemptError(ErrorClass.TOOL_REFUSED, sentence, exit_code=exit_code) from error
        except (ForeignFileError, OSError) as error:
            sentence = "the process inside the job ended well, and left no result"
            raise AttemptError(ErrorClass.INTERNAL, sentence, exit_code=exit_code) from error
        return outputs
