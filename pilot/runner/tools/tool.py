"""A CWL CommandLineTool, loaded once and prepared for each job, with cwltool as a library."""

import json
import logging
import math
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import cwltool.process
from cwltool.context import RuntimeContext
from cwltool.load_tool import load_tool
from cwltool.process import stage_files
from schema_salad.utils import convert_to_dict

from pilot.folders.work_folder import IN, OUT, TMP
from pilot.runner.containers.container_run import ContainerRun
from pilot.runner.containers.containers import Containers
from pilot.runner.containers.options import flags, runtime_of, tool_image
from pilot.runner.cwl.documents import CWL_ERRORS, loading_context
from pilot.runner.cwl.exact_values import exact
from pilot.runner.cwl.file_access import InPlaceMapper, OwnMapper, access_to, mapper_in, relink
from pilot.runner.cwl.wording import no_output, plain
from pilot.runner.expressions.engine import engine
from pilot.runner.failures import AttemptError
from pilot.runner.files.originals import Originals, changes_inputs
from pilot.runner.files.own_files import OwnFiles
from pilot.runner.files.refusals import not_set_up, quieten, refusal_in, refused_output
from sluice.contracts.pilots import PilotTask
from sluice.contracts.plan import Resources
from sluice.contracts.states import ErrorClass
from sluice.cwltool_types import take_types_from_the_newest

_CUDA = "http://commonwl.org/cwltool#CUDARequirement"


@dataclass(slots=True)
class PreparedJob:
    """A command line with its folders made and its files in place. ``stdout`` and ``stderr``:
    paths, None: not asked for. ``own``: the files that the job may have."""

    arguments: list[str]
    environment: dict[str, str]
    stdin: str | None
    stdout: str | None
    stderr: str | None
    job: Any
    own: OwnFiles
    #: The tool's own program, as a person knows it.
    program: str = ""
    container: ContainerRun | None = None
    #: For the log.
    note: str = ""
    #: Where a process inside the job notes why it failed.
    failure: str | None = None
    #: It is Python of ours, which a process that is ready can run.
    own_python: bool = False
    #: Of the files that it is given.
    input_bytes: int = 0


