"""A process that is restarted according to its service's restart policy."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sluice.scheduling.backoff import pause_after
from sluice.text.os_errors import os_error_sentence
from stack.children import Children
from stack.plan import SERVERS, PartKind
from stack.process_spec import ProcessSpec

#: Seconds before a dead process is restarted. The pause doubles each time that it dies young.
MIN_PAUSE, MAX_PAUSE = 0.2, 3.0
#: A process that lived for this number of seconds did not die young.
YOUNG = 10.0
#: Seconds between two health checks of a starting process. The pause doubles each time, because
#: every check starts a program.
MIN_HEALTH_PAUSE, MAX_HEALTH_PAUSE = 0.2, 1.5
#: Seconds for the preparation of a process.
PREPARE_LIMIT = 120.0


@dataclass(slots=True)
class SupervisedProcess:
    """A supervised process.

    ``exits`` has the exit status of each run; a negative one is a signal. ``done`` is set when a
    setup has succeeded.
    """

    spec: ProcessSpec
    children: Children
    log: Path
    tell: Callable[[str], None]
    on_change: Callable[[], None]
    process: asyncio.subprocess.Process | None = None
    starts: int = 0
    exits: list[int] = field(default_factory=list)
    healthy: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: bool = False

    @property
    def name(self) -> str:
        """Return the name of the process."""
        return self.spec.name

    @property
    def pid(self) -> int | None:
        """Return the pid of the process, or None if it does not run."""
        return (
            self.process.pid
            if self.process is not None and self.process.returncode is None
            else None
        )

    @property
    def ready(self) -> bool:
        """Return whether its health check passes or, for a setup, whether it has succeeded."""
        return self.done.is_set() if self.spec.service.runs_once else self.healthy.is_set()

    async def until_ready(self) -> None:
        """Wait until the process is ready."""
        await (self.done if self.spec.service.runs_once else self.healthy).wait()

    async def keep(self, other_processes: Mapping[str, Sequence["SupervisedProcess"]]) -> None:
        """Run the process until it is stopped, or need not be restarted."""
        await self._await_dependencies(other_processes)
        young_deaths = 1
        while not self.stopping:
            began = asyncio.get_running_loop().time()
            code = await self._run_once(self._list_required_processes(other_processes))
            if self.stopping or not self._should_restart(code):
                return
            lived = asyncio.get_running_loop().time() - began
            young_deaths = 1 if lived > YOUNG else young_deaths + 1
            pause = pause_after(young_deaths, first=MIN_PAUSE, max_pause=MAX_PAUSE)
            self.tell(
                f"{self.name} ended ({_format_reason(code)}); it is started again in {pause:.1f} s;"
                f" its log: {self.log}"
            )
            await asyncio.sleep(pause)

    def send(self, number: int) -> int:
        """Send a signal to the process and return its pid.

        Raises:
            ProcessLookupError: It does not run.
        """
        pid = self.pid
        if self.process is None or pid is None:
            raise ProcessLookupError(f"{self.name} does not run")
        self.process.send_signal(number)
        return pid

    async def stop(self, limit: float) -> None:
        """Stop the process like a container.

        It gets its stop signal and, after its grace time or ``limit``, SIGKILL.
        """
        self.stopping = True
        if self.process is None or self.process.returncode is not None:
            return
        self._send(self.spec.stop_signal)
        self._send(signal.SIGCONT)
        try:
            async with asyncio.timeout(min(limit, self.spec.service.definition.stop_grace_period)):
                await self.process.wait()
        except TimeoutError:
            self.tell(f"{self.name} did not end in time and is killed")
            self._send(signal.SIGKILL)
            await self.process.wait()

    def _send(self, number: signal.Signals) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(number)

    async def _await_dependencies(
        self, other_processes: Mapping[str, Sequence["SupervisedProcess"]]
    ) -> None:
        for name, dependency in self.spec.service.definition.depends_on.items():
            for other in other_processes[name]:
                match dependency.condition:
                    case "service_healthy":
                        await other.healthy.wait()
                    case "service_completed_successfully":
                        await other.done.wait()
                    case "service_started":
                        pass

    def _list_required_processes(
        self, other_processes: Mapping[str, Sequence["SupervisedProcess"]]
    ) -> list["SupervisedProcess"]:
        """Return what a service needs: the servers, and setups that need only servers."""
        if self.spec.service.kind is not PartKind.SERVICE:
            return []
        servers = {
            name
            for name, processes in other_processes.items()
            for process in processes
            if process.spec.service.kind in SERVERS
        }
        setups = {
            name
            for name, processes in other_processes.items()
            for process in processes
            if process.spec.service.kind is PartKind.SETUP
            and servers.issuperset(process.spec.service.definition.depends_on)
        }
        return [process for name in servers | setups for process in other_processes[name]]

    async def _run_once(self, required_processes: Sequence["SupervisedProcess"]) -> int:
        """Run the process once and return its exit status.

        Health checks begin when all processes of ``required_processes`` are ready.
        """
        try:
            await self.spec.prepare(
                lambda command: self._run_command(command, log=self.log, limit=PREPARE_LIMIT)
            )
            self.process = await self.children.start(
                self.spec.command,
                environment=self.spec.environment,
                folder=self.spec.folder,
                log=self.log,
            )
        except OSError as error:
            self.tell(f"{self.name} cannot be started: {os_error_sentence(error)}")
            return 127
        self.starts += 1
        for endpoint in self.spec.endpoints.values():
            endpoint.process_started()
        checking = asyncio.create_task(
            self._check_health(required_processes), name=f"health of {self.name}"
        )
        self.on_change()
        code = await self.process.wait()
        checking.cancel()
        for endpoint in self.spec.endpoints.values():
            endpoint.process_ended()
        self.children.end_orphans()
        self.exits.append(code)
        self.healthy.clear()
        if code == 0:
            self.done.set()
        self.on_change()
        return code

    async def _check_health(self, required_processes: Sequence["SupervisedProcess"]) -> None:
        """Check the health until it is good for the first time. Later faults show in other ways."""
        command = self.spec.health
        if command is None:
            self._mark_healthy()
            return
        for endpoint in self.spec.endpoints.values():
            await endpoint.wait()
        for process in required_processes:
            await process.until_ready()
        nowhere, limit = Path(os.devnull), self.spec.health_limit
        checks = 0
        while await self._run_command(command, log=nowhere, limit=limit):
            checks += 1
            await asyncio.sleep(
                pause_after(checks, first=MIN_HEALTH_PAUSE, max_pause=MAX_HEALTH_PAUSE)
            )
        self._mark_healthy()

    async def _run_command(self, command: Sequence[str], *, log: Path, limit: float) -> int:
        """Run a command beside the process, as in its container."""
        place = self.spec.folder
        return await self.children.run(
            command, environment=self.spec.environment, folder=place, log=log, limit=limit
        )

    def _mark_healthy(self) -> None:
        if self.spec.health is not None:
            self.tell(f"{self.name} is healthy")
        self.healthy.set()
        self.on_change()

    def _should_restart(self, code: int) -> bool:
        match self.spec.service.definition.restart:
            case "no":
                return False
            case "on-failure":
                return code != 0
            case "always" | "unless-stopped":
                return True


def _format_reason(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
