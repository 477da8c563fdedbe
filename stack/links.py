"""The network between processes: TCP proxies that can be made to fail.

There is one proxy for each pair of client service and target.
"""

import asyncio
import socket
from enum import StrEnum

from stack.pipe import RESET, LinkState, Pipe
from stack.ports import LOOPBACK, free_ports
from stack.targets import Target

BACKLOG = 512


class FaultKind(StrEnum):
    """Faults of a link."""

    #: Connections end, and new ones are refused.
    CUT = "cut"
    #: Connections are reset, and new ones as soon as something is sent.
    RESET = "reset"
    #: Everything arrives later, in both directions.
    DELAY = "delay"
    #: Connections stay, but nothing passes until the fault ends.
    BLACK_HOLE = "black-hole"


class ProxyLink:
    """A link called ``<client service>><target>``, with a listener for each port of the target."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fault: FaultKind | None = None
        self._state = LinkState()
        self._listeners: dict[int, PortListener] = {}
        self._pipes: set[Pipe] = set()
        self._end: asyncio.TimerHandle | None = None
        self._passable = asyncio.Event()
        self._passable.set()
        self.opened = 0

    @property
    def connections(self) -> int:
        """Return the number of open connections."""
        return len(self._pipes)

    def find_local_port(self, port: int, target: Target) -> int:
        """Return the local port that leads to ``target``, which containers know as ``port``."""
        if port not in self._listeners:
            self._listeners[port] = PortListener(self, target)
        return self._listeners[port].local_port

    def break_down(self, kind: FaultKind, seconds: float, delay: float) -> None:
        """Begin a fault that ends after ``seconds``. It replaces a present fault."""
        self._set_fault(kind, delay)
        self._end = asyncio.get_running_loop().call_later(seconds, self.end_fault)
        if kind in {FaultKind.CUT, FaultKind.RESET}:
            for pipe in list(self._pipes):
                pipe.close(reset=kind is FaultKind.RESET)

    def end_fault(self) -> None:
        """End the fault."""
        self._set_fault(None, 0.0)

    def _set_fault(self, fault: FaultKind | None, delay: float) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None
        self.fault = fault
        self._state.hole = fault is FaultKind.BLACK_HOLE
        self._state.reset = fault is FaultKind.RESET
        self._state.delay = delay if fault is FaultKind.DELAY else 0.0
        if self._state.hole:
            self._passable.clear()
        else:
            self._passable.set()
        self._apply_state()

    def close(self) -> None:
        """Close the listeners and all connections."""
        for listener in self._listeners.values():
            listener.close()
        for pipe in list(self._pipes):
            pipe.close()

    async def join(self, client: socket.socket, target: Target) -> None:
        """Connect an accepted client with a replica of the target, or reset it if none accepts."""
        await self._passable.wait()
        server = await _connect(target)
        if server is None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            client.close()
            return
        pipe = Pipe(client, server, self._state, self._pipes.discard)
        self._pipes.add(pipe)
        self.opened += 1
        try:
            await pipe.open()
        except OSError:
            pipe.close(reset=True)

    def _apply_state(self) -> None:
        for listener in self._listeners.values():
            listener.settle()
        for pipe in list(self._pipes):
            pipe.state_changed()


class PortListener:
    """Listener that is open while the target is up, so that a target that is down refuses."""

    def __init__(self, link: ProxyLink, target: Target) -> None:
        [self.local_port] = free_ports(1)
        self._link = link
        self._target = target
        self._listener: socket.socket | None = None
        self._joining: set[asyncio.Task[None]] = set()
        target.watchers.append(self.settle)

    def settle(self) -> None:
        """Open or close the listener according to the state of the link and the target."""
        should_listen = self._target.up and self._link.fault is not FaultKind.CUT
        if should_listen and self._listener is None:
            self._listener = socket.create_server((LOOPBACK, self.local_port), backlog=BACKLOG)
            self._listener.setblocking(False)
            asyncio.get_running_loop().add_reader(self._listener, self._accept)
        elif not should_listen:
            self.close()

    def close(self) -> None:
        """Close the listener."""
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
            self._listener = None

    def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while self._listener is not None:
            try:
                client, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = loop.create_task(self._link.join(client, self._target))
            self._joining.add(task)
            task.add_done_callback(self._joining.discard)


async def _connect(target: Target) -> socket.socket | None:
    """Connect to the next replica that accepts."""
    for endpoint in target.list_in_turn():
        server = socket.socket()
        server.setblocking(False)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await asyncio.get_running_loop().sock_connect(server, (LOOPBACK, endpoint.port))
        except OSError:
            server.close()
            endpoint.handle_refusal()
        else:
            return server
    return None
