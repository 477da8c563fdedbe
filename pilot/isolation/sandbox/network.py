"""Network of tools that ask for one.

It is provided by slirp4netns, which needs no rights. Tools reach what the node can reach, except
forbidden addresses.
"""

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

from pilot.isolation.sandbox import egress
from sluice.contracts.common.base import Contract

#: Name server in the network of slirp4netns.
_NAME_SERVER = "10.0.2.3"

#: Networks that are not the Internet: private, provider, link-local (with services that tell cloud
#: machines their secrets), documentation, test, multicast and broadcast. See IANA's registry of
#: special-purpose addresses.
_FORBIDDEN = (
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
#: slirp4netns would forward this network to the node's own services.
_LOOPBACK = "127.0.0.0/8"
#: See ioctl_ns(2).
_NS_GET_USERNS = 0xB701
_EGRESS = Path(egress.__file__)


class UserNetwork(Contract):
    """Network by slirp4netns.

    Attributes:
        program: Its path.
        allowed: Networks outside the Internet that tools may reach, such as ``192.168.4.0/24``. The
            node's loopback is never allowed.
    """

    program: str
    allowed: list[str]

    def start(self, pid: int) -> "subprocess.Popen[bytes]":
        """Start the network in the network namespace of a process.

        It ends when its standard input is closed, at the latest when this process ends.

        Raises:
            OSError: The network could not be started or restricted.
        """
        with _open_namespaces(pid) as (user, network):
            process = self._start_slirp(user, network)
            try:
                _set_rules(user, network, self._build_rules())
            except OSError:
                process.kill()
                process.communicate()
                raise
        return process

    def _build_rules(self) -> dict[str, bool]:
        """Return whether tools may send to each network. The first match decides."""
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
            ((*_FORBIDDEN, *own), False),
        ):
            for network in networks:
                rules.setdefault(network, allowed)
        return rules

    def _start_slirp(self, user: int, network: int) -> "subprocess.Popen[bytes]":
        reading, writing = os.pipe()
        try:
            # ``--enable-sandbox`` drops root's rights. For another user it would need its own root.
            process = subprocess.Popen(
                [
                    self.program,
                    "--configure",
                    "--mtu=65520",
                    "--disable-host-loopback",
                    "--enable-seccomp",
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
def _open_namespaces(pid: int) -> Iterator[tuple[int, int]]:
    """Yield descriptors of a process's network namespace and of the user namespace that owns it.

    The owner is not always the process's own user namespace.
    """
    with ExitStack() as opened:
        network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        opened.callback(os.close, network)
        user = fcntl.ioctl(network, _NS_GET_USERNS)
        opened.callback(os.close, user)
        yield user, network


def _set_rules(user: int, network: int, rules: Mapping[str, bool]) -> None:
    """Set the rules in a separate process.

    A process with several threads cannot enter a user namespace.

    Raises:
        OSError: The rules could not be set.
    """
    result = subprocess.run(
        [sys.executable, "-I", "-S", str(_EGRESS), str(user), str(network), json.dumps(rules)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=(user, network),
        cwd="/",
        check=False,
    )
    if result.returncode:
        lines = result.stderr.decode(errors="replace").strip().splitlines()
        raise OSError(f"the sandbox's network could not be limited: {lines[-1] if lines else ''}")


def build_resolver_settings(text: str) -> str:
    """Return a resolv.conf(5) for tools: the node's ``text`` with another name server."""
    lines = [line for line in text.splitlines() if line.split(" ")[0] in {"search", "options"}]
    return "\n".join([f"nameserver {_NAME_SERVER}", *lines, ""])


def check_networks(networks: Sequence[str]) -> list[str]:
    """Return the networks after a check.

    Raises:
        ValueError: A network is not IPv4 or is a loopback network.
    """
    for text in networks:
        network = ipaddress.ip_network(text)
        if network.version != 4 or network.is_loopback:
            raise ValueError(f"{text}: give networks of IPv4, such as 192.168.4.0/24, no loopback")
    return list(networks)
