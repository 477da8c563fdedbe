"""Runs the DMS as a process; settings from the environment (``SLUICE_DMS_…``)."""

import asyncio

from dms.settings import DmsSettings
from dms.wiring import build
from sluice.servicekit.lifecycle import running
from sluice.servicekit.links import NetworkLinks
from sluice.servicekit.logging import configure_logging
from sluice.servicekit.service import serve
from sluice.servicekit.topology import sluice_topology
from sluice.servicekit.transport.open import open_transport


async def run(settings: DmsSettings) -> None:
    links = NetworkLinks(settings.addresses.by_service())
    transport = open_transport(settings.broker_url, sluice_topology())
    async with running(links, transport):
        await serve(build(settings, links=links, transport=transport), host=settings.host, port=settings.port)


def main() -> None:
    settings = DmsSettings()
    configure_logging("dms", level=settings.log_level)
    asyncio.run(run(settings))


if __name__ == "__main__":
    main()
