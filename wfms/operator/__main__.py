"""Runs the operator service as a process: ``python -m wfms.operator``."""

import asyncio

from sluice.servicekit.lifecycle import running
from sluice.servicekit.links import NetworkLinks
from sluice.servicekit.logging import configure_logging
from sluice.servicekit.service import serve
from sluice.servicekit.topology import sluice_topology
from sluice.servicekit.transport.open import open_transport
from wfms.operator.settings import OperatorSettings
from wfms.operator.wiring import NAME, build


async def main() -> None:
    settings = OperatorSettings()
    configure_logging(NAME, level=settings.log_level)
    links = NetworkLinks(settings.addresses.by_service())
    transport = open_transport(settings.broker_url, sluice_topology())
    async with running(links, transport):
        await serve(build(settings, links=links, transport=transport), host=settings.host, port=settings.port)


if __name__ == "__main__":
    asyncio.run(main())
