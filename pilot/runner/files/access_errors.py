"""What an attempt says where something wants files that are not the job's own."""

import logging
import stat
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from cwltool.errors import WorkflowException
from cwltool.process import shortname

from pilot.runner.failures import AttemptError
from pilot.runner.files.job_files import ForeignFileError, JobFiles
from sluice.contracts.states import ErrorClass
from sluice.os_errors import reason_of
from sluice.storage import MOST_JSON, Flaw, flaw_in, read_json
from sluice.visible_text import quoted

_OBJECT = "cwl.output.json"


class UnsoundError(WorkflowException):  # type: ignore[misc] # cwltool's types are not followed
    """What a tool gives at output ``port`` (None: at all) cannot be kept: ``reason``, a sentence.
    As ``ForeignFileError``."""

    path = ""
    left = True

    def __init__(self, reason: str, port: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.port = port


#: Why what a tool gives cannot be taken.
Refusal = ForeignFileError | UnsoundError


def require_sound(value: Any, port: str | None = None) -> None:
    """``value``: of output ``port``; None: of all outputs, by name. Raises ``UnsoundError``."""
    flaw = flaw_in(value)
    if flaw is not None:
        raise unsound(flaw if port is None else Flaw([port, *flaw.way], flaw.what))


def unsound(flaw: Flaw) -> UnsoundError:
    port = next(iter(flaw.way), None)
    return UnsoundError(str(flaw), port if isinstance(port, str) else None)


def require_bounded(job_files: JobFiles, path: str) -> None:
    """Before more is looked for, at ``path``. Raises ``UnsoundError``."""
    excess = job_files.cost.excess
    if excess is not None:
        raise UnsoundError(
            f"finding {quoted(job_files.shown(path))} and what came before takes"
            f" {excess}: let the tool leave fewer files, or an archive of them, and no links back"
            " to folders, or use fewer wildcards"
        )


def require_sound_object(job_files: JobFiles, outdir: str) -> bool:
    """Has the tool written an output object? That is JSON that everybody can read then.

    Raises ``UnsoundError``, ``ForeignFileError``, ``OSError``."""
    path = f"{outdir}/{_OBJECT}"
    status = job_files.status(path)
    if status is None:
        return False
    if stat.S_ISDIR(status.st_mode):
        raise UnsoundError(
            f"{_OBJECT} is a folder: let the tool write a file, or call it otherwise"
        )
    if status.st_size > MOST_JSON:
        raise UnsoundError(
            f"{_OBJECT} has more than {MOST_JSON >> 20} MiB: let the tool write what is large into"
            " files"
        )
    try:
        found = read_json(_read(job_files, path))
    except ValueError as error:
        raise UnsoundError(
            f"{_OBJECT} cannot be read as JSON ({reason_of(error)}): let the tool write"
            " one object with its outputs by name, and what is large into files"
        ) from error
    if not isinstance(found, dict):
        raise UnsoundError(
            f"{_OBJECT} holds no JSON object: let the tool write one with its outputs by name"
        )
    require_sound(found)
    return True


def read_result(job_files: JobFiles, path: str) -> Any:
    """JSON of a file of the job's. Raises ``ForeignFileError``, ``OSError``, ``ValueError``."""
    return read_json(_read(job_files, path))


def _read(job_files: JobFiles, path: str) -> bytes:
    """As much as is good for ``read_json``."""
    with open(job_files.open(path), "rb") as file:
        return file.read(MOST_JSON + 1)


def unreadable_object() -> UnsoundError:
    """Return what is said where cwltool fails on the object with a mistake of its own."""
    return UnsoundError(
        f"{_OBJECT} cannot be read as outputs: let the tool write"
        " files, folders and values of the types that its outputs have, each by its output's name"
    )


def quieten() -> None:
    """cwltool tells of refusals with a traceback, before they are told with the output that they
    are about."""
    logging.getLogger("cwltool").addFilter(
        lambda record: record.msg != "Unexpected error from fs_access"
    )


def refusal_in(error: BaseException | None) -> Refusal | None:
    """Where that is what ``error`` comes from."""
    return next((cause for cause in _causes(error) if isinstance(cause, Refusal)), None)


def refused_output(
    error: Refusal, *, port: str | None = None, exit_code: int | None = None
) -> AttemptError:
    """Another attempt would do no better. ``port``: where the error does not know it."""
    port = error.port or port
    which = "what the tool left" if port is None else f"output {quoted(port)}"
    return AttemptError(
        ErrorClass.TOOL_REFUSED, f"{which} cannot be taken: {error.reason}", exit_code=exit_code
    )


def not_set_up(why: Refusal | str) -> AttemptError:
    error_class = ErrorClass.TOOL_REFUSED if isinstance(why, Refusal) else ErrorClass.TOOL_FAILED
    return AttemptError(error_class, f"the job could not be set up: {why}")


def port_in(error: BaseException) -> str | None:
    """The output that cwltool was at."""
    ports = (getattr(cause, "port", None) for cause in _causes(error))
    return next((str(shortname(port["id"])) for port in ports if isinstance(port, Mapping)), None)


def port_naming(outputs: Any, path: str) -> str | None:
    """The output of an output object that names ``path``, or a folder that it lies in."""
    for port, value in outputs.items() if isinstance(outputs, Mapping) else ():
        if any(
            path == named or path.endswith(f"/{named.lstrip('/')}") or path.startswith(f"{named}/")
            for named in paths_in(value)
        ):
            return str(port)
    return None


def port_of_object(job_files: JobFiles, path: str, *, outdir: str, inner_outdir: str) -> str | None:
    """As ``port_naming``, of the output object that a tool has written. ``inner_outdir``:
    ``outdir`` as the tool knows it."""
    try:
        text = _read(job_files, f"{outdir}/{_OBJECT}")
        return port_naming(read_json(text.replace(inner_outdir.encode(), outdir.encode())), path)
    except (OSError, ValueError, ForeignFileError):
        return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def paths_in(value: Any) -> Iterator[str]:
    """Of all files and directories in a CWL value, as far as they have one."""
    if isinstance(value, Mapping):
        path = value.get("path") or unquote(urlsplit(str(value.get("location", ""))).path)
        if value.get("class") in ("File", "Directory") and isinstance(path, str) and path:
            yield path
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from paths_in(item)
