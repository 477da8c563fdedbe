"""Settings that all services share. Each service adds its own class in its ``settings.py``."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field, SecretStr, field_validator

from sluice.contracts.base import Contract
from sluice.servicekit.request_limits import Limits
from sluice.servicekit.settings_sources import LayeredSettings

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class Addresses(Contract):
    """Base URLs of the services."""

    #: The DMS.
    dms: str = "http://127.0.0.1:8081"
    #: The WMS.
    wms: str = "http://127.0.0.1:8082"
    #: The chain service.
    chains: str = "http://127.0.0.1:8083"
    #: The task watcher.
    watcher: str = "http://127.0.0.1:8084"
    #: The intake.
    intake: str = "http://127.0.0.1:8085"
    #: The service that asks people.
    ask: str = "http://127.0.0.1:8086"
    #: The operator service.
    operator: str = "http://127.0.0.1:8080"

    def by_service(self) -> dict[str, str]:
        return {
            "dms": self.dms,
            "wms": self.wms,
            "wfms.chains": self.chains,
            "wfms.watcher": self.watcher,
            "wfms.intake": self.intake,
            "wfms.ask": self.ask,
            "wfms.operator": self.operator,
        }


class HttpSettings(LayeredSettings):
    """What requests a process takes; an embedded system has these with the prefix ``SLUICE_``."""

    #: Names under which it is reached, separated by commas, besides 127.0.0.1, localhost, the
    #: machine's host name, the address that it is reached at and its own name among the addresses.
    #: Requests to any other are refused (421), so that a page of somebody else, open in a browser,
    #: cannot speak to it under a name of its own. `*`: all names, where a proxy in front of it
    #: looks at them.
    hosts: str = ""
    #: Most bytes of a request's body (413); it may have a value for every 16 of them.
    largest_body: int = Field(default=16 * 1024 * 1024, ge=64 * 1024)
    #: Seconds in which a request's body has to arrive (408).
    body_seconds: float = Field(default=30.0, gt=0)
    #: Most connections at the same time (503): at most as many as the process may have files open
    #: (`ulimit -n`), less a hundred.
    connections: int = Field(default=900, ge=10)

    def limits(self, *, settings: str, name: str = "") -> Limits:
        """``settings``: what their variables begin with. ``name``: under which other services know
        it.
        """
        names = {host.strip().lower() for host in (*self.hosts.split(","), name)}
        return Limits(frozenset(names - {""}), self.largest_body, self.body_seconds, settings)


class ServiceSettings(HttpSettings):
    """``SLUICE_<SERVICE>_…``, from the places in ``settings_sources``; nested names are joined by
    two underscores (``SLUICE_DMS_ADDRESSES__WMS``).
    """

    SHARED: ClassVar[frozenset[str]] = frozenset(
        {
            "host",
            "log_level",
            "declare_queues",
            "keep_sent",
            "addresses",
            "service_keys",
            "accounts",
            "audit_days",
            "requests_a_minute",
            "metrics_token",
            *HttpSettings.model_fields,
        }
    )

    #: PostgreSQL database of this service alone: `postgresql://login:password@host:port/database`.
    #: Run-time parameters of PostgreSQL may follow: `?idle_in_transaction_session_timeout=30s` (15
    #: s where none is given).
    database_url: str
    #: Where messages go: `amqp://login:password@host:port/vhost` (RabbitMQ) or `postgresql://…`.
    broker_url: str
    #: Address that it listens on.
    host: str = "127.0.0.1"
    #: Port that it listens on; 0: any free one.
    port: int = 8080
    #: DEBUG, INFO, WARNING or ERROR.
    log_level: str = "INFO"
    #: Whether it declares queues at the broker itself; if not, it waits until `sluice setup broker`
    #: has.
    declare_queues: bool = True
    #: Seconds that messages stay in the database after they were sent:
    #: were the broker lost, `sluice setup resend` sends them again.
    keep_sent: float = Field(default=3600.0, ge=0)
    #: Where it finds the other services.
    addresses: Addresses = Field(default_factory=Addresses)
    #: Folder with this service's private key (`NAME.key`) and the public ones of the others
    #: (`NAME.pub`), as `sluice setup service-keys` makes them: it signs what it asks others, and
    #: answers only who says who it is. None: services do not say who they are, and whoever reaches
    #: this one may do everything.
    service_keys: Path | None = None
    #: Whether people have to say who they are, by an account or a token; `service_keys` has to be
    #: set then. If not, whoever reaches the pages is an administrator.
    accounts: bool = False
    #: Days for which it is kept who did what. The digests of what is older stay.
    audit_days: int = Field(400, ge=1)
    #: Requests that a person may send in a minute to one instance; 0: any number. Administrators
    #: may send more.
    requests_a_minute: int = Field(6000, ge=0)
    #: With it, as `Authorization: Bearer TOKEN`, metrics can be read where `service_keys` is set.
    metrics_token: SecretStr | None = None

    @field_validator("database_url")
    @classmethod
    def _is_postgresql(cls, url: str) -> str:
        if not url.startswith(("postgresql://", "postgres://")):
            raise ValueError("must begin with postgresql://")
        return url

    @field_validator("port")
    @classmethod
    def _is_port(cls, port: int) -> int:
        if not 0 <= port <= 65535:
            raise ValueError("a port is a number from 0 to 65535")
        return port

    @field_validator("log_level")
    @classmethod
    def _is_level(cls, level: str) -> str:
        if level.upper() not in LOG_LEVELS:
            raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
        return level.upper()


def short_name(service: str) -> str:
    """``wfms.chains`` → ``chains``: on command lines, in addresses and in names of variables."""
    return service.removeprefix("wfms.")


def env_prefix(service: str) -> str:
    """``wfms.chains`` → ``SLUICE_CHAINS_``."""
    return f"SLUICE_{short_name(service).upper()}_"