class CommandLine:
    """A tool of cwltool's. ``success``, ``temporary``, ``permanent``: its exit codes."""

    def __init__(self, tool: Any, containers: Containers | None) -> None:
        self._tool = tool
        # Copied for every job: with its places in the template it would take ten times as long.
        tool.inputs_record_schema = convert_to_dict(tool.inputs_record_schema)
        self._containers = containers
        self._image = tool_image(tool, able=containers is not None)
        document = tool.tool
        self.success = frozenset(document.get("successCodes", ()))
        self.temporary = frozenset(document.get("temporaryFailCodes", ()))
        self.permanent = frozenset(document.get("permanentFailCodes", ()))
        self._lock = threading.Condition(threading.RLock())
        self._gpu = any(hint["class"] == _CUDA for hint in tool.hints)
        # A GPU that was not asked of the WMS is no reason to refuse: cwltool refuses even for a
        # hint.
        tool.hints = [hint for hint in tool.hints if hint["class"] != _CUDA]
        missing = engine().missing
        if (
            missing is not None
            and tool.get_requirement("InlineJavascriptRequirement")[0] is not None
        ):
            raise AttemptError(
                ErrorClass.INTERNAL,
                f"the tool needs JavaScript (InlineJavascriptRequirement), and {missing}",
            )

    def error_class(self, exit_code: int) -> ErrorClass | None:
        """None where it is one of success."""
        if exit_code in self.success or (
            exit_code == 0 and exit_code not in self.temporary | self.permanent
        ):
            return None
        return ErrorClass.TOOL_REFUSED if exit_code in self.permanent else ErrorClass.TOOL_FAILED

    def prepare(
        self, own: OwnFiles, order: dict[str, Any], resources: Resources | None
    ) -> PreparedJob:
        """``resources``: what the job has (None: what it asks for). Raises ``AttemptError`` where
        tool and order do not fit."""
        contained, folder = self._containers is not None and self._image is not None, own.folder
        context = RuntimeContext(
            {
                **(
                    flags(self._containers.engine)
                    if self._containers is not None and contained
                    else {"use_container": False}
                ),
                "basedir": folder,
                "outdir": f"{folder}/{OUT}",
                "tmpdir": f"{folder}/{TMP}",
                "stagedir": f"{folder}/{IN}",
                "compute_checksum": False,
                "name": "job",
                "make_fs_access": access_to(own),
                "path_mapper": mapper_in(own, OwnMapper if contained else InPlaceMapper),
            }
        )
        if contained:
            context.tmpdir_prefix, context.cidfile_dir = f"{folder}/{TMP}/t-", f"{folder}/{TMP}"
        context.workflow_eval_lock = self._lock
        if resources is not None:
            # With a GPU, the engine lets the container have the node's.
            devices = {"cudaDeviceCount": 1} if contained and self._gpu else {}
            context.select_resources = lambda asked, _context: _told(asked, resources) | devices
        try:
            with self._own_expressions():
                job = next(self._tool.job(order, None, context))
                job._setup(context)
                if contained:
                    return self._in_container(job, own, context)
                _stage(job, own)
        except CWL_ERRORS as error:
            raise not_set_up(refusal_in(error) or plain(error)) from error
        finally:
            cwltool.process._names.clear()
        note = (
            ""
            if self._image is None
            else f"container {self._image.name} is a hint, and this node has no engine: run without"
        )
        return replace(_prepared(job, own), note=note)

    def _in_container(self, job: Any, own: OwnFiles, context: RuntimeContext) -> PreparedJob:
        containers, image = self._containers, self._image
        if containers is None or image is None:
            raise RuntimeError("this tool runs in no container")
        prepared = _prepared(job, own)
        stdin = job.pathmapper.reversemap(job.stdin) if job.stdin else None
        called = containers.images.bring(image)
        runtime, environment = runtime_of(
            job.create_runtime, context, containers.engine, containers.options()
        )
        name = containers.next_name()
        named = [f"--name={name}"] if containers.engine.apart else []
        return replace(
            prepared,
            arguments=[*runtime, *named, called, *prepared.arguments],
            environment=environment,
            stdin=None if stdin is None else stdin[1],
            container=ContainerRun(containers, name),
            note=(
                f"container {image.name}, run with {containers.engine.kind.label}"
                f" {containers.engine.version}"
            ),
        )

    def collect(self, prepared: PreparedJob, exit_code: int) -> dict[str, Any]:
        """The output object. Raises ``AttemptError``."""
        job = prepared.job
        try:
            _relink(job, prepared.own)
            with self._own_expressions():
                return cast(dict[str, Any], job.collect_outputs(job.outdir, exit_code))
        except CWL_ERRORS as error:
            refusal = refusal_in(error)
            if refusal is None:
                raise AttemptError(
                    ErrorClass.TOOL_FAILED, no_output(str(error)), exit_code=exit_code
                ) from error
            raise refused_output(refusal, exit_code=exit_code) from error

    @contextmanager
    def _own_expressions(self) -> Iterator[None]:
        """Expressions inside are this tool's. One that goes over a limit would do so again: the job
        is refused for good."""
        engine().use(self)
        try:
            yield
        except CWL_ERRORS as error:
            exceeded = engine().exceeded
            if exceeded is not None:
                raise AttemptError(ErrorClass.TOOL_REFUSED, exceeded) from error
            raise


class LoadedTool:
    """The tool of a task."""

    def __init__(self, task: PilotTask, tool: Any, containers: Containers | None) -> None:
        self._task = task
        self._line = CommandLine(tool, containers)
        self._types = {
            cwltool.process.shortname(port["id"]): port["type"] for port in tool.tool["inputs"]
        }
        self.error_class = self._line.error_class
        #: It changes its inputs, and is to have copies of them.
        self.in_place = changes_inputs(task.executable)

    def prepare(
        self, own: OwnFiles, values: Mapping[str, list[Any]], source: str, originals: Originals
    ) -> PreparedJob:
        """``values``: what the job gets at each data port. ``source``: URL of the first.
        ``originals``: for what is still to be brought. Raises ``AttemptError`` where they do not
        fit."""
        return self._line.prepare(
            own, job_order(self._task, self._types, values), self._task.resources
        )

    def collect(self, prepared: PreparedJob, exit_code: int) -> Mapping[str, Any]:
        """The output object. Raises ``AttemptError``."""
        return self._line.collect(prepared, exit_code)


