"""Attacks by sockets of this machine, its network and other programs."""

from tests.attacks.tools.attack import Attack, make_kernel_attack

#: Errors of connections without a server or a route.
UNREACHABLE = ("ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL")
#: Succeeds if the machine has an address in a network.
_OWN_ADDRESS = """
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.connect(("192.0.2.1", 9))
require(not out.getsockname()[0].startswith("127."))
"""


def _connect_attack(what: str, family: str, address: str, *, only_if: str = "") -> Attack:
    return Attack(
        f"connects to {what}",
        f"socket.socket(socket.{family}).connect({address})",
        essence=only_if,
        refusals=UNREACHABLE,
    )


ATTACKS = [
    _connect_attack("a server of this machine", "AF_INET", "('127.0.0.1', v.tcp)"),
    _connect_attack("a server by this machine's address", "AF_INET", "(v.own_address, v.own_tcp)",
              only_if=_OWN_ADDRESS),
    _connect_attack("a server of this machine by IPv6", "AF_INET6", "('::1', v.tcp6)",
              only_if="socket.socket(socket.AF_INET6).bind(('::1', 0))"),
    _connect_attack("a socket without a file", "AF_UNIX", r"'\0' + v.token"),
    _connect_attack("the database's socket", "AF_UNIX", "v.database"),
    _connect_attack("a bus's socket in the storage", "AF_UNIX", "v.bus"),
    Attack(
        "sends a datagram",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
        ".sendto(v.mark.encode(), ('127.0.0.1', v.udp))",
        is_successful=lambda node_objects: node_objects.has_datagram_arrived(),
    ),
    Attack(
        "has an address in the network",
        _OWN_ADDRESS,
        essence=_OWN_ADDRESS,
        refusals=UNREACHABLE,
    ),
    make_kernel_attack(
        "opens a raw socket",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()",
    ),
    make_kernel_attack(
        "listens to all packets",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)).close()",
    ),
    # The host of a virtual machine is not part of a network namespace.
    make_kernel_attack(
        "opens a socket to the host",
        "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()",
    ),
    # The loopback interface is up already.
    make_kernel_attack(
        "changes the network's interfaces",
        """
link = struct.pack("BxHiII", 0, 0, socket.if_nametoindex("lo"), 1, 1)
head = struct.pack("IHHII", 16 + len(link), 16, 5, 1, 0)
kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
kernel.send(head + link)
answer = struct.unpack_from("i", kernel.recv(4096), 16)[0]
require(answer == 0, os.strerror(-answer))
""",
    ),
]  # fmt: skip
