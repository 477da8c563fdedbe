"""Find the parts of a service by its name, which is the name of its package."""

from importlib import import_module
from typing import Any

from sluice.servicekit.running.service import Build
from sluice.servicekit.settings import ServiceSettings


def settings_class(service: str) -> type[ServiceSettings]:
    """Return the settings class in the service's ``settings.py``.

    Raises:
        LookupError: The module has none.
    """
    module = import_module(f"{service}.settings")
    for value in vars(module).values():
        if (
            isinstance(value, type)
            and issubclass(value, ServiceSettings)
            and value.__module__ == module.__name__
        ):
            return value
    raise LookupError(f"{module.__name__} has no settings class")


def build_function(service: str) -> Build[Any]:
    """Return ``build`` of the service's ``wiring.py``."""
    build: Build[Any] = import_module(f"{service}.wiring").build
    return build