def job_order(
    task: PilotTask, types: Mapping[str, Any], values: Mapping[str, list[Any]]
) -> dict[str, Any]:
    """Parameters, and at each data port a single value (None where there is none) or a list of
    them: of plain files as its type says. Raises ``AttemptError``."""
    order: dict[str, Any] = exact(task.args)
    whole = {bundle.port: bundle.whole for bundle in task.bundles}
    for port in (task.dat_in_port, *task.side_ports):
        if port not in types:
            raise AttemptError(ErrorClass.TOOL_FAILED, f"the tool has no input {port!r}")
        given = values.get(port, [])
        order[port] = (
            given if whole.get(port, _takes_list(types[port])) else next(iter(given), None)
        )
    return order


def warm_up(folder: str) -> None:
    """Loads a tool of nothing, so that all schemas are read before the first fork."""
    logging.getLogger("cwltool").setLevel(logging.ERROR)
    quieten()
    # It tells of every failed expression with a traceback; the job's report has the reason.
    logging.getLogger("cwl_utils").setLevel(logging.CRITICAL)
    take_types_from_the_newest()
    path = f"{folder}/warm-up.cwl"
    document = {
        "cwlVersion": "v1.2",
        "class": "CommandLineTool",
        "baseCommand": "true",
        "inputs": {},
        "outputs": {},
    }
    with open(path, "w") as file:
        json.dump(document, file)
    load_tool(f"file://{path}", loading_context())
    os.unlink(path)


def expression_processes() -> frozenset[int]:
    """Pids of processes that evaluate expressions; they serve many jobs."""
    return engine().pids


def _told(asked: Mapping[str, float], resources: Resources) -> dict[str, float]:
    """``runtime`` of the tool's expressions. Of the job's disk each of its two folders has what was
    asked for it."""
    folders = {f"{name}Size": math.ceil(asked[f"{name}Min"]) for name in ("tmpdir", "outdir")}
    return {"cores": resources.cores, "ram": resources.ram or math.ceil(asked["ramMin"]), **folders}


def _takes_list(cwl_type: Any) -> bool:
    options = cwl_type if isinstance(cwl_type, list) else [cwl_type]
    return any(isinstance(option, dict) and option.get("type") == "array" for option in options)


def _stage(job: Any, own: OwnFiles) -> None:
    stage_files(job.pathmapper, ignore_writable=True, symlink=True)
    if job.generatemapper is not None:
        stage_files(job.generatemapper, ignore_writable=job.inplace_update, symlink=True)
    _relink(job, own)


def _relink(job: Any, own: OwnFiles) -> None:
    if job.generatemapper is not None:
        relink(own, job.generatemapper, job.outdir, job.builder.outdir, in_place=job.inplace_update)


def _prepared(job: Any, own: OwnFiles) -> PreparedJob:
    if not job.command_line:
        raise AttemptError(
            ErrorClass.TOOL_FAILED,
            "the tool's command line is empty: it has no baseCommand and no arguments",
        )
    arguments = [str(argument) for argument in job.command_line]
    environment = {key: str(value) for key, value in job.environment.items()}
    _require_no_nul(
        "argument", {str(number): argument for number, argument in enumerate(arguments)}
    )
    _require_no_nul("environment variable", environment)
    _require_no_nul("stream", {"stdout": job.stdout or "", "stderr": job.stderr or ""})
    return PreparedJob(
        arguments=arguments,
        environment=environment,
        stdin=job.stdin,
        stdout=_stream(job.outdir, job.stdout),
        stderr=_stream(job.outdir, job.stderr),
        job=job,
        own=own,
        program=os.path.basename(str(job.command_line[0])),
    )


def _require_no_nul(what: str, texts: Mapping[str, str]) -> None:
    """What the system gives to a program ends at such a character. Raises ``AttemptError``."""
    name = next((name for name, text in texts.items() if "\0" in text), None)
    if name is not None:
        raise AttemptError(
            ErrorClass.TOOL_REFUSED,
            f"the tool's {what} {name} has a NUL character, which no program can be given",
        )


def _stream(outdir: str, name: str | None) -> str | None:
    if not name:
        return None
    path = os.path.join(outdir, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path
