"""RabbitMQ as its administrator sees it, and the logins of services."""

from typing import Any

import httpx

from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.transport.open import open_transport
from sluice.setup.logins import ServiceLogin
from tests.servers.rabbitmq import RabbitServer


class Broker:
    """RabbitMQ as its administrator sees it."""

    def __init__(self, server: RabbitServer) -> None:
        self.server = server
        self.management = f"http://guest:guest@127.0.0.1:{server.management_port}"

    def url(self, login: ServiceLogin) -> str:
        user, password, vhost = (
            httpx.URL(path=part).raw_path.decode()
            for part in (login.user, login.password, login.place)
        )
        password = password.replace(":", "%3A")
        return f"amqp://{user}:{password}@127.0.0.1:{self.server.amqp_port}/{vhost}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return self.server.manage(method, path, body)

    def transport(self, login: ServiceLogin) -> Transport:
        return open_transport(self.url(login), sluice_topology(), declare=False)


def prepare_logins_for_one_host(logins: list[ServiceLogin]) -> list[ServiceLogin]:
    return [
        ServiceLogin(
            one.service,
            one.user.replace(" ", "-"),
            one.password,
            f"sluice-{one.user[-6:]}",
            one.variable,
        )
        for one in logins
    ]


def get_login(users: list[ServiceLogin], service: str) -> ServiceLogin:
    return next(user for user in users if user.service == service)
