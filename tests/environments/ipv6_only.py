"""Bring up the loopback interface of a new network namespace with `::1` as its only address."""

import fcntl
import socket
import struct

_SET_FLAGS, _SET_ADDRESS = 0x8914, 0x8916
_UP = 1

with socket.socket() as control:
    fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    fcntl.ioctl(control, _SET_ADDRESS, struct.pack("16sH2x4s8x", b"lo", socket.AF_INET, bytes(4)))
