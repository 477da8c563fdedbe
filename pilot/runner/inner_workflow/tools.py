"""Tools of a workflow inside a job, adapted for cwltool."""

from collections.abc import Callable
from typing import Any

from cwltool.context import LoadingContext, RuntimeContext
from cwltool.job import CommandLineJob
from cwltool.secrets import SecretStore

from pilot.runner.cwl.command_tool import CommandTool, make_process
from pilot.runner.cwl.secret_files import list_secret_files, remove_secret_files
from pilot.runner.files.job_files import JobFiles
from pilot.runner.inner_workflow.containers import ContainerJobs
from pilot.runner.inner_workflow.failures import FailureWatch
from pilot.runner.inner_workflow.finished_steps import FinishedSteps
from pilot.runner.inner_workflow.isolated_tools import IsolatedTools
from pilot.runner.programs.visible_gpus import count_gpus
from sluice.contracts.jobs.spent import SPENT_FILE


def create_tool_maker(
    watch: FailureWatch,
    containers: ContainerJobs | None,
    isolated_tools: IsolatedTools | None,
    *,
    secrets: SecretStore,
    job_files: JobFiles,
    finished_steps: FinishedSteps | None = None,
) -> Callable[[Any, LoadingContext], Any]:
    """Return a function that makes processes whose jobs are watched.

    With ``containers``, jobs run in these containers. With ``isolated_tools``, jobs outside
    containers run in its isolation, and otherwise like this process. With ``finished_steps``,
    results are kept or taken over.
    """

    def wrap_job(kind: Any) -> Any:
        isolated = kind if isolated_tools is None else isolated_tools.wrap_job(kind)
        watched = watch.wrap_job(isolated)
        return watched if finished_steps is None else finished_steps.wrap_job(watched)

    class Tool(CommandTool):
        gpus = count_gpus()

        def make_job_runner(self, context: RuntimeContext) -> Any:
            return wrap_job(_remove_other_files(self._choose_kind(context), secrets, job_files))

        def _choose_kind(self, context: RuntimeContext) -> Any:
            if containers is None:
                return super().make_job_runner(context)
            if not containers.runs_in_container(*self.get_requirement("DockerRequirement")):
                return CommandLineJob
            return containers.adapt(super().make_job_runner(context))

    def make(document: Any, context: LoadingContext) -> Any:
        is_tool = isinstance(document, dict) and document.get("class") == "CommandLineTool"
        return Tool(document, context) if is_tool else make_process(document, context)

    return make


def _remove_other_files(kind: Any, secrets: SecretStore, job_files: JobFiles) -> Any:
    """Return a subclass of a kind of cwltool's jobs that removes files that are no outputs.

    Files with secrets and the report of spent amounts are removed before outputs are collected.
    """

    class Job(kind):  # type: ignore[misc] # cwltool's types are not followed
        def _setup(self, context: Any) -> None:
            super()._setup(context)
            job: Any = self
            collect, private = job.collect_outputs, list_secret_files(job, secrets)

            def collect_outputs(outdir: str, code: int) -> Any:
                remove_secret_files(private, job_files)
                job_files.remove(f"{outdir}/{SPENT_FILE}")
                return collect(outdir, code)

            job.collect_outputs = collect_outputs

    return Job
