"""Ports of 127.0.0.1 for servers that are started again and again."""

import atexit
import random
import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST = 10_000

#: A socket for each port given out, bound as long as this process lives: whoever asks next, here or
#: in another stack, finds the port taken while nobody listens. It does not keep a server from it
#: that sets SO_REUSEADDR, as all of ours do.
_given: dict[int, socket.socket] = {}


@atexit.register
def _give_back() -> None:
    for reserved in _given.values():
        reserved.close()


def free_ports(count: int) -> list[int]:
    """Ports that are free now and given to nobody else, and that the system never gives to outgoing
    connections: one of those would take the port while its server is down."""
    highest = _first_ephemeral()
    found: list[int] = []
    for _ in range(100 * count):
        if len(found) == count:
            return found
        port = random.SystemRandom().randrange(LOWEST, highest)
        if _is_free(port):
            reserved = socket.socket()
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            reserved.bind((LOOPBACK, port))
            _given[port] = reserved
            found.append(port)
    raise OSError(f"no {count} free ports between {LOWEST} and {highest}")


def _first_ephemeral() -> int:
    try:
        first = int(EPHEMERAL.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        first = 32_768
    return first if first > LOWEST + 1_000 else 65_536


def _is_free(port: int) -> bool:
    """On every address: a program that listens on all of them takes it from 127.0.0.1, too. Without
    SO_REUSEADDR, so that ports given to others are seen before they are used."""
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
