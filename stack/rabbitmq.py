"""RabbitMQ from the distribution's package as a plain process.

It has its own folder and its own port mapper.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from stack.ports import LOOPBACK

#: The wrappers in /usr/sbin are not used, because they change user and folder.
BINARIES = Path("/usr/lib/rabbitmq/bin")
SERVER = str(BINARIES / "rabbitmq-server")

LISTENERS = """
listeners.tcp.1 = 127.0.0.1:{amqp}
management.tcp.ip = 127.0.0.1
management.tcp.port = {management}
log.console = false
log.file.level = warning
"""


class RabbitMissing(OSError):
    """RabbitMQ is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"{SERVER} is not there: run scripts/install-rabbitmq.sh (it installs the package, no"
            " service is started)"
        )


@dataclass(frozen=True, slots=True)
class BrokerPlace:
    """The place and the ports of a broker.

    ``folder`` has its configuration, and ``data`` its messages. ``name`` belongs to the data:
    another name means another broker.
    """

    folder: Path
    data: Path
    amqp: int
    management: int
    distribution: int
    mapper: int
    name: str

    def configure(self, *texts: str) -> None:
        """Write the configuration: ``texts`` in their order, then the listeners."""
        self.folder.mkdir(parents=True, exist_ok=True)
        listeners = LISTENERS.format(amqp=self.amqp, management=self.management)
        (self.folder / "rabbitmq.conf").write_text("\n".join([*texts, listeners]))
        (self.folder / "enabled_plugins").write_text("[rabbitmq_management].\n")

    def environment(self) -> dict[str, str]:
        """Return the environment of the broker."""
        return {
            "PATH": f"{BINARIES}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "ERL_EPMD_PORT": str(self.mapper),
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "RABBITMQ_NODENAME": f"{self.name}@localhost",
            "RABBITMQ_NODE_PORT": str(self.amqp),
            "RABBITMQ_NODE_IP_ADDRESS": LOOPBACK,
            "RABBITMQ_DIST_PORT": str(self.distribution),
            "RABBITMQ_MNESIA_BASE": str(self.data),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "enabled_plugins"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_CONF_ENV_FILE": str(self.folder / "none"),
            # Idle schedulers spin by default, which takes a good part of two cores.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +sbwtdcpu none +sbwtdio none",
            # The shell that starts the broker is replaced by it, so that signals reach the broker
            # and its pid is known.
            "RUNNING_UNDER_SYSTEMD": "true",
        }

    def mapper_command(self) -> list[str]:
        """Return the command of the port mapper."""
        return ["epmd", "-port", str(self.mapper), "-address", LOOPBACK]
