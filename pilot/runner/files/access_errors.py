"""Errors for files and outputs that a job may not have."""

import logging
import stat
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from cwltool.errors import WorkflowException
from cwltool.process import shortname

from pilot.runner.failures import AttemptError
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from sluice.contracts.common.states import ErrorClass
from sluice.cwl_values import MAX_JSON, UnstorablePart, find_unstorable_part, read_json
from sluice.text.os_errors import reason_of
from sluice.text.visible_text import quoted

_OBJECT = "cwl.output.json"


class InvalidOutputError(WorkflowException):  # type: ignore[misc] # cwltool's types are not followed
    """An output of a tool cannot be accepted.

    ``port`` is the output, or None for the outputs as a whole. ``reason`` is a sentence. As with
    ``ForeignFileError``, cwltool passes it on.
    """

    path = ""
    left_by_tool = True

    def __init__(self, reason: str, port: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.port = port


#: Errors that say why an output cannot be accepted.
Refusal = ForeignFileError | InvalidOutputError


def require_sound(value: Any, port: str | None = None) -> None:
    """Check the value of output ``port``, or of all outputs by name if ``port`` is None.

    Raises:
        InvalidOutputError: The value is not acceptable.
    """
    unstorable = find_unstorable_part(value)
    if unstorable is not None:
        raise create_unstorable_error(
            unstorable
            if port is None
            else UnstorablePart([port, *unstorable.path], unstorable.reason)
        )


def create_unstorable_error(unstorable: UnstorablePart) -> InvalidOutputError:
    """Return the error for a part that cannot be stored, with its port."""
    port = next(iter(unstorable.path), None)
    return InvalidOutputError(str(unstorable), port if isinstance(port, str) else None)


def require_bounded(job_files: JobFiles, path: str) -> None:
    """Check that the search for files has not cost too much so far.

    ``path`` is the next path of the search.

    Raises:
        InvalidOutputError: The search costs too much.
    """
    excess = job_files.cost.excess
    if excess is not None:
        raise InvalidOutputError(
            f"finding {job_files.quote_path(path)} and what came before takes"
            f" {excess}: let the tool leave fewer files, or an archive of them, and no links back"
            " to folders, or use fewer wildcards"
        )


def require_sound_object(job_files: JobFiles, outdir: str) -> bool:
    """Return whether the tool has written an output object, and check that it is valid.

    Raises:
        InvalidOutputError: The object is not valid JSON or not acceptable.
        ForeignFileError: The job may not have the file.
        OSError: The file could not be read.
    """
    path = f"{outdir}/{_OBJECT}"
    status = job_files.status(path)
    if status is None:
        return False
    if stat.S_ISDIR(status.st_mode):
        raise InvalidOutputError(
            f"{_OBJECT} is a folder: let the tool write a file, or give the folder another name"
        )
    if status.st_size > MAX_JSON:
        raise InvalidOutputError(
            f"{_OBJECT} has more than {MAX_JSON >> 20} MiB: let the tool write what is large into"
            " files"
        )
    try:
        value = read_json(_read(job_files, path))
    except ValueError as error:
        raise InvalidOutputError(
            f"{_OBJECT} cannot be read as JSON ({reason_of(error)}): let the tool write"
            " one object with its outputs by name, and what is large into files"
        ) from error
    if not isinstance(value, dict):
        raise InvalidOutputError(
            f"{_OBJECT} holds no JSON object: let the tool write one with its outputs by name"
        )
    require_sound(value)
    return True


def read_result(job_files: JobFiles, path: str) -> Any:
    """Return the JSON value of a file of the job.

    Raises:
        ForeignFileError: The job may not have the file.
        OSError: The file could not be read.
        ValueError: The file is not valid JSON.
    """
    return read_json(_read(job_files, path))


def _read(job_files: JobFiles, path: str) -> bytes:
    """Return the content of a file, as far as ``read_json`` accepts its length."""
    with open(job_files.open(path), "rb") as file:
        return file.read(MAX_JSON + 1)


def create_object_error() -> InvalidOutputError:
    """Return the error for an output object on which cwltool fails with a bug."""
    return InvalidOutputError(
        f"{_OBJECT} cannot be read as outputs: let the tool write"
        " files, folders and values of the types that its outputs have, each by its output's name"
    )


def silence_tracebacks() -> None:
    """Stop cwltool from logging refused files and failed expressions with tracebacks.

    A refused file is reported later with the output that it belongs to, and a failed expression
    with its step.
    """
    logging.getLogger("cwl_utils").setLevel(logging.CRITICAL)
    logging.getLogger("cwltool").addFilter(
        lambda record: record.msg != "Unexpected error from fs_access"
    )


def find_refusal(error: BaseException | None) -> Refusal | None:
    """Return the refusal that caused ``error``, or None."""
    return next((cause for cause in _list_causes(error) if isinstance(cause, Refusal)), None)


def create_refusal_error(
    error: Refusal, *, port: str | None = None, exit_code: int | None = None
) -> AttemptError:
    """Return the failure for a refused output. Another attempt would fail too.

    ``port`` is used if the error has none.
    """
    port = error.port or port
    which = "what the tool left" if port is None else f"output {quoted(port)}"
    return AttemptError(
        ErrorClass.TOOL_REFUSED, f"{which} cannot be taken: {error.reason}", exit_code=exit_code
    )


def create_setup_error(cause: Refusal | str) -> AttemptError:
    """Return the failure for a job that could not be set up, because of ``cause``.

    Another attempt would fail too, because the same tool gets the same inputs.
    """
    return AttemptError(ErrorClass.TOOL_REFUSED, f"the job could not be set up: {cause}")


def find_collected_port(error: BaseException) -> str | None:
    """Return the output that cwltool was collecting, or None."""
    ports = (getattr(cause, "port", None) for cause in _list_causes(error))
    return next((str(shortname(port["id"])) for port in ports if isinstance(port, Mapping)), None)


def find_port(outputs: Any, path: str) -> str | None:
    """Return the output that names ``path`` or a folder above it, or None."""
    for port, value in outputs.items() if isinstance(outputs, Mapping) else ():
        if any(
            path == named_path
            or path.endswith(f"/{named_path.lstrip('/')}")
            or path.startswith(f"{named_path}/")
            for named_path in list_paths(value)
        ):
            return str(port)
    return None


def find_object_port(
    job_files: JobFiles, path: str, *, outdir: str, inner_outdir: str
) -> str | None:
    """Return the output of the tool's output object that names ``path``, or None.

    ``inner_outdir`` is ``outdir`` as the tool knows it.
    """
    try:
        text = _read(job_files, f"{outdir}/{_OBJECT}")
        return find_port(read_json(text.replace(inner_outdir.encode(), outdir.encode())), path)
    except (OSError, ValueError, ForeignFileError):
        return None


def _list_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def list_paths(value: Any) -> Iterator[str]:
    """Yield the paths of all files and directories in a CWL value."""
    if isinstance(value, Mapping):
        path = value.get("path") or unquote(urlsplit(str(value.get("location", ""))).path)
        if value.get("class") in ("File", "Directory") and isinstance(path, str) and path:
            yield path
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from list_paths(item)
