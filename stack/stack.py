"""Puts a stack together, runs it and takes it down again."""

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

from sluice.credentials import forget_token, keep_token
from stack.children import Children
from stack.compose import read_compose
from stack.control import ControlSocket, described
from stack.network import Network
from stack.plan import SERVERS, PartKind, StackPlan, make_plan
from stack.process_spec import StackPlace, make_spec
from stack.running_stack import ADMIN_TOKEN
from stack.supervisor import SupervisedProcess

#: Ended in this order: who needs others goes first.
STAGES = ((PartKind.PILOT, PartKind.SETUP, PartKind.TOOL), (PartKind.SERVICE,), SERVERS)


@dataclass(frozen=True, slots=True)
class StackOptions:
    """``stop_limit``: longest time of grace at the end, seconds; ``extra``: environment added for
    the programs of Sluice.
    """

    compose: Path
    folder: Path
    replicas: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    direct: bool = False
    stop_limit: float = 20.0


class Stack:
    """Raises ``WrongComposeFile``, ``OSError`` where it cannot be made."""

    def __init__(self, options: StackOptions, tell: Callable[[str], None]) -> None:
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
        self._outside = self._addresses()
        self._control = ControlSocket(
            self._folder / "control.sock", self.processes, self._network.links
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._ready = False

    @property
    def url(self) -> str:
        return str(self._outside["url"])

    @property
    def variables(self) -> dict[str, str]:
        """By which the command knows this stack; pilots of one's own, its WMS."""
        services = self._outside["services"]
        return {
            "SLUICE_URL": services["operator"],
            "SLUICE_DMS_URL": services["dms"],
            "SLUICE_TOKEN_FILE": str(self._folder / "secrets" / ADMIN_TOKEN),
            "SLUICE_PILOT_WMS_URL": services["wms"],
        }

    async def start(self) -> None:
        """Starts everything; see ``until_ready``."""
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
        """Every health check passes, and every setup has succeeded. Waits for as long as that
        takes.
        """
        for process in self.processes:
            await process.until_ready()
        # The command, tests and benchmarks find it by the address that they ask.
        for url in self._outside["services"].values():
            with suppress(OSError):  # then they have to be told
                keep_token(url, self._admin_token)
        self._ready = True
        self._write_state()

    async def stop(self) -> None:
        """Nothing that was started here is left afterwards."""
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
        """What is still running ends at once; ``stop`` then has nothing to wait for."""
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

    def _addresses(self) -> dict[str, Any]:
        """What people and tests use from outside."""
        services = {
            service.name: f"http://{self._network.outside(service.name, service.ports[0])}"
            for service in self.plan.of_kind(PartKind.SERVICE)
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
        """Whole or not at all; rewritten at each change."""
        state = {
            **self._outside,
            "pid": os.getpid(),
            "ready": self._ready,
            "processes": [described(process) for process in self.processes],
        }
        with tempfile.NamedTemporaryFile(
            "w", dir=self._folder, prefix=".stack", delete=False
        ) as file:
            json.dump(state, file, indent=2)
        os.replace(file.name, self._folder / "stack.json")


def make_secrets(root: Path, folder: Path) -> None:
    """Those that are not there yet, as for the compose file itself. Raises ``OSError``."""
    command = ["bash", str(root / "deploy" / "secrets.sh"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise OSError(f"deploy/secrets.sh failed: {done.stderr.strip()}")
