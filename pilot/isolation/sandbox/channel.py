"""Messages between the holder of a sandbox and the process that it works for.

Each message has four bytes of length (big-endian) and JSON. Some messages carry descriptors.
"""

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct(">I")
_MAX_DESCRIPTORS = 3


class Channel:
    """A connection for messages, some of which carry descriptors."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def fileno(self) -> int:
        """Return the descriptor of the connection."""
        return self._socket.fileno()

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send a message.

        Raises:
            OSError: The connection is broken.
        """
        body = json.dumps(message).encode()
        data = _LENGTH.pack(len(body)) + body
        sent_bytes = socket.send_fds(self._socket, [data], descriptors) if descriptors else 0
        self._socket.sendall(data[sent_bytes:])

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """Return the next message and its descriptors.

        Raises:
            EOFError: The other side has closed the connection.
            OSError: The connection is broken.
        """
        length, descriptors = self._receive_bytes(_LENGTH.size)
        body, more = self._receive_bytes(_LENGTH.unpack(length)[0])
        return json.loads(body), descriptors + more

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _receive_bytes(self, size: int) -> tuple[bytes, list[int]]:
        """Read exactly ``size`` bytes, so that further data still wakes a poll."""
        data, received_descriptors = b"", list[int]()
        while len(data) < size:
            piece, descriptors, _, _ = socket.recv_fds(
                self._socket, size - len(data), _MAX_DESCRIPTORS
            )
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)
            if not piece:
                raise EOFError("the other side has gone")
            data += piece
            received_descriptors += descriptors
        return data, received_descriptors
