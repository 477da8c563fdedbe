"""`sluice serve`: one service as a process, as in production."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from sluice.contracts.access.services import SERVICES, short_name

_BY_SHORT_NAME = {short_name(service): service for service in SERVICES}
ServiceName: Any = StrEnum(  # type: ignore[misc] # its members are those of the table
    "ServiceName", {name.upper(): name for name in _BY_SHORT_NAME}
)


def serve(
    service: Annotated[ServiceName, typer.Argument(help="The service.")],
) -> None:
    """Run one service until SIGTERM or Ctrl-C.

    Its settings come from the environment, secret files and a settings file (see the reference). It
    waits for its database and its broker, and says so at /readyz.

    The exit status is 1 if it cannot start, and 2 if its settings are wrong.
    """
    # The command alone is installed without what services need.
    from sluice.servicekit.running.process import run_service  # noqa: PLC0415

    run_service(_BY_SHORT_NAME[service])
