"""A service, wired: its application and its background components."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from starlette.types import ASGIApp

from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.reception import Reception
from sluice.servicekit.lifecycle import Component, start_all, stop_all
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.service_clients import Links
from sluice.servicekit.settings import ServiceSettings
from sluice.servicekit.transport.base import Transport


@dataclass(slots=True)
class Service:
    """``components`` are started in order, before the application answers, and stopped in reverse
    after it. ``end_waiting`` makes the application answer at once what waits for something to
    happen (long polls): called when the process is told to stop, before requests under way are
    waited for. ``metrics``: where its server counts, too. ``authenticator``: of tokens that this
    service gives. ``reception``: of people, where it keeps their accounts. ``for_people``:
    they ask it, and where people have no accounts they need no credential: whoever gives none is a
    person who may do everything that people may.
    """

    name: str
    app: ASGIApp
    components: Sequence[Component] = field(default_factory=list)
    end_waiting: Callable[[], None] | None = None
    authenticator: Authenticator | None = None
    reception: Reception | None = None
    for_people: bool = False
    metrics: ServiceMetrics = field(kw_only=True)

    async def start(self) -> None:
        await start_all(self.components)

    async def stop(self) -> None:
        await stop_all(self.components)


_Settings_contra = TypeVar("_Settings_contra", bound=ServiceSettings, contravariant=True)


class Build(Protocol[_Settings_contra]):
    """A service's ``wiring.build``: makes the service, starts nothing."""

    def __call__(
        self, settings: _Settings_contra, *, links: Links, transport: Transport
    ) -> Service: ...
