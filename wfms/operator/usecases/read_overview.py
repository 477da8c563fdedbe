"""Reads what the first page shows: what runs, what ended last, who works, what needs a person."""

import asyncio

from sluice.clients.chains import ChainsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains import Chain
from sluice.contracts.limits import ResourceLimit
from sluice.contracts.problems import ServiceError
from wfms.operator.domain.overview import Overview
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_attention import read_attention
from wfms.operator.usecases.read_chain_list import newest_running, read_progress
from wfms.operator.usecases.read_step_waits import with_step_waits
from wfms.operator.usecases.read_templates import read_templates

_MOST_RUNNING, _MOST_ENDED, _MOST_NOTICES = 50, 10, 10


async def read_overview(context: OperatorContext) -> Overview:
    """Effect: none. What a service that does not answer would have said is missing, and the
    overview says so. Numbers are those of the services' databases, not of what is listed.
    """
    (running, ended), attention, templates, limits = await asyncio.gather(
        _chains(context.chains),
        read_attention(context, limit=_MOST_NOTICES),
        read_templates(context.database, disabled=True),
        _limits(context.wms),
    )
    progress = await read_progress(context.wms, [*running, *ended])
    return Overview(
        running=await with_step_waits(context.wms, progress[: len(running)]),
        ended=progress[len(running) :],
        chains=attention.chains,
        work=attention.work,
        pilots=attention.pilots,
        attention=attention.notices,
        templates=len(templates),
        limits=limits,
    )


async def _limits(wms: WmsClient) -> list[ResourceLimit]:
    """None where the WMS does not answer, as a notice says, or is of the release before."""
    try:
        return (await wms.limits()).limits
    except ServiceError:
        return []


async def _chains(chains: ChainsClient) -> tuple[list[Chain], list[Chain]]:
    """Those that run and those that ended last; none where the chain service does not answer, as a
    notice says.
    """
    try:
        return await asyncio.gather(
            newest_running(chains, limit=_MOST_RUNNING), chains.last_ended(limit=_MOST_ENDED)
        )
    except ServiceError:
        return [], []
