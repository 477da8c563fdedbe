"""The network of tools that ask for it: slirp4netns, which needs no rights, carries what they send
to where the node itself can reach, but for addresses that are not theirs to reach."""

import ipaddress
import os
import socket
import subprocess
from collections.abc import Sequence

import psutil

from sluice.contracts.base import Contract

#: Of the network that slirp4netns makes: where all else is, and who answers for names.
GATEWAY, NAME_SERVER = "10.0.2.2", "10.0.2.3"

#: What is not the Internet: private networks, those of providers, link-local ones (with services
#: that tell cloud machines their secrets), tests, multicast. See IANA's registry of special-purpose
#: addresses.
_REFUSED = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "224.0.0.0/3",
)
_PATIENCE = 20.0


class UserNetwork(Contract):
    """``program``: slirp4netns. ``allowed``: networks that tools reach although they are none of
    the Internet's (such as ``192.168.4.0/24``); the node's loopback is never one."""

    program: str
    allowed: list[str]

    def routes(self) -> dict[str, list[str]]:
        """What the first process of a sandbox is to make of it."""
        own = [
            address.address
            for addresses in psutil.net_if_addrs().values()
            for address in addresses
            if address.family == socket.AF_INET
        ]
        refused = [*_REFUSED, *(f"{address}/32" for address in own if _beyond(address))]
        return {
            "refused": [net for net in refused if net not in self.allowed],
            "allowed": self.allowed,
        }

    def start(self, pid: int) -> "subprocess.Popen[bytes]":
        """In the network namespace of that process, until its standard input is closed, as it is
        when this process ends, however it does. Raises ``OSError``."""
        reading, writing = os.pipe()
        try:
            process = subprocess.Popen(
                [
                    self.program,
                    "--configure",
                    "--mtu=65520",
                    "--disable-host-loopback",
                    f"--ready-fd={writing}",
                    "--exit-fd=0",
                    str(pid),
                    "tap0",
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(writing,),
                env={},
                cwd="/",
            )
        finally:
            os.close(writing)
        with open(reading, "rb") as ready:
            if not ready.read(1):
                process.kill()
                process.communicate()
                raise OSError("slirp4netns could not give the sandbox a network")
        return process


def _beyond(address: str) -> bool:
    return not ipaddress.ip_address(address).is_loopback


def name_servers(text: str) -> str:
    """What resolv.conf(5) says to tools: that of the node, ``text``, but for who is asked."""
    kept = [line for line in text.splitlines() if line.split(" ")[0] in {"search", "options"}]
    return "\n".join([f"nameserver {NAME_SERVER}", *kept, ""])


def usable(networks: Sequence[str]) -> list[str]:
    """As they are, checked. Raises ``ValueError``."""
    for text in networks:
        network = ipaddress.ip_network(text)
        if network.version != 4 or network.is_loopback:
            raise ValueError(f"{text}: give networks of IPv4, such as 192.168.4.0/24, no loopback")
    return list(networks)
