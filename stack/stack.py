"""A stack: its construction, start and stop."""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from sluice.network.credentials import forget_token, keep_token
from stack.children import Children
from stack.compose import read_compose
from stack.control import ControlSocket, describe_process
from stack.network import Network
from stack.plan import SERVERS, PartKind, StackPlan, make_plan
from stack.process_spec import StackPlace, make_spec
from stack.running_stack import ADMIN_TOKEN
from stack.supervisor import SupervisedProcess

#: The order of the stop: a process is stopped before the processes that it needs.
STAGES = ((PartKind.PILOT, PartKind.SETUP, PartKind.TOOL), (PartKind.SERVICE,), SERVERS)


@dataclass(frozen=True, slots=True)
class StackOptions:
    """Options of a stack.

    ``stop_limit`` is the maximum time in seconds for a process to stop. ``extra`` is added to the
    environment of the programs of Sluice.
    """

    compose: Path
    folder: Path
    replicas: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    direct: bool = False
    stop_limit: float = 20.0


class Stack:
    """A stack of processes."""

    def __init__(self, options: StackOptions, tell: Callable[[str], None]) -> None:
        """Plan a stack.

        Raises:
            InvalidComposeFile: The compose file cannot be run.
            OSError: The folder of the stack cannot be written.
        """
        self._options = options
        self._tell = tell
        self._folder = options.folder
        self._children = Children()
        self.plan = self._make_plan()
        self._network = Network(self.plan, direct=options.direct)
        site = StackPlace(options.compose.parent, self._folder, self.plan.volumes, options.extra)
        logs = self._folder / "logs"
        logs.mkdir(exist_ok=True)
        specs = [
            make_spec(service, n, site, self._network)
            for service in self.plan.services.values()
            for n in range(service.replicas)
        ]
        self.processes = [
            SupervisedProcess(
                spec, self._children, logs / f"{spec.name}.log", tell, self._write_state
            )
            for spec in specs
        ]
        self._outside = self._list_addresses()
        self._control = ControlSocket(
            self._folder / "control.sock", self.processes, self._network.links
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._ready = False

    @property
    def url(self) -> str:
        """Return the address of the operator service."""
        return str(self._outside["url"])

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables with which the command and further pilots find this stack."""
        services = self._outside["services"]
        return {
            "SLUICE_URL": services["operator"],
            "SLUICE_DMS_URL": services["dms"],
            "SLUICE_TOKEN_FILE": str(self._folder / "secrets" / ADMIN_TOKEN),
            "SLUICE_PILOT_WMS_URL": services["wms"],
        }

    async def start(self) -> None:
        """Start all processes without waiting until they are ready (``until_ready``)."""
        await self._control.start()
        by_service = {
            name: [process for process in self.processes if process.spec.service.name == name]
            for name in self.plan.services
        }
        self._tasks = [asyncio.create_task(self._children.keep_tidy(), name="orphans")]
        for process in self.processes:
            for number, command in enumerate(process.spec.companions, start=1):
                self._tasks.append(
                    asyncio.create_task(
                        self._keep_companion(process, command), name=f"{process.name} {number}"
                    )
                )
            self._tasks.append(asyncio.create_task(process.keep(by_service), name=process.name))
        self._write_state()

    async def until_ready(self) -> None:
        """Wait until every health check passes and every setup has succeeded, without a limit."""
        for process in self.processes:
            await process.until_ready()
        # The command, tests and benchmarks find the token by the address.
        for url in self._outside["services"].values():
            with suppress(OSError):  # users then have to name the token themselves
                keep_token(url, self._admin_token)
        self._ready = True
        self._write_state()

    async def stop(self) -> None:
        """Stop everything that was started here."""
        for url in self._outside["services"].values():
            forget_token(url, self._admin_token)
        for kinds in STAGES:
            ending = [process for process in self.processes if process.spec.service.kind in kinds]
            await asyncio.gather(*(process.stop(self._options.stop_limit) for process in ending))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._network.close()
        await self._control.stop()
        await self._children.end_all()
        (self._folder / "stack.json").unlink(missing_ok=True)

    def kill(self) -> None:
        """Kill all running processes, so that ``stop`` does not wait."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.send(9)

    def _make_plan(self) -> StackPlan:
        options = self._options
        self._folder.mkdir(parents=True, exist_ok=True)
        secrets = self._folder / "secrets"
        make_secrets(options.compose.parent, secrets)
        compose = read_compose(options.compose)
        return make_plan(
            compose, root=options.compose.parent, secrets=secrets, replicas=options.replicas
        )

    async def _keep_companion(self, process: SupervisedProcess, command: Sequence[str]) -> None:
        spec = process.spec
        while True:
            companion = await self._children.start(
                command, environment=spec.environment, folder=spec.folder, log=process.log
            )
            await companion.wait()
            await asyncio.sleep(0.5)

    def _list_addresses(self) -> dict[str, Any]:
        """Return the addresses for people and tests."""
        services = {
            service.name: f"http://{self._network.outside(service.name, service.ports[0])}"
            for service in self.plan.list_services(PartKind.SERVICE)
        }
        secrets = {
            Path(target).name: text.strip()
            for service in self.plan.services.values()
            for target, text in service.secrets.items()
        }
        administrator = urlsplit(
            self._network.translate("outside", secrets["sluice_setup_admin_url"])
        )
        databases = {
            name: urlunsplit(
                administrator._replace(path=urlsplit(secrets[f"sluice_{name}_database_url"]).path)
            )
            for name in services
        }
        return {
            "url": services["operator"],
            "services": services,
            "databases": databases,
            "management_url": self._network.translate(
                "outside", secrets["sluice_setup_management_url"]
            ),
            "data": str(self._folder / "data"),
            "control": str(self._folder / "control.sock"),
        }

    @property
    def _admin_token(self) -> str:
        return (self._folder / "secrets" / ADMIN_TOKEN).read_text().strip()

    def _write_state(self) -> None:
        """Replace ``stack.json`` atomically."""
        state = {
            **self._outside,
            "pid": os.getpid(),
            "ready": self._ready,
            "processes": [describe_process(process) for process in self.processes],
        }
        with tempfile.NamedTemporaryFile(
            "w", dir=self._folder, prefix=".stack", delete=False
        ) as file:
            json.dump(state, file, indent=2)
        os.replace(file.name, self._folder / "stack.json")


def make_secrets(root: Path, folder: Path) -> None:
    """Make missing secrets in the same way as for the compose file.

    Raises:
        OSError: The script fails.
    """
    command = ["bash", str(root / "deploy" / "secrets.sh"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise OSError(f"deploy/secrets.sh failed: {done.stderr.strip()}")
