"""Settings that all services share. Each service adds its own class in its ``settings.py``."""

from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, SecretStr, create_model, field_validator

from sluice.contracts.access.services import SERVICES, CallingService, short_name
from sluice.contracts.common.base import Contract
from sluice.servicekit.settings_sources import LayeredSettings
from sluice.servicekit.web.request_limits import Limits

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def env_prefix(service: str) -> str:
    """Return the prefix of a service's variables: ``wfms.chains`` → ``SLUICE_CHAINS_``."""
    return f"SLUICE_{short_name(service).upper()}_"


def _address(service: CallingService) -> Any:
    """Return the field with the address of a service."""
    default = f"http://127.0.0.1:{service.port}"
    return str, Field(default, description=f"The address of {service.description}.")


_AddressFields: Any = create_model(
    "_AddressFields", __base__=Contract, **{short_name(one): _address(one) for one in SERVICES}
)


class Addresses(_AddressFields):
    """Base URLs of the services."""

    def by_service(self) -> dict[str, str]:
        """Return the base URLs by name of the service."""
        return {service: getattr(self, short_name(service)) for service in SERVICES}


class HttpSettings(LayeredSettings):
    """Settings of the HTTP server. An embedded system has them with the prefix ``SLUICE_``."""

    #: Further names under which the service is reached, separated by commas. These always work:
    #: 127.0.0.1, localhost, the machine's host name, the address of the connection and the
    #: service's own name among the addresses. Requests to other names are refused (421). So a page
    #: of another site cannot reach the service under a name of that site (DNS rebinding). `*`: all
    #: names, if a proxy in front checks them.
    hosts: str = ""
    #: The maximum number of bytes in a request's body (413). It may have one value for every 16
    #: bytes.
    largest_body: int = Field(default=16 * 1024 * 1024, ge=64 * 1024)
    #: Seconds in which a request's body has to arrive (408).
    body_seconds: float = Field(default=30.0, gt=0)
    #: The maximum number of connections (503). It should be at most the limit of open files
    #: (`ulimit -n`) less a hundred.
    connections: int = Field(default=900, ge=10)

    def limits(self, *, settings: str, name: str = "") -> Limits:
        """Return the limits on requests.

        Args:
            settings: The prefix of the environment variables.
            name: The name under which other services know this one.
        """
        names = {host.strip().lower() for host in (*self.hosts.split(","), name)}
        return Limits(frozenset(names - {""}), self.largest_body, self.body_seconds, settings)


class ServiceSettings(HttpSettings):
    """Settings of a service: ``SLUICE_<SERVICE>_…``, from the places in ``settings_sources``.

    Nested names are joined by two underscores (``SLUICE_DMS_ADDRESSES__WMS``).
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
    #: Run-time parameters of PostgreSQL may follow: `?idle_in_transaction_session_timeout=30s`
    #: (default: 15 s).
    database_url: str
    #: The message transport: `amqp://login:password@host:port/vhost` (RabbitMQ) or
    #: `postgresql://…`.
    broker_url: str
    #: Address that the service listens on.
    host: str = "127.0.0.1"
    #: Port that the service listens on; 0: any free one.
    port: int = 8080
    #: DEBUG, INFO, WARNING or ERROR.
    log_level: str = "INFO"
    #: Whether the service declares its queues at the broker. If not, it waits until `sluice setup
    #: broker` has declared them.
    declare_queues: bool = True
    #: Seconds for which sent messages stay in the database. If the broker loses its messages,
    #: `sluice setup resend` sends them again.
    keep_sent: float = Field(default=3600.0, ge=0)
    #: The addresses of the other services.
    addresses: Addresses = Field(default_factory=Addresses)
    #: Folder with this service's private key (`NAME.key`) and the public keys of the others
    #: (`NAME.pub`), as `sluice setup service-keys` makes them. The service signs its requests and
    #: accepts only authenticated ones. By default, services do not authenticate, and everybody who
    #: reaches this one may do everything.
    service_keys: Path | None = None
    #: Whether people have to authenticate by an account or a token. It needs `service_keys`. If
    #: not, everybody who reaches the pages is an administrator.
    accounts: bool = False
    #: Days for which audit events are kept. The digests of older ones stay.
    audit_days: int = Field(400, ge=1)
    #: Requests that a person may send in a minute to one instance; 0: no limit. Administrators have
    #: no limit.
    requests_a_minute: int = Field(6000, ge=0)
    #: The token that metrics can be read with (`Authorization: Bearer TOKEN`) if `service_keys` is
    #: set.
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
