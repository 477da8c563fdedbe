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

from sluice.cwl_runner.checkpoints import checkpoint_of, keeping
from sluice.cwl_runner.in_place import SandboxedJob, changes_inputs, why_in_the_open
from sluice.cwl_runner.paths import fetcher_of
from sluice.cwl_runner.session import FAILURES, RunnerSession
from sluice.cwl_runner.template import InvocationNeeds
from sluice.cwl_runner.values import ExactNumber
from sluice.cwl_runner.warm import (
    WarmWorkflow,
    refuse_what_cannot_stay,
    staying,
    warm_of,
)
from sluice.text.visible_text import quoted
from sluice.tools.cwltool_types import take_types_from_the_newest

_CUDA = "http://commonwl.org/cwltool#CUDARequirement"
#: The logger of cwltool, which cwltool's options control.
_log = logging.getLogger("cwltool")
#: Requirements of cwltool that pilots do not support → what would happen if they were ignored.
_UNSUPPORTED = {
    "Secrets": "inputs that it names would be kept as any others are",
    "MPIRequirement": "the tool would run once, without MPI",
}
#: Prefixes of their names: as loaded, and as job orders have them.
_CWLTOOL = ("http://commonwl.org/cwltool#", "cwltool:")
#: A number in JSON; YAML has more notations.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
#: Invocations that are submitted together.
_MAX_TOGETHER = 500


