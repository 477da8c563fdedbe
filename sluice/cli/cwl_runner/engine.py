"""Any CWL process: cwltool works out what follows what, and every tool runs as a job on the system's pilots."""

import re
from collections.abc import Iterator, MutableMapping, MutableSequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import cwltool.main
from cwltool.argparser import arg_parser
from cwltool.command_line_tool import CommandLineTool
from cwltool.context import LoadingContext, RuntimeContext
from cwltool.errors import UnsupportedRequirement, WorkflowException
from cwltool.executors import JobExecutor
from cwltool.update import ORIGINAL_CWLVERSION
from cwltool.workflow import default_make_tool
from ruamel.yaml import RoundTripRepresenter
from ruamel.yaml.scalarfloat import ScalarFloat
from schema_salad.exceptions import ValidationException
from schema_salad.sourceline import cmap

from sluice.cli.cwl_runner.session import FAILURES, Session
from sluice.cli.cwl_runner.template import Needs
from sluice.cli.cwl_runner.values import AsWritten
from sluice.cwltool_types import take_types_from_the_newest

_CUDA = "http://commonwl.org/cwltool#CUDARequirement"
#: A fraction in JSON; YAML has more ways to write one.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
#: Invocations that are handed to the system together.
_MOST_TOGETHER = 500


def run_process(arguments: list[str], session: Session, folder: Path) -> int:
    """``arguments``: cwltool's. ``folder``: where the session puts outputs. Prints the output object; the exit status.

    Raises ``ValueError`` where there is no such process.
    """
    take_types_from_the_newest()
    executor = _Executor(session, folder)
    given = arg_parser().parse_args(arguments)
    loading = LoadingContext(vars(given))
    loading.construct_tool_object = partial(_make_tool, executor)
    context = RuntimeContext(vars(given))
    try:
        return int(cwltool.main.main(args=given, executor=executor, loadingContext=loading, runtimeContext=context))
    except ValidationException as error:
        raise ValueError(str(error)) from error


def _make_tool(executor: "_Executor", document: Any, context: LoadingContext) -> Any:
    if isinstance(document, MutableMapping) and document.get("class") == "CommandLineTool":
        return _Tool(executor, document, context)
    return default_make_tool(document, context)


class _Tool(CommandLineTool):  # type: ignore[misc] # cwltool's types are not followed
    def __init__(self, executor: "_Executor", document: Any, context: LoadingContext) -> None:
        super().__init__(document, context)
        self._executor = executor

    def job(self, job_order: Any, output_callbacks: Any, runtimeContext: RuntimeContext) -> Iterator[Any]:
        inplace, _ = self.get_requirement("InplaceUpdateRequirement")
        if inplace is not None and inplace.get("inplaceUpdate"):
            yield from super().job(job_order, output_callbacks, runtimeContext)  # here alone are the files to be changed
            return
        builder = self._init_job(job_order, runtimeContext)
        process = {**self.tool, "requirements": self.requirements, "hints": self.hints}
        process["inputs"] = [{key: one for key, one in port.items() if key != "format"} for port in process["inputs"]]
        invocation = {
            "process": _with_numbers_as_written(process),
            "order": _with_numbers_as_written(builder.job),
            "loaded_from": self.metadata.get(ORIGINAL_CWLVERSION) or "v1.2",
        }
        yield _Job(self._executor, invocation, self._needs(builder), output_callbacks)

    def _container(self) -> str:
        """The image that it must have. Raises ``UnsupportedRequirement`` where no node can run it."""
        docker, required = self.get_requirement("DockerRequirement")
        if docker is None or not required:
            return ""
        if not self._executor.session.has_engines:
            raise UnsupportedRequirement("no node of the system has a container engine, and the tool requires a container")
        return str(docker.get("dockerPull") or docker.get("dockerImageId") or "")

    def _needs(self, builder: Any) -> Needs:
        asked, _ = self.get_requirement("ResourceRequirement")
        limit, _ = self.get_requirement("ToolTimeLimit")
        seconds = builder.do_eval(limit["timelimit"]) if limit is not None else 0
        if not isinstance(seconds, int | float) or seconds < 0:
            raise WorkflowException(f"the time limit must be a number of seconds of at least 0, not {seconds!r}")
        given = builder.resources if asked is not None else {}
        wants_disk = any(key.startswith(("outdir", "tmpdir")) for key in asked or ())
        return Needs.asked(
            cores=given.get("cores"),
            ram=given.get("ram") if asked is not None and {"ramMin", "ramMax"} & set(asked) else None,
            disk=given["tmpdirSize"] + given["outdirSize"] if wants_disk else 0,
            time_limit=seconds,
            gpu=self.get_requirement(_CUDA)[0] is not None,
            container=self._container(),
        )


class _Job:
    """What cwltool takes for a job. ``outdir``, ``name``, ``prov_obj``: it looks at them."""

    outdir = None
    name = "invocation"
    prov_obj = None

    def __init__(self, executor: "_Executor", invocation: dict[str, Any], needs: Needs, callback: Any) -> None:
        self._executor = executor
        self.invocation = invocation
        self.needs = needs
        self.callback = callback

    def run(self, runtimeContext: RuntimeContext, tmpdir_lock: Any = None) -> None:
        self._executor.add(self)


class _Executor(JobExecutor):  # type: ignore[misc] # cwltool's types are not followed
    """Hands tools over as they come up, many together, and waits for results where the workflow cannot go on without."""

    def __init__(self, session: Session, folder: Path) -> None:
        super().__init__()
        self.session = session
        self._folder = str(folder)
        self._ready: list[_Job] = []

    def add(self, job: _Job) -> None:
        self._ready.append(job)
        if len(self._ready) >= _MOST_TOGETHER:
            self._hand_over()

    def run_jobs(self, process: Any, job_order_object: Any, logger: Any, runtime_context: RuntimeContext) -> None:
        self.output_dirs.add(self._folder)
        try:
            self._run_jobs(process, job_order_object, logger, runtime_context)
        except FAILURES as error:  # cwltool would take it for a fault of its own
            logger.error("%s", error)

    def _run_jobs(self, process: Any, job_order_object: Any, logger: Any, runtime_context: RuntimeContext) -> None:
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
        """For the next results; False where nothing is under way."""
        self._hand_over()
        if not self.session.waiting:
            return False
        for result in self.session.results():
            job = cast(_Job, result.key)
            if result.outputs is None:
                logger.error("%s", result.reason)
                job.callback({}, "permanentFail")
            else:
                job.callback(cmap(result.outputs), "success")
        return True

    def _hand_over(self) -> None:
        alike: dict[Needs, list[tuple[_Job, dict[str, Any]]]] = {}
        for job in self._ready:
            alike.setdefault(job.needs, []).append((job, job.invocation))
        self._ready.clear()
        for needs, invocations in alike.items():
            self.session.submit(needs, invocations)


def _with_numbers_as_written(value: Any) -> Any:
    """Plain JSON values. A fraction is written on command lines as it was read (``1.50``, ``1e-5``)."""
    match value:
        case ScalarFloat():
            text = RoundTripRepresenter().represent_scalar_float(value).value
            return AsWritten(text) if _NUMBER.fullmatch(text) else float(value)
        case MutableMapping():
            return {str(key): _with_numbers_as_written(one) for key, one in value.items()}
        case MutableSequence():
            return [_with_numbers_as_written(one) for one in value]
        case str():
            return str(value)
    return value
