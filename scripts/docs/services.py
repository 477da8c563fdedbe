"""The services as their own ``wiring`` builds them.

Nothing is started, so neither a database nor a broker is needed.
"""

from functools import cache
from typing import Any

from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import NetworkLinks
from sluice.servicekit.running.service_modules import build_function, settings_class
from sluice.servicekit.settings import Addresses
from sluice.servicekit.transport.open import open_transport

#: A placeholder that nothing connects to.
NOWHERE = "postgresql://nobody@localhost/nothing"


@cache
def build_service(service: str) -> Service:
    """Return the service, built but not started."""
    settings = settings_class(service)(database_url=NOWHERE, broker_url=NOWHERE)
    links = NetworkLinks(Addresses().by_service())
    transport = open_transport(NOWHERE, sluice_topology())
    return build_function(service)(settings, links=links, transport=transport)


def build_app(service: str) -> Any:
    """Return the FastAPI application.

    The operator's application contains Flask, and describes its REST interface itself.
    """
    return build_service(service).app
