"""The reasons why steps wait that have no running job."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from uuid import UUID

from sluice.clients.wms import WmsClient
from sluice.contracts.common.problems import ServiceError
from wfms.operator.chains.domain.progress import ChainProgress

#: Steps of a page that are looked up. Each look-up makes the WMS inspect its waiting jobs.
_MAX_STEPS = 10


async def add_step_waits(wms: WmsClient, chains: Sequence[ChainProgress]) -> list[ChainProgress]:
    """Return the chains with the reasons of their waiting steps, as far as the WMS answers."""
    waiting = (
        progress.step.task_uid
        for chain in chains
        for progress in chain.steps
        if progress.stalled and progress.step.task_uid is not None
    )
    uids = list(islice(waiting, _MAX_STEPS))
    reasons = await asyncio.gather(*(_find_wait(wms, uid) for uid in uids))
    waits = dict(zip(uids, reasons, strict=True))
    return [
        replace(
            chain,
            steps=[
                replace(progress, wait=waits[progress.step.task_uid])
                if progress.step.task_uid in waits
                else progress
                for progress in chain.steps
            ],
        )
        for chain in chains
    ]


async def _find_wait(wms: WmsClient, uid: UUID) -> str:
    try:
        return (await wms.explain_task(uid)).text
    except ServiceError:
        return ""
