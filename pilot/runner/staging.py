"""Files of one attempt: inputs brought into its folder, outputs and log brought out to their storages."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from pilot.runner.failures import AttemptError, stage_in_error, stage_out_error
from sluice.contracts.base import FileName
from sluice.contracts.naming import log_name, output_name
from sluice.contracts.pilots import InputFile, LeasedJob, LogFile, OutputFile, PilotTask
from sluice.contracts.states import ErrorClass
from sluice.contracts.tasks import TaskOutput
from sluice.storage import StorageError, fetch, put, put_bytes, remove

_file_name: TypeAdapter[str] = TypeAdapter(FileName)


def file_url(path: str) -> str:
    """``file://`` URL as cwltool reads it: special characters escaped."""
    return "file://" + quote(path)


def stage_in(inputs: Sequence[InputFile], folder: str, *, shared: Sequence[InputFile] = ()) -> list[dict[str, Any]]:
    """Brings the files into ``folder`` and gives them as CWL File objects, in order. ``shared``: further ones that are on this
    node and verified already. Raises ``AttemptError``."""
    seen: set[str] = set()
    files: list[dict[str, Any]] = []
    for number, file in enumerate((*inputs, *shared)):
        known = number >= len(inputs)
        place = folder
        if file.name in seen:  # of different folders, alike in name
            place = f"{folder}/{number}"
            os.mkdir(place)
        seen.add(file.name)
        path = f"{place}/{file.name}"
        try:
            fetch(file.url, Path(path), checksum=None if known else file.checksum, size=None if known else file.size)
        except StorageError as error:
            raise stage_in_error(file.name, error) from error
        files.append({"class": "File", "location": file_url(path), "basename": file.name, "size": file.size})
    return files


@dataclass(frozen=True, slots=True)
class Produced:
    """A file that the tool wrote: its port, its path here, and where it goes."""

    output: TaskOutput
    path: str
    url: str
    #: No other output is the same file, so it may be moved away.
    alone: bool


def log_url(task: PilotTask, job: LeasedJob) -> str:
    return f"{task.log_out_url}/{log_name(job.seq, job.attempt)}"


def produced(task: PilotTask, job: LeasedJob, paths: dict[str, str]) -> list[Produced]:
    """``paths``: by output port. Raises ``AttemptError`` where a name cannot be kept in the catalogue."""
    files: list[Produced] = []
    for output in task.outputs:
        path = paths.get(output.port)
        if path is None:
            continue
        name = output_name(job.seq, job.attempt, os.path.basename(path))
        try:
            _file_name.validate_python(name)
        except ValidationError as error:
            sentence = f"output {output.port!r}: the file name {os.path.basename(path)!r} is too long or has control characters"
            raise AttemptError(ErrorClass.STAGE_OUT_FAILED, sentence) from error
        alone = sum(other == path for other in paths.values()) == 1
        files.append(Produced(output, path, f"{output.dat_out_url}/{name}", alone))
    return files


def stage_out(files: Sequence[Produced]) -> list[OutputFile]:
    """Writes all files to their storages, or none. Raises ``AttemptError``."""
    stored: list[OutputFile] = []
    for file in files:
        name = os.path.basename(file.url)
        try:
            result = put(Path(file.path), file.url, move=file.alone)
        except StorageError as error:
            take_back([output.url for output in stored])
            raise stage_out_error(name, error) from error
        stored.append(OutputFile(port=file.output.port, name=name, size=result.size, checksum=result.checksum, url=file.url))
    return stored


def take_back(urls: Sequence[str]) -> None:
    for url in urls:
        with contextlib.suppress(StorageError):  # the storage's auditor finds what cannot be removed now
            remove(url)


def stage_log(text: bytes, url: str) -> LogFile:
    """Raises ``StorageError``."""
    stored = put_bytes(text, url)
    return LogFile(name=os.path.basename(url), size=stored.size, checksum=stored.checksum, url=url)
