"""The port of an embedded system: is it free, and if not, who has it?"""

import errno
import socket

import httpx

from sluice.embedded.readiness import READY_PATH
from sluice.http_clients import http_client

_PATIENCE = 2.0


class PortTaken(OSError):
    """``by_sluice``: another system of ours answers there."""

    def __init__(self, host: str, port: int, *, by_sluice: bool) -> None:
        who = "a Sluice system with another home folder" if by_sluice else "another program"
        super().__init__(
            f"port {port} of {host} is taken by {who}: choose another one with --port (0: any free"
            " one)"
        )
        self.by_sluice = by_sluice


async def require_free_port(host: str, port: int) -> None:
    """Raises ``PortTaken``; ``OSError`` where this process may not listen there."""
    try:
        with socket.create_server((host, port)) as server:
            _require_reachable(host, server)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise OSError(
                error.errno, f"cannot listen on {host}:{port}: {error.strerror}"
            ) from error
        raise PortTaken(host, port, by_sluice=await _is_sluice(f"http://{host}:{port}")) from None


def _require_reachable(host: str, server: socket.socket) -> None:
    """Raise ``OSError`` where nobody can connect, as on a machine without a loopback interface."""
    try:
        socket.create_connection(server.getsockname()[:2], timeout=_PATIENCE).close()
    except OSError as error:
        raise OSError(
            error.errno,
            f"nobody can connect ({error.strerror or error}); start the loopback interface with"
            " `ip link set lo up`",
        ) from error


async def _is_sluice(url: str) -> bool:
    try:
        async with http_client(url, timeout=_PATIENCE) as client:
            answer = (await client.get(READY_PATH)).json()
    except (httpx.HTTPError, ValueError):
        return False
    return isinstance(answer, dict) and "wms" in answer
