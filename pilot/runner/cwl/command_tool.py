"""Command line tools of cwltool, adapted to jobs."""

import re
from typing import Any

from cwltool.command_line_tool import CommandLineTool
from cwltool.context import LoadingContext, RuntimeContext
from cwltool.errors import WorkflowException
from cwltool.process import shortname
from cwltool.workflow import default_make_tool

from pilot.runner.files.access_errors import (
    InvalidOutputError,
    create_object_error,
    find_collected_port,
    find_object_port,
    find_port,
    find_refusal,
    require_sound,
    require_sound_object,
)

_CUDA = "http://commonwl.org/cwltool#CUDARequirement"
_SELF = re.compile(r"\bself\b")


class CommandTool(CommandLineTool):  # type: ignore[misc] # cwltool's types are not followed
    """A command line tool that names the port of a refused output.

    It also computes checksums where an expression may use them. Outputs may use both paths of the
    job's folder: ``builder`` has the path that the tool was told, the system the real one.

    ``gpus`` is the number of GPUs of the job. The WMS has already allocated them, so cwltool must
    not search for GPUs.
    """

    gpus = 0
    _collected_values: dict[str, Any]

    def __init__(self, document: Any, context: LoadingContext) -> None:
        super().__init__(document, context)
        self._requests_gpus = self.get_requirement(_CUDA)[0] is not None
        self.requirements: list[Any] = _without_cuda(self.requirements)
        self.hints: list[Any] = _without_cuda(self.hints)

    def evalResources(self, builder: Any, context: RuntimeContext) -> dict[str, Any]:
        """Return the resources of the job with the number of its GPUs."""
        resources: dict[str, Any] = super().evalResources(builder, context)
        return resources | ({"cudaDeviceCount": self.gpus} if self._requests_gpus else {})

    def collect_output_ports(
        self, ports: Any, builder: Any, outdir: str, *arguments: Any, **options: Any
    ) -> Any:
        """Collect the outputs, and set the port of an output that is refused."""
        self._collected_values = {}
        access = builder.make_fs_access(outdir)
        outdir = access.job_files.real_path(outdir)
        try:
            has_object = require_sound_object(access.job_files, outdir)
            try:
                return super().collect_output_ports(ports, builder, outdir, *arguments, **options)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                # cwltool uses an output object of the tool before it checks it, and the check
                # relies on parts of the object.
                if has_object and find_refusal(error) is None:
                    raise create_object_error() from error
                raise
        except WorkflowException as error:
            refusal = find_refusal(error)
            if refusal is not None:
                refusal.port = (
                    refusal.port
                    or find_collected_port(error)
                    or find_port(self._collected_values, refusal.path)
                    or find_object_port(
                        access.job_files,
                        refusal.path,
                        outdir=outdir,
                        inner_outdir=builder.outdir,
                    )
                )
            raise

    def collect_output(
        self,
        schema: Any,
        builder: Any,
        outdir: str,
        fs_access: Any,
        *,
        compute_checksum: bool = True,
    ) -> Any:
        """Collect one output.

        Checksums are computed if an expression looks at the files, as it may use them. This
        requires reading the files.
        """
        expression = schema.get("outputBinding", {}).get("outputEval", "")
        checksums = compute_checksum or bool(_SELF.search(expression))
        try:
            value = super().collect_output(
                schema, builder, outdir, fs_access, compute_checksum=checksums
            )
        except UnicodeDecodeError as error:
            raise InvalidOutputError(
                "a file whose contents are asked for (loadContents) is not valid UTF-8"
            ) from error
        if "id" in schema:
            port = shortname(schema["id"])
            self._collected_values[port] = value
            require_sound(value, port)
        return value


def _without_cuda(requirements: list[Any]) -> list[Any]:
    return [requirement for requirement in requirements if requirement["class"] != _CUDA]


def make_process(document: Any, context: LoadingContext) -> Any:
    """Make a process for ``construct_tool_object`` of a context."""
    is_tool = isinstance(document, dict) and document.get("class") == "CommandLineTool"
    return CommandTool(document, context) if is_tool else default_make_tool(document, context)
