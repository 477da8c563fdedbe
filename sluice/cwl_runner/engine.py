"""Any CWL process: cwltool orders its tools, and each tool runs as a job on the pilots."""

import logging
import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, MutableMapping, MutableSequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import cwltool.main
from cwltool.command_line_tool import CommandLineTool
from cwltool.context import LoadingContext, RuntimeContext
from cwltool.errors import UnsupportedRequirement, WorkflowException
from cwltool.executors import JobExecutor
from cwltool.job import CommandLineJob
from cwltool.process import shortname
from cwltool.update import ORIGINAL_CWLVERSION
from cwltool.utils import normalizeFilesDirs
from cwltool.workflow import default_make_tool
from ruamel.yaml import RoundTripRepresenter
from ruamel.yaml.scalarfloat import ScalarFloat
from schema_salad.exceptions import ValidationException
from schema_salad.sourceline import cmap

from sluice.cwl_runner.checkpoints import add_checkpoint, read_checkpoint
from sluice.cwl_runner.in_place import SandboxedJob, changes_inputs, missing_sandbox_reason
from sluice.cwl_runner.paths import make_fetcher
from sluice.cwl_runner.session import FAILURES, RunnerSession
from sluice.cwl_runner.template import InvocationNeeds
from sluice.cwl_runner.values import ExactNumber
from sluice.cwl_runner.warm import WarmWorkflow, add_warm_worker, check_warm_tool, read_warm
from sluice.text.visible_text import quoted
from sluice.tools.cwltool_types import use_newest_types

_CUDA = "http://commonwl.org/cwltool#CUDARequirement"
#: The logger of cwltool, which cwltool's options control.
_log = logging.getLogger("cwltool")
#: Requirements of cwltool that pilots do not support → what would happen if they were ignored.
_UNSUPPORTED = {
    "Secrets": "inputs that it names would be kept as any others are",
    "MPIRequirement": "the tool would run once, without MPI",
}
#: The prefixes of these requirements in loaded documents and in job orders.
_PREFIXES = ("http://commonwl.org/cwltool#", "cwltool:")
#: A number in JSON. YAML has more notations.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
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


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """Options for all tools. At most ``max_running`` tools run at a time. 0 means no limit."""

    containers: bool
    default_container: str
    environment: Mapping[str, str]
    max_running: int

    @classmethod
    def from_options(cls, options: Namespace) -> "ToolOptions":
        """Return the options of tools; raise ``ValueError`` if a variable has an expression."""
        environment = {
            name: os.environ[name] for name in options.preserve_environment if name in os.environ
        }
        for name, value in environment.items():
            if "$(" in value or "${" in value:
                raise ValueError(
                    f"--preserve-environment {name}: its value has the beginning of an expression,"
                    " '$(' or '${'"
                )
        return cls(
            options.use_container,
            options.default_container or "",
            environment,
            max(options.parallel_max, 0),
        )


def _make_tool(executor: "_Executor", document: Any, context: LoadingContext) -> Any:
    kind = document.get("class") if isinstance(document, MutableMapping) else None
    if kind == "CommandLineTool":
        return _Tool(executor, document, context)
    if kind == "Workflow":
        return WarmWorkflow(document, context)
    return default_make_tool(document, context)


