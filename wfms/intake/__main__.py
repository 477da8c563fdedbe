"""``python -m wfms.intake``: the intake as a process, settings from ``SLUICE_INTAKE_…``."""

import asyncio

from sluice.servicekit.lifecycle import running
from sluice.servicekit.links import NetworkLinks
from sluice.servicekit.logging import configure_logging
from sluice.servicekit.service import serve
from sluice.servicekit.topology import sluice_topology
from sluice.servicekit.transport.open import open_transport
from wfms.intake.settings import IntakeSettings
from wfms.intake.wiring import NAME, build


async def run(settings: IntakeSettings) -> None:
    links = NetworkLinks(settings.addresses.by_service())
    transport = open_transport(settings.broker_url, sluice_topology())
    async with running(links, transport):
        await serve(build(settings, links=links, transport=transport), host=settings.host, port=settings.port)


def main() -> None:
    settings = IntakeSettings()
    configure_logging(NAME, level=settings.log_level)
    asyncio.run(run(settings))


if __name__ == "__main__":
    main()
