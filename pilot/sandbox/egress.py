"""Sets where the programs of a network namespace may send to, as a program of its own, with the
library of Python alone: ``egress.py USER NETWORK RULES``

USER, NETWORK: descriptors of the namespace for users that has the say, and of the network's; RULES:
JSON ``{NETWORK: MAY_BE_SENT_TO, …}`` of IPv4. The first that fits decides; where none does, packets
are sent.

The rules are the kernel's IPsec policies. It asks them of each packet that a program sends, but for
those to the loopback interface, however the program chose the way: one that names an interface
(``SO_BINDTODEVICE``, ``IP_PKTINFO`` …) passes all routes, those that refuse among them.
"""

import ctypes
import json
import os
import socket
import struct
import sys

_XFRM_MSG_NEWPOLICY, _NEW_AND_ANSWERED = 0x13, 0x605
_XFRM_POLICY_OUT, _XFRM_POLICY_ALLOW, _XFRM_POLICY_BLOCK = 1, 0, 1
#: Bytes and packets, soft and hard: as many as there are.
_NO_LIMITS = (2**64 - 1,) * 4
_SELECTOR = struct.Struct("=16s24xHB13x")
_POLICY = struct.Struct("=56s4Q64xI4xBB6x")


def _enter(namespace: int) -> None:
    """Raises ``OSError``."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _rule(network: str, priority: int, *, allowed: bool) -> None:
    """Of rules that fit, the least ``priority`` decides. See ``xfrm_userpolicy_info`` in the
    kernel's ``linux/xfrm.h``. Raises ``OSError``."""
    address, _, bits = network.partition("/")
    selector = _SELECTOR.pack(socket.inet_aton(address), socket.AF_INET, int(bits))
    action = _XFRM_POLICY_ALLOW if allowed else _XFRM_POLICY_BLOCK
    policy = _POLICY.pack(selector, *_NO_LIMITS, priority, _XFRM_POLICY_OUT, action)
    length = 16 + len(policy)
    header = struct.pack("IHHII", length, _XFRM_MSG_NEWPOLICY, _NEW_AND_ANSWERED, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_XFRM) as kernel:
        kernel.sendall(header + policy)
        number = -struct.unpack_from("i", kernel.recv(4096), 16)[0]
    if number:
        raise OSError(number, f"the rule for {network}: {os.strerror(number)}")


def main() -> None:
    user, network, rules = sys.argv[1:]
    _enter(int(user))
    _enter(int(network))
    for priority, (place, allowed) in enumerate(json.loads(rules).items()):
        _rule(place, priority, allowed=allowed)


if __name__ == "__main__":
    main()
