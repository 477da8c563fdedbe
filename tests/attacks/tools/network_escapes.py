"""Run a tool in a network of its own that tries to reach the node and its neighbours by all ways
that select the interface: ``python -m tests.attacks.tools.network_escapes SANDBOX RULES``.

SANDBOX is JSON and has a network. RULES is ``as they are`` or ``none``. Start it in a new network
namespace. It prints JSON with the ways that reached the node and the output of the tool."""

import fcntl
import json
import os
import socket
import struct
import sys
import tempfile
from collections.abc import Iterator

from pilot.isolation.sandbox.network import UserNetwork
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions
from pilot.isolation.sandbox.sandbox_instance import SandboxInstance
from pilot.isolation.sandbox.view import View

OWN, GROUPS = "198.51.100.7", ("239.1.2.3", "224.0.0.251")
_PORT = 5353
_TUNSETIFF, _IFF_TUN, _IFF_UP = 0x400454CA, 0x1001, 1
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C

#: Tries each way to each address by UDP and TCP, and then waits until all packets have arrived.
_TOOL = """
import socket, struct, sys
own, groups, port = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
tap, device = socket.if_nametoindex("tap0"), b"tap0"
group = socket.inet_aton(groups[0])
options = {
    "nothing": [],
    "SO_BINDTODEVICE": [(1, 25, device)],
    "SO_BINDTOIFINDEX": [(1, 62, tap)],
    "SO_DONTROUTE": [(1, 5, 1)],
    "SO_DONTROUTE and SO_BINDTODEVICE": [(1, 5, 1), (1, 25, device)],
    "IP_UNICAST_IF": [(0, 50, struct.pack("!I", tap))],
    "IP_MULTICAST_IF": [(0, 32, struct.pack("8xi", tap))],
    "IP_ADD_MEMBERSHIP": [(0, 35, struct.pack("4s4xi", group, tap))],
    "IP_OPTIONS": [(0, 4, struct.pack("BBB4sx", 131, 7, 4, socket.inet_aton(own)))],
    "IP_PKTINFO": [],
}
info = [(0, 8, struct.pack("i8x", tap))]
broadcast = ["255.255.255.255", "10.0.2.255", "10.0.2.0", "198.51.100.255"]
others = ["10.0.2.2", "10.0.2.3", "10.0.2.77", "192.168.0.1"]
kept = []
for place in ["127.0.0.1", "127.1.2.3", own, *groups, *broadcast, *others]:
    for name, chosen in options.items():
        way = f"{place} by {name}".encode()
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            out = socket.socket(socket.AF_INET, kind)
            out.setblocking(False)
            kept.append(out)
            try:
                for option in chosen:
                    out.setsockopt(*option)
                if kind == socket.SOCK_STREAM:
                    out.connect_ex((place, port))
                    continue
                out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 9)
                if name == "IP_PKTINFO":
                    out.sendmsg([way], info, 0, (place, port))
                else:
                    out.sendto(way, (place, port))
            except OSError:
                pass
for place in ["ff02::1", "ff05::1", "fe80::2", "::ffff:127.0.0.1", "::ffff:" + own]:
    out = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    try:
        out.setsockopt(1, 25, device)
        out.sendto(f"{place} by SO_BINDTODEVICE".encode(), (place, port, 0, tap))
    except OSError:
        pass
try:
    socket.create_connection(("10.0.2.3", 1), 20)
except OSError as error:
    print(error.strerror)
"""


class OpenNetwork(UserNetwork):
    """A network without firewall rules."""

    def _build_rules(self) -> dict[str, bool]:
        return {}


def _create_tunnel() -> int:
    """Make an interface with an address and a route to half the Internet, and return its
    descriptor."""
    tunnel = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tunnel, _TUNSETIFF, struct.pack("16sH22x", b"net0", _IFF_TUN))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for request, address in ((_SIOCSIFADDR, OWN), (_SIOCSIFNETMASK, "128.0.0.0")):
            place = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))
            fcntl.ioctl(out, request, struct.pack("16s16s8x", b"net0", place))
        for name in (b"lo", b"net0"):
            fcntl.ioctl(out, _SIOCSIFFLAGS, struct.pack("16sh22x", name, _IFF_UP))
    return tunnel


def _open_servers() -> tuple[socket.socket, socket.socket]:
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("0.0.0.0", _PORT))  # noqa: S104 - the network is isolated
    for group in GROUPS:
        membership = socket.inet_aton(group) + socket.inet_aton(OWN)
        datagrams.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
    connections = socket.create_server(("0.0.0.0", _PORT), backlog=128)  # noqa: S104 - as above
    datagrams.setblocking(False)
    connections.setblocking(False)
    return datagrams, connections


def _list_received(datagrams: socket.socket, connections: socket.socket) -> Iterator[str]:
    try:
        while True:
            yield f"UDP to {datagrams.recv(100).decode()}"
    except BlockingIOError:
        pass
    try:
        while True:
            yield f"TCP to {connections.accept()[0].getsockname()[0]}"
    except BlockingIOError:
        pass


def main() -> None:
    sandbox = Sandbox.model_validate_json(sys.argv[1])
    if sys.argv[2] == "none" and sandbox.network is not None:
        network = OpenNetwork(**sandbox.network.model_dump())
        sandbox = sandbox.model_copy(update={"network": network})
    tunnel = _create_tunnel()
    servers = _open_servers()
    instance = SandboxInstance(sandbox, [], SandboxOptions(network=True))
    with tempfile.TemporaryFile() as output:
        program = instance.start(
            [sys.executable, "-I", "-S", "-c", _TOOL, OWN, ",".join(GROUPS), str(_PORT)],
            environment={},
            folder="/",
            streams=[output.fileno()] * 2,
            limits=ProcessLimits(),
            view=View([]),
        )
        program.end()
        output.seek(0)
        print(
            json.dumps(
                {"got": sorted(set(_list_received(*servers))), "said": output.read().decode()}
            )
        )
    os.close(tunnel)


if __name__ == "__main__":
    main()
