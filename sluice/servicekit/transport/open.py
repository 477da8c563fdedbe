"""The transport behind a URL."""

from urllib.parse import urlsplit

from sluice.servicekit.transport.base import Topology, Transport
from sluice.visible_text import quoted


class UnknownTransport(ValueError):
    """The URL's scheme names no message transport."""

    def __init__(self, scheme: str) -> None:
        super().__init__(
            f"no message transport for URLs that begin with {quoted(scheme)}: "
            "give postgresql://… (PostgreSQL) or amqp://… / amqps://… (RabbitMQ)"
        )
        self.scheme = scheme


def open_transport(url: str, topology: Topology, *, declare: bool = True) -> Transport:
    """A transport that is not started yet; raises ``UnknownTransport``. ``declare``: the login may
    declare what RabbitMQ needs; without it that has to be there already.

    The implementations are imported here, so that neither needs the other's driver.
    """
    scheme = urlsplit(url).scheme
    match scheme:
        case "postgresql" | "postgres" | "postgresql+asyncpg":
            from sluice.servicekit.transport.postgres import PostgresTransport  # noqa: PLC0415

            return PostgresTransport(url.replace("+asyncpg", "", 1), topology)
        case "amqp" | "amqps":
            from sluice.servicekit.transport.rabbitmq import RabbitTransport  # noqa: PLC0415

            return RabbitTransport(url, topology, declare=declare)
        case _:
            raise UnknownTransport(scheme)
