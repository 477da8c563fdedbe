"""Periodic work of the WMS: splitting, expired leases, lost pilots, ranks, statistics."""

from collections.abc import Callable

from sluice.clients.dms import DmsClient
from sluice.servicekit.running.loop import Loop, sharing_loops
from wms.settings import WmsSettings
from wms.usecases.context import WmsContext
from wms.usecases.leasing.expire_leases import expire_leases
from wms.usecases.leasing.place_pilots import place_pilots
from wms.usecases.limits.watch_room import watch_room
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.splitting.split_task import split_waiting_tasks
from wms.usecases.tasks.update_ranks import update_ranks
from wms.usecases.times.count_times import count_ended_tasks
from wms.usecases.times.learn_times import learn_times


def split_loops(context: WmsContext, dms: DmsClient, settings: WmsSettings) -> list[Loop]:
    """Return several loops that split tasks, so that a large data set does not delay small ones."""

    async def split(on_found: Callable[[], None]) -> bool:
        await split_waiting_tasks(context, dms, page=settings.split_page, on_found=on_found)
        return False

    return sharing_loops(
        "split",
        split,
        count=settings.split_parallel,
        period=settings.split_period,
        metrics=context.metrics,
    )


def maintenance_loops(context: WmsContext, dms: DmsClient, settings: WmsSettings) -> list[Loop]:
    """Return the other periodic loops."""

    async def expire() -> bool:
        return await expire_leases(context)

    async def lose() -> bool:
        await lose_pilots(context)
        return False

    async def rank() -> bool:
        await update_ranks(context, period=settings.rank_period)
        return False

    async def count() -> bool:
        return await count_ended_tasks(context)

    async def learn() -> bool:
        await learn_times(context)
        return False

    async def place() -> bool:
        await place_pilots(context, period=settings.placement_period)
        return False

    async def watch() -> bool:
        await watch_room(context, dms)
        return False

    metrics = context.metrics
    rounds = Loop("placement", place, period=settings.placement_period, metrics=metrics)
    return [
        *([rounds] if context.policy.every is not None else []),
        Loop("expiry", expire, period=settings.expiry_period, metrics=metrics),
        Loop(
            "pilots",
            lose,
            period=max(settings.expiry_period, settings.pilot_unseen / 4),
            metrics=metrics,
        ),
        Loop("room", watch, period=settings.room_period, metrics=metrics),
        Loop("rank", rank, period=settings.rank_period, metrics=metrics),
        Loop("workers", learn, period=settings.learn_period, metrics=metrics),
        Loop("times", count, period=settings.times_period, metrics=metrics),
    ]
