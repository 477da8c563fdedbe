"""Sets the routes of a network namespace, as a program of its own, with Python's library alone:
``routes.py USER NETWORK ROUTES``

USER, NETWORK: descriptors of the namespace for users that has the say, and of the network's;
ROUTES: JSON ``{"refused": [NETWORK…], "allowed": [NETWORK…]}``.
"""

import ctypes
import json
import os
import socket
import struct
import sys

#: Of the network that slirp4netns makes: where all else is.
_GATEWAY = "10.0.2.2"
_RTM_NEWROUTE, _NEW_AND_ANSWERED = 24, 0x605
_RTA_DST, _RTA_GATEWAY = 1, 5
_RTN_UNICAST, _RTN_PROHIBIT = 1, 8
_RT_TABLE_MAIN, _RTPROT_STATIC = 254, 4


def _enter(namespace: int) -> None:
    """Raises ``OSError``."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _route(network: str, gateway: str | None) -> None:
    """Through ``gateway``; None: nobody gets there. See rtnetlink(7)."""
    address, _, bits = network.partition("/")
    attributes = struct.pack("HH4s", 8, _RTA_DST, socket.inet_aton(address))
    if gateway is not None:
        attributes += struct.pack("HH4s", 8, _RTA_GATEWAY, socket.inet_aton(gateway))
    kind = _RTN_PROHIBIT if gateway is None else _RTN_UNICAST
    route = struct.pack(
        "BBBBBBBBI", socket.AF_INET, int(bits), 0, 0, _RT_TABLE_MAIN, _RTPROT_STATIC, 0, kind, 0
    )
    length = 16 + len(route + attributes)
    header = struct.pack("IHHII", length, _RTM_NEWROUTE, _NEW_AND_ANSWERED, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.sendall(header + route + attributes)
        number = -struct.unpack_from("i", kernel.recv(4096), 16)[0]
    if number:
        raise OSError(number, f"the route to {network}: {os.strerror(number)}")


def main() -> None:
    user, network, text = sys.argv[1:]
    _enter(int(user))
    _enter(int(network))
    routes = json.loads(text)
    for refused in routes["refused"]:
        _route(refused, None)
    for allowed in routes["allowed"]:
        _route(allowed, _GATEWAY)


if __name__ == "__main__":
    main()
