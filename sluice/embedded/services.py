"""The services of an embedded system, with their special settings."""

import secrets
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet

from sluice.embedded.hidden_home import storage_places
from sluice.embedded.home import Home
from sluice.network.credentials import write_private
from sluice.servicekit.running.service import Service
from sluice.servicekit.running.service_clients import Links
from sluice.servicekit.running.service_modules import build_function, settings_class
from sluice.servicekit.transport.base import Transport

#: Seconds for all pilots of the machine to register. They can differ: one may have a GPU, and the
#: next none.
_ALL_REGISTER = 10.0


def build_service(
    name: str,
    *,
    database_url: str,
    links: Links,
    transport: Transport,
    home: Home,
    storage_roots: Sequence[str] = (),
    pilots: int = 1,
) -> Service:
    """Return the service as its own ``wiring`` builds it, on this process's transport and links.

    ``storage_roots`` are the places for storages besides the home folder and the DMS's own setting.
    """
    own = _special_settings(name, home, pilots)
    settings = _settings(name, database_url=database_url, broker_url=database_url, **own)
    if name == "dms":
        settings = _with_roots(settings, [str(home.storages), *storage_roots])
        excluded = shlex.join(storage_places(home.root, settings.roots).excluded_folders)
        excluded = f"{excluded} {settings.storage_exclusions}"
        settings = settings.model_copy(update={"storage_exclusions": excluded})
    return build_function(name)(settings, links=links, transport=transport)


def hidden_storage_folders(
    home: Home, storage_roots: Sequence[str], *, database_url: str
) -> list[Path]:
    """Return the folders for storages that tools would see if pilots did not hide them."""
    settings = _settings("dms", database_url=database_url, broker_url=database_url)
    return storage_places(home.root, _with_roots(settings, storage_roots).roots).hidden_folders


def _with_roots(settings: Any, more_roots: Sequence[str]) -> Any:
    """Return the settings of the DMS with more places for storages."""
    roots = f"{shlex.join(more_roots)} {settings.storage_roots}"
    return settings.model_copy(update={"storage_roots": roots})


def _settings(name: str, **own_settings: Any) -> Any:
    """Return the settings of a service, as an object of the service's own class."""
    return settings_class(name)(keep_sent=0, **own_settings)


def _special_settings(name: str, home: Home, pilots: int) -> dict[str, Any]:
    """Return the settings of one service that are specific to this system."""
    match name:
        case "wfms.operator":
            # Signs the forms of the web pages, so that open forms stay valid after a restart.
            key = read_or_create(home.root / "secret-key", secrets.token_urlsafe(48))
            return {"secret_key": key, "encryption_keys": _encryption_key(home)}
        case "wms":
            # A job that does not fit the only pilot fits none.
            grace = _ALL_REGISTER if pilots > 1 else 0.0
            return {
                "fit_grace": grace,
                "encryption_keys": _encryption_key(home),
                "pilot_keys": secrets.token_urlsafe(48),
            }
    return {}


def _encryption_key(home: Home) -> str:
    return read_or_create(home.encryption_key, Fernet.generate_key().decode())


def read_or_create(path: Path, new: str) -> str:
    """Return the content of a private file, which is created with ``new`` if missing or empty.

    Raises:
        OSError: The file cannot be read or written.
    """
    if not path.exists() or not path.read_text().strip():
        write_private(path, new)
    return path.read_text().strip()
