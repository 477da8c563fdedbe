"""A service with its application and its background components."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from starlette.types import ASGIApp

from sluice.servicekit.access.account_authentication import AccountAuthentication
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import Component, start_all, stop_all
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.settings import ServiceSettings
from sluice.servicekit.transport.base import Transport


@dataclass(slots=True)
class Service:
    """A wired service.

    Components are started in order before the application answers, and stopped in reverse order.

    Attributes:
        name: The name of the service.
        app: The ASGI application.
        components: The background components.
        end_waiting: Ends long polls at once. It is called at a stop, before the wait for open
            requests.
        authenticator: Authenticates tokens that this service issues.
        account_authentication: The authentication of people, if this service keeps their accounts.
        for_people: Whether people call the service. If there are no accounts, a request without a
            credential then has all rights of people.
        metrics: The metrics, in which the server counts, too.
    """

    name: str
    app: ASGIApp
    components: Sequence[Component] = field(default_factory=list)
    end_waiting: Callable[[], None] | None = None
    authenticator: Authenticator | None = None
    account_authentication: AccountAuthentication | None = None
    for_people: bool = False
    metrics: ServiceMetrics = field(kw_only=True)

    async def start(self) -> None:
        """Start the components."""
        await start_all(self.components)

    async def stop(self) -> None:
        """Stop the components."""
        await stop_all(self.components)


_Settings_contra = TypeVar("_Settings_contra", bound=ServiceSettings, contravariant=True)


class Build(Protocol[_Settings_contra]):
    """The ``wiring.build`` of a service. It makes the service and starts nothing."""

    def __call__(
        self, settings: _Settings_contra, *, links: Links, transport: Transport
    ) -> Service:
        """Return the wired service."""
        ...
