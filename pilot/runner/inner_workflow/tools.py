"""The tools of a workflow inside a job, as cwltool is to run them."""

from collections.abc import Callable
from typing import Any

from cwltool.context import LoadingContext, RuntimeContext
from cwltool.job import CommandLineJob

from pilot.runner.cwl.command_tool import CommandTool, make_process
from pilot.runner.inner_workflow.containers import JobsInContainers
from pilot.runner.inner_workflow.failures import FailureWatch
from pilot.runner.inner_workflow.sandbox import ToolsInSandbox


def tool_maker(
    watch: FailureWatch, containers: JobsInContainers | None, sandbox: ToolsInSandbox | None
) -> Callable[[Any, LoadingContext], Any]:
    """Makes processes whose jobs are watched, and run in these containers (None: in none), or in
    this sandbox (None: the node has none)."""

    def around(kind: Any) -> Any:
        return watch.around(kind if sandbox is None else sandbox.around(kind))

    class Tool(CommandTool):
        def make_job_runner(self, context: RuntimeContext) -> Any:
            if containers is None:
                return around(super().make_job_runner(context))
            if not containers.wanted(*self.get_requirement("DockerRequirement")):
                return around(CommandLineJob)
            return around(containers.adapted(super().make_job_runner(context)))

    def make(document: Any, context: LoadingContext) -> Any:
        is_tool = isinstance(document, dict) and document.get("class") == "CommandLineTool"
        return Tool(document, context) if is_tool else make_process(document, context)

    return make
