"""The services as their own ``wiring`` builds them.

Nothing is started, so neither a database nor a broker is needed.
"""

from functools import cache
from importlib import import_module
from typing import Any

from pydantic_settings import BaseSettings

from sluice.embedded.services import SERVICES
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import NetworkLinks
from sluice.servicekit.settings import Addresses, ServiceSettings
from sluice.servicekit.transport.open import open_transport

#: A placeholder that nothing connects to.
NOWHERE = "postgresql://nobody@localhost/nothing"


def settings_class(service: str) -> type[ServiceSettings]:
    """Return the class in the service's ``settings.py``."""
    return _own_settings(service, ServiceSettings)


def _own_settings(package: str, base: type[Any]) -> type[Any]:
    name = f"{package}.settings"
    for value in vars(import_module(name)).values():
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == name:
            return value
    raise LookupError(f"{name} has no settings class")


def pilot_settings() -> type[BaseSettings]:
    """Return the settings class of the pilot."""
    return _own_settings("pilot", BaseSettings)


@cache
def built(service: str) -> Service:
    """Return the service, built but not started."""
    settings = settings_class(service)(database_url=NOWHERE, broker_url=NOWHERE)
    links = NetworkLinks(Addresses().by_service())
    wiring = import_module(f"{service}.wiring")
    result: Service = wiring.build(
        settings, links=links, transport=open_transport(NOWHERE, sluice_topology())
    )
    return result


def app_of(service: str) -> Any:
    """Return the FastAPI application.

    The operator's application contains Flask, and describes its REST interface itself.
    """
    return built(service).app


__all__ = ["SERVICES", "app_of", "built", "pilot_settings", "settings_class"]
