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
SPLIT = "wms.split_waiting_tasks"


def declare_loops(
    context: WmsContext, dms: DmsClient, settings: WmsSettings
) -> list[LoopDeclaration]:
    """Return the declarations of the loops."""
    split = partial(split_waiting_tasks, context, dms, page=settings.split_page)
    place = partial(place_pilots, context, period=settings.place_pilots_period)
    expire, lose = partial(expire_leases, context), partial(lose_pilots, context)
    watch = partial(watch_space, context, dms)
    update = partial(update_ranks, context, period=settings.update_ranks_period)
    learn, count = partial(learn_times, context), partial(count_ended_tasks, context)
    split_period = settings.split_waiting_tasks_period
    lose_period = max(settings.expire_leases_period, settings.pilot_timeout / 4)
    placement = LoopDeclaration("wms.place_pilots", settings.place_pilots_period, place)
    return [
        LoopDeclaration(SPLIT, split_period, split, count=settings.split_parallel),
        *([] if context.policy.every is None else [placement]),
        LoopDeclaration("wms.expire_leases", settings.expire_leases_period, expire),
        LoopDeclaration("wms.lose_pilots", lose_period, lose),
        LoopDeclaration("wms.watch_space", settings.watch_space_period, watch),
        LoopDeclaration("wms.update_ranks", settings.update_ranks_period, update),
        LoopDeclaration("wms.learn_times", settings.learn_times_period, learn),
        LoopDeclaration("wms.count_ended_tasks", settings.count_ended_tasks_period, count),
    ]
