"""The network of programs that have none: a loopback alone, and what the kernel counts there."""

import fcntl
import os
import socket
import struct
import time

from pilot.sandbox.kernel import own_network

_SOCKETS = "sockstat"
#: What tells that a program has used it, below ``/proc/self/net``: what came and went, what was
#: tried in vain, labels of flows that outlive their sockets, and sockets, also those on their way
#: from one process to another that both have ended.
_TELLING = ("dev", "snmp", "snmp6", "netstat", "ip6_flowlabel", _SOCKETS)
_MOST = 1 << 16
#: What it says where there are none, and seconds after which it is taken as it is.
_NO_SOCKETS, _SETTLED = b"sockets: used 0", 0.2
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


class Loopback:
    """Of this process, and of the threads that it starts from here on."""

    def __init__(self) -> None:
        self._open()

    def is_as_new(self) -> bool:
        """Has no program left anything in it that the next one could find?"""
        return self._state() == self._new

    def renew(self) -> None:
        """Makes it anew where it is not. Raises ``OSError``."""
        if self.is_as_new():
            return
        for descriptor in self._files.values():
            os.close(descriptor)
        own_network()
        _set_up()
        self._open()

    def _open(self) -> None:
        paths = {name: f"/proc/self/net/{name}" for name in _TELLING}
        self._files = {
            name: os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            for name, path in paths.items()
            if os.path.exists(path)  # not all of them where there is no IPv6
        }
        self._new = self._state()
        # Sockets that were used to set it up are counted for some milliseconds more.
        end = time.monotonic() + _SETTLED
        while self._new.get(_SOCKETS) != _NO_SOCKETS and time.monotonic() < end:
            time.sleep(0.001)
            self._new = self._state()

    def _state(self) -> dict[str, bytes]:
        texts = {name: os.pread(descriptor, _MOST, 0) for name, descriptor in self._files.items()}
        # The lines that follow are of the whole machine.
        texts[_SOCKETS] = texts[_SOCKETS].split(b"\n", 1)[0]
        return texts


def _set_up() -> None:
    """The interface. See netdevice(7)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))
