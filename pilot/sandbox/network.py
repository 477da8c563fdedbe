"""The network of tools that ask for it: slirp4netns, which needs no rights, carries what they send
to where the node itself can reach, but for addresses that are not theirs to reach."""

import fcntl
import ipaddress
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from pilot.sandbox import egress
from sluice.contracts.base import Contract

#: Who answers for names in the network that slirp4netns makes.
_NAME_SERVER = "10.0.2.3"

#: What is not the Internet: private networks, those of providers, link-local ones (with services
#: that tell cloud machines their secrets), documentation's, tests', multicast and broadcast. See
#: IANA's registry of special-purpose addresses.
_REFUSED = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
)
#: slirp4netns hands what comes there to the node's own services.
_LOOPBACK = "127.0.0.0/8"
#: See ioctl_ns(2).
_NS_GET_USERNS = 0xB701
_EGRESS = Path(egress.__file__)


class UserNetwork(Contract):
    """``program``: slirp4netns. ``allowed``: networks that tools reach although they are none of
    the Internet's (such as ``192.168.4.0/24``); the node's loopback is never one."""

    program: str
    allowed: list[str]

    def start(self, pid: int) -> "subprocess.Popen[bytes]":
        """In the network namespace of that process, until its standard input is closed, as it is
        when this process ends, however it does. Raises ``OSError``."""
        with _namespaces_of(pid) as (user, network):
            process = self._carry(user, network)
            try:
                _set_rules(user, network, self._rules())
            except OSError:
                process.kill()
                process.communicate()
                raise
        return process

    def _rules(self) -> dict[str, bool]:
        """Networks → may tools send there; the first that fits decides."""
        own = [
            f"{address.address}/32"
            for addresses in psutil.net_if_addrs().values()
            for address in addresses
            if address.family == socket.AF_INET
        ]
        rules: dict[str, bool] = {}
        for networks, allowed in (
            ((_LOOPBACK,), False),
            ((f"{_NAME_SERVER}/32", *self.allowed), True),
            ((*_REFUSED, *own), False),
        ):
            for network in networks:
                rules.setdefault(network, allowed)
        return rules

    def _carry(self, user: int, network: int) -> "subprocess.Popen[bytes]":
        reading, writing = os.pipe()
        try:
            process = subprocess.Popen(
                [
                    self.program,
                    "--configure",
                    "--mtu=65520",
                    "--disable-host-loopback",
                    "--enable-seccomp",
                    # It gives up root's rights; another user's it asks for a root of its own.
                    *(["--enable-sandbox"] if os.geteuid() == 0 else []),
                    f"--ready-fd={writing}",
                    "--exit-fd=0",
                    f"--userns-path=/proc/self/fd/{user}",
                    "--netns-type=path",
                    f"/proc/self/fd/{network}",
                    "tap0",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(writing, user, network),
                env={},
                cwd="/",
            )
        finally:
            os.close(writing)
        with open(reading, "rb") as ready:
            if not ready.read(1):
                process.kill()
                process.communicate()
                raise OSError("it ended before the sandbox had a network (it needs /dev/net/tun)")
        return process


@contextmanager
def _namespaces_of(pid: int) -> Iterator[tuple[int, int]]:
    """Descriptors of a process's network, and of the namespace for users that has the say over it:
    not always the process's own."""
    with ExitStack() as opened:
        network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        opened.callback(os.close, network)
        user = fcntl.ioctl(network, _NS_GET_USERNS)
        opened.callback(os.close, user)
        yield user, network


def _set_rules(user: int, network: int, rules: Mapping[str, bool]) -> None:
    """By a process of its own: one with several threads enters no namespace for users. Raises
    ``OSError``."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_EGRESS), str(user), str(network), json.dumps(rules)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(user, network),
        cwd="/",
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise OSError(f"the sandbox's network could not be limited: {said[-1] if said else ''}")


def name_servers(text: str) -> str:
    """What resolv.conf(5) says to tools: that of the node, ``text``, but for who is asked."""
    kept = [line for line in text.splitlines() if line.split(" ")[0] in {"search", "options"}]
    return "\n".join([f"nameserver {_NAME_SERVER}", *kept, ""])


def usable(networks: Sequence[str]) -> list[str]:
    """As they are, checked. Raises ``ValueError``."""
    for text in networks:
        network = ipaddress.ip_network(text)
        if network.version != 4 or network.is_loopback:
            raise ValueError(f"{text}: give networks of IPv4, such as 192.168.4.0/24, no loopback")
    return list(networks)
