"""The control socket of the stack. A request and a response are one line of JSON each."""

import asyncio
import json
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sluice.contracts.common.wording import validation_sentence
from stack.links import FaultKind, ProxyLink
from stack.plan import PartKind
from stack.supervisor import SupervisedProcess

#: The signals that stop a server properly, and that imitate a crash.
ENDS = {
    (PartKind.POSTGRES, "fast"): signal.SIGINT,
    (PartKind.POSTGRES, "immediate"): signal.SIGQUIT,
    (PartKind.RABBITMQ, "fast"): signal.SIGTERM,
    (PartKind.RABBITMQ, "immediate"): signal.SIGKILL,
}


class Request(BaseModel):
    """Base of the requests."""

    model_config = ConfigDict(extra="forbid")


class ListProcesses(Request):
    """List the processes."""

    do: Literal["processes"]


class ListRestarts(Request):
    """List the starts and exits of all processes."""

    do: Literal["restarts"]


class ListLinks(Request):
    """List the links."""

    do: Literal["links"]


class Kill(Request):
    """Send a signal to a process."""

    do: Literal["kill"]
    process: str
    signal: Annotated[int, Field(ge=1, le=64)] = 9


class RestartServer(Request):
    """Stop a server, which is then restarted."""

    do: Literal["restart-server"]
    server: Literal["postgres", "rabbitmq"]
    mode: Literal["fast", "immediate"] = "fast"


class BreakLink(Request):
    """Break a link for some time."""

    do: Literal["fault"]
    link: str
    kind: FaultKind
    seconds: Annotated[float, Field(gt=0, le=3600)]
    delay: Annotated[float, Field(ge=0, le=60)] = 0.5


AnyRequest = Annotated[
    ListProcesses | ListRestarts | ListLinks | Kill | RestartServer | BreakLink,
    Field(discriminator="do"),
]
REQUEST: TypeAdapter[AnyRequest] = TypeAdapter(AnyRequest)


class ControlSocket:
    """Component that answers at the socket ``path``."""

    def __init__(
        self, path: Path, processes: Sequence[SupervisedProcess], links: Mapping[str, ProxyLink]
    ) -> None:
        self._path = path
        self._processes = {process.name: process for process in processes}
        self._links = links
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Open the socket.

        Raises:
            OSError: The path is too long for a socket.
        """
        self._path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._serve, str(self._path))
        self._path.chmod(0o600)

    async def stop(self) -> None:
        """Close the socket."""
        if self._server is not None:
            self._server.close()
            self._server = None
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(json.dumps(self._answer(line)).encode() + b"\n")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    def _answer(self, line: bytes) -> Any:
        try:
            return self._handle(REQUEST.validate_json(line))
        except ValidationError as error:
            return {
                "error": "; ".join(
                    f"{'.'.join(map(str, details['loc']))}: {validation_sentence(details)}"
                    for details in error.errors()
                )
            }
        except LookupError as error:
            return {"error": str(error.args[0])}
        except ProcessLookupError as error:
            return {"error": str(error)}

    def _handle(self, request: AnyRequest) -> Any:
        match request:
            case ListProcesses():
                return [describe_process(process) for process in self._processes.values()]
            case ListRestarts():
                return {
                    process.name: {"starts": process.starts, "exits": process.exits}
                    for process in self._processes.values()
                }
            case ListLinks():
                return [
                    {
                        "link": link.name,
                        "fault": link.fault,
                        "connections": link.connections,
                        "opened": link.opened,
                    }
                    for link in self._links.values()
                ]
            case Kill():
                return {"ok": True, "pid": self._find_process(request.process).send(request.signal)}
            case RestartServer():
                return {"ok": True, "pid": self._end_server(request)}
            case BreakLink():
                self._find_link(request.link).break_down(
                    request.kind, request.seconds, request.delay
                )
                return {"ok": True, "link": request.link}

    def _end_server(self, request: RestartServer) -> int:
        """Stop a server, which is restarted like any process, and return its pid."""
        kind = PartKind(request.server)
        [server] = [
            process for process in self._processes.values() if process.spec.service.kind is kind
        ]
        return server.send(ENDS[kind, request.mode])

    def _find_process(self, name: str) -> SupervisedProcess:
        if name not in self._processes:
            raise LookupError(f"there is no process {name}; there are {', '.join(self._processes)}")
        return self._processes[name]

    def _find_link(self, name: str) -> ProxyLink:
        if name not in self._links:
            raise LookupError(f"there is no link {name}; there are {', '.join(self._links)}")
        return self._links[name]


def describe_process(process: SupervisedProcess) -> dict[str, Any]:
    """Return the description of a process for people and tests."""
    return {
        "name": process.name,
        "service": process.spec.service.name,
        "pid": process.pid,
        "ready": process.ready,
    }
