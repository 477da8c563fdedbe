"""Staging of an attempt's files: inputs to its folder, outputs and log to their storages."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pilot.runner.failures import AttemptError, stage_out_error
from pilot.runner.files.access_errors import create_refusal_error
from pilot.runner.files.input_protection import ProtectedInputs
from pilot.runner.files.job_files import ForeignFileError, JobFiles, OpenJobFile
from sluice.contracts.common.naming import live_name, log_name
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.data.asset_refs import path_of
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.contracts.pilots.output_files import LogFile, OutputFile
from sluice.cwl_values import BundleError, unpack
from sluice.storage import StorageError, put_bytes, put_open, remove
from sluice.text.visible_text import quoted


def file_url(path: str) -> str:
    """Return a ``file://`` URL as cwltool reads it, with special characters escaped."""
    return "file://" + quote(path)


def stage_in(
    task: PilotTask,
    inputs: Sequence[InputFile],
    folder: str,
    *,
    protected_inputs: ProtectedInputs,
    shared_inputs: Sequence[InputFile] = (),
) -> dict[str, list[Any]]:
    """Bring the inputs into ``folder`` and return them as CWL values by port, in order.

    ``shared_inputs`` lists further files that are on this node and verified. ``protected_inputs``
    records which files are links.

    Raises:
        AttemptError: A file could not be fetched or unpacked.
        OSError: The node has failed.
    """
    names: set[str] = set()
    bundles = {bundle.port for bundle in task.bundles}
    folders = _create_folders(task, folder)
    values: dict[str, list[Any]] = {port: [place.value] for port, place in folders.items()}
    for number, file in enumerate((*inputs, *shared_inputs)):
        port, verified = file.port or task.dat_in_port, number >= len(inputs)
        if port in bundles:
            place = tempfile.mkdtemp(prefix=f"{number}-", dir=folder)
            values.setdefault(port, []).append(
                _unpack_bundle(file, place, protected_inputs, verified=verified)
            )
            continue
        if port in folders:
            _fetch(file, folders[port].create_path(file), protected_inputs, verified=verified)
            continue
        place = folder
        # Another file of that name needs its own folder, as any plain name may belong to another
        # input.
        if file.name in names:
            place = tempfile.mkdtemp(prefix=f"{number}-", dir=folder)
        names.add(file.name)
        path = f"{place}/{file.name}"
        _fetch(file, path, protected_inputs, verified=verified)
        value = {
            "class": "File",
            "location": file_url(path),
            "basename": file.name,
            "size": file.size,
        }
        values.setdefault(port, []).append(value)
    return values


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that a port gets.

    Attributes:
        path: Its path.
    """

    path: str

    @property
    def value(self) -> dict[str, Any]:
        name = os.path.basename(self.path)
        return {"class": "Directory", "location": file_url(self.path), "basename": name}

    def create_path(self, file: InputFile) -> str:
        """Return the path of a file in the folder, and create its parent.

        Raises:
            OSError: The parent could not be created.
        """
        path = f"{self.path}/{path_of(file.name)}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path


def _create_folders(task: PilotTask, folder: str) -> dict[str, _Folder]:
    """Create the folders of ports that get one, and return them by port.

    Raises:
        OSError: A folder could not be created.
    """
    folders = {
        port: _Folder(f"{tempfile.mkdtemp(prefix='folder-', dir=folder)}/{name}")
        for port, name in task.needs.folders.items()
        if port in (task.dat_in_port, *task.side_ports)
    }
    for place in folders.values():
        os.mkdir(place.path)
    return folders


def _fetch(
    file: InputFile, path: str, protected_inputs: ProtectedInputs, *, verified: bool
) -> None:
    if verified:
        protected_inputs.fetch_verified(file.name, file.url, path)
    else:
        protected_inputs.fetch(file.name, file.url, path, checksum=file.checksum, size=file.size)


def _unpack_bundle(
    file: InputFile, folder: str, protected_inputs: ProtectedInputs, *, verified: bool
) -> Any:
    """Unpack a bundle below ``folder`` and return its value."""
    path = f"{folder}/bundle"
    _fetch(file, path, protected_inputs, verified=verified)
    try:
        return unpack(Path(path), Path(folder))
    except BundleError as error:
        sentence = (
            f"input file {quoted(file.name)} is not a bundle ({error}), and the tool's input needs"
            " one, as it is a directory, a file with secondary files or another value:"
            " `sluice dataset register --template` makes bundles"
        )
        raise AttemptError(ErrorClass.TOOL_REFUSED, sentence) from error
    finally:
        os.unlink(path)


@dataclass(frozen=True, slots=True)
class ProducedFile:
    """A file to store: its port, its path and its URL.

    Attributes:
        number: The number of its entry, or None for the number of the job.
        counts: The counts that the tool declared.
    """

    output: TaskOutput
    path: str
    url: str
    number: int | None = None
    counts: dict[str, int] | None = None


def live_url(task: PilotTask, job: LeasedJob) -> str:
    """Return the URL of the live log of an attempt."""
    return f"{task.log_out_url}/{live_name(job.seq, job.attempt)}"


def log_url(task: PilotTask, job: LeasedJob) -> str:
    """Return the URL of the log of an attempt."""
    return f"{task.log_out_url}/{log_name(job.seq, job.attempt)}"


@contextlib.contextmanager
def open_output(file: ProducedFile, job_files: JobFiles) -> Iterator[OpenJobFile]:
    """Open an output file.

    Raises:
        AttemptError: The file is missing or not the job's.
    """
    try:
        with job_files.open_output(file.path) as opened:
            yield opened
    except ForeignFileError as error:
        raise create_refusal_error(error, port=file.output.port) from error
    except FileNotFoundError as error:
        raise AttemptError(
            ErrorClass.TOOL_FAILED,
            f"output {quoted(file.output.port)} names a file that is not there",
        ) from error


def total_size(files: Sequence[ProducedFile], job_files: JobFiles) -> int:
    """Return the total size of the files in bytes.

    Missing and foreign files are left out: they raise errors when they are stored.
    """
    total = 0
    for file in files:
        with contextlib.suppress(ForeignFileError):
            status = job_files.status(file.path)
            total += 0 if status is None else status.st_size
    return total


def stage_out(
    files: Sequence[ProducedFile], job_files: JobFiles, *, needed_bytes: int = 0
) -> list[OutputFile]:
    """Store all files, or none of them.

    ``needed_bytes`` is their total size in bytes.

    Raises:
        AttemptError: A file could not be stored.
    """
    stored: list[OutputFile] = []
    for file in files:
        name = os.path.basename(file.url)
        try:
            with open_output(file, job_files) as opened:
                result = put_open(opened.descriptor, file.url, may_link=opened.is_movable)
        except StorageError as error:
            remove_outputs([output.url for output in stored])
            raise stage_out_error(name, error, needed_bytes=needed_bytes) from error
        except (AttemptError, OSError):
            remove_outputs([output.url for output in stored])
            raise
        stored.append(
            OutputFile(
                port=file.output.port,
                name=name,
                size=result.size,
                checksum=result.checksum,
                url=file.url,
                number=file.number,
                counts=file.counts,
            )
        )
    return stored


def remove_outputs(urls: Sequence[str]) -> None:
    """Remove stored outputs as far as possible."""
    for url in urls:
        # The storage's auditor finds files that cannot be removed now.
        with contextlib.suppress(StorageError):
            remove(url)


def stage_log(text: bytes, url: str) -> LogFile:
    """Store a log.

    Raises:
        StorageError: The storage did not take the log.
    """
    stored = put_bytes(text, url)
    return LogFile(name=os.path.basename(url), size=stored.size, checksum=stored.checksum, url=url)
