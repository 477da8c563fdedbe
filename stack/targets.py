"""The replicas that answer at a port of a service."""

import asyncio
from collections.abc import Callable

from stack.ports import LOOPBACK

#: Seconds between two checks whether a process has begun to listen.
LOOK = 0.05


class Endpoint:
    """The port of one replica. ``up`` from its first answer until the process ends or refuses."""

    def __init__(self, port: int, on_change: Callable[[], None]) -> None:
        self.port = port
        self.up = False
        self._on_change = on_change
        self._probe: asyncio.Task[None] | None = None
        self._running = False

    def process_started(self) -> None:
        """Begin to check whether the process listens."""
        self._running = True
        self._start_probe()

    def process_ended(self) -> None:
        """Mark the port as down."""
        self._running = False
        if self._probe is not None:
            self._probe.cancel()
            self._probe = None
        self._set(False)

    def handle_refusal(self) -> None:
        """Handle a refused connection, although the process lives."""
        if self._running and self.up:
            self._set(False)
            self._start_probe()

    async def wait(self) -> None:
        """Wait until the port answers, without a limit."""
        while not self.up:  # noqa: ASYNC110 - what is waited for happens in another process
            await asyncio.sleep(LOOK)

    def _start_probe(self) -> None:
        if self._probe is not None:
            self._probe.cancel()
        self._probe = asyncio.get_running_loop().create_task(self._wait_until_it_answers())

    async def _wait_until_it_answers(self) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection(LOOPBACK, self.port)
            except OSError:
                await asyncio.sleep(LOOK)
                continue
            writer.close()
            self._set(True)
            return

    def _set(self, up: bool) -> None:
        if up != self.up:
            self.up = up
            self._on_change()


class Target:
    """A port of a service. Its replicas take turns, as behind a name of a container network."""

    def __init__(self, ports: list[int]) -> None:
        self.watchers: list[Callable[[], None]] = []
        self.endpoints = [Endpoint(port, self._notify_watchers) for port in ports]
        self._turn = 0

    @property
    def up(self) -> bool:
        """Return whether any replica is up."""
        return any(endpoint.up for endpoint in self.endpoints)

    def list_in_turn(self) -> list[Endpoint]:
        """Return the replicas that are up, beginning with the one whose turn it is."""
        live = [endpoint for endpoint in self.endpoints if endpoint.up]
        if not live:
            return []
        self._turn = (self._turn + 1) % len(live)
        return live[self._turn :] + live[: self._turn]

    def _notify_watchers(self) -> None:
        for watcher in self.watchers:
            watcher()