def run_process(given: Namespace, open_session: Callable[[], RunnerSession], folder: Path) -> int:
    """Run a process with cwltool and return the exit status.

    It prints the output object, or what the options in ``given`` ask for instead. ``open_session``
    is called when a tool is to run. ``folder`` is for outputs and temporary files.

    Raises:
        ValueError: The process or job order cannot be loaded.
    """
    take_types_from_the_newest()
    executor = None if given.validate else _Executor(open_session, folder, Choices.of(given))
    given.use_container = False  # for tools that run here; pilots run the containers of jobs
    # cwltool creates two folders for each job and leaves their deletion to the job.
    given.tmpdir_prefix = given.tmp_outdir_prefix = f"{folder}/"
    loading = LoadingContext(vars(given))
    loading.fetcher_constructor = fetcher_of(given.job_order)
    if executor is not None:
        loading.construct_tool_object = partial(_make_tool, executor)
    context = RuntimeContext(vars(given))
    try:
        return int(
            cwltool.main.main(
                args=given, executor=executor, loadingContext=loading, runtimeContext=context
            )
        )
    except ValidationException as error:
        raise ValueError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Choices:
    """Options for all tools: at most ``most`` of them run at a time, or any number if it is 0."""

    containers: bool
    default_container: str
    environment: Mapping[str, str]
    most: int

    @classmethod
    def of(cls, given: Namespace) -> "Choices":
        """Return the choices; raise ``ValueError`` if a variable for tools has an expression."""
        environment = {
            name: os.environ[name] for name in given.preserve_environment if name in os.environ
        }
        for name, value in environment.items():
            if "$(" in value or "${" in value:
                raise ValueError(
                    f"--preserve-environment {name}: its value has the beginning of an expression,"
                    " '$(' or '${'"
                )
        return cls(
            given.use_container,
            given.default_container or "",
            environment,
            max(given.parallel_max, 0),
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
        self._told = False
        #: Its warm worker; None: it has none.
        self.warm = warm_of(document, shortname(self.tool["id"]))
        self.checkpoint = checkpoint_of(document, shortname(self.tool["id"]))
        choices = executor.choices
        docker, required = self.get_requirement("DockerRequirement")
        if docker is None and choices.default_container and choices.containers:
            self.requirements.append(
                {"class": "DockerRequirement", "dockerPull": choices.default_container}
            )
        elif docker is not None and not required and not choices.containers:
            self.hints: list[Any] = [
                hint for hint in self.hints if hint["class"] != "DockerRequirement"
            ]

    def job(
        self, job_order: Any, output_callbacks: Any, runtimeContext: RuntimeContext
    ) -> Iterator[Any]:
        _refuse_unsupported(self)  # also in a generated process
        if changes_inputs(self):
            self._tell_of_no_sandbox()
            yield from super().job(job_order, output_callbacks, runtimeContext)
            return
        builder = self._init_job(job_order, runtimeContext)
        process = {**self.tool, "requirements": self._requirements(), "hints": self.hints}
        process["inputs"] = [
            {key: field for key, field in port.items() if key != "format"}
            for port in process["inputs"]
        ]
        invocation = {
            "process": _with_numbers_as_written(process),
            "order": _with_numbers_as_written(builder.job),
            "loaded_from": self.metadata.get(ORIGINAL_CWLVERSION) or "v1.2",
        }
        needs = keeping(self.checkpoint, self._needs(builder))
        needs = staying(self.warm, needs, invocation)
        yield _Job(self._executor, invocation, needs, output_callbacks)

    def make_job_runner(self, runtimeContext: RuntimeContext) -> Any:
        """Return the class of a job that runs on this machine."""
        return CommandLineJob if why_in_the_open() else SandboxedJob

    def _tell_of_no_sandbox(self) -> None:
        """Warn once if the tool runs without a sandbox."""
        why = why_in_the_open()
        if why and not self._told:
            self._told = True
            _log.warning(
                "%s: InplaceUpdateRequirement is on, so the tool runs on this machine, with your"
                " rights and without a sandbox: %s",
                shortname(self.tool["id"]),
                why,
            )

    def _requirements(self) -> list[Any]:
        """Return the requirements, with variables of this process that the tool does not set."""
        preserved = self._executor.choices.environment
        if not preserved:
            return list(self.requirements)
        own, _ = self.get_requirement("EnvVarRequirement")
        defined = list(own["envDef"]) if own is not None else []
        names = {variable["envName"] for variable in defined}
        defined += [
            {"envName": name, "envValue": value}
            for name, value in preserved.items()
            if name not in names
        ]
        others = [
            requirement
            for requirement in self.requirements
            if requirement["class"] != "EnvVarRequirement"
        ]
        return [*others, {"class": "EnvVarRequirement", "envDef": defined}]

    def _container(self) -> str:
        """Return the required image, or an empty text; refuse an image that no node can run."""
        docker, required = self.get_requirement("DockerRequirement")
        if docker is None or not required:
            return ""
        if not self._executor.choices.containers:
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
        asked, _ = self.get_requirement(_CUDA)
        if asked is None:
            return None
        return {
            key: _with_numbers_as_written(builder.do_eval(value))
            for key, value in asked.items()
            if key != "class"
        }

    def _needs(self, builder: Any) -> InvocationNeeds:
        asked, _ = self.get_requirement("ResourceRequirement")
        limit, _ = self.get_requirement("ToolTimeLimit")
        seconds = builder.do_eval(limit["timelimit"]) if limit is not None else 0
        if not isinstance(seconds, int | float) or seconds < 0:
            raise WorkflowException(
                f"the time limit must be a number of seconds of at least 0, not {quoted(seconds)}"
            )
        given = builder.resources if asked is not None else {}
        wants_disk = any(key.startswith(("outdir", "tmpdir")) for key in asked or ())
        return InvocationNeeds.asked(
            cores=given.get("cores"),
            ram=(
                given.get("ram")
                if asked is not None and {"ramMin", "ramMax"} & set(asked)
                else None
            ),
            disk=given["tmpdirSize"] + given["outdirSize"] if wants_disk else 0,
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
        self, open_session: Callable[[], RunnerSession], folder: Path, choices: Choices
    ) -> None:
        super().__init__()
        self.choices = choices
        self._open_session = open_session
        self._folder = str(folder)
        self._ready: list[_Job] = []
        self._failed: list[_Job] = []
        self._under_way = 0
        self._stops = True

    @cached_property
    def session(self) -> RunnerSession:
        return self._open_session()

    def add(self, job: _Job) -> None:
        self._ready.append(job)
        if len(self._ready) >= _MAX_TOGETHER:
            self._hand_over()

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
        self._stops = runtime_context.on_error == "stop"
        for job in process.job(job_order_object, self.output_callback, runtime_context):
            if job is not None:
                if job.outdir is not None:
                    self.output_dirs.add(job.outdir)
                job.run(runtime_context)
            elif not self._wait(logger):
                logger.error("Workflow cannot make any more progress.")
                break
        while self._wait(logger):
            pass

    def _wait(self, logger: Any) -> bool:
        """Wait for the next results; return False if nothing runs.

        cwltool leaves a failed workflow as soon as it can start nothing more. So, unless the first
        failure stops the run, it learns of failures when all other jobs have ended.
        """
        self._hand_over()
        if not self._under_way:
            failed, self._failed = self._failed, []
            for job in failed:
                job.callback({}, "permanentFail")
            return bool(failed)
        for result in self.session.results():
            self._under_way -= 1
            job = cast(_Job, result.key)
            if result.outputs is None:
                logger.error("%s", result.reason)
                self._failed.append(job)
            else:
                outputs = cmap(result.outputs)
                normalizeFilesDirs(outputs)  # expressions of later steps may read nameroot
                job.callback(outputs, "success")
        if self._failed and self._stops:
            self._stop()
        return True

    def _stop(self) -> None:
        """Give up all jobs that were not submitted yet."""
        stopped = [*self._failed, *self._ready]
        self._failed, self._ready = [], []
        for job in stopped:
            job.callback({}, "permanentFail")

    def _hand_over(self) -> None:
        room = self.choices.most - self._under_way if self.choices.most else len(self._ready)
        now, self._ready = self._ready[:room], self._ready[room:]
        self._under_way += len(now)
        alike: dict[InvocationNeeds, list[tuple[_Job, dict[str, Any]]]] = {}
        for job in now:
            alike.setdefault(job.needs, []).append((job, job.invocation))
        for needs, invocations in alike.items():
            self.session.submit(needs, invocations)


def _refuse_unsupported(process: Any) -> None:
    """Check the requirements of a process and of all processes in it.

    Raises:
        UnsupportedRequirement: One is not supported, or may not be met on this machine.
    """
    for name, why in _UNSUPPORTED.items():
        if any(process.get_requirement(f"{prefix}{name}")[0] is not None for prefix in _CWLTOOL):
            raise UnsupportedRequirement(f"cwltool:{name} is not supported: {why}")
    refuse_what_cannot_stay(process)
    if changes_inputs(process):
        why_in_the_open()
    for step in getattr(process, "steps", ()):
        _refuse_unsupported(step.embedded_tool)


def _with_numbers_as_written(value: Any) -> Any:
    """Return plain JSON values; fractions stay as they were written (``1.50``, ``1e-5``)."""
    match value:
        case ScalarFloat():
            text = RoundTripRepresenter().represent_scalar_float(value).value
            return ExactNumber(text) if _NUMBER.fullmatch(text) else float(value)
        case MutableMapping():
            return {str(key): _with_numbers_as_written(inner) for key, inner in value.items()}
        case MutableSequence():
            return [_with_numbers_as_written(inner) for inner in value]
        case str():
            return str(value)
    return value
