"""Runs the WMS as a process; settings from the environment (``SLUICE_WMS_…``)."""

import asyncio

from sluice.servicekit.lifecycle import running
from sluice.servicekit.links import NetworkLinks
from sluice.servicekit.logging import configure_logging
from sluice.servicekit.service import serve
from sluice.servicekit.topology import sluice_topology
from sluice.servicekit.transport.open import open_transport
from wms.settings import WmsSettings
from wms.wiring import build


async def run(settings: WmsSettings) -> None:
    links = NetworkLinks(settings.addresses.by_service())
    transport = open_transport(settings.broker_url, sluice_topology())
    async with running(links, transport):
        await serve(build(settings, links=links, transport=transport), host=settings.host, port=settings.port)


def main() -> None:
    settings = WmsSettings()
    configure_logging("wms", level=settings.log_level)
    asyncio.run(run(settings))


if __name__ == "__main__":
    main()
