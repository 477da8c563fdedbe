"""What the holder of a sandbox and the process that it works for say to each other: messages of
four bytes of length (big-endian) and JSON, some of which come with descriptors."""

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct(">I")
_MOST_DESCRIPTORS = 3


class Channel:
    """Between a holder and who has it run programs: messages, some of which come with
    descriptors."""

    def __init__(self, ours: socket.socket) -> None:
        self._socket = ours

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Raises ``OSError``."""
        body = json.dumps(message).encode()
        data = _LENGTH.pack(len(body)) + body
        sent = socket.send_fds(self._socket, [data], descriptors) if descriptors else 0
        self._socket.sendall(data[sent:])

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """The next message, and the descriptors that came with it. Raises ``EOFError``,
        ``OSError``."""
        length, descriptors = self._take(_LENGTH.size)
        body, more = self._take(_LENGTH.unpack(length)[0])
        return json.loads(body), descriptors + more

    def close(self) -> None:
        self._socket.close()

    def _take(self, size: int) -> tuple[bytes, list[int]]:
        """No more than that: what is left is seen by who waits for more."""
        taken, found = b"", list[int]()
        while len(taken) < size:
            piece, descriptors, _, _ = socket.recv_fds(
                self._socket, size - len(taken), _MOST_DESCRIPTORS
            )
            for descriptor in descriptors:
                os.set_inheritable(descriptor, False)
            if not piece:
                raise EOFError("the other side has gone")
            taken += piece
            found += descriptors
        return taken, found
