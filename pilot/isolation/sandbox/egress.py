"""Rules for where the programs of a network namespace may send: ``egress.py USER NETWORK RULES``.

This is a standalone program that uses only Python's standard library. USER and NETWORK are
descriptors of the owning user namespace and of the network namespace. RULES is JSON ``{NETWORK:
MAY_BE_SENT_TO, …}`` of IPv4. The first rule that matches decides. Without a match, packets are
sent.

The rules are IPsec policies of the kernel. They apply to each packet of a program, except those to
the loopback interface. Routes would not be enough: a program that names an interface
(``SO_BINDTODEVICE``, ``IP_PKTINFO`` …) bypasses them.
"""

import ctypes
import json
import os
import socket
import struct
import sys

_XFRM_MSG_NEWPOLICY, _CREATE_WITH_ANSWER = 0x13, 0x605
_XFRM_POLICY_OUT, _XFRM_POLICY_ALLOW, _XFRM_POLICY_BLOCK = 1, 0, 1
#: Soft and hard limits of bytes and packets: none.
_NO_LIMITS = (2**64 - 1,) * 4
_SELECTOR = struct.Struct("=16s24xHB13x")
_POLICY = struct.Struct("=56s4Q64xI4xBB6x")


def _enter(namespace: int) -> None:
    """Enter a namespace.

    Raises:
        OSError: The namespace could not be entered.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _add_rule(network: str, priority: int, *, allowed: bool) -> None:
    """Add a rule. Of matching rules, the one with the lowest ``priority`` decides.

    See ``xfrm_userpolicy_info`` in the kernel's ``linux/xfrm.h``.

    Raises:
        OSError: The kernel refused the rule.
    """
    address, _, bits = network.partition("/")
    selector = _SELECTOR.pack(socket.inet_aton(address), socket.AF_INET, int(bits))
    action = _XFRM_POLICY_ALLOW if allowed else _XFRM_POLICY_BLOCK
    policy = _POLICY.pack(selector, *_NO_LIMITS, priority, _XFRM_POLICY_OUT, action)
    length = 16 + len(policy)
    header = struct.pack("IHHII", length, _XFRM_MSG_NEWPOLICY, _CREATE_WITH_ANSWER, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_XFRM) as kernel:
        kernel.sendall(header + policy)
        number = -struct.unpack_from("i", kernel.recv(4096), 16)[0]
    if number:
        raise OSError(number, f"the rule for {network}: {os.strerror(number)}")


def main() -> None:
    """Enter the namespaces and add the rules."""
    user, network, rules = sys.argv[1:]
    _enter(int(user))
    _enter(int(network))
    for priority, (place, allowed) in enumerate(json.loads(rules).items()):
        _add_rule(place, priority, allowed=allowed)


if __name__ == "__main__":
    main()
