"""CommandLineTools whose invocations run as jobs on the pilots."""

import logging
import os
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence
from dataclasses import dataclass
from typing import Any, Protocol

from cwltool.command_line_tool import CommandLineTool
from cwltool.context import LoadingContext, RuntimeContext
from cwltool.errors import UnsupportedRequirement, WorkflowException
from cwltool.job import CommandLineJob
from cwltool.process import shortname
from cwltool.update import ORIGINAL_CWLVERSION
from ruamel.yaml import RoundTripRepresenter
from ruamel.yaml.scalarfloat import ScalarFloat

from sluice.cwl_runner.checkpoints import add_checkpoint, read_checkpoint
from sluice.cwl_runner.in_place import SandboxedJob, changes_inputs, missing_sandbox_reason
from sluice.cwl_runner.session import RunnerSession
from sluice.cwl_runner.template import InvocationNeeds
from sluice.cwl_runner.values import ExactNumber
from sluice.cwl_runner.warm import add_warm_worker, check_warm_tool, read_warm
from sluice.text.visible_text import quoted

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


class JobQueue(Protocol):
    """What tools need of the executor."""

    @property
    def tool_options(self) -> ToolOptions:
        """The options of all tools."""

    @property
    def session(self) -> RunnerSession:
        """The run on the system."""

    def add(self, job: "PilotJob") -> None:
        """Add a job, which is submitted with others."""


class PilotTool(CommandLineTool):  # type: ignore[misc] # cwltool's types are not followed
    """A tool that gives each invocation to the pilots, unless it changes its inputs in place."""

    def __init__(self, queue: JobQueue, document: Any, context: LoadingContext) -> None:
        super().__init__(document, context)
        self._queue = queue
        self._has_warned = False
        #: The warm worker that it asks for, or None.
        self.warm = read_warm(document, shortname(self.tool["id"]))
        self.checkpoint = read_checkpoint(document, shortname(self.tool["id"]))
        options = queue.tool_options
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
        """Yield the job of an invocation, as cwltool requires."""
        refuse_unsupported(self)  # also in a generated process
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
        yield PilotJob(self._queue, invocation, needs, output_callbacks)

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
        environment = self._queue.tool_options.environment
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
        if not self._queue.tool_options.containers:
            raise UnsupportedRequirement(
                "the tool requires a container, and --no-container forbids it"
            )
        if not self._queue.session.has_engines:
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


class PilotJob:
    """A job for cwltool, which reads ``outdir``, ``name`` and ``prov_obj``."""

    outdir = None
    name = "invocation"
    prov_obj = None

    def __init__(
        self,
        queue: JobQueue,
        invocation: dict[str, Any],
        needs: InvocationNeeds,
        callback: Any,
    ) -> None:
        self._queue = queue
        self.invocation = invocation
        self.needs = needs
        self.callback = callback

    def run(self, runtimeContext: RuntimeContext, tmpdir_lock: Any = None) -> None:
        """Add the job to the queue of the executor."""
        self._queue.add(self)


def refuse_unsupported(process: Any) -> None:
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
        refuse_unsupported(step.embedded_tool)


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
