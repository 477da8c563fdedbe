"""A command line tool of cwltool, prepared for one job after the other."""

import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import cwltool.process
from cwltool.context import RuntimeContext
from cwltool.process import stage_files
from cwltool.secrets import SecretStore
from schema_salad.utils import convert_to_dict

from pilot.folders.work_folder import IN, OUT, TMP
from pilot.runner.containers.container_run import ContainerRun
from pilot.runner.containers.containers import Containers
from pilot.runner.containers.options import build_engine_command, find_image, runtime_options
from pilot.runner.cwl.cwltool_messages import clean_message, describe_missing_output
from pilot.runner.cwl.documents import CWL_ERRORS
from pilot.runner.cwl.file_access import (
    InPlaceMapper,
    JobFileMapper,
    create_access_factory,
    create_mapper_factory,
    relink,
)
from pilot.runner.cwl.secret_files import list_secret_files, remove_secret_files
from pilot.runner.expressions.engine import get_engine
from pilot.runner.failures import AttemptError
from pilot.runner.files.access_errors import create_refusal_error, create_setup_error, find_refusal
from pilot.runner.files.job_files import JobFiles
from pilot.runner.tools.prepared_job import PreparedJob, create_prepared_job
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.jobs.needs import Resources
from sluice.tools.warm_rules import UNSUPPORTED_REQUIREMENTS


