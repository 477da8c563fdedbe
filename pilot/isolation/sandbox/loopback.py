"""Network of programs without network access: a loopback interface whose state is checked."""

import fcntl
import os
import socket
import struct
import time

from pilot.isolation.sandbox.kernel import unshare_network

_SOCKETS = "sockstat"
#: Files below ``/proc/self/net`` that change when a program uses the network: counters, errors,
#: flow labels that outlive sockets, and sockets, including those in transit between ended
#: processes.
_STATE_FILES = ("dev", "snmp", "snmp6", "netstat", "ip6_flowlabel", _SOCKETS)
_MAX_CHUNK = 1 << 16
#: State without sockets, and seconds after which any state is accepted.
_NO_SOCKETS, _SETTLE_LIMIT = b"sockets: used 0", 0.2
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


class Loopback:
    """The loopback network of this process and of threads that it starts later."""

    def __init__(self) -> None:
        self._open()

    def is_unchanged(self) -> bool:
        """Return whether no program has left a trace that the next one could find."""
        return self._read_state() == self._initial_state

    def renew(self) -> None:
        """Create the network again if it is not as new.

        Raises:
            OSError: The network could not be created.
        """
        if self.is_unchanged():
            return
        for descriptor in self._files.values():
            os.close(descriptor)
        unshare_network()
        _set_up()
        self._open()

    def _open(self) -> None:
        paths = {name: f"/proc/self/net/{name}" for name in _STATE_FILES}
        self._files = {
            name: os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            for name, path in paths.items()
            if os.path.exists(path)  # some are missing without IPv6
        }
        self._initial_state = self._read_state()
        # Sockets that set up the network are still counted for some milliseconds.
        end = time.monotonic() + _SETTLE_LIMIT
        while self._initial_state.get(_SOCKETS) != _NO_SOCKETS and time.monotonic() < end:
            time.sleep(0.001)
            self._initial_state = self._read_state()

    def _read_state(self) -> dict[str, bytes]:
        texts = {
            name: os.pread(descriptor, _MAX_CHUNK, 0) for name, descriptor in self._files.items()
        }
        # The following lines count the whole machine.
        texts[_SOCKETS] = texts[_SOCKETS].split(b"\n", 1)[0]
        return texts


def _set_up() -> None:
    """Set the loopback interface up. See netdevice(7)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))