class _Tool(CommandLineTool):  # type: ignore[misc] # cwltool's types are not followed
    def __init__(self, executor: "_Executor", document: Any, context: LoadingContext) -> None:
        super().__init__(document, context)
        self._executor = executor
        self._has_warned = False
        #: The warm worker that it asks for, or None.
        self.warm = read_warm(document, shortname(self.tool["id"]))
        self.checkpoint = read_checkpoint(document, shortname(self.tool["id"]))
        options = executor.tool_options
        docker, required = self.get_requirement("DockerRequirement")
        if docker is None and options.default_container and options.containers:
            self.requirements.append(
                {"class": "DockerRequirement", "dockerPull": options.default_container}
            )
        elif docker is not None and not required and not options.containers:
            self.hints: list[Any] = [
                hint for hint in self.hints if hint["class"] != "DockerRequirement"
            ]

    def job(
        self, job_order: Any, output_callbacks: Any, runtimeContext: RuntimeContext
    ) -> Iterator[Any]:
        _refuse_unsupported(self)  # also in a generated process
        if changes_inputs(self):
            self._warn_of_missing_sandbox()
            yield from super().job(job_order, output_callbacks, runtimeContext)
            return
        builder = self._init_job(job_order, runtimeContext)
        process = {**self.tool, "requirements": self._requirements(), "hints": self.hints}
        process["inputs"] = [
            {key: field for key, field in port.items() if key != "format"}
            for port in process["inputs"]
        ]
        invocation = {
            "process": _preserve_numbers(process),
            "order": _preserve_numbers(builder.job),
            "loaded_from": self.metadata.get(ORIGINAL_CWLVERSION) or "v1.2",
        }
        needs = add_checkpoint(self.checkpoint, self._needs(builder))
        needs = add_warm_worker(self.warm, needs, invocation)
        yield _Job(self._executor, invocation, needs, output_callbacks)

    def make_job_runner(self, runtimeContext: RuntimeContext) -> Any:
        """Return the class of a job that runs on this machine."""
        return CommandLineJob if missing_sandbox_reason() else SandboxedJob

    def _warn_of_missing_sandbox(self) -> None:
        """Warn once if the tool runs without a sandbox."""
        reason = missing_sandbox_reason()
        if reason and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s: InplaceUpdateRequirement is on, so the tool runs on this machine, with your"
                " rights and without a sandbox: %s",
                shortname(self.tool["id"]),
                reason,
            )

    def _requirements(self) -> list[Any]:
        """Return the requirements, with variables of this process that the tool does not set."""
        environment = self._executor.tool_options.environment
        if not environment:
            return list(self.requirements)
        env_requirement, _ = self.get_requirement("EnvVarRequirement")
        defined = list(env_requirement["envDef"]) if env_requirement is not None else []
        names = {variable["envName"] for variable in defined}
        defined += [
            {"envName": name, "envValue": value}
            for name, value in environment.items()
            if name not in names
        ]
        other_requirements = [
            requirement
            for requirement in self.requirements
            if requirement["class"] != "EnvVarRequirement"
        ]
        return [*other_requirements, {"class": "EnvVarRequirement", "envDef": defined}]

    def _container(self) -> str:
        """Return the required image, or an empty text; refuse an image that no node can run."""
        docker, required = self.get_requirement("DockerRequirement")
        if docker is None or not required:
            return ""
        if not self._executor.tool_options.containers:
            raise UnsupportedRequirement(
                "the tool requires a container, and --no-container forbids it"
            )
        if not self._executor.session.has_engines:
            raise UnsupportedRequirement(
                "no node of the system has a container engine, and the tool requires a container"
            )
        return str(docker.get("dockerPull") or docker.get("dockerImageId") or "")

    def _gpu(self, builder: Any) -> dict[str, Any] | None:
        """Return the CUDARequirement with evaluated expressions, or None."""
        requirement, _ = self.get_requirement(_CUDA)
        if requirement is None:
            return None
        return {
            key: _preserve_numbers(builder.do_eval(value))
            for key, value in requirement.items()
            if key != "class"
        }

    def _needs(self, builder: Any) -> InvocationNeeds:
        requirement, _ = self.get_requirement("ResourceRequirement")
        limit, _ = self.get_requirement("ToolTimeLimit")
        seconds = builder.do_eval(limit["timelimit"]) if limit is not None else 0
        if not isinstance(seconds, int | float) or seconds < 0:
            raise WorkflowException(
                f"the time limit must be a number of seconds of at least 0, not {quoted(seconds)}"
            )
        resources = builder.resources if requirement is not None else {}
        wants_disk = any(key.startswith(("outdir", "tmpdir")) for key in requirement or ())
        return InvocationNeeds.from_amounts(
            cores=resources.get("cores"),
            ram=(
                resources.get("ram")
                if requirement is not None and {"ramMin", "ramMax"} & set(requirement)
                else None
            ),
            disk=resources["tmpdirSize"] + resources["outdirSize"] if wants_disk else 0,
            time_limit=seconds,
            gpu=self._gpu(builder),
            container=self._container(),
        )


class _Job:
    """A job for cwltool, which reads ``outdir``, ``name`` and ``prov_obj``."""

    outdir = None
    name = "invocation"
    prov_obj = None

    def __init__(
        self,
        executor: "_Executor",
        invocation: dict[str, Any],
        needs: InvocationNeeds,
        callback: Any,
    ) -> None:
        self._executor = executor
        self.invocation = invocation
        self.needs = needs
        self.callback = callback

    def run(self, runtimeContext: RuntimeContext, tmpdir_lock: Any = None) -> None:
        self._executor.add(self)


class _Executor(JobExecutor):  # type: ignore[misc] # cwltool's types are not followed
    """Submits ready tools in batches, and waits for results when the workflow needs them."""

    def __init__(
        self, open_session: Callable[[], RunnerSession], folder: Path, tool_options: ToolOptions
    ) -> None:
        super().__init__()
        self.tool_options = tool_options
        self._open_session = open_session
        self._folder = str(folder)
        self._ready_jobs: list[_Job] = []
        self._failed_jobs: list[_Job] = []
        self._running_count = 0
        self._stops_at_failure = True

    @cached_property
    def session(self) -> RunnerSession:
        return self._open_session()

    def add(self, job: _Job) -> None:
        self._ready_jobs.append(job)
        if len(self._ready_jobs) >= _MAX_BATCH:
            self._submit_ready()

    def run_jobs(
        self, process: Any, job_order_object: Any, logger: Any, runtime_context: RuntimeContext
    ) -> None:
        self.output_dirs.add(self._folder)
        _refuse_unsupported(process)
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
            job = cast(_Job, result.key)
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
        invocations_by_needs: dict[InvocationNeeds, list[tuple[_Job, dict[str, Any]]]] = {}
        for job in jobs:
            invocations_by_needs.setdefault(job.needs, []).append((job, job.invocation))
        for needs, invocations in invocations_by_needs.items():
            self.session.submit(needs, invocations)


def _refuse_unsupported(process: Any) -> None:
    """Check the requirements of a process and of all processes in it.

    Raises:
        UnsupportedRequirement: A requirement is not supported, or this machine cannot meet it.
    """
    for name, reason in _UNSUPPORTED.items():
        if any(process.get_requirement(f"{prefix}{name}")[0] is not None for prefix in _PREFIXES):
            raise UnsupportedRequirement(f"cwltool:{name} is not supported: {reason}")
    check_warm_tool(process)
    if changes_inputs(process):
        missing_sandbox_reason()
    for step in getattr(process, "steps", ()):
        _refuse_unsupported(step.embedded_tool)


def _preserve_numbers(value: Any) -> Any:
    """Return plain JSON values; fractions stay as they were written (``1.50``, ``1e-5``)."""
    match value:
        case ScalarFloat():
            text = RoundTripRepresenter().represent_scalar_float(value).value
            return ExactNumber(text) if _NUMBER.fullmatch(text) else float(value)
        case MutableMapping():
            return {str(key): _preserve_numbers(inner) for key, inner in value.items()}
        case MutableSequence():
            return [_preserve_numbers(inner) for inner in value]
        case str():
            return str(value)
    return value
