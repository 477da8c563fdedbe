"""RabbitMQ in a container, for machines that have an engine but not the package."""

import os
import shutil
import subprocess
from dataclasses import dataclass

from stack.ports import free_ports
from tests.servers.rabbitmq import RabbitServer

IMAGE = os.environ.get("SLUICE_RABBITMQ_IMAGE", "rabbitmq:3.13-management")


@dataclass(frozen=True, slots=True)
class BrokerContainer:
    engine: str
    container: str

    def control(self, *arguments: str) -> None:
        _run_command(self.engine, "exec", self.container, "rabbitmqctl", *arguments)

    def restart(self) -> None:
        _run_command(self.engine, "restart", self.container)

    def stop(self) -> None:
        _run_command(self.engine, "rm", "--force", "--volumes", self.container)


def start_container(missing: str) -> RabbitServer:
    """Start the broker with the first engine that works, or raise ``RuntimeError(missing)``."""
    engine = next((name for name in ("docker", "podman") if _is_engine_usable(name)), None)
    if engine is None:
        raise RuntimeError(missing)
    amqp, management = free_ports(2)
    ports = ["--publish", f"127.0.0.1:{amqp}:{amqp}", "--publish", f"127.0.0.1:{management}:15672"]
    # The broker has the same port inside and outside the container.
    container = _run_command(
        engine, "run", "--detach", "--rm", *ports, "--env", f"RABBITMQ_NODE_PORT={amqp}", IMAGE
    )
    return RabbitServer(amqp, management, BrokerContainer(engine, container))


def _is_engine_usable(engine: str) -> bool:
    return (
        shutil.which(engine) is not None
        and subprocess.run(
            [engine, "info"], capture_output=True, timeout=30, check=False
        ).returncode
        == 0
    )


def _run_command(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stdout}{done.stderr}")
    return done.stdout.strip()
