"""`sluice serve`: one service as a process, as in production."""

import importlib
from enum import StrEnum
from typing import Annotated

import typer


class ServiceName(StrEnum):
    """The name of a service."""

    OPERATOR = "operator"
    DMS = "dms"
    WMS = "wms"
    CHAINS = "chains"
    WATCHER = "watcher"
    INTAKE = "intake"
    ASK = "ask"


#: The package of each service. ``python -m`` runs the service, too.
PACKAGES = {
    ServiceName.OPERATOR: "wfms.operator",
    ServiceName.DMS: "dms",
    ServiceName.WMS: "wms",
    ServiceName.CHAINS: "wfms.chains",
    ServiceName.WATCHER: "wfms.watcher",
    ServiceName.INTAKE: "wfms.intake",
    ServiceName.ASK: "wfms.ask",
}


def serve(service: Annotated[ServiceName, typer.Argument(help="The service.")]) -> None:
    """Run one service until SIGTERM or Ctrl-C.

    Its settings come from the environment, secret files and a settings file (see the reference). It
    waits for its database and its broker, and says so at /readyz.

    The exit status is 1 if it cannot start, and 2 if its settings are wrong.
    """
    importlib.import_module(f"{PACKAGES[service]}.__main__").main()
