"""The background loops of the WMS."""

from functools import partial

from sluice.clients.dms import DmsClient
from sluice.servicekit.running.loop import LoopDeclaration
from wms.settings import WmsSettings
from wms.usecases.context import WmsContext
from wms.usecases.leasing.expire_leases import expire_leases
from wms.usecases.leasing.place_pilots import place_pilots
from wms.usecases.limits.watch_space import watch_space
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks
from wms.usecases.tasks.update_ranks import update_ranks
from wms.usecases.times.count_ended_tasks import count_ended_tasks
from wms.usecases.times.learn_times import learn_times

#: Several loops split tasks, so that a large data set does not delay small ones.
SPLIT = "split"


def declare_loops(
    context: WmsContext, dms: DmsClient, settings: WmsSettings
) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    split = partial(split_waiting_tasks, context, dms, page=settings.split_page)
    place = partial(place_pilots, context, period=settings.placement_period)
    rank = partial(update_ranks, context, period=settings.rank_period)
    lose_period = max(settings.expiry_period, settings.pilot_timeout / 4)
    placement = LoopDeclaration("placement", settings.placement_period, place)
    return [
        LoopDeclaration(SPLIT, settings.split_period, split, count=settings.split_parallel),
        *([] if context.policy.every is None else [placement]),
        LoopDeclaration("expiry", settings.expiry_period, partial(expire_leases, context)),
        LoopDeclaration("pilots", lose_period, partial(lose_pilots, context)),
        LoopDeclaration("space", settings.space_period, partial(watch_space, context, dms)),
        LoopDeclaration("rank", settings.rank_period, rank),
        LoopDeclaration("pilot_times", settings.learn_period, partial(learn_times, context)),
        LoopDeclaration("times", settings.times_period, partial(count_ended_tasks, context)),
    ]
