"""Selection of the transport for a URL."""

from urllib.parse import urlsplit

from sluice.servicekit.transport.base import Topology, Transport
from sluice.text.visible_text import quoted


class UnknownTransport(ValueError):
    """The URL's scheme names no message transport."""

    def __init__(self, scheme: str) -> None:
        super().__init__(
            f"no message transport for URLs that begin with {quoted(scheme)}: "
            "give postgresql://… (PostgreSQL) or amqp://… / amqps://… (RabbitMQ)"
        )
        self.scheme = scheme


def open_transport(url: str, topology: Topology, *, declare: bool = True) -> Transport:
    """Return a transport that is not started yet.

    The implementations are imported here, so that neither needs the other's driver.

    Args:
        url: The address of the broker or database.
        topology: The queues.
        declare: Whether the login may declare what RabbitMQ needs. If not, it must exist already.

    Raises:
        UnknownTransport: The URL's scheme is unknown.
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
