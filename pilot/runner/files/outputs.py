"""Conversion of a tool's output values to files for the storages, one file for each entry."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import TypeAdapter, ValidationError

from pilot.runner.failures import AttemptError
from pilot.runner.files.access_errors import InvalidOutputError, create_refusal_error
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from pilot.runner.files.output_allowance import OutputAllowance
from pilot.runner.files.staging import ProducedFile
from sluice.contracts.common.base import FileName
from sluice.contracts.common.naming import output_name
from sluice.contracts.common.states import EntryKind, ErrorClass
from sluice.contracts.data.counts import COUNTS, InvalidCounts, require_counts
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.cwl_values import BundleError, pack
from sluice.text.os_errors import os_error_sentence
from sluice.text.visible_text import quoted

_file_name: TypeAdapter[str] = TypeAdapter(FileName)


@dataclass(frozen=True, slots=True)
class _OutputValue:
    """An output value that becomes an entry of a data set.

    Attributes:
        number: The number of the entry, or None for the job's number. For an item of a list it is
            the place of the item.
    """

    output: TaskOutput
    value: Any
    number: int | None = None


@dataclass(frozen=True, slots=True)
class _File:
    """A file to store.

    Attributes:
        name: The file's own name.
    """

    path: str
    name: str


def collect_files(
    task: PilotTask,
    job: LeasedJob,
    *,
    outputs: Mapping[str, Any],
    job_files: JobFiles,
    inputs: int,
    entry: int | None = None,
) -> list[ProducedFile]:
    """Return the files to store for the output object of a tool.

    ``outputs`` is the output object of the job's entry with the number ``entry``, or of the job if
    ``entry`` is None. It may name files that are not the job's. ``inputs`` is the size of the job's
    inputs in bytes.

    Values other than plain files are packed here. An empty optional output has no file.

    Raises:
        AttemptError: An output cannot be accepted.
        OSError: The node has failed.
    """
    allowance = OutputAllowance(job_files, disk=task.needs.resources.disk, inputs=inputs)
    packer = _Packer(job_files, allowance)
    values = [
        value
        for output in task.outputs
        for value in _list_values(output, outputs.get(output.port), entry)
    ]
    files = [packer.create_file(value) for value in values]
    return [
        ProducedFile(
            value.output,
            file.path,
            f"{value.output.dat_out_url}/{_create_name(job, value, file.name)}",
            value.number,
            _read_counts(value),
        )
        for value, file in zip(values, files, strict=True)
    ]


def _read_counts(entry: _OutputValue) -> dict[str, int] | None:
    """Return the counts that the tool declares for a file, or None.

    Wrong counts refuse the output, as another attempt would declare the same.
    """
    value = (
        entry.value[0] if isinstance(entry.value, list) and len(entry.value) == 1 else entry.value
    )
    if not isinstance(value, Mapping) or value.get(COUNTS) is None:
        return None
    try:
        return require_counts(value[COUNTS])
    except InvalidCounts as error:
        raise AttemptError(
            ErrorClass.TOOL_REFUSED, f"output {quoted(entry.output.port)}: {error}"
        ) from error


def _list_values(output: TaskOutput, value: Any, number: int | None) -> Iterator[_OutputValue]:
    if value is None or (value == [] and output.kind is EntryKind.FILE and not output.spread):
        if not output.optional:
            gave = (
                "wrote no file"
                if output.kind is EntryKind.FILE and not output.spread
                else "gave nothing"
            )
            raise AttemptError(
                ErrorClass.TOOL_FAILED, f"the tool {gave} for its output {quoted(output.port)}"
            )
    elif not output.spread:
        yield _OutputValue(output, value, number)
    elif isinstance(value, list):
        yield from (
            _OutputValue(output, item, place)
            for place, item in enumerate(value)
            if item is not None
        )
    else:
        raise AttemptError(ErrorClass.TOOL_FAILED, f"output {quoted(output.port)} is not a list")


def _create_name(job: LeasedJob, entry: _OutputValue, own_name: str) -> str:
    """Return the name of an output on its storage.

    Raises:
        AttemptError: The catalogue cannot keep the name.
    """
    name = output_name(job.seq if entry.number is None else entry.number, job.attempt, own_name)
    try:
        return _file_name.validate_python(name)
    except ValidationError as error:
        raise AttemptError(
            ErrorClass.TOOL_REFUSED,
            f"output {quoted(entry.output.port)}: the file name {quoted(own_name)} has control"
            " characters: let the tool give it another",
        ) from error


@dataclass(slots=True)
class _Packer:
    job_files: JobFiles
    allowance: OutputAllowance

    def create_file(self, entry: _OutputValue) -> _File:
        if entry.output.kind is EntryKind.FILE:
            return self._create_plain_file(entry.output.port, entry.value)
        # The folder is new, so the tool, which has ended, cannot have put links there.
        path = f"{self.job_files.new_folder()}/bundle"
        try:
            pack(entry.value, Path(path), open_file=self.allowance.open)
        except (ForeignFileError, InvalidOutputError) as error:
            raise create_refusal_error(error, port=entry.output.port) from error
        except BundleError as error:
            raise AttemptError(
                ErrorClass.TOOL_REFUSED,
                f"output {quoted(entry.output.port)} cannot be kept: {error}",
            ) from error
        except FileNotFoundError as error:
            raise AttemptError(
                ErrorClass.TOOL_FAILED,
                f"output {quoted(entry.output.port)} cannot be kept: {os_error_sentence(error)}",
            ) from error
        return _File(path, f"{_find_own_name(entry.value) or entry.output.port}.tar")

    def _create_plain_file(self, port: str, value: Any) -> _File:
        """Return the file of a value of type File.

        Its basename may differ from the name on disk, as an expression can set it.
        """
        if isinstance(value, list):
            if len(value) != 1:
                sentence = (
                    f"output {quoted(port)} has {len(value)} files; a job gives at most one file"
                    " at an output of type File"
                )
                raise AttemptError(ErrorClass.TOOL_FAILED, sentence)
            value = value[0]
        if not isinstance(value, dict) or value.get("class") != "File":
            raise AttemptError(ErrorClass.TOOL_FAILED, f"output {quoted(port)} is not a file")
        location = str(value.get("location", "_:"))
        name = os.path.basename(str(value.get("basename") or ""))
        if "contents" in value and location.startswith("_:"):
            return _File(self._write_literal(value["contents"]), name or port)
        path = unquote(urlsplit(location).path) if location.startswith("file://") else location
        self._count(port, path)
        return _File(path, name or os.path.basename(path))

    def _count(self, port: str, path: str) -> None:
        """Count the size of a file.

        Missing and foreign files raise errors when they are stored.
        """
        with suppress(ForeignFileError):
            status = self.job_files.status(path)
            try:
                if status is not None:
                    self.allowance.count(status)
            except InvalidOutputError as error:
                raise create_refusal_error(error, port=port) from error

    def _write_literal(self, contents: str) -> str:
        path = f"{self.job_files.new_folder()}/literal"
        with open(path, "x") as file:
            file.write(contents)
        return path


def _find_own_name(value: Any) -> str:
    """Return the name of a single file or directory, or an empty string for other values."""
    if not isinstance(value, dict) or value.get("class") not in ("File", "Directory"):
        return ""
    location = str(value.get("location", "")).rstrip("/")
    return str(
        value.get("basename")
        or (os.path.basename(unquote(urlsplit(location).path)) if "/" in location else "")
    )
