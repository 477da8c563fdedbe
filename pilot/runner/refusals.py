"""What an attempt says where something wants files that are not the job's own."""

import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from cwltool.process import shortname

from pilot.runner.failures import AttemptError
from pilot.runner.own_files import NotOwnError, OwnFiles
from sluice.contracts.states import ErrorClass

_OBJECT = "cwl.output.json"


def quieten() -> None:
    """cwltool tells of refusals with a traceback, before they are told with the output that they are about."""
    logging.getLogger("cwltool").addFilter(lambda record: record.msg != "Unexpected error from fs_access")


def refusal_in(error: BaseException | None) -> NotOwnError | None:
    """Where that is what ``error`` comes from."""
    return next((one for one in _causes(error) if isinstance(one, NotOwnError)), None)


def refused_output(error: NotOwnError, *, port: str | None = None, exit_code: int | None = None) -> AttemptError:
    """Another attempt would do no better. ``port``: where the error does not know it."""
    port = error.port or port
    which = "what the tool left" if port is None else f"output {port!r}"
    return AttemptError(ErrorClass.TOOL_REFUSED, f"{which} cannot be taken: {error.reason}", exit_code=exit_code)


def not_set_up(why: NotOwnError | str) -> AttemptError:
    error_class = ErrorClass.TOOL_REFUSED if isinstance(why, NotOwnError) else ErrorClass.TOOL_FAILED
    return AttemptError(error_class, f"the job could not be set up: {why}")


def port_in(error: BaseException) -> str | None:
    """The output that cwltool was at."""
    ports = (getattr(one, "port", None) for one in _causes(error))
    return next((str(shortname(port["id"])) for port in ports if port is not None), None)


def port_naming(outputs: Any, path: str) -> str | None:
    """The output of an output object that names ``path``, or a folder that it lies in."""
    for port, value in outputs.items() if isinstance(outputs, Mapping) else ():
        if any(path == one or path.endswith(f"/{one.lstrip('/')}") or path.startswith(f"{one}/") for one in _paths(value)):
            return str(port)
    return None


def port_of_object(own: OwnFiles, outdir: str, inner_outdir: str, path: str) -> str | None:
    """As ``port_naming``, of the output object that a tool has written. ``inner_outdir``: ``outdir`` as the tool knows it."""
    try:
        with open(own.open(f"{outdir}/{_OBJECT}")) as file:
            text = file.read()
        return port_naming(json.loads(text.replace(inner_outdir, outdir)), path)
    except (OSError, ValueError, NotOwnError):
        return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        path = value.get("path") or unquote(urlsplit(str(value.get("location", ""))).path)
        if value.get("class") in ("File", "Directory") and isinstance(path, str) and path:
            yield path
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _paths(one)