class CommandLine:
    """A command line tool of cwltool.

    ``success``, ``temporary`` and ``permanent`` are its exit codes.
    """

    def __init__(self, tool: Any, containers: Containers | None) -> None:
        self._tool = tool
        # cwltool copies the schema for each job. With its places in the template this takes ten
        # times as long.
        tool.inputs_record_schema = convert_to_dict(tool.inputs_record_schema)
        self._containers = containers
        self._image = find_image(tool, has_engine=containers is not None)
        document = tool.tool
        self.success = frozenset(document.get("successCodes", ()))
        self.temporary = frozenset(document.get("temporaryFailCodes", ()))
        self.permanent = frozenset(document.get("permanentFailCodes", ()))
        #: Number of arguments of baseCommand, which come first in each job.
        self.base_command = len(_as_list(document.get("baseCommand")))
        request = tool.get_requirement("ResourceRequirement")[0] or {}
        self._has_core_expression = _is_expression(request, "cores")
        self._has_ram_expression = _is_expression(request, "ram")
        self._uses_container = containers is not None and self._image is not None
        #: Context that all jobs share.
        self._runtime = RuntimeContext(
            {
                **(
                    runtime_options(containers.engine)
                    if containers is not None and self._uses_container
                    else {"use_container": False}
                ),
                "compute_checksum": False,
                "name": "job",
            }
        )
        self._runtime.workflow_eval_lock = threading.Condition(threading.RLock())
        missing_reason = get_engine().missing_reason
        if (
            missing_reason is not None
            and tool.get_requirement("InlineJavascriptRequirement")[0] is not None
        ):
            raise AttemptError(
                ErrorClass.INTERNAL,
                f"the tool needs JavaScript (InlineJavascriptRequirement), and {missing_reason}",
            )

    def error_class(self, exit_code: int) -> ErrorClass | None:
        """Return the error class of an exit code, or None for success."""
        if exit_code in self.success or (
            exit_code == 0 and exit_code not in self.temporary | self.permanent
        ):
            return None
        return ErrorClass.TOOL_REFUSED if exit_code in self.permanent else ErrorClass.TOOL_FAILED

    def prepare(
        self,
        job_files: JobFiles,
        order: dict[str, Any],
        resources: Resources | None,
        *,
        secrets: SecretStore,
        gpus: int,
    ) -> PreparedJob:
        """Prepare a job.

        ``resources`` are the resources of the job, or None for its resource request. ``gpus`` is
        the number of its GPUs. ``secrets`` holds values for placeholders in the order.

        Raises:
            AttemptError: The tool and the order do not fit.
        """
        self._tool.gpus = gpus
        uses_container, folder = self._uses_container, job_files.folder
        context = self._runtime.copy()
        context.basedir, context.stagedir = folder, f"{folder}/{IN}"
        context.outdir, context.tmpdir = f"{folder}/{OUT}", f"{folder}/{TMP}"
        context.make_fs_access = create_access_factory(job_files)
        context.path_mapper = create_mapper_factory(
            job_files, JobFileMapper if uses_container else InPlaceMapper
        )
        context.secret_store = secrets
        if uses_container:
            context.tmpdir_prefix, context.cidfile_dir = f"{folder}/{TMP}/t-", f"{folder}/{TMP}"
        if resources is not None:
            context.select_resources = lambda request, _context: self._runtime_values(
                request, resources
            )
        try:
            with self._evaluate_expressions():
                job = next(self._tool.job(order, None, context))
                job._setup(context)
                private = list_secret_files(job, secrets)
                if uses_container:
                    prepared = self._in_container(job, job_files, context)
                else:
                    _stage(job, job_files, secrets)
                    prepared = create_prepared_job(job, job_files)
        except CWL_ERRORS as error:
            raise create_setup_error(find_refusal(error) or clean_message(error)) from error
        finally:
            cwltool.process._names.clear()
        prepared.secret_files = private
        prepared.environment = cast(dict[str, str], secrets.retrieve(prepared.environment))
        if self._image is not None and not uses_container:
            prepared.note = (
                f"container {self._image.name} is a hint, and this node has no engine: the tool"
                " runs without it"
            )
        return prepared

    def _runtime_values(
        self, request: Mapping[str, float], resources: Resources
    ) -> dict[str, float]:
        """Return the values of ``runtime`` for expressions of the tool.

        Each of the job's two folders has the disk that was requested for it. Requests that are
        expressions are known here alone, so they have precedence over the resources of the job.
        """
        ram = math.ceil(request["ramMin"])
        return {
            "cores": request["coresMin"] if self._has_core_expression else resources.cores,
            "ram": ram if self._has_ram_expression else resources.ram or ram,
            "tmpdirSize": math.ceil(request["tmpdirMin"]),
            "outdirSize": math.ceil(request["outdirMin"]),
        }

    def can_be_warm(self, prepared_job: PreparedJob) -> bool:
        """Return whether the prepared tool can become a warm worker.

        Its baseCommand must start it, and its standard input must be free.
        """
        conflicts = (self._tool.get_requirement(name)[0] for name in UNSUPPORTED_REQUIREMENTS)
        return (
            self.base_command > 0
            and prepared_job.container is None
            and not prepared_job.stdin
            and not any(conflicts)
        )

    def _in_container(self, job: Any, job_files: JobFiles, context: RuntimeContext) -> PreparedJob:
        containers, image = self._containers, self._image
        if containers is None or image is None:
            raise RuntimeError("this tool runs in no container")
        prepared = create_prepared_job(job, job_files)
        stdin = job.pathmapper.reversemap(job.stdin) if job.stdin else None
        image_name = containers.images.pull(image)
        runtime, environment = build_engine_command(
            job.create_runtime, context, containers.engine, containers.options()
        )
        name = containers.next_name()
        name_option = [f"--name={name}"] if containers.engine.runs_outside else []
        return replace(
            prepared,
            arguments=[*runtime, *name_option, image_name, *prepared.arguments],
            environment=environment,
            stdin=None if stdin is None else stdin[1],
            container=ContainerRun(containers, name),
            note=(
                f"container {image.name}, run with {containers.engine.kind.label}"
                f" {containers.engine.version}"
            ),
        )

    def collect(self, prepared_job: PreparedJob, exit_code: int) -> dict[str, Any]:
        """Return the output object.

        Raises:
            AttemptError: The outputs are missing or not acceptable.
        """
        job = prepared_job.job
        try:
            remove_secret_files(prepared_job.secret_files, prepared_job.job_files)
            _relink(job, prepared_job.job_files)
            prepared_job.job_files.cache_status()
            with self._evaluate_expressions():
                return cast(dict[str, Any], job.collect_outputs(job.outdir, exit_code))
        except CWL_ERRORS as error:
            refusal = find_refusal(error)
            if refusal is None:
                raise AttemptError(
                    ErrorClass.TOOL_FAILED, describe_missing_output(str(error)), exit_code=exit_code
                ) from error
            raise create_refusal_error(refusal, exit_code=exit_code) from error

    @contextmanager
    def _evaluate_expressions(self) -> Iterator[None]:
        """Evaluate expressions for this tool.

        An expression that exceeds a limit would do so again, so the job is refused.
        """
        get_engine().use(self)
        try:
            yield
        except CWL_ERRORS as error:
            violation = get_engine().violation
            if violation is not None:
                raise AttemptError(ErrorClass.TOOL_REFUSED, violation) from error
            raise


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _is_expression(request: Mapping[str, Any], name: str) -> bool:
    """Return whether the minimum that counts for a resource is an expression."""
    amounts = (request.get(f"{name}Min"), request.get(f"{name}Max"))
    return isinstance(next((amount for amount in amounts if amount is not None), None), str)


def _stage(job: Any, job_files: JobFiles, secrets: SecretStore) -> None:
    if any(entry.staged for _, entry in job.pathmapper.items()):
        stage_files(job.pathmapper, ignore_writable=True, symlink=True)
    if job.generatemapper is not None:
        stage_files(
            job.generatemapper,
            ignore_writable=job.inplace_update,
            symlink=True,
            secret_store=secrets,
        )
    _relink(job, job_files)


def _relink(job: Any, job_files: JobFiles) -> None:
    if job.generatemapper is not None:
        relink(
            job_files,
            job.generatemapper,
            outdir=job.outdir,
            inner_outdir=job.builder.outdir,
            in_place=job.inplace_update,
        )
