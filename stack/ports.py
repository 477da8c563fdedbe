"""Ports of 127.0.0.1 for servers that are restarted."""

import atexit
import random
import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
MIN_PORT = 10_000

#: A bound socket for each reserved port, as long as this process lives. Others who look for a port,
#: here or in another stack, find it taken while no server listens. Servers with SO_REUSEADDR, as
#: all of Sluice's are, can still use it.
_reservations: dict[int, socket.socket] = {}


@atexit.register
def _release_all() -> None:
    for reserved in _reservations.values():
        reserved.close()


def free_ports(count: int) -> list[int]:
    """Reserve ports that are free now.

    They are outside the range for outgoing connections, which could otherwise take a port while its
    server is down.
    """
    end_port = _read_first_ephemeral_port()
    ports: list[int] = []
    for _ in range(100 * count):
        if len(ports) == count:
            return ports
        port = random.SystemRandom().randrange(MIN_PORT, end_port)
        if _is_free(port):
            reserved = socket.socket()
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            reserved.bind((LOOPBACK, port))
            _reservations[port] = reserved
            ports.append(port)
    raise OSError(f"no {count} free ports between {MIN_PORT} and {end_port}")


def _read_first_ephemeral_port() -> int:
    try:
        first = int(EPHEMERAL.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        first = 32_768
    return first if first > MIN_PORT + 1_000 else 65_536


def _is_free(port: int) -> bool:
    """Return whether a port is free on every address.

    A program that listens on all addresses also takes the port from 127.0.0.1. The probe does not
    set SO_REUSEADDR, so that reserved ports are noticed.
    """
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
