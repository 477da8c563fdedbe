"""The services of an embedded system: their databases, and their settings where those differ from
the defaults."""

import importlib
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet

from sluice.credentials import write_private
from sluice.embedded.home import Home
from sluice.servicekit.service import Service
from sluice.servicekit.service_clients import Links
from sluice.servicekit.settings import ServiceSettings
from sluice.servicekit.transport.base import Transport


@dataclass(frozen=True, slots=True)
class ServicePart:
    """What a service needs of an embedded system: its database, and the class of its settings in
    ``<service>.settings``."""

    database: str
    settings: str


#: By the service's name, which is its package's too.
SERVICES = {
    "dms": ServicePart("dms", "DmsSettings"),
    "wms": ServicePart("wms", "WmsSettings"),
    "wfms.operator": ServicePart("wfms_operator", "OperatorSettings"),
    "wfms.intake": ServicePart("wfms_intake", "IntakeSettings"),
    "wfms.chains": ServicePart("wfms_chains", "ChainsSettings"),
    "wfms.watcher": ServicePart("wfms_watcher", "WatcherSettings"),
    "wfms.ask": ServicePart("wfms_ask", "AskSettings"),
}


#: Seconds in which all pilots register that share the machine. They are not alike: one may have a
#: GPU, and the next none.
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
    """The service as its own ``wiring`` builds it; the transport and the links are this process's.
    ``storage_roots``: where storages may lie besides the home folder and what the DMS's own setting
    says."""
    settings_class: type[ServiceSettings] = getattr(
        importlib.import_module(f"{name}.settings"), SERVICES[name].settings
    )
    settings = settings_class(
        database_url=database_url, broker_url=database_url, keep_sent=0, **_own(name, home, pilots)
    )
    if name == "dms":
        places = [
            shlex.join([str(home.storages), *storage_roots]),
            getattr(settings, "storage_roots", ""),
        ]
        settings = settings.model_copy(update={"storage_roots": " ".join(places)})
    service: Service = importlib.import_module(f"{name}.wiring").build(
        settings, links=links, transport=transport
    )
    return service


def _own(name: str, home: Home, pilots: int) -> dict[str, Any]:
    """Settings of one service that are this system's own."""
    match name:
        case "wfms.operator":
            # Signs the web page's forms: those that are open hold over a restart.
            key = kept(home.root / "secret-key", secrets.token_urlsafe(48))
            return {"secret_key": key, "encryption_keys": _encryption_key(home)}
        case "wms":
            # What does not fit the only pilot fits none.
            grace = _ALL_REGISTER if pilots > 1 else 0.0
            return {
                "fit_grace": grace,
                "encryption_keys": _encryption_key(home),
                "pilot_keys": secrets.token_urlsafe(48),
            }
    return {}


def _encryption_key(home: Home) -> str:
    return kept(home.encryption_key, Fernet.generate_key().decode())


def kept(path: Path, new: str) -> str:
    """What is in the file, which is made with ``new`` in it, for this user alone, where there is
    none, or nothing in it. Raises ``OSError``."""
    if not path.exists() or not path.read_text().strip():
        write_private(path, new)
    return path.read_text().strip()
