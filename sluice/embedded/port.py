"""The port of an embedded system: whether it is free, and who uses it."""

import errno
import socket

import httpx

from sluice.embedded.readiness import READY_PATH
from sluice.network.http_clients import http_client
from sluice.text.os_errors import reason_of

_TIMEOUT = 2.0
LOOPBACK = "127.0.0.1"
_LOOPBACKS = (LOOPBACK, "::1")


class PortInUse(OSError):
    """The port is in use. ``by_sluice`` says that another Sluice system uses it."""

    def __init__(self, host: str, port: int, *, by_sluice: bool) -> None:
        user = "a Sluice system with another home folder" if by_sluice else "another program"
        super().__init__(
            f"port {port} of {host} is taken by {user}: choose another one with --port (0: any free"
            " one)"
        )
        self.by_sluice = by_sluice


def find_loopback() -> str | None:
    """Return the loopback address of this machine, which is ``::1`` only without IPv4.

    None means that no loopback interface is up.
    """
    return next(filter(_can_connect, _LOOPBACKS), None)


def http_address(host: str, port: int) -> str:
    """Return the URL of the server on a port of a host."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def require_free_port(host: str, port: int) -> None:
    """Check that this process can listen on a port.

    Raises:
        PortInUse: The port is in use.
        OSError: This process may not listen there.
    """
    try:
        with socket.create_server((host, port), family=_family(host)) as server:
            _require_reachable(host, server)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise OSError(
                error.errno, f"cannot listen on {host}:{port}: {reason_of(error)}"
            ) from error
        raise PortInUse(host, port, by_sluice=await _is_sluice(http_address(host, port))) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _can_connect(host: str) -> bool:
    try:
        with socket.create_server((host, 0), family=_family(host)) as server:
            _require_reachable(host, server)
    except OSError:
        return False
    return True


def _require_reachable(host: str, server: socket.socket) -> None:
    """Check that clients can connect, which fails on a machine without a loopback interface.

    Raises:
        OSError: No client can connect.
    """
    try:
        socket.create_connection(server.getsockname()[:2], timeout=_TIMEOUT).close()
    except OSError as error:
        raise OSError(
            error.errno,
            f"no client can connect ({reason_of(error)}); start the loopback interface with"
            " `ip link set lo up`",
        ) from error


async def _is_sluice(url: str) -> bool:
    try:
        async with http_client(url, timeout=_TIMEOUT) as client:
            answer = (await client.get(READY_PATH)).json()
    except (httpx.HTTPError, ValueError):
        return False
    return isinstance(answer, dict) and "wms" in answer
