"""Start a RabbitMQ broker for a test run, on free ports and in a temporary folder."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx

from sluice.network.http_clients import send_request
from stack.ports import free_ports
from stack.rabbitmq import BINARIES, SERVER, BrokerPlace
from tests.waiting import wait_until

START_SECONDS = 90.0
MISSING = (
    "RabbitMQ is not installed, and no container engine works: run scripts/install-rabbitmq.sh "
    "(it installs the package rabbitmq-server, without starting a service)"
)

CONFIGURATION = """
management_agent.disable_metrics_collector = true
disk_free_limit.absolute = 50MB
vm_memory_high_watermark.absolute = 1GB
"""


class BrokerProcesses(Protocol):
    """The processes or the container that the broker runs in."""

    def control(self, *arguments: str) -> None:
        """Run ``rabbitmqctl``; raise ``RuntimeError`` with its output if it fails."""
        ...

    def restart(self) -> None: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RabbitServer:
    """A running broker; each test uses its own virtual host."""

    amqp_port: int
    management_port: int
    processes: BrokerProcesses
    #: Virtual hosts that are not in use. If queues are deleted just after they were declared,
    #: RabbitMQ 3.10 loses its supervisor of dead-lettering, and refuses new queues of this kind
    #: ("internal error"). So each virtual host is deleted later.
    abandoned: list[str] = field(default_factory=list)

    def add_vhost(self, name: str) -> str:
        """Create a virtual host and return its ``amqp://…`` URL."""
        self.manage("PUT", f"vhosts/{name}")
        self.manage(
            "PUT", f"permissions/{name}/guest", {"configure": ".*", "write": ".*", "read": ".*"}
        )
        return f"amqp://guest:guest@127.0.0.1:{self.amqp_port}/{name}"

    def delete_vhost(self, name: str) -> None:
        """Delete the virtual host after two others have been abandoned."""
        self.abandoned.append(name)
        if len(self.abandoned) > 2:
            self.manage("DELETE", f"vhosts/{self.abandoned.pop(0)}")

    def close_connections(self, vhost: str) -> None:
        """Close every connection to a virtual host."""
        self.processes.control("close_all_connections", "--vhost", vhost, "cut by a test")

    def restart(self) -> None:
        """Stop the broker and start it again; durable objects remain."""
        self.abandoned.clear()  # their queues start now, so they must stay
        self.processes.restart()
        self.wait_until_ready()

    def stop(self) -> None:
        self.processes.stop()

    def wait_until_ready(self) -> None:
        wait_until(self._accepts_connections, what="RabbitMQ answers", seconds=START_SECONDS)

    def _accepts_connections(self) -> bool:
        try:
            self.manage("GET", f"health/checks/port-listener/{self.amqp_port}")
        except httpx.HTTPError:
            return False
        return True

    def manage(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request to the management API as administrator.

        Returns the JSON of the answer, or None if the answer is empty.
        """
        url = f"http://127.0.0.1:{self.management_port}/api/{path}"
        login = ("guest", "guest")
        answer = send_request(method, url, json=body, auth=login, timeout=30).raise_for_status()
        return answer.json() if answer.content else None


@dataclass(slots=True)
class LocalBrokerProcesses:
    """The RabbitMQ of the distribution and its port mapper (epmd), as children of this process."""

    place: BrokerPlace
    epmd: "subprocess.Popen[bytes]" = field(init=False)
    broker: "subprocess.Popen[bytes]" = field(init=False)

    def start(self) -> None:
        self.epmd = self._start_child(*self.place.mapper_command())
        self.broker = self._start_child(SERVER)

    def control(self, *arguments: str) -> None:
        command = [str(BINARIES / "rabbitmqctl"), *arguments]
        done = subprocess.run(
            command,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(
                f"rabbitmqctl {' '.join(arguments)} failed: {done.stdout}{done.stderr}"
            )

    def restart(self) -> None:
        """Kill the broker and start it again: confirmed messages must survive a crash."""
        os.killpg(self.broker.pid, signal.SIGKILL)
        self.broker.wait(30)
        self.broker = self._start_child(SERVER)

    def stop(self) -> None:
        """Kill the broker's process group and epmd, and remove the folder."""
        for process in (self.broker, self.epmd):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            finally:
                process.wait(30)
        shutil.rmtree(self.place.folder, ignore_errors=True)

    def _environment(self) -> dict[str, str]:
        return os.environ | self.place.environment()

    def _start_child(self, *command: str) -> "subprocess.Popen[bytes]":
        with (self.place.folder / "output").open("ab") as output:
            return subprocess.Popen(
                command,
                env=self._environment(),
                cwd=self.place.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )


def start_rabbitmq() -> RabbitServer:
    """Start a broker, which takes about 5 s, in a container if the package is missing.

    Raises ``RuntimeError`` if neither is possible.
    """
    if Path(SERVER).exists():
        server = start_local()
    else:
        from tests.servers.rabbitmq_container import start_container  # noqa: PLC0415

        server = start_container(MISSING)
    try:
        server.wait_until_ready()
    except AssertionError as error:
        server.stop()
        raise RuntimeError(f"RabbitMQ did not start: {error}") from error
    return server


def start_local(*configuration: str) -> RabbitServer:
    """Start the broker of the package with more ``configuration``, without waiting for it."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-rabbit-"))
    amqp, distribution, mapper, management = free_ports(4)
    place = BrokerPlace(
        folder,
        folder / "mnesia",
        amqp=amqp,
        management=management,
        distribution=distribution,
        mapper=mapper,
        name=f"sluice-{amqp}",
    )
    place.configure(CONFIGURATION, *configuration)
    processes = LocalBrokerProcesses(place)
    processes.start()
    return RabbitServer(amqp, management, processes)
