"""The content of the first page: chains, pilots and what needs a person."""

import asyncio

from sluice.clients.chains import ChainsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.jobs.limits import ResourceLimit
from wfms.operator.chains.usecases.chains.add_step_waits import add_step_waits
from wfms.operator.chains.usecases.chains.list_newest_running import list_newest_running
from wfms.operator.chains.usecases.chains.list_progress import list_progress
from wfms.operator.context import OperatorContext
from wfms.operator.monitoring.domain.overview import Overview
from wfms.operator.monitoring.usecases.get_attention import get_attention
from wfms.operator.templates.usecases.list_templates import list_templates

_MAX_RUNNING, _MAX_ENDED, _MAX_NOTICES = 50, 10, 10


async def get_overview(context: OperatorContext) -> Overview:
    """Return the content of the first page.

    If a service does not answer, its part is missing and a notice says so. Counts come from the
    databases of the services and not from the lists.
    """
    (running, ended), attention, templates, limits = await asyncio.gather(
        _list_chains(context.chains),
        get_attention(context, limit=_MAX_NOTICES),
        list_templates(context.database, disabled=True),
        _list_limits(context.wms),
    )
    progress = await list_progress(context.wms, [*running, *ended])
    return Overview(
        running=await add_step_waits(context.wms, progress[: len(running)]),
        ended=progress[len(running) :],
        chains=attention.chains,
        work=attention.work,
        pilots=attention.pilots,
        attention=attention.notices,
        templates=len(templates),
        limits=limits,
    )


async def _list_limits(wms: WmsClient) -> list[ResourceLimit]:
    """Return the limits, or none if the WMS does not answer."""
    try:
        return (await wms.list_limits()).limits
    except ServiceError:
        return []


async def _list_chains(chains: ChainsClient) -> tuple[list[Chain], list[Chain]]:
    """Return the running chains and those that ended last; none if the service is unavailable."""
    try:
        return await asyncio.gather(
            list_newest_running(chains, limit=_MAX_RUNNING),
            chains.list_last_ended_chains(limit=_MAX_ENDED),
        )
    except ServiceError:
        return [], []
