"""Invocations: input files that contain a CWL process and its job order."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from pilot.folders.work_folder import IN, TMP
from pilot.runner.containers.containers import Containers
from pilot.runner.cwl.documents import load_again, load_document
from pilot.runner.cwl.exact_values import read_exact
from pilot.runner.cwl.requirements import changes_inputs
from pilot.runner.failures import AttemptError
from pilot.runner.files.access_errors import InvalidOutputError, create_refusal_error, find_port
from pilot.runner.files.input_protection import ProtectedInputs
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from pilot.runner.files.output_allowance import OutputAllowance
from pilot.runner.files.staging import file_url
from pilot.runner.job_secrets import JobSecrets
from pilot.runner.tools.command_line import CommandLine
from pilot.runner.tools.invocation_files import stage_files
from pilot.runner.tools.prepared_job import PreparedJob, WarmCommand
from pilot.runner.tools.warm_start import count_start_arguments
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.jobs.invocations import Invocation
from sluice.contracts.jobs.needs import Warm
from sluice.contracts.pilots.leases import PilotTask
from sluice.cwl_values import BundleError, pack
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

#: Maximum number of processes that stay loaded.
MAX_LOADED = 64


class InvocationExecutable:
    """Executable of a step whose files are invocations, used like ``CommandExecutable``.

    A failed tool is retried only if its exit code is a temporary failure.
    """

    def __init__(self, task: PilotTask, containers: Containers | None) -> None:
        #: Whether inputs are changed is known only after the invocation is read. The invocation
        #: itself is not changed.
        self.in_place = False
        self._task = task
        self._containers = containers
        self._loaded: dict[str, CommandLine] = {}
        self._command_line: CommandLine | None = None

    def error_class(self, exit_code: int) -> ErrorClass | None:
        """Return the error class of an exit code, or None for success."""
        error = self._current_line.error_class(exit_code)
        return (
            error
            if error is None or exit_code in self._current_line.temporary
            else ErrorClass.TOOL_REFUSED
        )

    def prepare(
        self,
        job_files: JobFiles,
        values: Mapping[str, list[Any]],
        *,
        source: str,
        protected_inputs: ProtectedInputs,
        secrets: JobSecrets,
        gpus: int,
    ) -> PreparedJob:
        """Prepare the job of an invocation.

        ``values`` contains the invocation, whose URL is ``source``. It has no secrets.

        Raises:
            AttemptError: The invocation is not valid, or a file could not be fetched.
        """
        folder = job_files.folder
        [file] = values[self._task.dat_in_port]
        with _without_retries():
            invocation = _read_invocation(f"{folder}/{IN}/{file['basename']}")
            protected_inputs.in_place = changes_inputs(invocation.process)
            process, order = stage_files(
                [invocation.process, invocation.order],
                source=source,
                folder=f"{folder}/{IN}",
                protected_inputs=protected_inputs,
            )
            self._command_line = line = self._load(
                invocation.model_copy(update={"process": process}), folder
            )
            warm = self._task.needs.warm
            command = None if warm is None else create_warm_command(warm, line, invocation, order)
            prepared = line.prepare(job_files, order, None, secrets=secrets.store, gpus=gpus)
            if command is not None and line.can_be_warm(prepared):
                start_count = count_start_arguments(prepared.arguments, line.base_command, folder)
                prepared.warm = replace(command, start_count=start_count)
            return prepared

    def collect(self, prepared_job: PreparedJob, exit_code: int) -> Mapping[str, Any]:
        """Return the output object as a bundle.

        Raises:
            AttemptError: The outputs are missing or not acceptable.
        """
        job_files = prepared_job.job_files
        with _without_retries():
            outputs = self._current_line.collect(prepared_job, exit_code)
            path = f"{job_files.new_folder()}/outputs"
            disk = self._task.needs.resources.disk
            allowance = OutputAllowance(job_files, disk=disk, inputs=prepared_job.input_bytes)
            try:
                pack(outputs, Path(path), open_file=allowance.open)
            except (ForeignFileError, InvalidOutputError) as error:
                raise create_refusal_error(
                    error, port=find_port(outputs, error.path), exit_code=exit_code
                ) from error
            except (BundleError, FileNotFoundError) as error:
                raise AttemptError(
                    ErrorClass.TOOL_FAILED,
                    f"the outputs cannot be kept: {reason_of(error)}",
                    exit_code=exit_code,
                ) from error
        return {self._task.outputs[0].port: {"class": "File", "location": file_url(path)}}

    @property
    def _current_line(self) -> CommandLine:
        if self._command_line is None:
            raise RuntimeError("no invocation has been prepared")
        return self._command_line

    def _load(self, invocation: Invocation, folder: str) -> CommandLine:
        key = json.dumps(invocation.process)
        line = self._loaded.get(key)
        if line is None:
            if invocation.process.get("class") != "CommandLineTool":
                raise AttemptError(
                    ErrorClass.TOOL_FAILED,
                    f"an invocation runs a CommandLineTool, not {_quote_class(invocation)}",
                )
            if invocation.loaded_from:
                process = load_again(invocation.process, invocation.loaded_from)
            else:
                process = load_document(invocation.process, f"{folder}/{TMP}", subject="the tool")
            line = CommandLine(process, self._containers)
            if len(self._loaded) >= MAX_LOADED:
                self._loaded.clear()
            self._loaded[key] = line
        return line


def create_warm_command(
    warm: Warm, line: CommandLine, invocation: Invocation, order: dict[str, Any]
) -> WarmCommand:
    """Return the command of a warm worker for an invocation.

    ``invocation`` has the locations in the storage, which identify the files. ``order`` has the
    staged files.
    """
    tool = hashlib.sha256(json.dumps(invocation.process, sort_keys=True).encode()).hexdigest()
    key_values = [
        (name, json.dumps(invocation.order.get(name), sort_keys=True)) for name in warm.key
    ]
    inputs = [
        {"path": unquote(urlsplit(location).path), "digest": place}
        for place, location in zip(
            _list_locations(invocation.order), _list_locations(order), strict=True
        )
    ]
    return WarmCommand(warm, line.base_command, loads=[("tool", tool), *key_values], inputs=inputs)


def _list_locations(value: Any) -> Iterator[str]:
    """Yield the locations of the files and folders in a value, in order."""
    match value:
        case {"class": "File" | "Directory", "location": str(location), **others}:
            yield location
            yield from _list_locations(others.get("secondaryFiles"))
        case dict():
            for inner in value.values():
                yield from _list_locations(inner)
        case list():
            for inner in value:
                yield from _list_locations(inner)


def _read_invocation(path: str) -> Invocation:
    try:
        return Invocation.model_validate(read_exact(Path(path).read_bytes()))
    except ValueError as error:
        if not isinstance(error, ValidationError):
            raise AttemptError(
                ErrorClass.TOOL_FAILED, f"the file is not an invocation: {reason_of(error)}"
            ) from error
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise AttemptError(
            ErrorClass.TOOL_FAILED,
            f"the file is not an invocation: {place}: {validation_sentence(first)}",
        ) from error


def _quote_class(invocation: Invocation) -> str:
    return quoted(invocation.process.get("class"))


@contextmanager
def _without_retries() -> Iterator[None]:
    try:
        yield
    except AttemptError as error:
        if error.error_class is ErrorClass.TOOL_FAILED:
            error.error_class = ErrorClass.TOOL_REFUSED
        raise
