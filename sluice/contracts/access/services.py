"""The services of the system: whatever lists the services is derived from this table.

Files that are not Python (``docker-compose.yml``, Prometheus, ``deploy/secrets.sh`` …) are compared
with the table by ``tests/deploy``.
"""

from enum import StrEnum
from typing import Self


class CallingService(StrEnum):
    """A service that calls other services. ``SETUP`` prepares an installation.

    A service has the name of its package.

    Attributes:
        port: The default port.
        description: The name of the service in a sentence.
        audited: Whether the service keeps an audit log.
    """

    port: int
    description: str
    audited: bool

    def __new__(cls, name: str, port: int = 0, description: str = "", audited: bool = True) -> Self:
        """Create the declaration of one service."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.port, member.description, member.audited = port, description, audited
        return member

    DMS = "dms", 8081, "the DMS"
    WMS = "wms", 8082, "the WMS"
    OPERATOR = "wfms.operator", 8080, "the operator service"
    INTAKE = "wfms.intake", 8085, "the intake"
    CHAINS = "wfms.chains", 8083, "the chain service"
    WATCHER = "wfms.watcher", 8084, "the task watcher", False
    ASK = "wfms.ask", 8086, "the human-task service"
    SETUP = "setup"

    @property
    def database(self) -> str:
        """The name of the database of the service in an embedded system."""
        return self.replace(".", "_")


#: The services that run. The setup is none of them.
SERVICES: tuple[CallingService, ...] = tuple(
    one for one in CallingService if one is not CallingService.SETUP
)


def short_name(service: str) -> str:
    """Return the short name of a service: ``wfms.chains`` → ``chains``.

    Command lines, addresses and variable names use it.
    """
    return service.removeprefix("wfms.")
