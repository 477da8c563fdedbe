"""Any CWL process: cwltool orders its tools, and each tool runs as a job on the pilots."""

from argparse import Namespace
from collections.abc import Callable, MutableMapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import cwltool.main
from cwltool.context import LoadingContext, RuntimeContext
from cwltool.executors import JobExecutor
from cwltool.utils import normalizeFilesDirs
from cwltool.workflow import default_make_tool
from schema_salad.exceptions import ValidationException
from schema_salad.sourceline import cmap

from sluice.cwl_runner.paths import make_fetcher
from sluice.cwl_runner.pilot_tools import PilotJob, PilotTool, ToolOptions, refuse_unsupported
from sluice.cwl_runner.session import FAILURES, RunnerSession
from sluice.cwl_runner.template import InvocationNeeds
from sluice.cwl_runner.warm import WarmWorkflow
from sluice.tools.cwltool_types import use_newest_types

#: Invocations that are submitted together.
_MAX_BATCH = 500


def run_process(options: Namespace, open_session: Callable[[], RunnerSession], folder: Path) -> int:
    """Run a process with cwltool and return the exit status.

    It prints the output object, unless ``options`` ask for something else. ``open_session`` is
    called when a tool is to run. ``folder`` is for outputs and temporary files.

    Raises:
        ValueError: The process or job order cannot be loaded.
    """
    use_newest_types()
    executor = (
        None
        if options.validate
        else _Executor(open_session, folder, ToolOptions.from_options(options))
    )
    options.use_container = False  # for tools that run here; pilots run the containers of jobs
    # cwltool creates two folders for each job and leaves their deletion to the job.
    options.tmpdir_prefix = options.tmp_outdir_prefix = f"{folder}/"
    loading = LoadingContext(vars(options))
    loading.fetcher_constructor = make_fetcher(options.job_order)
    if executor is not None:
        loading.construct_tool_object = partial(_make_tool, executor)
    context = RuntimeContext(vars(options))
    try:
        return int(
            cwltool.main.main(
                args=options, executor=executor, loadingContext=loading, runtimeContext=context
            )
        )
    except ValidationException as error:
        raise ValueError(str(error)) from error


def _make_tool(executor: "_Executor", document: Any, context: LoadingContext) -> Any:
    kind = document.get("class") if isinstance(document, MutableMapping) else None
    if kind == "CommandLineTool":
        return PilotTool(executor, document, context)
    if kind == "Workflow":
        return WarmWorkflow(document, context)
    return default_make_tool(document, context)


class _Executor(JobExecutor):  # type: ignore[misc] # cwltool's types are not followed
    """Submits ready tools in batches, and waits for results when the workflow needs them."""

    def __init__(
        self, open_session: Callable[[], RunnerSession], folder: Path, tool_options: ToolOptions
    ) -> None:
        super().__init__()
        self.tool_options = tool_options
        self._open_session = open_session
        self._folder = str(folder)
        self._ready_jobs: list[PilotJob] = []
        self._failed_jobs: list[PilotJob] = []
        self._running_count = 0
        self._stops_at_failure = True

    @cached_property
    def session(self) -> RunnerSession:
        return self._open_session()

    def add(self, job: PilotJob) -> None:
        self._ready_jobs.append(job)
        if len(self._ready_jobs) >= _MAX_BATCH:
            self._submit_ready()

    def run_jobs(
        self, process: Any, job_order_object: Any, logger: Any, runtime_context: RuntimeContext
    ) -> None:
        self.output_dirs.add(self._folder)
        refuse_unsupported(process)
        try:
            self._run_jobs(process, job_order_object, logger, runtime_context)
        except FAILURES as error:  # cwltool would report it as its own bug
            logger.error("%s", error)

    def _run_jobs(
        self, process: Any, job_order_object: Any, logger: Any, runtime_context: RuntimeContext
    ) -> None:
        self._stops_at_failure = runtime_context.on_error == "stop"
        for job in process.job(job_order_object, self.output_callback, runtime_context):
            if job is not None:
                if job.outdir is not None:
                    self.output_dirs.add(job.outdir)
                job.run(runtime_context)
            elif not self._wait_for_results(logger):
                logger.error("Workflow cannot make any more progress.")
                break
        while self._wait_for_results(logger):
            pass

    def _wait_for_results(self, logger: Any) -> bool:
        """Wait for the next results; return False if nothing runs.

        cwltool leaves a failed workflow as soon as it can start nothing more. So it learns of
        failures when all other jobs have ended, unless the first failure stops the run.
        """
        self._submit_ready()
        if not self._running_count:
            failed_jobs, self._failed_jobs = self._failed_jobs, []
            for job in failed_jobs:
                job.callback({}, "permanentFail")
            return bool(failed_jobs)
        for result in self.session.results():
            self._running_count -= 1
            job = cast(PilotJob, result.key)
            if result.outputs is None:
                logger.error("%s", result.reason)
                self._failed_jobs.append(job)
            else:
                outputs = cmap(result.outputs)
                normalizeFilesDirs(outputs)  # expressions of later steps may read nameroot
                job.callback(outputs, "success")
        if self._failed_jobs and self._stops_at_failure:
            self._fail_pending_jobs()
        return True

    def _fail_pending_jobs(self) -> None:
        """Report all failed jobs, and all jobs that were not submitted, as failed to cwltool."""
        jobs = [*self._failed_jobs, *self._ready_jobs]
        self._failed_jobs, self._ready_jobs = [], []
        for job in jobs:
            job.callback({}, "permanentFail")

    def _submit_ready(self) -> None:
        limit = self.tool_options.max_running
        capacity = limit - self._running_count if limit else len(self._ready_jobs)
        jobs, self._ready_jobs = self._ready_jobs[:capacity], self._ready_jobs[capacity:]
        self._running_count += len(jobs)
        invocations_by_needs: dict[InvocationNeeds, list[tuple[PilotJob, dict[str, Any]]]] = {}
        for job in jobs:
            invocations_by_needs.setdefault(job.needs, []).append((job, job.invocation))
        for needs, invocations in invocations_by_needs.items():
            self.session.submit(needs, invocations)
